//! Checks costs on traces that are small enough to compute by hand, in millionths of a dollar.

use recompact::engine::journal::Journal;
use recompact::engine::policy::{Breakpoints, CacheSettings, Policy};
use recompact::engine::replay::NoObserver;
use recompact::metrics::cost::{self, Cost, CostCheck, Tariff};
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::{CacheMode, CacheSetup, InitialState};
use recompact::metrics::retention::{Reread, Retention};
use recompact::transcript::conversation::{BlockId, Call, Conversation, Iteration, Usage};
use recompact::transcript::format::{self, ReadOptions};
use recompact::transcript::impossible_usage;

use crate::support::notation;
use crate::support::trace::{behind_a_breakpoint, clear, growing, layer, two_results};
use crate::support::trial::{Trial, preset_with};

/// Prices per million tokens. Sonnet 4.5: input 3, output 15, cache read .30, cache write 3.75 and 6.
/// GPT-5.5: 5, 30, .50, and writing is free. GPT-5.6 Sol: 5, 30, .50, 6.25. Gemini 2.5 Pro: 1.25, 10, .125, free.
const SONNET: &str = "claude-sonnet-4-5";

/// Tokens of system prompt and tools.
const OVERHEAD: u64 = 1_000;

/// Simulates a policy with cache breakpoints at the best places and 1,000 tokens of system prompt and tools. Nothing was cached
/// before.
fn with<T>(conversation: &Conversation, policy: Policy, model: &str, work: impl Fn(CacheSetup, &Tariff) -> T) -> T {
    let policy = Policy { cache: CacheSettings { breakpoints: Breakpoints::Best }, ..policy };
    simulated(&Trial { overhead: OVERHEAD, ..Trial::new(policy) }, conversation, model, work)
}

/// Simulates a trial at the prices of a model. Nothing was cached before.
pub fn simulated<T>(trial: &Trial, conversation: &Conversation, model: &str, work: impl Fn(CacheSetup, &Tariff) -> T) -> T {
    simulated_replay(trial, conversation, &trial.replay(conversation, &mut NoObserver), model, work)
}

/// Simulates a replay of a trial.
pub fn simulated_replay<T>(
    trial: &Trial,
    conversation: &Conversation,
    journal: &Journal,
    model: &str,
    work: impl Fn(CacheSetup, &Tariff) -> T,
) -> T {
    let tariff = Tariff::new(conversation, &Prices::built_in(), Some(model));
    let size = |id: BlockId| trial.counter.unit.block(journal.block(conversation, id), false);
    let before = InitialState { warm: 0, stable: trial.overhead };
    let (policy, terms, request_tokens) = (&trial.policy, tariff.terms(), &journal.request_tokens()[..]);
    work(CacheSetup { conversation, policy, journal, request_tokens, terms, initial: before, events: &[], size: &size }, &tariff)
}

/// Every response has 100 tokens.
fn cost_of(conversation: &Conversation, policy: Policy, model: &str, kept: &Retention) -> Cost {
    let outputs = vec![100; conversation.calls.len()];
    with(conversation, policy, model, |cache, tariff| {
        cost::cost(&cost::CostSetup { cache, tariff, outputs: &outputs, retention: kept })
    })
}

/// Returns the parts of a cost in millionths of a dollar: read, written, output, summarizer.
fn parts(cost: &Cost) -> [f64; 4] {
    let usd = cost.usd.expect("a known price");
    [usd.read, usd.written, usd.output, usd.summarizer].map(|part| (part * 1e9).round() / 1e3)
}

#[test]
fn cost_parts_are_tokens_times_prices() {
    let keep_all = || preset_with("keep-all", &[]);
    // Requests of 5,000, 7,000 and 8,500; the second and third read 12,000 and write 8,500 together with the first.
    let cases = [
        (SONNET, [12_000.0 * 0.3, 8_500.0 * 3.75, 300.0 * 15.0]),
        // In steps of 1,024 less 256: 4,864 and 6,912; at least the last 115 tokens are not read.
        ("gpt-5.6-sol", [10_752.0 * 0.5, 9_748.0 * 6.25, 300.0 * 30.0]),
        // In steps of 512 less 128: 4,992 and 6,528.
        ("gpt-5.5", [11_520.0 * 0.5, 8_980.0 * 5.0, 300.0 * 30.0]),
        ("gemini-2.5-pro", [12_000.0 * 0.125, 8_500.0 * 1.25, 300.0 * 10.0]),
        ("deepseek-v4-pro", [12_000.0 * 0.145, 8_500.0 * 1.74, 300.0 * 3.48]),
    ];
    for (model, [read, written, output]) in cases {
        let cost = cost_of(&growing(2), keep_all(), model, &Retention::default());
        let expected = [read, written, output, 0.0].map(|part: f64| (part * 1e3).round() / 1e3);
        assert_eq!(parts(&cost), expected, "{model}");
    }
}

