//! Checks costs on recorded conversations: compares the simulated cache with the bill, and prints the costs of policies.

use rayon::prelude::*;
use recompact::analysis::study::Study;
use recompact::engine::policy::Policy;
use recompact::metrics::cost::Tariff;
use recompact::metrics::prices::Prices;
use recompact::results::saved::{CheckRow, Results, Row};

use crate::support::transcripts::{RECORDINGS, Recorded, recorded};
use crate::support::trial::preset_with;

fn results<'a>(recordings: impl Iterator<Item = &'a Recorded>, policies: Vec<Policy>) -> Results {
    let study = Study::new(policies);
    let recordings: Vec<_> = recordings.collect();
    study.results(recordings.par_iter().map(|recorded| study.transcript(&recorded.name, &recorded.reading, None)).collect())
}

/// Returns a preset with other settings and another name.
fn named(name: &str, preset: &str, settings: &[&str]) -> Policy {
    Policy { name: name.to_owned(), ..preset_with(preset, settings) }
}

/// A simulated cost matches the bill if it differs by at most this share.
const ALIKE: f64 = 0.05;

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn replayed_recordings_cost_what_was_billed() {
    for folder in ["claude-code", "codex"] {
        let checks = results(recorded(folder), vec![preset_with("keep-all", &[])]).checks;
        assert!(!checks.is_empty(), "{folder}: no conversation could be checked");
        let (alike, others): (Vec<CheckRow>, Vec<CheckRow>) = checks.into_iter().partition(|check| check.residual.abs() <= ALIKE);
        let all = alike.len() + others.len();
        println!(
            "{folder}: {} of {all} conversations within {:.0} % of what was billed; the others:",
            alike.len(),
            ALIKE * 100.0
        );
        for check in &others {
            let CheckRow { transcript, conversation, calls, matching_calls: alike, residual, worst_call, why, priced, .. } =
                check;
            let worst =
                worst_call.zip(why.as_ref()).map_or(String::new(), |(call, why)| format!(", worst at call {call}: {why}"));
            let refused = if *priced { "" } else { ", not priced" };
            println!("  {transcript} {conversation}: {:+.1} %, {alike} of {calls} calls alike{worst}{refused}", residual * 100.0);
        }
        assert!(folder != "claude-code" || alike.len() as f64 >= 0.8 * all as f64, "{folder}");
    }
}

/// The columns of the table.
const SHOWN: [&str; 6] = ["tokens.saved", "cost.uncached", "cost.ratio", "cost.best_breakpoints", "cache.read", "kept.hit"];

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn clearing_in_batches_costs_less_than_clearing_at_every_call() {
    let mask = |name: &str, settings: &[&str]| named(name, "observation-mask", settings);
    let batches =
        |size: &str| mask(&format!("keep 3, by {size}"), &["mask.keep_recent=3", &format!("mask.clear_at_least={size}")]);
    let policies = vec![
        preset_with("keep-all", &[]),
        mask("keep 3", &["mask.keep_recent=3"]),
        mask("keep 10", &["mask.keep_recent=10"]),
        batches("10k"),
        batches("25k"),
        batches("50k"),
        preset_with("sliding-window", &[]),
        preset_with("claude-code", &[]),
        preset_with("anthropic-clear", &[]),
    ];
    let summary = results(recorded("claude-code"), policies).summary;
    println!("{:<18} {}", "claude-code folder", SHOWN.map(|column| format!("{column:>13}")).join(" "));
    for of_policy in summary.iter().filter(|of_policy| of_policy.bound_of.is_none()) {
        let values = SHOWN.map(|column| of_policy.values.get(column).map_or("–".to_owned(), |value| format!("{value:.3}")));
        println!("{:<18} {}", of_policy.policy, values.map(|value| format!("{value:>13}")).join(" "));
    }
    let get = |policy: &str, column: &str| {
        let of_policy = summary.iter().find(|of_policy| of_policy.policy == policy).expect(policy);
        of_policy.values.get(column).unwrap_or_else(|| panic!("{policy} has no {column}"))
    };
    let cost = |policy: &str| get(policy, "cost.best_breakpoints");
    assert!(cost("keep 3, by 10k") < cost("keep 3"));
    assert!(get("keep 3, by 10k", "kept.hit") > get("keep 3", "kept.hit"));
    assert!(cost("keep 10") > cost("keep 3") && cost("keep 10") > 1.0);
    // It sends less than half the tokens and costs more, because its requests differ right after their first message.
    assert!(cost("sliding-window") > 1.0 && get("sliding-window", "tokens.saved") > 0.5);
    for of_policy in summary.iter().filter(|of_policy| of_policy.bound_of.is_none()) {
        let name = &of_policy.policy;
        assert!(get(name, "cost.at_ends") >= get(name, "cost.best_breakpoints"), "{name}");
    }
}

/// Amounts are sums of many small ones.
fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-9)
}

/// Returns whether all calls of a row's conversation are to a provider that needs cache breakpoints.
fn has_marks(row: &Row) -> bool {
    let recorded = RECORDINGS.iter().find(|recorded| recorded.name == row.transcript).expect("a file of ours");
    let mut conversations = recorded.reading.conversations.iter();
    let conversation = conversations.find(|conversation| conversation.name == row.conversation).expect("a conversation of ours");
    Tariff::new(conversation, &Prices::built_in(), None).terms().iter().all(|terms| terms.provider.look_back.is_some())
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recordings_obey_the_cost_laws() {
    let policies =
        ["keep-all", "lcc-s06", "claude-code", "observation-mask", "sliding-window"].map(|name| preset_with(name, &[]));
    let mut folders: Vec<&str> = RECORDINGS.iter().map(|recorded| &*recorded.folder).collect();
    folders.dedup();
    for folder in folders {
        let results = results(recorded(folder), policies.to_vec());
        let rows: Vec<_> = results.rows.iter().filter(|row| row.bound_of.is_none()).collect();
        let priced: Vec<_> = rows.iter().filter(|row| row.values.get("cost.ratio").is_some()).collect();
        let in_usd: Vec<_> = priced.iter().filter(|row| row.values.get("cost.usd").is_some()).collect();
        println!("{folder}: {} rows, {} with costs, {} in USD", rows.len(), priced.len(), in_usd.len());
        for row in &priced {
            let place = format!("{}, {}, {}", row.transcript, row.conversation, row.policy);
            let get = |column: &str| row.values.get(column).unwrap_or_else(|| panic!("{place}: no {column}"));
            if row.policy == "keep-all" {
                assert_eq!((get("cost.ratio"), get("cost.at_ends"), get("cache.breaks")), (1.0, 1.0, 0.0), "{place}");
            }
            assert!((0.0..=1.0).contains(&get("cache.read")), "{place}");
            let (at_ends, best) = (get("cost.at_ends_nominal"), get("cost.best_breakpoints_nominal"));
            let is_dearer = if has_marks(row) { at_ends >= best } else { same(at_ends, best) };
            assert!(is_dearer, "{place}: {at_ends} with marks at the ends, {best} with the best");
        }
        for row in &in_usd {
            let place = format!("{}, {}, {}", row.transcript, row.conversation, row.policy);
            let get = |column: &str| row.values.get(column).unwrap_or_else(|| panic!("{place}: no {column}"));
            let parts = ["cost.read", "cost.write", "cost.output", "cost.summarizer"].map(get);
            assert!(parts.iter().all(|part| *part >= 0.0), "{place}: {parts:?}");
            assert!(same(parts.iter().sum(), get("cost.usd")), "{place}: {parts:?}");
        }
    }
}
