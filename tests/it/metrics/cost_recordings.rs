//! Checks costs on recorded conversations: compares the simulated cache with the bill, and prints the costs of policies.

use std::collections::BTreeMap;

use recompact::analysis::inspect::{Inspection, RecordedUsage, count_calls_once};
use recompact::analysis::study::TokenCounter;
use recompact::metrics::cost::Tariff;
use recompact::metrics::prices::Prices;
use recompact::results::saved::{CheckRow, Row};
use recompact::transcript::format::Reading;

use crate::support::transcripts::{RECORDINGS, recorded, repository, studied};
use crate::support::trial::{named, preset_with};

/// A simulated cost matches the bill if it differs by at most this share: with the cache events of the record, and without.
const ALIKE: f64 = 0.01;
const ALIKE_WITHOUT_EVENTS: f64 = 0.05;

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn replayed_recordings_cost_what_was_billed() {
    let keep_all = vec![preset_with("keep-all", &[])];
    let recordings = ["claude-code", "codex"].into_iter().flat_map(recorded);
    let checks = studied(recordings, keep_all).checks;
    let mut by_repository: BTreeMap<&str, Vec<&CheckRow>> = BTreeMap::new();
    for check in &checks {
        by_repository.entry(repository(&check.transcript)).or_default().push(check);
    }
    by_repository.insert("together", checks.iter().collect());
    println!(
        "repository  sessions  billed  within 1 %, with events  error  within 5 %, without  error  requests  evicted  lived on  larger"
    );
    for (repository, checks) in &by_repository {
        let sum = |amount: fn(&CheckRow) -> f64| checks.iter().map(|check| amount(check)).sum::<f64>();
        let within = |limit: f64, error: fn(&CheckRow) -> f64| checks.iter().filter(|check| error(check).abs() <= limit).count();
        let billed = sum(|check| check.recorded_cost);
        println!(
            "{repository:<10}  {:>8}  ${billed:.2}  {}  {:+.2} %  {}  {:+.1} %  {}  {}  {}  {}",
            checks.len(),
            within(ALIKE, |check| check.error),
            (sum(|check| check.simulated_cost) / billed - 1.0) * 100.0,
            within(ALIKE_WITHOUT_EVENTS, |check| check.ideal_error),
            (sum(|check| check.ideal_cost) / billed - 1.0) * 100.0,
            sum(|check| check.calls as f64),
            sum(|check| check.events.evicted as f64),
            sum(|check| check.events.lived_on as f64),
            sum(|check| check.events.extended as f64),
        );
    }
    for check in checks.iter().filter(|check| check.error.abs() > ALIKE) {
        let CheckRow { transcript, conversation, error, ideal_error, .. } = check;
        println!("  {transcript} {conversation}: {:+.2} %, without events {:+.1} %", error * 100.0, ideal_error * 100.0);
    }
    let matching = checks.iter().filter(|check| check.error.abs() <= ALIKE).count();
    assert!(matching as f64 >= 0.95 * checks.len() as f64, "{matching} of {}", checks.len());
    let billed =
        |priced: bool| checks.iter().filter(|check| !priced || check.priced).map(|check| check.recorded_cost).sum::<f64>();
    assert!(checks.iter().all(|check| check.in_usd), "a model without a price");
    assert!(billed(true) >= 0.98 * billed(false), "costs cover too little");
}

/// The row of the recorded sessions and the bill that `inspect` prints are one amount, but for summaries that nothing in the record bills.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_sessions_cost_what_inspect_says() {
    const CLOSE: f64 = 0.05;
    let recordings = || ["claude-code", "codex"].into_iter().flat_map(recorded);
    let results = studied(recordings(), vec![preset_with("recorded", &[])]);
    let mut inspections: Vec<_> = recordings().flat_map(|recorded| inspected(&recorded.name, &recorded.reading)).collect();
    count_calls_once(&mut inspections);
    let (mut errors, mut counted) = (Vec::new(), Vec::new());
    for inspection in &inspections {
        let RecordedUsage { usd_counted: Some(billed), repeated_calls: 0, other_branches: 0, .. } = inspection.recorded_usage
        else {
            continue;
        };
        let is_same = |transcript: &str, conversation: &str| {
            (transcript, conversation) == (&*inspection.transcript, &*inspection.conversation)
        };
        let row = results.rows.iter().find(|row| &*row.policy == "recorded" && is_same(&row.transcript, &row.conversation));
        let check = results.checks.iter().find(|check| is_same(&check.transcript, &check.conversation));
        let (Some(row), Some(check)) = (row, check) else { continue };
        let Some([cost, summaries]) = both(["cost.usd", "cost.summarizer"].map(|id| row.values.get(id))) else { continue };
        errors.push((cost - summaries) / billed - 1.0);
        counted.push(check.counted_cost / check.recorded_cost - 1.0);
    }
    let within = |errors: &[f64]| errors.iter().filter(|error| error.abs() <= CLOSE).count();
    println!("{} conversations: {} within 5 %, {} by counted tokens alone", errors.len(), within(&errors), within(&counted));
    assert!(errors.len() >= 90, "{}", errors.len());
    assert!(within(&errors) as f64 >= 0.95 * errors.len() as f64, "{errors:?}");
}

fn inspected(name: &str, reading: &Reading) -> Vec<Inspection> {
    Inspection::all(name, reading, TokenCounter::Own, &Prices::built_in(), None)
}

fn both([first, second]: [Option<f64>; 2]) -> Option<[f64; 2]> {
    Some([first?, second?])
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
    let summary = studied(recorded("claude-code"), policies).summary;
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
    let recorded = RECORDINGS.iter().find(|recorded| recorded.name == *row.transcript).expect("a file of ours");
    let mut conversations = recorded.reading.conversations.iter();
    let conversation = conversations.find(|conversation| conversation.name == *row.conversation).expect("a conversation of ours");
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
        let results = studied(recorded(folder), policies.to_vec());
        let rows: Vec<_> = results.rows.iter().filter(|row| row.bound_of.is_none()).collect();
        let priced: Vec<_> = rows.iter().filter(|row| row.values.get("cost.ratio").is_some()).collect();
        let in_usd: Vec<_> = priced.iter().filter(|row| row.values.get("cost.usd").is_some()).collect();
        println!("{folder}: {} rows, {} with costs, {} in USD", rows.len(), priced.len(), in_usd.len());
        for row in &priced {
            let place = format!("{}, {}, {}", row.transcript, row.conversation, row.policy);
            let get = |column: &str| row.values.get(column).unwrap_or_else(|| panic!("{place}: no {column}"));
            if &*row.policy == "keep-all" {
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