#[test]
fn input_behind_the_last_breakpoint_is_not_billed_as_written() {
    let conversation = behind_a_breakpoint();
    let cost = cost_of(&conversation, preset_with("keep-all", &[]), SONNET, &Retention::default());
    // Of 20,500 tokens 11,000 are read, and 1,000 are input: the second request writes them with 2,000 more.
    let written = 1_000.0 * 3.0 + (4_000.0 + 3_000.0 + 1_500.0) * 3.75;
    assert_eq!(parts(&cost), [11_000.0 * 0.3, written, 300.0 * 15.0, 0.0]);
    let check = checked(&conversation, CacheMode::Ideal);
    assert_eq!((check.matching, check.events.len()), (3, 0));
    assert!(check.residual().abs() < 1e-9 && check.ideal_residual().abs() < 1e-9);
}

#[test]
fn unknown_price_still_gives_cost_ratios() {
    let cost = cost_of(&growing(2), preset_with("keep-all", &[]), "unknown-1", &Retention::default());
    assert_eq!(cost.usd, None);
    // Input 1, cache read .1, cache write 1.25, output 5.
    let tokens = |usd: f64| (usd / 5e-6 * 1e3).round() / 1e3;
    assert_eq!(tokens(cost.nominal.total()), 12_000.0 * 0.1 + 8_500.0 * 1.25 + 300.0 * 5.0);
    assert_eq!(tokens(cost.nominal.uncached), 20_500.0 + 1_500.0);
    let sonnet = cost_of(&growing(2), preset_with("keep-all", &[]), SONNET, &Retention::default());
    assert_eq!(Some(sonnet.nominal), sonnet.usd);
}

/// Above 200,000 tokens a request of Sonnet 4.5 costs twice as much. A policy that stays below that limit must show it.
#[test]
fn cost_includes_the_surcharge_of_large_requests() {
    let large = |overhead: u64| {
        let trial = Trial { overhead, ..Trial::new(preset_with("keep-all", &[])) };
        simulated(&trial, &growing(2), SONNET, |cache, tariff| {
            cost::cost(&cost::CostSetup { cache, tariff, outputs: &[0; 3], retention: &Retention::default() })
        })
    };
    // Requests of 4,000, 6,000 and 7,500 tokens beside system prompt and tools. Only the second and the third are large.
    let cost = large(195_000);
    let expected = [(199_000.0 + 201_000.0) * 0.6, 199_000.0 * 3.75 + (2_000.0 + 1_500.0) * 7.5];
    assert_eq!(parts(&cost)[..2], expected.map(|part: f64| (part * 1e3).round() / 1e3));
    assert_eq!(Some(cost.nominal), cost.usd);
}

/// The second call stopped for an advisor after an iteration of its own. A replay whose request is half as large pays for half
/// of their input and for all of their output.
#[test]
fn iterations_of_a_call_cost_in_proportion_to_its_request() {
    let mut conversation = growing(2);
    let other = |model: Option<&str>, usage| Iteration { model: model.map(str::to_owned), usage };
    conversation.calls[1].model = Some(SONNET.to_owned());
    conversation.calls[1].usage = Some(Usage { input: 14_000, ..Usage::default() });
    conversation.calls[1].other_iterations = vec![
        other(None, Usage { cache_read: 10_000, cache_write_1h: 600, output: 50, ..Usage::default() }),
        other(Some("claude-opus-4-5"), Usage { input: 20_000, output: 70, ..Usage::default() }),
    ];
    let cost = |conversation: &Conversation| {
        let trial = Trial { overhead: OVERHEAD, ..Trial::new(preset_with("keep-all", &[])) };
        let journal = trial.replay(conversation, &mut NoObserver);
        let tariff = Tariff::new(conversation, &Prices::built_in(), None);
        let (policy, journal, terms) = (&trial.policy, &journal, tariff.terms());
        let request_tokens = &journal.request_tokens()[..];
        let size = |id: BlockId| trial.counter.unit.block(journal.block(conversation, id), false);
        let initial = InitialState { warm: 0, stable: OVERHEAD };
        let cache = CacheSetup { conversation, policy, journal, request_tokens, terms, initial, events: &[], size: &size };
        let tariff = &tariff;
        parts(&cost::cost(&cost::CostSetup { cache, tariff, outputs: &[0; 3], retention: &Retention::default() }))
    };
    let with = cost(&conversation);
    conversation.calls[1].other_iterations.clear();
    let without = cost(&conversation);
    let added: [f64; 4] = std::array::from_fn(|part| (with[part] - without[part]).round());
    // Sonnet 4.5 reads for .30, writes for an hour for 6 and answers for 15; Opus 4.5 reads for 5 and answers for 25.
    assert_eq!(added, [5_000.0 * 0.3, 300.0 * 6.0 + 10_000.0 * 5.0, 50.0 * 15.0 + 70.0 * 25.0, 0.0]);
}

