use saphyr::LoadableYamlNode;

use super::target::{DetailedRule, ValueRule};
use super::*;
use crate::analysis::settings::own_settings;
use crate::engine::layer::{COMMON_SETTINGS, LAYERS};
use crate::engine::policy::{PRESETS, preset};

/// The targets that have a template.
fn written() -> impl Iterator<Item = Target> {
    TARGETS.iter().map(TargetFile::target).filter(|target| target.unavailable.is_none())
}

fn parsed(toml: &str, settings: &[&str]) -> (Policy, Vec<Setting>) {
    let settings: Vec<Setting> = settings.iter().map(|setting| setting.parse().expect(setting)).collect();
    let policy = Policy::parse(toml, "p.toml", &settings).unwrap_or_else(|error| panic!("{error}"));
    (policy, settings)
}

fn exported(harness: &str, toml: &str, settings: &[&str], partial: bool) -> Result<Exported, ExportError> {
    let before = parsed(toml, &[]).0;
    let (policy, settings) = parsed(toml, settings);
    let tuned = before.tuned.as_ref();
    let windows = tuned.map_or(&[][..], |tuned| &tuned.windows);
    export(&ExportRequest { harness, policy: &policy, tuned, changed: &settings, window: None, windows, origin: "", partial })
}

fn preset_toml(name: &str) -> &'static str {
    preset(name).expect("a preset").toml
}

/// A number that a harness takes for this value, and that no preset has.
fn another(rule: &DetailedRule, kind_of_text: bool) -> Option<&'static str> {
    match rule {
        DetailedRule { cases, .. } if !cases.is_empty() => None,
        DetailedRule { share_of_window: true, .. } => Some("0.625 * window"),
        _ if kind_of_text => None,
        DetailedRule { at_most: Some(_), .. } => Some("0.625"),
        // It is a part of the messages that are kept.
        _ if rule.of.ends_with(".keep_first") => Some("9"),
        _ if rule.of.ends_with(".keep_recent_messages") && !rule.of.contains(' ') => Some("5"),
        _ => Some("61007"),
    }
}

#[test]
fn every_target_fits_its_preset() {
    for file in TARGETS {
        let target = file.target();
        assert!(!target.about.is_empty() && !target.checked.is_empty(), "{}", target.name);
        assert_eq!(target.unavailable.is_none(), !target.template.is_empty() && !target.place.is_empty(), "{}", target.name);
        for name in target.values.keys() {
            assert!(target.template.contains(&format!("{{{name}}}")), "{}: {name}", target.name);
        }
        let policy = preset(&target.name).and_then(|preset| preset.policy(&[]).ok()).expect("a preset with the name of the form");
        for setting in target.settings() {
            let (id, field) = setting.split_once('.').expect("a layer and a setting");
            let layer = policy.layers.iter().find(|layer| layer.id == id).unwrap_or_else(|| panic!("{}: {id}", target.name));
            let kind = LAYERS.iter().find(|kind| kind.name == layer.spec.name()).expect("a kind of layer");
            let own = own_settings(kind);
            let mut known = own.iter().map(|own| own.name.as_str()).chain(COMMON_SETTINGS.iter().copied());
            // A key of a table is no setting of its own.
            let is_known = known.any(|known| field == known || field.starts_with(&format!("{known}.")));
            assert!(is_known, "{}: {setting}", target.name);
        }
    }
}

#[test]
fn every_setting_that_a_preset_names_is_written() {
    for preset in PRESETS {
        let policy = preset.policy(&[]).unwrap_or_else(|error| panic!("{error}"));
        let named = policy.harness.iter().flat_map(|(layer, names)| names.keys().map(move |name| format!("{layer}.{name}")));
        let named: Vec<String> = named.collect();
        let forms = targets_of(preset.name);
        let target = forms.iter().find(|target| target.name == preset.name);
        let Some(target) = target else {
            assert!(named.is_empty(), "{}: write src/analysis/export/targets/{}.toml", preset.name, preset.name);
            continue;
        };
        if target.unavailable.is_some() {
            continue;
        }
        for setting in named {
            let is_written = target.settings().iter().any(|own| *own == setting || own.starts_with(&format!("{setting}.")));
            assert!(is_written, "{}: {setting}", preset.name);
        }
        let exported = exported(preset.name, preset.toml, &[], false).unwrap_or_else(|error| panic!("{error}"));
        assert!(exported.comment.iter().any(|line| line == "Not tuned: the numbers of the preset."));
    }
}

