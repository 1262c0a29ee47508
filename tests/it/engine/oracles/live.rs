//! Compares presets with programs that run live: the whole program, with a scripted model on the loopback that logs what it is asked.
//! So the trigger, the estimate, the order and the summarizer's input are those of the program. `tests/oracles/live_*` are the drivers.

mod run;

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::policy::Policy;
use recompact::engine::replay::Observer;
use recompact::engine::summarizer::Fixed;
use recompact::tokens::meter::{Meter, SizeUnit};
use serde_json::{Value, json};

use super::driver::Driver;
use crate::support::trial::{Trial, preset_with};
use run::{Run, items};

/// A preset and the live program that must send the same requests.
struct Live {
    preset: &'static str,
    settings: &'static [&'static str],
    driver: &'static str,
    variant: &'static str,
    /// The settings that are words of the program, which the presets say in words of their own.
    words: fn(&Run) -> Vec<String>,
}

const LIVE: &[Live] = &[
    Live { preset: "codex-cli", settings: &[], driver: "live_codex", variant: "short", words: codex_words },
    Live { preset: "codex-cli", settings: &[], driver: "live_codex", variant: "long", words: codex_words },
];

fn codex_words(run: &Run) -> Vec<String> {
    let folded = &run.requests[run.folds[0]];
    let text = folded.texts().find(|text| text.contains(&run.summary)).expect("the summary is in the request behind it");
    vec![format!("auto.template={}", json!(text.replace(&run.summary, "{summary}")))]
}

impl Live {
    fn policy(&self, run: &Run) -> Policy {
        let limits =
            [format!("window={}", run.window), format!("max_output={}", run.max_output), "auto.max_tokens=100".to_owned()];
        let own = self.settings.iter().map(|setting| (*setting).to_owned());
        let settings: Vec<String> = limits.into_iter().chain((self.words)(run)).chain(own).collect();
        preset_with(self.preset, &settings.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

#[test]
#[ignore = "needs the programs that .ci/oracles installs: RECOMPACT_ORACLES"]
fn live_requests_equal_those_of_the_real_programs() {
    let only = std::env::var("RECOMPACT_ORACLE").unwrap_or_default();
    let mut failures = Vec::new();
    for live in LIVE.iter().filter(|live| only.is_empty() || only.split(',').any(|name| name == live.driver)) {
        let Some(driver) = Driver::of(live.driver) else {
            println!("{:26} {:22} not to be had here: not asked", live.preset, live.variant);
            continue;
        };
        let run = Run::read(&driver.run(live.variant));
        let conversation = run.conversation();
        for (name, policy) in [("recorded", preset_with("recorded", &[])), (live.preset, live.policy(&run))] {
            let trial = Trial {
                counter: Meter::from_unit(SizeUnit::O200k),
                summarizer: Box::new(Fixed { text: run.summary.clone() }),
                ..Trial::new(policy)
            };
            let mut requests = Compared { run: &run, differences: Vec::new() };
            trial.replay(&conversation, &mut requests);
            let equal = requests.differences.iter().filter(|difference| difference.is_none()).count();
            println!(
                "{name:26} {:22} {equal} of {} requests equal, {} folds",
                live.variant,
                requests.differences.len(),
                run.folds.len()
            );
            failures.extend(requests.differences.into_iter().flatten().map(|found| format!("{name} {}: {found}", live.variant)));
        }
        println!("{}", driver.version());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Compares each request with the real one.
struct Compared<'a> {
    run: &'a Run,
    /// For each request, how it differs.
    differences: Vec<Option<String>>,
}

impl Observer for Compared<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let ours: Vec<_> = context.messages().iter().flat_map(|message| items(context, message)).collect();
        let theirs = self.run.requests.get(request.call).map_or(&[][..], |real| &real.items);
        let at = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at));
        let short = |item: Option<&Value>| item.map_or("nothing".to_owned(), |item| item.to_string().chars().take(200).collect());
        self.differences.push(at.map(|at| {
            let [ours, theirs] = [ours.get(at), theirs.get(at)].map(short);
            format!("call {}, item {at}: ours {ours}\n  theirs {theirs}", request.call + 1)
        }));
    }
}
