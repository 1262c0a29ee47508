//! What the recorded compactions cost.

use super::super::Prose;
use super::{SAME, money};
use crate::metrics::metric::cost;
use crate::results::Role;
use crate::results::saved::Results;

/// `Your 19 compactions cost about $8.80: $2.72 for summaries, $6.07 for writing the prompt cache again. Fetching again what they removed
/// cost at most $2.52 more.` `None` if there are none, or no price is known.
pub fn on_compactions(results: &Results) -> Option<Prose> {
    let is_recorded = |policy: &str| Role::of(policy) == Role::Recorded;
    let compactions: u64 = results.layers.iter().filter(|row| is_recorded(&row.policy)).map(|row| row.fired).sum();
    let recorded = results.summary.iter().find(|summary| summary.role() == Role::Recorded)?;
    recorded.values.get(cost::USD).filter(|_| compactions > 0)?;
    let rewritten = results.invalidations.iter().filter(|row| is_recorded(&row.policy)).filter_map(|row| row.usd).sum();
    let summaries = recorded.values.get(cost::SUMMARIZER).unwrap_or(0.0);
    let parts = [(summaries, "for summaries"), (rewritten, "for writing the prompt cache again")];
    let parts: Vec<(f64, String)> =
        parts.into_iter().filter(|(usd, _)| *usd >= SAME).map(|(usd, what)| (usd, format!("{} {what}", money(usd)))).collect();
    let whose = if compactions == 1 { "Your compaction".to_owned() } else { format!("Your {compactions} compactions") };
    let spent = match &parts[..] {
        [] => "no money of their own".to_owned(),
        [(_, part)] => format!("about {part}"),
        several => {
            let all = money(several.iter().map(|(usd, _)| usd).sum());
            let each: Vec<&str> = several.iter().map(|(_, part)| part.as_str()).collect();
            format!("about {all}: {}", each.join(", "))
        }
    };
    let rereads = recorded.values.get(cost::REREADS).filter(|usd| *usd >= SAME);
    let rereads = rereads.map(|usd| format!(" Fetching again what was gone cost at most {} more.", money(usd)));
    Some(Prose::new(format!("{whose} cost {spent}.{}", rereads.unwrap_or_default())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::policy::RECORDED;
    use crate::results::saved::{Intervals, InvalidationRow, LayerRow, Summary, Values};

    /// What is said of some compactions with these costs of summaries, of writing again and of fetching again.
    fn said(compactions: u64, [summaries, rewritten, rereads]: [f64; 3]) -> Option<String> {
        let values = [(cost::USD, 10.0), (cost::SUMMARIZER, summaries), (cost::REREADS, rereads)];
        let values: Values = values.into_iter().map(|(column, value)| (column, Some(value))).collect();
        let layer = LayerRow { policy: RECORDED.to_owned(), fired: compactions, ..LayerRow::default() };
        let written = InvalidationRow { policy: RECORDED.to_owned(), usd: Some(rewritten), ..InvalidationRow::default() };
        let others = InvalidationRow { policy: "other".to_owned(), usd: Some(70.0), ..InvalidationRow::default() };
        let summary = Summary {
            policy: RECORDED.to_owned(),
            bound_of: None,
            transcripts: 1,
            values,
            intervals: Intervals::default(),
            predictions: Intervals::default(),
        };
        let results =
            Results { summary: vec![summary], layers: vec![layer], invalidations: vec![written, others], ..Results::default() };
        on_compactions(&results).map(|prose| prose.text(str::to_owned))
    }

    #[test]
    fn compactions_cost_their_summaries_and_what_is_written_again() {
        let text = said(19, [2.75, 6.0, 2.5]);
        let expected = "Your 19 compactions cost about $8.75: $2.75 for summaries, $6.00 for writing the prompt cache again. Fetching again \
                        what was gone cost at most $2.50 more.";
        assert_eq!(text.as_deref(), Some(expected));
        assert_eq!(
            said(1, [0.0, 6.0, 0.0]).as_deref(),
            Some("Your compaction cost about $6.00 for writing the prompt cache again.")
        );
        assert_eq!(said(2, [0.0, 0.001, 0.0]).as_deref(), Some("Your 2 compactions cost no money of their own."));
        assert_eq!(said(0, [0.0; 3]), None);
    }
}
