//! Checks token counts calibrated on the usage of recordings: the rates, and their errors on the half that was not fitted.

use std::collections::{BTreeMap, BTreeSet};

use recompact::analysis::inspect::Inspection;
use recompact::analysis::study::TokenCounter;
use recompact::engine::replay::{NoObserver, ReplaySetup, UNLIMITED, replay};
use recompact::engine::replay_cache::ReplayCache;
use recompact::engine::summarizer::by_name;
use recompact::metrics::prices::Prices;
use recompact::tokens::block_sizes::overhead;
use recompact::tokens::calibration::{Delta, FAMILIES, Fit, MIN_DELTAS, Spread, deltas, estimate, fit, main_model, new_messages};
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::Conversation;

use crate::support::program::fixtures;
use crate::support::transcripts::{files, folder, read};
use crate::support::trial::preset_with;

struct Session {
    name: String,
    conversation: Conversation,
    deltas: Vec<Delta>,
}

fn sessions(format: &str) -> Vec<Session> {
    let mut all = Vec::new();
    for path in files(&folder(format), ".jsonl") {
        for conversation in read(&path, format).conversations {
            let name = format!("{} {}", path.file_stem().unwrap_or_default().to_string_lossy(), conversation.name);
            let deltas = deltas(&conversation);
            all.push(Session { name, conversation, deltas });
        }
    }
    all
}

fn say(name: &str, spread: Spread, deltas: usize) {
    let Spread { ratio, error, p10, p90 } = spread;
    println!("{name:44} estimated ÷ recorded {ratio:.3}, median error {error:.3}, p10–p90 {p10:.2}–{p90:.2}, {deltas} deltas");
}

/// Returns the pairs of estimated and recorded tokens of deltas, for a unit with a divisor.
fn by_measure(session: &Session, measure: SizeUnit, by: f64) -> Vec<f64> {
    let of = |delta: &Delta| {
        let blocks = new_messages(&session.conversation, delta.call).iter().flat_map(|message| &message.blocks);
        blocks.map(|id| measure.block(session.conversation.block(*id), false)).sum::<u64>() as f64 / by
    };
    session.deltas.iter().map(of).collect()
}

fn recorded<'a>(session: &'a Session, estimates: Vec<f64>) -> impl Iterator<Item = (f64, u64)> + 'a {
    estimates.into_iter().zip(session.deltas.iter().map(|delta| delta.tokens))
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn calibration_predicts_the_held_out_half_of_recordings() {
    let sessions: Vec<_> = sessions("claude-code");
    let long: Vec<&Session> = sessions.iter().filter(|session| session.deltas.len() >= MIN_DELTAS).collect();
    assert!(!long.is_empty(), "no session has {MIN_DELTAS} deltas");
    let mut pooled: BTreeMap<&str, Vec<(f64, u64)>> = BTreeMap::new();
    for session in &long {
        let fitted = Fit::from_deltas(&session.deltas).expect("enough deltas");
        say(&session.name, fitted.spread, session.deltas.len());
        println!("    {:?} {:?}", main_model(&session.conversation).unwrap_or("–"), fitted.rates);
        assert!(fitted.spread.error < 0.4, "{}", session.name);
        pooled.entry("recorded").or_default().extend(recorded(session, fitted.held_out));
        pooled.entry("chars/4").or_default().extend(recorded(session, by_measure(session, SizeUnit::Chars, 4.0)));
        pooled.entry("o200k").or_default().extend(recorded(session, by_measure(session, SizeUnit::O200k, 1.0)));
    }
    println!("{} sessions together:", long.len());
    let mut errors = BTreeMap::new();
    for (name, pairs) in pooled {
        let deltas = pairs.len();
        let spread = Spread::from_pairs(pairs).expect("deltas");
        say(name, spread, deltas);
        errors.insert(name, spread.error);
    }
    assert!(errors["recorded"] < 0.15 && errors["recorded"] < errors["o200k"] && errors["o200k"] < errors["chars/4"]);
}

/// Computes and prints the constants of the families, and compares them with the source.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn model_family_rates_equal_the_fit_of_all_recordings() {
    let sessions: Vec<_> = sessions("claude-code");
    let all = |wanted: &dyn Fn(usize) -> bool| -> Vec<Delta> {
        sessions.iter().enumerate().filter(|(at, _)| wanted(*at)).flat_map(|(_, session)| session.deltas.clone()).collect()
    };
    let family = FAMILIES[0];
    let rates = fit(&all(&|_| true)).expect("deltas");
    let by_others = |at: usize| {
        let rates = fit(&all(&|other| other != at)).expect("deltas");
        let session = &sessions[at];
        recorded(session, session.deltas.iter().map(|delta| estimate(&rates, delta)).collect()).collect::<Vec<_>>()
    };
    let spread = Spread::from_pairs((0..sessions.len()).flat_map(by_others)).expect("deltas");
    println!("{}: {rates:?}", family.name);
    say("each session by the others", spread, all(&|_| true).len());
    let mut models: BTreeMap<&str, Vec<Delta>> = BTreeMap::new();
    for session in &sessions {
        for delta in &session.deltas {
            let model = session.conversation.calls[delta.call].model.as_deref().unwrap_or("–");
            models.entry(model).or_default().push(delta.clone());
        }
    }
    for (model, deltas) in models {
        println!("    {model}: {:?} of {} deltas", fit(&deltas), deltas.len());
    }
    assert_eq!(family.rates, rates);
    let rounded = |value: f64| (value * 1e3).round() / 1e3;
    let known = [family.spread.ratio, family.spread.error, family.spread.p10, family.spread.p90];
    assert_eq!(known, [spread.ratio, spread.error, spread.p10, spread.p90].map(rounded));
}

