//! Every choice of every setting does something, or is refused.
//!
//! The cases of `fixtures/cases` are replayed with another value of one setting. If no case changes with it, the setting is a knob
//! that nothing hangs on.

use std::collections::BTreeSet;

use recompact::analysis::settings::{SettingDescription, own_settings};
use recompact::engine::layer::LAYERS;

use super::cases::{Base, bases};

/// Choices that change no request, with the reason.
const SILENT: [(&str, &str, &str); 3] = [
    ("summarize", "input.same_tools", "it changes what the call for a summary costs"),
    ("summarize", "input.rides_prefix", "it changes what the call for a summary costs"),
    ("summarize", "prompt", "the summarizers of the cases read no prompt"),
];

/// Returns values of a setting that differ from each other, as TOML.
fn values(setting: &SettingDescription) -> Vec<String> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).chain(setting.default.clone()).collect();
    match setting.kind {
        "true/false" => texts(&["true", "false"]),
        "choice" => setting.choices.iter().map(|choice| choice.value.clone()).filter(|value| !value.contains('…')).collect(),
        "choices" => setting.choices.iter().map(|choice| format!("[{}]", choice.value)).collect(),
        "texts" => texts(&["[]", "[\"bash\"]", "[\"Read\"]", "[\"TodoWrite\"]", "[\"*\"]"]),
        "number" => texts(&["0", "1", "2", "5", "40", "0.1", "0.9", "1000"]),
        "size" => texts(&["0", "1", "30", "100", "1000", "100000"]),
        "table" => texts(&["{}", "{ bash = 1 }"]),
        _ => texts(&["\"x\"", "\"y {path} {head} {n} {summary}\""]),
    }
}

/// Returns whether two of the values give different outcomes in a case. A refusal is an outcome of a choice, but not of a number, of
/// which each has some that are refused.
fn differ(base: &Base, layer: &str, setting: &SettingDescription, values: &[&String]) -> bool {
    let outcome = |value: &&String| base.outcome(&[format!("{layer}.{}={value}", setting.name)]).ok();
    let outcomes: BTreeSet<Option<String>> = values.iter().map(outcome).collect();
    outcomes.iter().filter(|outcome| !setting.choices.is_empty() || outcome.is_some()).count() > 1
}

#[test]
fn every_choice_of_every_setting_does_something() {
    let bases = bases();
    let mut dead = Vec::new();
    // Programs have tests of their own.
    for kind in LAYERS.iter().filter(|kind| kind.name != "program") {
        let layers: Vec<(&Base, &str)> =
            bases.iter().flat_map(|base| base.layers_of(kind.name).map(move |id| (base, id))).collect();
        for setting in own_settings(kind) {
            let is_silent = SILENT.iter().any(|(layer, name, _)| (*layer, *name) == (kind.name, setting.name.as_str()));
            let values = values(&setting);
            // Each choice must differ from some other one; of other settings, any two values.
            let all = vec![values.iter().collect::<Vec<_>>()];
            let pair = |value| values.iter().filter(move |other| *other != value).map(move |other| vec![value, other]);
            let sets =
                if setting.choices.is_empty() { vec![all] } else { values.iter().map(|value| pair(value).collect()).collect() };
            for sets in sets.iter().filter(|_| !is_silent) {
                let does = |values: &Vec<&String>| layers.iter().any(|(base, id)| differ(base, id, &setting, values));
                if !sets.iter().any(does) {
                    dead.push(format!("{} {} {}", kind.name, setting.name, sets[0][0]));
                }
            }
        }
    }
    assert!(dead.is_empty(), "no case changes with\n{}", dead.join("\n"));
}
