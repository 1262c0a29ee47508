//! Costs and losses of policies by repository, with intervals: where do repositories disagree?

use std::collections::{BTreeMap, BTreeSet};

use recompact::results::saved::{Results, Row, Summary, summarise};
use recompact::results::stats::{SEED, infer};

use crate::support::transcripts::{recorded, repository, studied};
use crate::support::trial::{named, preset_with};

/// The columns of the table: what a policy costs, what stays in context, and what is lost.
const SHOWN: [&str; 3] = ["cost.ratio", "kept.hit", "kept.hard"];

/// Returns one summary for each policy, over the rows of one repository.
fn summaries(results: &Results, rows: Vec<Row>) -> Vec<Summary> {
    let columns = results.columns.clone();
    let mut of_repository = Results { summary: summarise(&columns, &rows), columns, rows, ..Results::default() };
    infer(&mut of_repository, "keep-all", &[], SEED);
    of_repository.summary
}

fn cell(summary: &Summary, column: &str) -> String {
    let percent = |value: f64| format!("{:.0}", value * 100.0);
    let value = summary.values.get(column).map_or("–".to_owned(), percent);
    match summary.intervals.entry(column) {
        Some([low, high]) => format!("{value} ({}…{})", percent(low), percent(high)),
        None => value,
    }
}

/// Prints a table for each column: policies by repository, and the pairs of repositories whose intervals are more than a
/// hundredth apart.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn policies_cost_and_lose_by_repository() {
    let policies = vec![
        preset_with("keep-all", &[]),
        preset_with("lcc-s06", &[]),
        preset_with("lcc-s08-late", &[]),
        preset_with("claude-code", &[]),
        preset_with("anthropic-clear", &[]),
        named("anthropic-clear, by 25k", "anthropic-clear", &["clear.clear_at_least=25k"]),
        preset_with("observation-mask", &[]),
        named("observation-mask, by 25k", "observation-mask", &["mask.clear_at_least=25k"]),
        preset_with("sliding-window", &[]),
    ];
    let names: Vec<String> = policies.iter().skip(1).map(|policy| policy.name.clone()).collect();
    let results = studied(["claude-code", "codex"].into_iter().flat_map(recorded), policies);
    let mut rows: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for row in &results.rows {
        rows.entry(repository(&row.transcript)).or_default().push(row.clone());
    }
    let sessions = |rows: &[Row]| rows.iter().map(Row::session).collect::<BTreeSet<_>>().len();
    let heads: Vec<String> = rows.iter().map(|(name, rows)| format!("{name} ({})", sessions(rows))).collect();
    let by_repository: Vec<(&str, Vec<Summary>)> =
        rows.into_iter().map(|(name, rows)| (name, summaries(&results, rows))).collect();
    let mut disagreements = 0;
    for column in SHOWN {
        println!("\n| {column} | all | {} |\n|{}", heads.join(" | "), "---|".repeat(heads.len() + 2));
        for policy in &names {
            let of = |summaries: &[Summary]| {
                summaries.iter().find(|one| one.policy == *policy && one.bound_of.is_none()).expect(policy).clone()
            };
            let cells: Vec<(&str, Summary)> = by_repository.iter().map(|(name, summaries)| (*name, of(summaries))).collect();
            let shown: Vec<String> = cells.iter().map(|(_, summary)| cell(summary, column)).collect();
            println!("| `{policy}` | {} | {} |", cell(&of(&results.summary), column), shown.join(" | "));
            for (name, summary) in &cells {
                let value = summary.values.get(column).expect("a value");
                let ends = summary.intervals.entry(column);
                assert!(ends.is_none_or(|[low, high]| (low..=high).contains(&value)), "{name}, {policy}: {column}");
            }
            let ends = |summary: &Summary| summary.intervals.entry(column);
            let pairs = cells.iter().flat_map(|(one, a)| cells.iter().map(move |(other, b)| (one, a, other, b)));
            for (one, a, other, b) in pairs {
                if let (Some([_, high]), Some([low, _])) = (ends(a), ends(b))
                    && high + 0.01 < low
                {
                    println!("    disagree: {one} {} < {other} {}", cell(a, column), cell(b, column));
                    disagreements += 1;
                }
            }
        }
    }
    assert!(disagreements > 0, "eight repositories agree in everything?");
}