/// Replays the record by its own usage. Returns the number of requests, how many had exactly the recorded usage, and
/// how many must have it: those since the first, or since everything was replaced, with nothing unknown in between.
fn exact(conversation: &Conversation) -> [usize; 3] {
    let counting = TokenCounter::Recorded.resolve(conversation);
    let policy = preset_with("recorded", &[]);
    let sizes = counting.sizes(conversation, policy.units());
    let shared = ReplayCache::new(conversation);
    let overhead = overhead(conversation, &sizes, counting.meter);
    let summarizer = by_name("extract").expect("a summarizer");
    let setup = ReplaySetup::new(conversation, &sizes, &policy, counting.meter, &shared);
    let setup = ReplaySetup { window: UNLIMITED, overhead, summarizer: &*summarizer, ..setup };
    let measured: BTreeSet<usize> = deltas(conversation).iter().map(|delta| delta.call).collect();
    let (mut known, mut counts) = (false, [0; 3]);
    let mut far = Vec::new();
    for request in replay(&setup, &mut NoObserver).requests {
        let usage = conversation.calls[request.call].usage.map_or(0, |usage| usage.request());
        let first = request.call == 0 && usage > 0;
        let is_replaced = conversation.calls[..=request.call].last().is_some_and(|call| {
            let before = request.call.checked_sub(1).map_or(0, |before| conversation.calls[before].response);
            conversation
                .compactions
                .iter()
                .any(|compaction| compaction.message_index > before && compaction.message_index <= call.response)
        });
        known = first || (known && !is_replaced && measured.contains(&request.call));
        let is_exact = request.tokens == usage;
        assert!(is_exact || !known, "{}: call {}: {} for {usage}", conversation.name, request.call, request.tokens);
        if usage > 0 {
            far.push(request.tokens as f64 / usage as f64 - 1.0);
        }
        for (count, one) in counts.iter_mut().zip([usage > 0, is_exact && usage > 0, known]) {
            *count += usize::from(one);
        }
    }
    far.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let middle = far.get(far.len() / 2).copied().unwrap_or(0.0);
    let worst = far.last().copied().unwrap_or(0.0);
    println!("    {}: {} requests, median {middle:+.4} off, worst {worst:+.3}", conversation.name, far.len());
    counts
}

#[test]
fn replayed_tokens_of_unedited_history_equal_recorded_usage() {
    for name in ["repair.jsonl", "kept-tail.jsonl"] {
        for conversation in read(&fixtures().join("claude-code").join(name), "claude-code").conversations {
            let [requests, exact, known] = exact(&conversation);
            println!("{name} {}: {requests} requests, {exact} exact, {known} known to be", conversation.name);
            assert!(known > 0, "{name}");
        }
    }
}

/// A meter's estimate of what entered is the difference of two whole lists of messages.
#[test]
fn meter_estimate_of_a_delta_equals_growth_of_the_request() {
    let path = fixtures().join("claude-code/repair.jsonl");
    let reading = read(&path, "claude-code");
    let conversation = &reading.conversations[0];
    let whole = |measure: SizeUnit, messages: usize| {
        let sum = conversation.messages[..messages].iter().map(|message| {
            let blocks = message.blocks.iter().map(|id| measure.block(conversation.block(*id), message.is_string_content));
            measure.message(message.role, message.is_string_content, message.blocks.len(), blocks.sum())
        });
        measure.list(messages, sum.sum())
    };
    let inspection = Inspection::all("repair.jsonl", &reading, TokenCounter::Own, &Prices::built_in(), None).remove(0);
    let meters = [("chars/4", SizeUnit::Chars), ("py-repr/4", SizeUnit::PyRepr), ("js-json/4", SizeUnit::JsJson)];
    for (name, measure) in meters {
        let check = inspection.meters.iter().find(|check| check.meter == name).expect("a meter");
        let deltas = deltas(conversation);
        let expected = deltas.iter().map(|delta| {
            let [before, after] = [delta.call - 1, delta.call].map(|call| whole(measure, conversation.calls[call].response));
            (((after - before) / 4) as f64, delta.tokens)
        });
        assert_eq!(check.pairs, expected.collect::<Vec<_>>(), "{name}");
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn replayed_tokens_of_recordings_equal_recorded_usage() {
    let counts: Vec<_> = sessions("claude-code").iter().map(|session| exact(&session.conversation)).collect();
    let [requests, exact, known] = [0, 1, 2].map(|of| counts.iter().map(|count| count[of]).sum::<usize>());
    println!("{requests} requests with usage, {exact} exact, {known} known to be");
}
