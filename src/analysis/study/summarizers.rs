//! Compares summarizers: totals the columns of the policies' variants by summarizer.

use std::collections::BTreeSet;

use crate::engine::policy::RECORDED;
use crate::metrics::metric::summaries;
use crate::results::saved::{Results, Row, Session, Spread, SummarizerRow};

use super::Study;

/// Returns a row for each policy and summarizer that was asked for a summary, then the rows of recorded summaries. Empty if
/// there is one summarizer, because there is nothing to compare.
pub fn rows(study: &Study, results: &Results) -> Vec<SummarizerRow> {
    if study.summarizers.len() < 2 {
        return Vec::new();
    }
    let mut asked: Vec<ReplicateRows> = Vec::new();
    let mut recorded: Vec<ReplicateRows> = Vec::new();
    for policy in &study.policies {
        let summarizer = &study.summarizers[policy.summarizer];
        let own: Vec<&Row> = results.rows.iter().filter(|row| *row.policy == *policy.name && row.bound_of.is_none()).collect();
        match summarizer.policy_of(&policy.name) {
            Some(original) if policy.summarizes() => {
                match asked.iter_mut().find(|variants| variants.policy == original && variants.summarizer == summarizer.name) {
                    Some(variants) => variants.replicates.push(own),
                    None => asked.push(ReplicateRows { policy: original, summarizer: &summarizer.name, replicates: vec![own] }),
                }
            }
            _ => recorded.push(ReplicateRows {
                policy: &policy.name, // The summarizer of the record's own summaries has the name of the policy that repeats them.
                summarizer: RECORDED,
                replicates: vec![own],
            }),
        }
    }
    let rows = asked.iter().chain(&recorded).map(|variants| variants.row(results));
    rows.filter(|row| row.summaries + row.failed > 0).collect()
}

/// Rows of one policy with one summarizer, for each replicate.
struct ReplicateRows<'a> {
    policy: &'a str,
    summarizer: &'a str,
    replicates: Vec<Vec<&'a Row>>,
}

impl ReplicateRows<'_> {
    fn row(&self, results: &Results) -> SummarizerRow {
        let is_recorded = self.summarizer == RECORDED;
        let (count, tokens) = if is_recorded {
            (summaries::RECORDED, summaries::RECORDED_TOKENS)
        } else {
            (summaries::MADE, summaries::TOKENS_OUT)
        };
        let total = |id: &str, rows: &[&Row]| results.column(id)?.total(rows.iter().map(|row| &row.values));
        let sum = |id: &str| total(id, &self.replicates.concat()).unwrap_or_default() as u64;
        let spread = |id: &str| self.spread(&|rows| total(id, rows));
        let has_attempts =
            |row: &&&Row| [count, summaries::FAILED].iter().any(|id| row.values.get(id).is_some_and(|count| count > 0.0));
        let sessions: BTreeSet<Session> =
            self.replicates.iter().flatten().filter(has_attempts).map(|row| row.session()).collect();
        SummarizerRow {
            policy: self.policy.to_owned(),
            summarizer: self.summarizer.to_owned(),
            replicates: self.replicates.len(),
            sessions: sessions.len(),
            summaries: sum(count),
            failed: sum(summaries::FAILED),
            facts: sum(summaries::FACTS),
            false_facts: sum(summaries::FALSE_FACTS),
            tokens: self.spread(&|rows| {
                let made = total(count, rows).filter(|made| *made > 0.0)?;
                Some(total(tokens, rows)? / made)
            }),
            fill: spread(summaries::FILL),
            needed: spread(summaries::NEEDED),
            constraints: spread(summaries::CONSTRAINTS),
            false_share: spread(summaries::FALSE),
        }
    }

    fn spread(&self, total: &dyn Fn(&[&Row]) -> Option<f64>) -> Spread {
        let all = total(&self.replicates.concat());
        let each: Vec<f64> = self.replicates.iter().filter_map(|rows| total(rows)).collect();
        let ends = [each.iter().copied().fold(f64::INFINITY, f64::min), each.iter().copied().fold(f64::NEG_INFINITY, f64::max)];
        Spread { all, ends: Some(ends).filter(|_| each.len() > 1) }
    }
}