#[test]
fn every_configuration_can_be_parsed() {
    for target in written() {
        let exported = exported(&target.name, preset_toml(&target.name), &[], false).unwrap_or_else(|error| panic!("{error}"));
        let text = exported.text();
        let is_parsed = match target.syntax {
            Syntax::Json => serde_json::from_str::<serde_json::Value>(&text).is_ok(),
            Syntax::Jsonc => {
                let lines = text.lines().filter(|line| !line.starts_with("//"));
                serde_json::from_str::<serde_json::Value>(&lines.collect::<String>()).is_ok()
            }
            Syntax::Toml => text.parse::<toml::Table>().is_ok(),
            Syntax::Yaml => saphyr::Yaml::load_from_str(&text).is_ok_and(|documents| documents.len() == 1),
            Syntax::Shell => text.lines().all(|line| line.starts_with('#') || line.starts_with("export ")),
            Syntax::Python | Syntax::Typescript => {
                let count = |c: char| exported.body.matches(c).count();
                [('(', ')'), ('[', ']'), ('{', '}')].iter().all(|(open, close)| count(*open) == count(*close))
            }
        };
        assert!(is_parsed, "{}:\n{text}", target.name);
    }
}

#[test]
fn every_changed_number_is_in_the_text() {
    let mut changed = 0;
    for target in written() {
        let policy = preset_toml(&target.name);
        let before = exported(&target.name, policy, &[], false).unwrap_or_else(|error| panic!("{error}")).body;
        for (name, rule) in &target.values {
            let setting = super::target::settings_in(rule.formula()).next().expect("a setting").to_owned();
            let rule = rule.detailed();
            let is_text = ["preserve_tools", "tools", "placeholder", "clear_inputs", "tool_limits.Bash", "when.idle-minutes"]
                .iter()
                .any(|text| setting.ends_with(text));
            let Some(value) = another(&rule, is_text) else { continue };
            let after =
                exported(&target.name, policy, &[&format!("{setting}={value}")], true).unwrap_or_else(|e| panic!("{e}")).body;
            assert_ne!(before, after, "{}: {name}", target.name);
            if rule.of != setting {
                continue;
            }
            let number = if rule.share_of_window { "0.625" } else { value };
            assert!(after.contains(number), "{}: {name}\n{after}", target.name);
            changed += 1;
        }
    }
    assert!(changed > 20, "{changed}");
}

