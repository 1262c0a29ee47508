//! Laws of costs, for every policy and every conversation.

use recompact::engine::replay::NoObserver;
use recompact::metrics::cost::{Cost, CostSetup, cost};
use recompact::metrics::prompt_cache::{CacheUse, simulate};
use recompact::metrics::retention::Retention;
use recompact::transcript::conversation::{Conversation, Thinking};

use crate::metrics::cost::simulated_replay;
use crate::support::generate;
use crate::support::trial::{Trial, trials};

/// A provider with breakpoints, one without, and a model without a known price: input 1, cache read .1, cache write 1.25, output 5.
const MODELS: [&str; 3] = ["claude-sonnet-4-5", "gpt-5.5", UNKNOWN];
const UNKNOWN: &str = "unknown-1";

/// Nominal price of input of a model without a known price, in USD per token.
const PRICE: f64 = 5e-6;

/// The same trials with a system prompt.
fn with_overhead() -> Vec<Trial> {
    trials().into_iter().map(|trial| Trial { overhead: 1_000, ..trial }).collect()
}

/// Returns the cache use of every request and the cost of the conversation at the prices of some models; each response has 100 tokens.
fn both<const N: usize>(trial: &Trial, conversation: &Conversation, models: [&str; N]) -> [(Vec<CacheUse>, Cost); N] {
    let outputs = vec![100; conversation.calls.len()];
    let journal = trial.replay(conversation, &mut NoObserver);
    models.map(|model| {
        simulated_replay(trial, conversation, &journal, model, |cache, tariff| {
            (simulate(&cache), cost(&CostSetup { cache, tariff, outputs: &outputs, retention: &Retention::default() }))
        })
    })
}

#[test]
fn cache_reads_at_most_the_tokens_sent() {
    let trials = with_overhead();
    generate::check_in_turn(4, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        let served = |trial| MODELS.into_iter().zip(both(trial, &conversation, MODELS)).map(move |of_model| (trial, of_model));
        for (trial, (model, (served, _))) in trials.into_iter().flat_map(served) {
            let name = format!("{}, {model}", trial.policy.name);
            assert_eq!(served.len(), conversation.calls.len(), "{name}");
            for of_call in &served {
                assert!(
                    of_call.read_at_ends <= of_call.read_at_best && of_call.read_at_best <= of_call.tokens,
                    "{name}: {of_call:?}"
                );
                assert!(model == MODELS[0] || of_call.read_at_ends == of_call.read_at_best, "{name}: {of_call:?}");
                assert!(of_call.broken.is_none_or(|broken| broken.rebilled <= of_call.tokens), "{name}: {of_call:?}");
            }
            if trial.policy.layers.is_empty() {
                assert!(served.iter().all(|of_call| of_call.broken.is_none()), "{name}");
            }
        }
    });
}

#[test]
fn every_token_is_billed_once() {
    let trials = with_overhead();
    generate::check_in_turn(8, &trials, |steps, trials| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for trial in trials {
            let [(served, cost)] = both(trial, &conversation, [UNKNOWN]);
            let sum = |of: fn(&CacheUse) -> f64| served.iter().map(of).sum::<f64>() * PRICE;
            let output = 500.0 * served.len() as f64 * PRICE;
            let uncached = sum(|of_call| of_call.tokens as f64) + output;
            let has_summaries = cost.nominal.summarizer > 0.0;
            assert!(
                (cost.nominal.uncached - uncached).abs() < 1e-9 || has_summaries && cost.nominal.uncached > uncached,
                "{}",
                trial.policy.name
            );
            let parts = [
                (cost.nominal.read, sum(|of_call| of_call.read as f64 * 0.1)),
                (
                    cost.nominal.written,
                    sum(|of_call| (of_call.tokens - of_call.read) as f64 * if of_call.is_cached { 1.25 } else { 1.0 }),
                ),
                (cost.nominal.output, output),
                (cost.nominal.at_ends, cost.nominal.total()),
                (cost.nominal.rereads, 0.0),
            ];
            for (place, (part, expected)) in parts.into_iter().enumerate() {
                assert!(
                    (part - expected).abs() <= 1e-9 * expected.max(1.0),
                    "{}, part {place}: {part} {expected}",
                    trial.policy.name
                );
            }
        }
    });
}

#[test]
fn cost_of_first_calls_does_not_depend_on_later_calls() {
    let trials = with_overhead();
    generate::check_in_turn(4, &trials, |steps, trials| {
        let whole = generate::conversation(steps, Thinking::Turn);
        for calls in [steps.len() / 2, steps.len() - 1] {
            let cut = generate::conversation(&steps[..calls], Thinking::Turn);
            for trial in &trials {
                let [of_whole, of_cut] = [&whole, &cut].map(|conversation| both(trial, conversation, MODELS));
                for (model, ((of_whole, more), (of_cut, less))) in MODELS.into_iter().zip(of_whole.into_iter().zip(of_cut)) {
                    let name = format!("{}, {model}, {calls} of {} calls", trial.policy.name, steps.len());
                    assert_eq!(of_whole[..calls], of_cut, "{name}");
                    assert!(less.nominal.total() < more.nominal.total(), "{name}");
                }
            }
        }
    });
}
