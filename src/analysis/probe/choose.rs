//! Chooses which of the drawn uses are asked about.

use std::collections::HashMap;

use super::{Plan, SampledUse, Scorer};
use crate::results::saved::Session;

/// Takes as many uses as the plan allows: the same number for each policy and, as far as there are any, of each of the scorer's groups.
/// Keeps the order in which the uses were drawn.
pub fn choose<S: Scorer>(drawn: Vec<SampledUse<S::Hint>>, plan: &Plan) -> Vec<SampledUse<S::Hint>> {
    let mut policies: Vec<&str> = Vec::new();
    for used in &drawn {
        if !policies.contains(&used.policy.as_str()) {
            policies.push(&used.policy);
        }
    }
    let mut chosen = vec![false; drawn.len()];
    for (at, policy) in policies.iter().enumerate() {
        // The first policies get the remainder.
        let room = plan.questions / policies.len() + usize::from(at < plan.questions % policies.len());
        let of_policy: Vec<usize> = (0..drawn.len()).filter(|index| drawn[*index].policy == *policy).collect();
        let groups = S::groups(&of_policy.iter().map(|index| &drawn[*index]).collect::<Vec<_>>(), plan.seed);
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        for (group, quota) in groups.iter().zip(quotas(&sizes, room)) {
            group.iter().take(quota).for_each(|at| chosen[of_policy[*at]] = true);
        }
    }
    drawn.into_iter().zip(chosen).filter_map(|(used, is_chosen)| is_chosen.then_some(used)).collect()
}

/// Divides the room among groups of these sizes evenly; what a small group does not need goes to the others.
fn quotas(sizes: &[usize], room: usize) -> Vec<usize> {
    let mut quotas = vec![0; sizes.len()];
    let mut left = room.min(sizes.iter().sum());
    while left > 0 {
        for (quota, size) in quotas.iter_mut().zip(sizes) {
            if *quota < *size && left > 0 {
                *quota += 1;
                left -= 1;
            }
        }
    }
    quotas
}

/// Puts the items of each session together, in the order of the sessions' first items.
pub(super) fn by_session<'a, T>(items: impl IntoIterator<Item = (Session<'a>, T)>) -> Vec<Vec<T>> {
    let mut indices: HashMap<Session, usize> = HashMap::new();
    let mut sessions: Vec<Vec<T>> = Vec::new();
    for (session, item) in items {
        let index = *indices.entry(session).or_insert(sessions.len());
        if index == sessions.len() {
            sessions.push(Vec::new());
        }
        sessions[index].push(item);
    }
    sessions
}

/// Takes one item of every session, then the next of every session; `next` says which of those that a session has left.
pub(super) fn in_turn<T>(mut sessions: Vec<Vec<T>>, mut next: impl FnMut(&[T]) -> usize) -> Vec<T> {
    let mut order = Vec::new();
    while sessions.iter().any(|session| !session.is_empty()) {
        for session in sessions.iter_mut().filter(|session| !session.is_empty()) {
            order.push(session.remove(next(session)));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_get_the_same_room_as_far_as_they_need_it() {
        let cases: [(&[usize], usize, &[usize]); 6] = [
            (&[3, 3], 4, &[2, 2]),
            (&[3, 3], 3, &[2, 1]),
            (&[1, 3], 4, &[1, 3]),
            (&[5, 1, 5], 9, &[4, 1, 4]),
            (&[2, 0], 9, &[2, 0]),
            (&[], 9, &[]),
        ];
        for (sizes, room, expected) in cases {
            assert_eq!(quotas(sizes, room), expected, "{room} among {sizes:?}");
        }
    }

    #[test]
    fn sessions_come_in_turn() {
        let items = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)];
        let sessions = by_session(items.map(|(transcript, item)| (Session::new(transcript, ""), item)));
        assert_eq!(sessions, [vec![1, 3, 4], vec![2, 5]]);
        assert_eq!(in_turn(sessions.clone(), |_| 0), [1, 2, 3, 5, 4]);
        assert_eq!(in_turn(sessions, |left| left.len() - 1), [4, 5, 3, 2, 1]);
    }
}
