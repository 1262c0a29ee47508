//! Compares presets with programs that run live: the whole program, with a scripted model on the loopback that logs what it is asked.
//! So the trigger, the estimate, the order and the summarizer's input are those of the program. `tests/oracles/live_*` are the drivers.

mod compare;
mod run;

use std::sync::Arc;

use recompact::engine::policy::Policy;
use serde_json::json;

use super::assert_drivers_are_known;
use super::driver::{Driver, is_asked};
use crate::support::trial::preset_with;
use compare::compare;
use run::Run;

/// A live program whose requests its transcript must give again, and so must a preset.
pub(super) struct Live {
    preset: Option<&'static str>,
    pub(super) driver: &'static str,
    variant: &'static str,
    /// What the driver sets in the program, and its words, which the presets say in words of their own: as settings.
    settings: fn(&Run) -> Vec<String>,
}

const fn live(preset: &'static str, driver: &'static str, variant: &'static str, settings: fn(&Run) -> Vec<String>) -> Live {
    Live { preset: Some(preset), driver, variant, settings }
}

/// A run that no preset foresees: only the transcript is compared.
const fn recorded(driver: &'static str, variant: &'static str) -> Live {
    Live { preset: None, driver, variant, settings: |_| Vec::new() }
}

pub(super) const LIVE: &[Live] = &[
    live("codex-cli", "live_codex", "short", |_| Vec::new()),
    live("codex-cli", "live_codex", "long", |_| Vec::new()),
    live("opencode", "live_opencode", "run", opencode),
    live("pi", "live_pi", "run", |_| vec!["auto.keep_recent_tokens=6000".to_owned()]),
    live("qwen-code", "live_qwen_code", "run", qwen_code),
    recorded("live_codex", "troubles"),
    recorded("live_codex", "crowds"),
    recorded("live_codex", "forks"),
    recorded("live_opencode", "troubles"),
    recorded("live_opencode", "forks"),
    recorded("live_opencode", "crowds"),
    recorded("live_pi", "troubles"),
    recorded("live_pi", "forks"),
    recorded("live_pi", "crowds"),
    recorded("live_qwen_code", "troubles"),
    recorded("live_qwen_code", "forks"),
    recorded("live_qwen_code", "crowds"),
];

fn opencode(run: &Run) -> Vec<String> {
    let folded: Vec<&str> = run.requests[run.folds[0]].texts().collect();
    let [question, .., go_on] = folded[..] else { panic!("a question and a text to go on") };
    vec![setting("auto.messages.question", question), setting("auto.messages.go_on", go_on)]
}

fn qwen_code(run: &Run) -> Vec<String> {
    let folded: Vec<&str> = run.requests[run.folds[0]].texts().collect();
    let [_, ack] = folded[..] else { panic!("a summary and an answer") };
    vec![setting("auto.ack", ack)]
}

fn setting(name: &str, text: &str) -> String {
    format!("{name}={}", json!(text))
}

impl Live {
    fn policy(&self, preset: &str, run: &Run) -> Policy {
        let limits = [("window", run.window), ("max_output", run.max_output), ("auto.max_tokens", 1_000)];
        let limits = limits.map(|(name, value)| format!("{name}={value}"));
        // A reply is the whole message, with the program's own words around the summary.
        let template = setting("auto.template", "{summary}");
        let settings: Vec<String> = limits.into_iter().chain([template]).chain((self.settings)(run)).collect();
        preset_with(preset, &settings.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

#[test]
#[ignore = "needs the programs that .ci/oracles installs: RECOMPACT_ORACLES"]
fn live_requests_equal_those_of_the_real_programs() {
    assert_drivers_are_known();
    let mut failures = Vec::new();
    for live in LIVE.iter().filter(|live| is_asked(live.driver)) {
        let Some(driver) = Driver::of(live.driver) else {
            println!("{:26} {:22} not to be had here: not asked", live.driver, live.variant);
            continue;
        };
        let run = Arc::new(Run::read(&driver.run(live.variant)));
        if live.preset.is_some() {
            assert!(run.folds.len() > 1, "{}: the program compacted {} times", live.driver, run.folds.len());
        }
        let conversations = run.conversations();
        let recorded = conversations
            .iter()
            .map(|(source, conversation, first)| (*source, preset_with("recorded", &[]), (conversation, *first)));
        let preset = live.preset.map(|preset| (preset, live.policy(preset, &run), (&conversations[0].1, 0)));
        for (name, policy, conversation) in recorded.chain(preset) {
            let (requests, inputs) = compare(policy, conversation, &run);
            let equal = |all: &[Option<String>]| format!("{} of {}", all.iter().filter(|one| one.is_none()).count(), all.len());
            let (same, read) = (equal(&requests), equal(&inputs));
            println!("{name:26} {:22} {same} requests and {read} inputs of the summarizer equal", live.variant);
            assert_eq!(requests.len(), run.requests.len() - conversation.1, "{name} {}: every request is compared", live.variant);
            if Some(name) == live.preset && inputs.len() != run.folds.len() {
                failures.push(format!("{name} {}: {} summaries, theirs {}", live.variant, inputs.len(), run.folds.len()));
            }
            let first = [requests, inputs].into_iter().filter_map(|found| found.into_iter().flatten().next());
            failures.extend(first.map(|first| format!("{name} {}: {first}", live.variant)));
        }
        println!("{}", driver.version());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
