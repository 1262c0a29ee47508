//! What the screen of a replay says to change: what the policy of the answer saves, and what is wrong with it.

use std::sync::Arc;

use recompact::analysis::spec::preset_text;
use recompact::findings::{Finding, Level};
use recompact::results::saved::{InvalidationRow, PolicyText, Recording, Results};
use serde_json::json;

use crate::report::screens::{layout, policy, results, shown};
use crate::support::program::run;

/// The lines below the title, at 80 columns.
fn changes(results: &Results) -> Vec<String> {
    let screen = shown("table", results, &layout(80));
    let Some((_, after)) = screen.split_once("\nWhat to change\n") else { return Vec::new() };
    after.lines().take_while(|line| !line.is_empty()).map(|line| line.trim_start_matches("  - ").to_owned()).collect()
}

/// 20 sessions under one policy, which saves a quarter of $100.
fn saving(name: &str) -> Results {
    results(20, &[policy(name, 0.75, Some([0.6, 0.9]), 0.96, 0.004)])
}

/// The same with the text of the preset, recorded by a harness.
fn recorded_by(format: &str, name: &str) -> Results {
    let mut results = saving(name);
    let recording = Arc::new(Recording { format: format.to_owned().into(), ..Recording::default() });
    results.rows.iter_mut().for_each(|row| row.recording = recording.clone());
    let toml = preset_text(name).expect("a preset");
    results.policies = vec![PolicyText { name: name.into(), toml, ..PolicyText::default() }];
    results
}

fn finding(id: &str, level: Level, policy: &str, data: serde_json::Value) -> Finding {
    Finding {
        id: id.to_owned(),
        level,
        path: "runs/0.jsonl".to_owned(),
        line: None,
        call: Some(3),
        message: "something".to_owned(),
        data: data.as_object().expect("an object").clone(),
        conversation: Some("main".to_owned()),
        policy: Some(policy.to_owned()),
    }
}

#[test]
fn a_policy_whose_saving_is_proven_is_the_first_thing_to_change() {
    // Without a known harness, a preset that is a form of a configuration; by the harness, its configuration or the text.
    let saves = |step: &str| vec![format!("saves $25 ($10 to $40): {step}")];
    assert_eq!(changes(&saving("anthropic-clear")), saves("`recompact export-settings --for anthropic-clear`"));
    assert_eq!(changes(&recorded_by("codex", "anthropic-clear")), saves("`recompact catalog policies anthropic-clear`"));
    assert_eq!(changes(&recorded_by("codex", "codex-cli")), saves("`recompact export-settings --for codex-cli`"));
    assert_eq!(changes(&saving("mine")), saves("switch to the file of `mine`"));
    let mut changed = recorded_by("codex", "codex-cli");
    changed.policies[0].toml += "\n# --set";
    assert_eq!(changes(&changed), saves("switch to the file of `codex-cli`"), "its numbers are not those of the preset");
}

/// The commands above do what they say.
#[test]
fn commands_of_the_changes_can_be_run() {
    let exported = run(["export-settings", "--for", "anthropic-clear"]);
    assert!(exported.code == 0 && exported.stdout.contains("clear_tool_uses"), "{}", exported.stdout);
    assert!(run(["catalog", "policies", "anthropic-clear"]).printed().starts_with("name = \"anthropic-clear\""));
}

#[test]
fn nothing_is_to_change_if_the_saving_may_be_chance() {
    let chance = results(20, &[policy("anthropic-clear", 0.95, Some([0.8, 1.1]), 0.96, 0.004)]);
    let few = results(3, &[policy("anthropic-clear", 0.75, None, 0.96, 0.004)]);
    for results in [chance, few] {
        assert_eq!(changes(&results), Vec::<String>::new());
    }
}

/// One line grows the screen by three: an empty one, the title, and itself.
#[test]
fn the_policy_takes_one_line() {
    for results in [saving("anthropic-clear"), recorded_by("codex", "anthropic-clear")] {
        assert_eq!(changes(&results).len(), 1);
    }
}

#[test]
fn findings_are_ordered_by_dollars_then_by_facts() {
    let mut results = saving("anthropic-clear");
    let warning = |id, policy, data| finding(id, Level::Warning, policy, data);
    results.findings = vec![
        warning("too_late", "anthropic-clear", json!({ "layer": "clear" })),
        warning("needs_later", "anthropic-clear", json!({ "layer": "clear", "facts": 1_200 })),
        warning("needs_later", "anthropic-clear", json!({ "layer": "clear", "facts": 4 })),
        warning("prefix_break", "anthropic-clear", json!({ "layer": "clear" })),
        finding("prefix_break", Level::Note, "anthropic-clear", json!({ "layer": "other" })),
        // A policy that is not the answer changes nothing.
        finding("pairs", Level::Error, "other", json!({})),
    ];
    let broken = |policy: &str, layer: &str, usd| InvalidationRow {
        policy: policy.into(),
        layer: layer.into(),
        count: 2,
        tokens_rewritten: 9,
        tokens_freed: 9,
        usd: Some(usd),
        break_even: None,
        paid: 0,
    };
    results.invalidations =
        vec![broken("anthropic-clear", "clear", 7.5), broken("anthropic-clear", "other", 90.0), broken("other", "clear", 800.0)];
    assert_eq!(
        changes(&results),
        [
            "saves $25 ($10 to $40): `recompact export-settings --for anthropic-clear`",
            "prefix_break, costs $7.50: change `clear_at_least` or `keep_recent_results`",
            "needs_later, 1,204 facts: change `keep_recent_results` or `threshold`",
        ]
    );
}
