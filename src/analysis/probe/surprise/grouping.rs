//! The groups of uses that a report shows.

use serde::Serialize;

use super::scored::{NEEDS, ScoredUse};
use crate::facts::extract::FactKind;
use crate::facts::references::Provenance;
use crate::metrics::retention::{GAPS, gap_bin};
use crate::util::text::recorded_file_name;

/// How uses are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    All,
    Policy,
    Outcome,
    Kind,
    Gap,
    /// Whether a call names the fact, or fetches it again.
    Need,
    Provenance,
    /// How many other sessions of the repository have the fact too.
    Shared,
    Repository,
    /// The harness that recorded the session, by its format.
    Agent,
}

impl Grouping {
    /// All groupings, in the order of reports.
    pub const ALL: [Grouping; 10] = [
        Self::All,
        Self::Policy,
        Self::Outcome,
        Self::Kind,
        Self::Gap,
        Self::Need,
        Self::Provenance,
        Self::Shared,
        Self::Repository,
        Self::Agent,
    ];

    /// Returns the title of its column.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all uses",
            Self::Policy => "policy",
            Self::Outcome => "outcome",
            Self::Kind => "kind",
            Self::Gap => "gap",
            Self::Need => "need",
            Self::Provenance => "provenance",
            Self::Shared => "also in",
            Self::Repository => "repository",
            Self::Agent => "agent",
        }
    }

    /// Returns the group of a use, with its place in the order of groups.
    pub(super) fn group_of(self, used: &ScoredUse, policies: &[&str]) -> (usize, String) {
        let place = |name: &str, names: &[&str]| names.iter().position(|known| *known == name).unwrap_or(usize::MAX);
        match self {
            Self::All => (0, "all".to_owned()),
            Self::Policy => (place(&used.policy, policies), used.policy.clone()),
            Self::Outcome => (used.outcome as usize, used.outcome.name().to_owned()),
            Self::Kind => (place(used.kind, &FactKind::ALL.map(FactKind::name)), used.kind.to_owned()),
            Self::Gap => {
                let bin = gap_bin(used.gap);
                (bin, GAPS[bin].0.to_owned())
            }
            Self::Need => (place(used.need, &NEEDS), used.need.to_owned()),
            Self::Provenance => (place(used.provenance, &Provenance::ALL.map(Provenance::name)), used.provenance.to_owned()),
            Self::Shared => {
                let (place, name) = match used.shared {
                    Some(0.0) => (0, "no other session"),
                    Some(few) if few < 0.5 => (1, "less than half of the sessions"),
                    Some(_) => (2, "half of the sessions or more"),
                    None => (3, "not known"),
                };
                (place, name.to_owned())
            }
            Self::Repository => (0, used.repository().to_owned()),
            Self::Agent => (0, used.format.clone()),
        }
    }
}

impl ScoredUse {
    /// Returns the last component of the session's working directory; of its transcript's folder if the record names none.
    pub fn repository(&self) -> &str {
        let folder = self.project.as_deref().or_else(|| self.transcript.rsplit_once('/').map(|(folder, _)| folder));
        recorded_file_name(folder.unwrap_or("unknown").trim_end_matches(['/', '\\']))
    }
}
