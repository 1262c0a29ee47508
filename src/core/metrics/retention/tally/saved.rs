//! The saved form of [`GroupTotals`]: every group by its names, because its index is another one when a version adds a group.

use super::{GroupTotals, OutcomeWeights, group_names};

/// The grouping and the name of a group, and its weights.
pub type SavedGroup = (String, String, OutcomeWeights);

/// A group that this program does not have.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no group {name:?} of the grouping {grouping:?} is known")]
pub struct UnknownGroup {
    grouping: String,
    name: String,
}

impl From<GroupTotals> for Vec<SavedGroup> {
    fn from(totals: GroupTotals) -> Self {
        totals.iter().map(|((grouping, name), weights)| (grouping.to_owned(), name.to_owned(), *weights)).collect()
    }
}

impl TryFrom<Vec<SavedGroup>> for GroupTotals {
    type Error = UnknownGroup;

    fn try_from(saved: Vec<SavedGroup>) -> Result<Self, UnknownGroup> {
        let mut totals = Self::default();
        for (grouping, name, weights) in saved {
            let index = group_names().position(|known| known == (grouping.as_str(), name.as_str()));
            let index = index.ok_or(UnknownGroup { grouping, name })?;
            totals.add_group(index as u8, &weights);
        }
        totals.0.shrink_to_fit();
        Ok(totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::retention::UseOutcome;

    const WEIGHTS: &str =
        r#"{"uses":1,"weight":2.5,"hit":2.5,"hit_summary":0.0,"soft":0.0,"soft_quoted":0.0,"stale":0.0,"hard":0.0}"#;

    fn read(json: &str) -> Result<GroupTotals, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn groups_are_saved_by_name() {
        let mut weights = OutcomeWeights::default();
        weights.count(2.5, UseOutcome::Hit { in_summary: false });
        let mut totals = GroupTotals::default();
        totals.add_group(1, &weights);
        let json = serde_json::to_string(&totals).expect("plain data");
        assert_eq!(json, format!(r#"[["gap","4–10",{WEIGHTS}]]"#));
        assert_eq!(read(&json), Ok(totals));
    }

    #[test]
    fn every_group_is_read_as_it_was_saved_in_any_order() {
        let mut totals = GroupTotals::default();
        for index in 0..group_names().count() {
            let weights = OutcomeWeights { uses: index as u64 + 1, ..OutcomeWeights::default() };
            totals.add_group(index as u8, &weights);
        }
        let mut saved: Vec<SavedGroup> = totals.clone().into();
        saved.reverse();
        assert_eq!(saved[0].0, "generation");
        assert_eq!(GroupTotals::try_from(saved), Ok(totals));
    }

    #[test]
    fn unknown_groups_and_indexes_are_refused() {
        let error = |json: String| read(&json).expect_err("not groups of this program");
        let unknown = error(format!(r#"[["gap","2–3",{WEIGHTS}],["gap","over 90",{WEIGHTS}]]"#));
        assert!(unknown.starts_with("no group \"over 90\" of the grouping \"gap\" is known"), "{unknown}");
        let of_another_grouping = error(format!(r#"[["generation","2–3",{WEIGHTS}]]"#));
        assert!(of_another_grouping.starts_with("no group \"2–3\" of the grouping \"generation\" is known"));
        let index = error(format!("[[3,{WEIGHTS}]]"));
        assert!(index.starts_with("invalid type: integer `3`, expected a string"), "{index}");
        let without_stale = error(format!(r#"[["gap","2–3",{}]]"#, WEIGHTS.replace(r#""stale":0.0,"#, "")));
        assert!(without_stale.starts_with("missing field `stale`"), "{without_stale}");
    }
}
