//! What a policy is for in a comparison.

use super::saved::{Row, Summary, TraceLine};
use crate::engine::policy::{DROP_ALL, KEEP_ALL, RECORDED};

/// What a policy is for. Saved results hold the names of policies, and a role follows from them: no user's policy may have one of
/// these names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It may be shipped.
    Candidate,
    /// The recorded session. It misses only what its agent fetched again: what that agent never found is in no record.
    Recorded,
    /// What the others are compared with, whatever it is otherwise. Only a `Verdict` of the analyses gives this
    /// role.
    Baseline,
    /// `keep-all`, which never compacts. It keeps all facts.
    KeepAll,
    /// `drop-all`, which keeps as little as a policy can.
    DropAll,
    /// An oracle that knows the future, with the context size of another policy.
    Oracle,
}

impl Role {
    /// Returns the role of a policy that was replayed.
    pub fn of(policy: &str) -> Self {
        match policy {
            KEEP_ALL => Self::KeepAll,
            DROP_ALL => Self::DropAll,
            RECORDED => Self::Recorded,
            _ => Self::Candidate,
        }
    }

    /// Whether it exists only for comparison: reports show no oracles, no misses and no findings of it.
    pub fn is_bound(self) -> bool {
        matches!(self, Self::KeepAll | Self::DropAll | Self::Oracle)
    }

    /// What a policy with this role is called in a sentence; `None` for candidates, which have names.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::KeepAll => Some("no compaction"),
            Self::Recorded => Some("your recorded runs"),
            _ => None,
        }
    }

    /// What a policy is called where names are plain text: by its role, or by its name.
    pub fn name_of(policy: &str) -> &str {
        Self::of(policy).words().unwrap_or(policy)
    }

    fn of_row(policy: &str, bound_of: Option<&str>) -> Self {
        if bound_of.is_some() { Self::Oracle } else { Self::of(policy) }
    }
}

impl Row {
    /// Returns the role of its policy.
    pub fn role(&self) -> Role {
        Role::of_row(&self.policy, self.bound_of.as_deref())
    }
}

impl Summary {
    /// Returns the role of its policy.
    pub fn role(&self) -> Role {
        Role::of_row(&self.policy, self.bound_of.as_deref())
    }
}

impl TraceLine {
    /// Returns the role of its policy.
    pub fn role(&self) -> Role {
        Role::of(&self.policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::policy::Policy;

    #[test]
    fn presets_have_their_roles() {
        assert_eq!(Role::of(&Policy::keep_all().name), Role::KeepAll);
        assert_eq!(Role::of(&Policy::drop_all().name), Role::DropAll);
        assert_eq!(Role::of(&Policy::recorded().name), Role::Recorded);
        assert_eq!(["lcc-s08", "keep-all · clairvoyant", ""].map(Role::of), [Role::Candidate; 3]);
    }

    #[test]
    fn bounds_are_the_two_presets_and_the_oracles() {
        let bounds = [Role::Candidate, Role::Recorded, Role::Baseline, Role::KeepAll, Role::DropAll, Role::Oracle];
        assert_eq!(bounds.map(Role::is_bound), [false, false, false, true, true, true]);
        let line = TraceLine { policy: "drop-all".to_owned(), ..TraceLine::default() };
        assert_eq!(line.role(), Role::DropAll);
        let summary = |bound_of: Option<&str>| Summary {
            policy: "recorded".to_owned(),
            bound_of: bound_of.map(str::to_owned),
            transcripts: 1,
            values: Default::default(),
            intervals: Default::default(),
            predictions: Default::default(),
        };
        assert_eq!((summary(None).role(), summary(Some("p")).role()), (Role::Recorded, Role::Oracle));
    }
}
