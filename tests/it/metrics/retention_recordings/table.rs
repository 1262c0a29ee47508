//! The table of policies.

use rayon::prelude::*;
use recompact::engine::policy::{PRESETS, Policy};
use recompact::results::saved::{KeptRow, Results};

use super::{clear, policy, recorded, study, window};
use crate::support::trial::preset_with;

fn truncate(chars: usize) -> Policy {
    let half = chars / 2;
    let layer = format!("do = \"truncate\"\nmax_chars = {chars}\nkeep_head = {half}\nkeep_tail = {half}\nmarker = \"-\"");
    policy(&format!("truncate to {chars}"), &layer)
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn policies_rank_by_how_much_they_keep() {
    let presets = PRESETS.iter().map(|preset| preset_with(preset.name, &[]));
    let own = [3, 10, 20].map(clear).into_iter().chain([10, 20, 40].map(window)).chain([200, 1000, 4000].map(truncate));
    let study = study(presets.chain(own).collect());
    let files: Vec<_> = recorded("claude-code").collect();
    let parts = files.par_iter().map(|recorded| study.transcript(&recorded.name, &recorded.reading, None)).collect();
    let results = study.results(parts);
    print(&results);
    let hit = |policy: &str| value(&results, policy, "kept.hit");
    for order in [
        ["clear, keep 3", "clear, keep 10", "clear, keep 20"],
        ["window of 10", "window of 20", "window of 40"],
        ["truncate to 200", "truncate to 1000", "truncate to 4000"],
        // Policies that send about as many tokens.
        ["truncate to 200", "clear, keep 3", "window of 40"],
    ] {
        assert!(hit(order[0]) < hit(order[1]) && hit(order[1]) < hit(order[2]), "{order:?}");
    }
    let over_30 = |policy: &str| gaps(&results, policy).last().copied().unwrap_or_default();
    assert!(over_30("window of 40") < over_30("clear, keep 3"), "what a window lost it does not have again");
}

fn value(results: &Results, policy: &str, column: &str) -> f64 {
    let summary = results.summary.iter().find(|summary| summary.policy == policy).expect(policy);
    summary.values.get(column).unwrap_or(f64::NAN)
}

/// Returns the shares of hits, by gap.
fn gaps(results: &Results, policy: &str) -> Vec<f64> {
    let of_policy = |row: &&KeptRow| row.policy == policy && row.grouped_by == "gap";
    results.retention.iter().filter(of_policy).map(|row| row.hit).collect()
}

fn print(results: &Results) {
    println!(
        "policy               tokens %    hit   soft  stale   hard  eff.  rules  read again  by gap 2–3 / 4–10 / 11–30 / over 30"
    );
    for policy in &results.policies {
        let value = |column: &str| value(results, &policy.name, column);
        let gaps: Vec<_> = gaps(results, &policy.name).iter().map(|hit| format!("{hit:.3}")).collect();
        println!(
            "{:<20} {:>7.1}  {:.3}  {:.3}  {:.3}  {:.3}  {:.3}  {:.3}  {:>9}  {}",
            policy.name,
            100.0 * value("tokens.sent") / value("tokens.baseline"),
            value("kept.hit"),
            value("kept.soft"),
            value("kept.stale"),
            value("kept.hard"),
            value("kept.efficiency"),
            value("kept.constraints"),
            value("kept.reread_tokens"),
            gaps.join(" / ")
        );
    }
}
