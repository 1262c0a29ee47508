//! Objectives and conditions of a sweep, and the columns they need.

use crate::metrics::column::{Column, Direction};
use crate::metrics::metric::retention::{self, CHANCE};
use crate::metrics::metric::{self, broken, cost, overflow, tokens};
use crate::results::condition::Condition;
use crate::results::saved::Objective;
use crate::util::text::did_you_mean;

use super::SweepError;
use super::objective::{DEFAULT_OBJECTIVES, missed_by};
use super::search::Missed;

/// Columns shown beside the objectives in every sweep: what a policy saves, loses and breaks.
const ALWAYS_SHOWN: [&str; 10] = [
    tokens::SAVED,
    cost::RATIO,
    cost::USD,
    retention::HIT,
    retention::HARD,
    retention::CONSTRAINTS,
    retention::RULES_CUT,
    broken::REQUESTS,
    broken::CAUSED,
    overflow::FAILED_CALLS,
];

/// Objectives and conditions of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Criteria {
    /// Their tolerances are filled in when the totals are known.
    pub objectives: Vec<Objective>,
    pub conditions: Vec<Condition>,
    /// All needed columns, the objectives' first and in their order.
    pub columns: Vec<Column>,
}

impl Criteria {
    /// Builds criteria from minimised and maximised columns, in the given order. Without any, uses the default objectives:
    /// cost and facts in context.
    ///
    /// # Errors
    ///
    /// Fails for a column that does not exist, that is known only for a whole study, or that is given twice.
    pub fn new(minimize: &[String], maximize: &[String], conditions: Vec<Condition>) -> Result<Self, SweepError> {
        let asked = |ids: &[String], better| ids.iter().map(|id| (id.clone(), better)).collect::<Vec<_>>();
        let mut asked = [asked(minimize, Direction::Lower), asked(maximize, Direction::Higher)].concat();
        if asked.is_empty() {
            asked = DEFAULT_OBJECTIVES.map(|(id, better)| (id.to_owned(), better)).to_vec();
        }
        let known = metric::columns();
        let mut columns: Vec<Column> = Vec::new();
        let mut objectives: Vec<Objective> = Vec::new();
        for (id, better) in asked {
            let option = if better == Direction::Higher { "--maximize" } else { "--minimize" };
            let column = column(&known, option, &id)?;
            if objectives.iter().any(|objective| objective.column == id) {
                return Err(SweepError::Wrong(format!("{option} {id}: it is already an objective")));
            }
            objectives.push(Objective { column: column.id.clone(), better, epsilon: 0.0 });
            columns.push(column.clone());
        }
        for condition in &conditions {
            columns.push(column(&known, "--where", &condition.column)?.clone());
        }
        columns.extend(ALWAYS_SHOWN.iter().filter_map(|id| known.iter().find(|column| column.id == *id)).cloned());
        let mut ids: Vec<_> = Vec::new();
        columns.retain(|column| {
            !ids.contains(&column.id) && {
                ids.push(column.id.clone());
                true
            }
        });
        Ok(Self { objectives, conditions, columns })
    }

    /// Returns the place of a column among all of them.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.id == id)
    }

    /// Returns how far totals, in the order of the columns, are from each condition; 0 if they meet it.
    pub fn missed(&self, totals: &[Option<f64>]) -> Vec<Missed<'_>> {
        let missed = |condition: &'_ Condition| {
            let at = self.position(&condition.column)?;
            Some((at, missed_by(condition, &self.columns[at], totals[at])))
        };
        self.conditions.iter().filter_map(missed).map(|(at, by)| Missed { column: &self.columns[at].id, by }).collect()
    }
}

fn column<'a>(known: &'a [Column], option: &str, id: &str) -> Result<&'a Column, SweepError> {
    let columns: Vec<&str> = known.iter().map(|column| column.id.as_ref()).filter(|id| *id != CHANCE).collect();
    if id == CHANCE {
        let message = format!("{option} {id}: it needs all sessions at once, so a sweep cannot use it");
        return Err(SweepError::Wrong(message));
    }
    let column = known.iter().find(|column| column.id == id);
    column.ok_or_else(|| SweepError::Wrong(format!("{option} {id}: there is no such column{}", did_you_mean(id, &columns))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criteria(minimize: &[&str], maximize: &[&str], conditions: &[&str]) -> Result<Criteria, SweepError> {
        let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let conditions = conditions.iter().map(|condition| condition.parse().expect("a condition")).collect();
        Criteria::new(&owned(minimize), &owned(maximize), conditions)
    }

    #[test]
    fn given_objectives_replace_the_defaults() {
        let ids =
            |criteria: &Criteria| criteria.objectives.iter().map(|objective| objective.column.to_string()).collect::<Vec<_>>();
        assert_eq!(ids(&criteria(&[], &[], &[]).expect("the usual")), ["cost.ratio", "kept.hit"]);
        let own = criteria(&["tokens.peak"], &["kept.efficiency"], &["kept.hard <= 2%", "tokens.peak < 9"]).expect("own");
        assert_eq!(ids(&own), ["tokens.peak", "kept.efficiency"]);
        let columns: Vec<&str> = own.columns.iter().map(|column| column.id.as_ref()).collect();
        assert_eq!(columns[..4], ["tokens.peak", "kept.efficiency", "kept.hard", "tokens.saved"]);
        assert_eq!(columns.len(), 2 + ALWAYS_SHOWN.len());
    }

    #[test]
    fn missed_conditions_have_their_distances() {
        let criteria = criteria(&["cost.ratio"], &[], &["kept.hard <= 0.02", "cost.ratio < 1"]).expect("criteria");
        let mut totals = vec![None; criteria.columns.len()];
        totals[0] = Some(0.9);
        totals[1] = Some(0.05);
        let missed = criteria.missed(&totals);
        assert!(missed[0].column == "kept.hard" && (missed[0].by - 3.0).abs() < 1e-9);
        assert_eq!(missed[1], Missed { column: "cost.ratio", by: 0.0 });
        totals[1] = Some(0.02);
        assert_eq!(criteria.missed(&totals)[0].by, 0.0);
    }

    #[test]
    fn criteria_errors_name_the_option() {
        let error = |criteria: Result<Criteria, SweepError>| criteria.expect_err("wrong").to_string();
        assert!(
            error(criteria(&["cost.ration"], &[], &[]))
                .starts_with("--minimize cost.ration: there is no such column; did you mean `cost.ratio`? (known: calls, ")
        );
        assert!(
            error(criteria(&[], &[], &["kept.hardly <= 1"])).starts_with("--where kept.hardly: there is no such column; did")
        );
        assert_eq!(error(criteria(&["calls"], &["calls"], &[])), "--maximize calls: it is already an objective");
        let chance = "--minimize kept.chance: it needs all sessions at once, so a sweep cannot use it";
        assert_eq!(error(criteria(&["kept.chance"], &[], &[])), chance);
    }
}
