//! Adds up the sessions of a large study in groups, so that resampling takes as long as for a study of that many sessions.

use std::borrow::Cow;

/// Number of groups of a study with more sessions. From 1,000 groups, a standard error is known to 1 ÷ √(2 · 1,000), about 2 %.
const GROUPS: usize = 1_000;

/// Returns the number of groups that these sessions make: each is one, if they are few.
pub fn groups_of(sessions: usize) -> usize {
    sessions.min(GROUPS)
}

/// Returns the group of a session.
pub fn group_of(session: usize) -> usize {
    session % GROUPS
}

/// Adds up the values of the sessions in each group. Neighbours are in different groups, because they are similar.
pub fn in_groups<T: Clone>(sessions: &[T], add: impl Fn(&mut T, &T)) -> Cow<'_, [T]> {
    let (first, rest) = sessions.split_at(groups_of(sessions.len()));
    if rest.is_empty() {
        return Cow::Borrowed(first);
    }
    let mut groups = first.to_vec();
    for (index, value) in rest.iter().enumerate() {
        add(&mut groups[group_of(index)], value);
    }
    Cow::Owned(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sessions_are_added_up_in_groups() {
        let sessions: Vec<u64> = (0..2_500).collect();
        let groups = in_groups(&sessions, |sum, value| *sum += value);
        assert_eq!((groups.len(), groups[0], groups[499], groups[500]), (1_000, 3_000, 4_497, 2_000));
        assert_eq!(groups.iter().sum::<u64>(), sessions.iter().sum::<u64>());
        assert_eq!(*in_groups(&sessions[..1_000], |_, _| unreachable!()), sessions[..1_000]);
    }
}