#[test]
fn formulas_follow_the_rules_of_the_harnesses() {
    let body = |harness: &str, settings: &[&str]| {
        let toml = preset_toml(harness);
        exported(harness, toml, settings, false).unwrap_or_else(|error| panic!("{error}")).body
    };
    let settings = ["condense.threshold=239", "condense.keep_first=1", "condense.keep_recent_messages=117"];
    assert!(body("openhands", &settings).contains("max_size=240, keep_first=2"));
    assert!(body("autogen-head-and-tail", &["window.max_messages=21"]).contains("head_size=1, tail_size=20"));
    assert!(body("strands-window", &["window.when=always"]).contains("per_turn=True"));
    // Claude Code summarises 33,000 tokens below the window that it is given.
    assert!(body("claude-code", &["auto.threshold=0.5 * window"]).contains(r#""CLAUDE_CODE_AUTO_COMPACT_WINDOW": "133000""#));
    let mine = "name = \"mine\"\nmeter = \"o200k\"\nwindow = \"272k\"\n[[layer]]\nid = \"full\"\ndo = \"summarize\"\nthreshold = \"75%\"\n";
    let of = |harness: &str| exported(harness, mine, &[], true).unwrap_or_else(|error| panic!("{error}"));
    assert!(of("codex").body.contains("model_auto_compact_token_limit = 204000"));
    assert!(of("opencode").body.contains("\"reserved\": 68000"));
    assert!(of("goose").text().ends_with("export GOOSE_AUTO_COMPACT_THRESHOLD=0.75\n"));
    assert!(!of("goose").comment.iter().any(|line| line.contains("context window")), "a share needs no window");
    assert!(of("codex").comment.iter().any(|line| line.starts_with("For a context window of 272000 tokens")));
}

#[test]
fn what_a_harness_cannot_do_is_refused_or_listed() {
    let toml = preset_toml("langchain-clear");
    let refused = |harness: &str, toml: &str, settings: &[&str]| match exported(harness, toml, settings, false) {
        Err(error) => error.to_string(),
        Ok(exported) => panic!("{}", exported.text()),
    };
    let message = refused("langchain", toml, &["clear.min_chars=100", "clear.scope=state"]);
    assert!(message.starts_with("langchain-clear: `langchain-clear` cannot be given all of it:\n  clear.min_chars = 100: "));
    assert!(message.contains("has 0, with no setting") && message.contains("\n  clear.scope = \"state\": "), "{message}");
    let partial = exported("langchain", toml, &["clear.min_chars=100", "clear.keep_recent_results=7"], true).expect("the rest");
    assert!(partial.body.contains("keep=7,") && partial.text().contains("# - clear.min_chars = 100: "), "{}", partial.text());
    let message = refused("openhands", preset_toml("openhands"), &["condense.keep_recent_messages=25"]);
    assert!(message.contains("condense.keep_recent_messages = 25: there it is 35, by the rule max_size ÷ 2"), "{message}");
    let message = refused("strands", preset_toml("strands-window"), &["window.when={ calls = 3 }"]);
    assert!(message.contains("window.when = { calls = 3 }: `per_turn` expresses only `always` or `turn-end`"), "{message}");
    let message = refused("autogen", preset_toml("autogen-head-and-tail"), &["window.keep_first=0"]);
    assert!(message.ends_with("window.keep_first makes `head_size` 0, and nothing below 1 is accepted"), "{message}");
    assert!(exported("autogen", preset_toml("autogen-head-and-tail"), &["window.keep_first=0"], true).is_err());
    let message = refused("codex", preset_toml("lcc-s08"), &[]);
    assert!(message.contains("\n  layer `snip` (drop): Codex CLI's automatic compaction has none"), "{message}");
    let message = refused("codex", preset_toml("observation-mask"), &[]);
    assert!(message.contains("layer `mask` (clear): ") && !message.contains("--partial"), "{message}");
    let message = refused("roo", preset_toml("claude-code"), &[]);
    assert!(message.starts_with("--for roo: its settings are in the state of the editor"), "{message}");
    let message = refused("langchian", toml, &[]);
    assert!(message.starts_with("--for langchian: there is no such harness; did you mean `langchain`?"), "{message}");
    let without = toml.replace("threshold = 100_000\n", "");
    assert!(refused("langchain", &without, &[]).contains("clear.threshold is not set: "));
    let resting = preset_toml("claude-code").replace("do = \"restore\"\n", "do = \"restore\"\nenabled = false\n");
    assert!(
        refused("claude-code", &resting, &[]).contains("no layer `restore` that runs: Claude Code's context management has it")
    );
}

#[test]
fn layers_are_found_by_their_kind_if_their_ids_differ() {
    let mine = preset_toml("langchain-clear").replace("id = \"clear\"", "id = \"old\"");
    let mine = &mine[..mine.find("[sweep]").expect("a table")];
    let exported = exported("langchain", mine, &["old.threshold=7_000"], false).unwrap_or_else(|error| panic!("{error}"));
    assert!(exported.body.contains("trigger=7000,"), "{}", exported.body);
}

#[test]
fn comment_says_on_how_many_sessions_the_numbers_were_chosen() {
    let tuned = format!(
        "{}\n[tuned]\nof = \"swe-agent\"\nsessions = 24\nheld_out = 10\nconfigurations = 20\n",
        preset_toml("swe-agent").replace("name = \"swe-agent\"", "name = \"swe-agent mask.keep_recent_results=10\\nX\"")
    );
    let text = |toml: &str, settings: &[&str]| {
        exported("swe-agent", toml, settings, false).unwrap_or_else(|error| panic!("{error}")).text().replace("\n# ", " ")
    };
    let chosen =
        "Chosen on 24 sessions from 20 configurations in a sweep of `swe-agent`; compared once more on 10 other sessions that";
    assert!(text(&tuned, &[]).contains(chosen), "{}", text(&tuned, &[]));
    assert!(text(&tuned, &["mask.stride=5"]).contains("Changed by hand since: mask.stride=5."));
    let none_held_out = tuned.replace("held_out = 10", "held_out = 0");
    assert!(text(&none_held_out, &[]).contains("; no session was held out to confirm it."));
    assert!(text(preset_toml("swe-agent"), &["mask.stride=5"]).contains("Not tuned: set by hand (mask.stride=5)."));
    // A line break in a name must not end the comment.
    assert!(!text(&tuned, &[]).contains("\nX"), "{}", text(&tuned, &[]));
    assert_eq!(parsed(&tuned, &["mask.stride=5"]).0.tuned, None, "the sweep did not choose it");
}

#[test]
fn rules_are_read() {
    let rule = ValueRule::Plain("a.b + 1".to_owned());
    assert_eq!(rule.detailed().of, "a.b + 1");
    let settings: Vec<&str> = super::target::settings_in("window - (a.b-c + d.e_f) / 2.5").collect();
    assert_eq!(settings, ["a.b-c", "d.e_f"]);
}

fn tuned_for(windows: &str) -> String {
    let tuned = "[tuned]\nof = \"codex-cli\"\nsessions = 9\nheld_out = 0\nconfigurations = 4\n";
    preset_toml("codex-cli").replacen("[[layer]]", &format!("{tuned}windows = [{windows}]\n\n[[layer]]"), 1)
}

/// Codex summarises at nine tenths of the window: 0.9 * 258,400 = 232,560; 0.9 * 200,000 = 180,000.
#[test]
fn sizes_are_for_the_window_of_the_sessions() {
    let of = |windows: &str| exported("codex", &tuned_for(windows), &[], false).map(|exported| exported.text());
    let one = of("{ tokens = 258400, sessions = 9 }").expect("one window");
    assert!(one.contains("model_auto_compact_token_limit = 232560\n"), "{one}");
    assert!(one.contains("# For a context window of 258400 tokens, which 9 sessions had; --window computes it for another.\n"));
    let unknown = of("").expect("a file of an older program");
    assert!(unknown.contains("model_auto_compact_token_limit = 180000\n"), "{unknown}");
    let several = of("{ tokens = 200000, sessions = 1 }, { tokens = 258400, sessions = 8 }").expect_err("two windows");
    let said = "codex-cli: the sessions that it was chosen on have several context windows (200000 tokens: 1 session; 258400 tokens: \
                8 sessions), and what `codex-cli` is given depends on them: name the window to write it for, such as --window 200000";
    assert_eq!(several.to_string(), said);
}

/// A number of tokens is the same for every window, and a window that is named replaces those of the sessions.
#[test]
fn several_windows_matter_only_for_sizes_that_depend_on_them() {
    let toml = tuned_for("{ tokens = 200000, sessions = 1 }, { tokens = 258400, sessions = 8 }");
    let fixed = exported("codex", &toml, &["auto.threshold=150k"], false).expect("a number").body;
    assert!(fixed.contains("model_auto_compact_token_limit = 150000\n"), "{fixed}");
    let policy = parsed(&toml, &[]).0;
    let windows = &policy.tuned.as_ref().expect("tuned").windows;
    let (harness, policy) = ("codex", &policy);
    let request =
        ExportRequest { harness, policy, tuned: None, changed: &[], window: Some(100_000), windows, origin: "", partial: false };
    assert!(export(&request).expect("a window").body.contains("model_auto_compact_token_limit = 90000\n"));
}

/// What nothing is set with can be read in the language of each harness.
#[test]
fn nothing_is_a_configuration_without_settings() {
    for target in written() {
        let nothing = export_nothing(&target.name, "Keep what you have.\nx = 1").expect("a form");
        assert!(nothing.body.is_empty() || nothing.body == "{}\n", "{}: {}", target.name, nothing.body);
        assert_eq!(nothing.comment.last().map(String::as_str), Some("Keep what you have. x = 1"), "{}", target.name);
    }
    assert!(export_nothing("mini-swe-agent", "").is_err() && export_nothing("cdoex", "").is_err());
}