/// Where breakpoints are is a setting of the policy. After an edit in the middle, breakpoints at the ends read nothing but the
/// stable part of system prompt and tools, and breakpoints at the best places all that is unchanged.
#[test]
fn breakpoints_of_the_policy_decide_what_is_read() {
    let cost = |breakpoints: &str| {
        let policy = preset_with("keep-all", &[&format!("cache.breakpoints={breakpoints}")]);
        let trial = Trial { overhead: OVERHEAD, ..Trial::new(Policy { layers: clear().layers, ..policy }) };
        simulated(&trial, &two_results(), SONNET, |cache, tariff| {
            cost::cost(&cost::CostSetup { cache, tariff, outputs: &[100; 3], retention: &Retention::default() })
        })
    };
    let [ends, best] = ["ends", "best"].map(cost);
    assert!(ends.cache_read < best.cache_read && ends.breaks[0].what.rebilled > best.breaks[0].what.rebilled);
    for (cost, own) in [(&ends, ends.nominal.at_ends), (&best, best.nominal.at_best)] {
        assert!((cost.nominal.total() - own).abs() < 1e-12);
        assert_eq!((cost.nominal.at_ends, cost.nominal.at_best), (ends.nominal.at_ends, best.nominal.at_best));
    }
}

#[test]
fn prefix_break_pays_off_when_freed_tokens_outweigh_it() {
    // Requests of 2,997, 7,000 and 4,013: 3,990 were freed, and a placeholder of 10 is written for 3.75 in place of .30.
    let cost = cost_of(&two_results(), clear(), SONNET, &Retention::default());
    assert_eq!(parts(&cost), [5_997.0 * 0.3, 8_013.0 * 3.75, 300.0 * 15.0, 0.0].map(|part: f64| (part * 1e3).round() / 1e3));
    let [broken] = cost.breaks[..] else { panic!("one break") };
    assert_eq!((broken.call, broken.what.rebilled, broken.what.freed, broken.followed), (2, 10, 3_990, 1));
    // (3.75 − .30) × 10 over .30 × 3,990: Anthropic's 11.5 Σ ÷ s calls.
    let expected = 11.5 * 10.0 / 3_990.0;
    assert!((broken.break_even.expect("something was freed") - expected).abs() < 1e-9);
    assert!((broken.usd.expect("a known price") - 34.5e-6).abs() < 1e-12);
}

#[test]
fn summarizer_that_shares_the_prefix_reads_it_from_cache() {
    let summarize =
        |rides: &str| layer(&format!("do = \"summarize\"\nthreshold = 5_500\nmeter = \"chars\"\nkeep_recent = 0\n{rides}"));
    // At the second call 6,000 characters are over 5,500: a summary of 7 characters, SUMMARY, replaces them.
    let apart = cost_of(&two_results(), summarize(""), SONNET, &Retention::default());
    assert_eq!(parts(&apart)[3], 6_000.0 * 3.0 + 7.0 * 15.0);
    let rides = cost_of(&two_results(), summarize("input.rides_prefix = true"), SONNET, &Retention::default());
    // With system prompt and tools it is 7,000, of which the first request had cached 2,997.
    assert_eq!(parts(&rides)[3], ((2_997.0 * 0.3 + 4_003.0 * 3.75 + 7.0 * 15.0) * 1e3_f64).round() / 1e3);
}

/// The recorded harness replaced a text of 2,000 characters and its answer of 500 by a summary, and a policy does the same.
#[test]
fn recorded_summary_costs_as_much_as_that_of_a_policy() {
    let text = "user: {x*2000}\nassistant: {y*500}\nfold: SUMMARY\nuser: {z*100}\nassistant: ok";
    let mut conversation = notation::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let cost = |conversation: &Conversation, policy: Policy| cost_of(conversation, policy, SONNET, &Retention::default());
    let same = layer("do = \"summarize\"\nthreshold = 2_500\nmeter = \"chars\"\nkeep_recent = 1\ninput.rides_prefix = true");
    let recorded = cost(&conversation, preset_with("recorded", &[]));
    // With system prompt and tools it is 3,500, of which the first request had cached 3,000.
    let summarizer = 3_000.0 * 0.3 + 500.0 * 3.75 + 7.0 * 15.0;
    assert_eq!([parts(&recorded)[3], parts(&cost(&conversation, same))[3]], [summarizer; 2]);
    assert!((recorded.nominal.at_ends - recorded.nominal.total()).abs() < 1e-12);
    assert_eq!(parts(&cost(&conversation, preset_with("keep-all", &[])))[3], 0.0);
    // A bill says what it did cost. It records what was written as input, as Codex does.
    conversation.compactions[0].summary_usage = Some(Usage { input: 700, cache_read: 2_800, output: 20, ..Usage::default() });
    let billed = cost(&conversation, preset_with("recorded", &[]));
    assert_eq!(parts(&billed)[3], 2_800.0 * 0.3 + 700.0 * 3.75 + 20.0 * 15.0);
    let cleared =
        notation::parse("user: a\nassistant: [bash#1 a]\nresult#1: b\nassistant: ok\nclear: #1\nuser: c\nassistant: ok");
    let cleared = cleared.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(parts(&cost(&cleared, preset_with("recorded", &[])))[3], 0.0, "no model was asked");
}

#[test]
fn refetched_results_are_billed_as_written_requested_and_read() {
    let kept = Retention { rereads: vec![Reread { call: 2, tokens: 400 }], ..Retention::default() };
    let cost = cost_of(&growing(2), preset_with("keep-all", &[]), SONNET, &kept);
    // The result is written, the call that fetches it has a hundred tokens of output, and the request of 8,500 is read again.
    let rereads = cost.usd.expect("a known price").rereads;
    assert!((rereads * 1e6 - (400.0 * 3.75 + 100.0 * 15.0 + 8_500.0 * 0.3)).abs() < 1e-6);
    assert_eq!(parts(&cost), parts(&cost_of(&growing(2), preset_with("keep-all", &[]), SONNET, &Retention::default())));
}

/// Returns the conversation with the billed usage of its calls: read, written, output.
fn billed(mut conversation: Conversation, usages: [[u64; 3]; 3]) -> Conversation {
    for (call, [cache_read, cache_write_5m, output]) in conversation.calls.iter_mut().zip(usages) {
        let usage = Usage { cache_read, cache_write_5m, output, ..Usage::default() };
        *call = Call { usage: Some(usage), ..call.clone() };
    }
    conversation
}

fn checked(conversation: &Conversation, mode: CacheMode) -> CostCheck {
    with(conversation, preset_with("recorded", &[]), SONNET, |cache, tariff| cost::check(&cache, tariff, mode))
}

#[test]
fn self_check_compares_the_simulation_with_the_bill() {
    let alike = billed(growing(2), [[0, 5_000, 100], [5_000, 2_000, 100], [7_000, 1_500, 100]]);
    let alike = checked(&alike, CacheMode::Recorded);
    assert_eq!((alike.calls, alike.matching, alike.residual(), alike.events.len()), (3, 3, 0.0, 0));
    // The provider missed the prefix of the third call: 8,500 written for 3.75, where 7,000 should have been read for .30.
    let conversation = billed(growing(2), [[0, 5_000, 100], [5_000, 2_000, 100], [0, 8_500, 100]]);
    let missed = checked(&conversation, CacheMode::Ideal);
    let worst = missed.worst.expect("calls differ");
    assert_eq!((missed.calls, missed.matching), (3, 2));
    assert_eq!((worst.call, worst.recorded_read, worst.simulated_read), (2, 0, 7_000));
    assert_eq!(worst.why, "the prefix was not read, and the record shows no reason");
    let (recorded, simulated) = (15_500.0 * 3.75 + 5_000.0 * 0.3 + 4_500.0, 8_500.0 * 3.75 + 12_000.0 * 0.3 + 4_500.0);
    assert!((missed.residual() - (simulated / recorded - 1.0)).abs() < 1e-9);
    // With what happened to the cache the simulation is exact. Both errors are there.
    let replayed = checked(&conversation, CacheMode::Recorded);
    assert_eq!((replayed.matching, replayed.residual(), replayed.events.len()), (3, 0.0, 1));
    assert_eq!(replayed.ideal_residual(), missed.residual());
}

#[test]
fn impossible_usage_is_not_billed() {
    let usage = |input| Usage { input, ..Usage::default() };
    assert_eq!([1_000_000, u64::MAX].map(|input| usage(input).is_possible()), [true, false]);
    let text = |role: &str, rest: &str| {
        format!(
            r#"{{"type":"{role}","uuid":"{role}","sessionId":"s","message":{{"role":"{role}","content":[{{"type":"text","text":"x"}}]{rest}}}}}"#
        )
    };
    let absurd = format!(
        r#","id":"m","model":"{SONNET}","usage":{{"input_tokens":{0},"cache_read_input_tokens":{0},"output_tokens":{0}}}"#,
        u64::MAX
    );
    let lines = format!("{}\n{}\n", text("user", ""), text("assistant", &absurd));
    let mut reading = (format::by_name("claude-code").expect("a format").read)(lines.as_bytes(), &ReadOptions::default());
    impossible_usage::drop_from(&mut reading);
    assert_eq!(reading.conversations[0].calls.iter().map(|call| call.usage).collect::<Vec<_>>(), [None]);
}
