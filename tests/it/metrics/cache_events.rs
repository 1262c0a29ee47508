//! Cache events: what happened to the cache of a recorded session happens to every policy.

use recompact::engine::policy::Policy;
use recompact::engine::replay::NoObserver;
use recompact::metrics::prompt_cache::{
    CacheEvent, CacheEventKind, CacheSetup, CacheTerms, CacheUse, InitialState, Provider, simulate, simulate_record,
};
use recompact::transcript::conversation::{BlockId, Conversation, MINUTE, Thinking, Usage};

use crate::support::generate;
use crate::support::trace::{clear, growing, two_results};
use crate::support::trial::{Trial, preset_with, trials};

/// Tokens of system prompt and tools.
const OVERHEAD: u64 = 1_000;

/// Calls `work` with the cache of a replay, every request of which is long enough to be cached.
fn with_cache<T>(
    conversation: &Conversation,
    trial: &Trial,
    provider: &str,
    events: &[CacheEvent],
    work: impl Fn(&CacheSetup) -> T,
) -> T {
    let journal = trial.replay(conversation, &mut NoObserver);
    let provider = Provider::by_name(provider).expect(provider);
    let terms = vec![CacheTerms { provider, min_tokens: 0, long: false, model: 0 }; conversation.calls.len()];
    let size = |id: BlockId| trial.counter.unit.block(journal.block(conversation, id), false);
    let initial = InitialState { warm: 0, stable: OVERHEAD };
    let (policy, journal, terms, request_tokens) = (&trial.policy, &journal, &terms[..], &journal.request_tokens()[..]);
    work(&CacheSetup { conversation, policy, journal, request_tokens, terms, initial, events, size: &size })
}

fn trial(policy: Policy) -> Trial {
    Trial { overhead: OVERHEAD, ..Trial::new(policy) }
}

/// Returns the tokens that each request reads.
fn reads(conversation: &Conversation, policy: Policy, events: &[CacheEvent]) -> Vec<u64> {
    with_cache(conversation, &trial(policy), "anthropic", events, |setup| {
        simulate(setup).iter().map(|cache_use| cache_use.read).collect()
    })
}

/// Records the usage of each call: the tokens of its request, and how many of them were read from the cache.
fn record(conversation: &mut Conversation, usages: &[(u64, u64)]) {
    for (call, (request, cache_read)) in conversation.calls.iter_mut().zip(usages) {
        let usage = Usage { cache_read: *cache_read, cache_write_5m: request - cache_read, ..Usage::default() };
        call.usage = Some(usage);
    }
}

fn events_of(conversation: &Conversation) -> Vec<CacheEvent> {
    with_cache(conversation, &trial(preset_with("recorded", &[])), "anthropic", &[], |setup| simulate_record(setup).1)
}

/// Requests of 5,000, 7,000 and 8,500 tokens, the third after a pause; what the third read, and what happened to it.
#[test]
fn read_that_the_rules_do_not_explain_is_an_event() {
    use CacheEventKind::{Evicted, Extended, LivedOn};
    let cases = [
        (1, 7_000, None),
        // A difference of at most half a percent of the request may be an error of the token count.
        (1, 6_958, None),
        (1, 6_957, Some(Evicted)),
        (1, 1_000, Some(Evicted)),
        (1, 0, Some(Evicted)),
        (1, 7_042, None),
        (1, 7_043, Some(Extended)),
        // The prefix expires after five minutes.
        (9, 0, None),
        (9, 1_000, Some(LivedOn)),
        (9, 7_000, Some(LivedOn)),
    ];
    for (minutes, read, expected) in cases {
        let mut conversation = growing(1 + minutes);
        record(&mut conversation, &[(5_000, 0), (7_000, 5_000), (8_500, read)]);
        let events = events_of(&conversation);
        let kinds: Vec<_> = events.iter().map(|event| (event.call, event.kind)).collect();
        assert_eq!(kinds, expected.map_or(vec![], |kind| vec![(2, kind)]), "{minutes} minutes, {read} read");
        if expected.is_some() {
            assert_eq!(reads(&conversation, preset_with("keep-all", &[]), &events), [0, 5_000, read], "{read} read");
        }
    }
}

/// Requests of 2,997, 7,000 and 8,003 tokens. `clear` makes the third one 4,013; without events it reads 2,997 of them.
#[test]
fn eviction_happens_to_every_policy() {
    let mut conversation = two_results();
    let third_read = |read: u64, conversation: &mut Conversation| {
        record(conversation, &[(2_997, 0), (7_000, 2_997), (8_003, read)]);
        let events = events_of(conversation);
        [preset_with("keep-all", &[]), clear()].map(|policy| reads(conversation, policy, &events)[2])
    };
    assert_eq!(third_read(7_000, &mut conversation), [7_000, 2_997]);
    assert_eq!(third_read(1_000, &mut conversation), [1_000, 1_000], "only system prompt and tools were left");
    assert_eq!(third_read(2_500, &mut conversation), [2_500, 2_500], "a part of the first message was left");
    // In the middle of the first result, which `clear` replaced: it reads what it would have read.
    assert_eq!(third_read(5_000, &mut conversation), [5_000, 2_997]);
}

/// The third request comes nine minutes after the second response, and its prefix of 7,000 was cached all the same. So it is there for
/// every policy: `clear` sends 3,010 of it, breaks the rest, and reads 2,997, as it would within the five minutes.
#[test]
fn prefix_that_lived_on_is_ready_and_can_be_broken() {
    let mut conversation = two_results();
    conversation.messages[4].time = Some(10 * MINUTE);
    conversation.calls[2].time = Some(10 * MINUTE);
    record(&mut conversation, &[(2_997, 0), (7_000, 2_997), (8_003, 7_000)]);
    let events = events_of(&conversation);
    assert_eq!(events.iter().map(|event| (event.call, event.kind)).collect::<Vec<_>>(), [(2, CacheEventKind::LivedOn)]);
    let third = |policy: Policy, events: &[CacheEvent]| {
        with_cache(&conversation, &trial(policy), "anthropic", events, |setup| simulate(setup)[2])
    };
    let ideal = third(preset_with("keep-all", &[]), &[]);
    assert_eq!((ideal.expired, ideal.ready, ideal.read), (true, 0, 0));
    let whole = third(preset_with("keep-all", &[]), &events);
    assert_eq!((whole.expired, whole.ready, whole.read, whole.broken), (false, 7_000, 7_000, None));
    let cleared = third(clear(), &events);
    assert_eq!((cleared.expired, cleared.ready, cleared.read), (false, 3_010, 2_997));
    // Of 4,013 tokens 1,003 are new and 2,997 are read.
    let broken = cleared.broken.expect("the prefix was alive");
    assert_eq!((broken.layer, broken.rebilled, broken.freed), (0, 13, 3_990));
}

/// An unseen request had sent the second response too. That helps only a request that begins like the last one.
#[test]
fn larger_read_helps_only_an_unedited_request() {
    let mut conversation = two_results();
    record(&mut conversation, &[(2_997, 0), (7_000, 2_997), (8_003, 7_500)]);
    let events = events_of(&conversation);
    assert_eq!(reads(&conversation, preset_with("keep-all", &[]), &events)[2], 7_500);
    assert_eq!(reads(&conversation, clear(), &events)[2], 3_000, "the common prefix, but not what follows the edit");
}

/// Returns the conversation with reads that have nothing to do with the rules of the provider.
fn with_random_reads(steps: &[generate::Step]) -> Conversation {
    let mut conversation = generate::conversation(steps, Thinking::Turn);
    let simulated = with_cache(&conversation, &trial(preset_with("recorded", &[])), "other", &[], simulate);
    let random = |at: usize, tokens: u64| tokens * ((at as u64 * 7_919 + tokens) % 101) / 100;
    let usages: Vec<_> = simulated.iter().enumerate().map(|(at, of_call)| (of_call.tokens, random(at, of_call.tokens))).collect();
    record(&mut conversation, &usages);
    conversation
}

#[test]
fn replayed_record_reads_what_was_recorded() {
    generate::check(8, |steps| {
        let conversation = with_random_reads(steps);
        let record = trial(preset_with("recorded", &[]));
        let events = with_cache(&conversation, &record, "other", &[], |setup| simulate_record(setup).1);
        let served = with_cache(&conversation, &record, "other", &events, simulate);
        for (of_call, recorded) in served.iter().zip(&conversation.calls).skip(1) {
            let usage = recorded.usage.expect("a recorded usage");
            let differs = of_call.read_at_ends.abs_diff(usage.cache_read) as f64 > 0.005 * usage.request() as f64 + 1.0;
            // After a recorded edit a request reads at most what both requests have in common.
            assert!(!differs || of_call.broken.is_some(), "{of_call:?}, recorded {usage:?} {events:?}");
        }
    });
}

#[test]
fn evictions_never_make_a_request_read_more() {
    let trials: Vec<_> = trials().into_iter().map(|trial| Trial { overhead: OVERHEAD, ..trial }).collect();
    generate::check_in_turn(4, &trials, |steps, trials| {
        let conversation = with_random_reads(steps);
        let record = trial(preset_with("recorded", &[]));
        let events = with_cache(&conversation, &record, "other", &[], |setup| simulate_record(setup).1);
        let evicted: Vec<_> = events.iter().filter(|event| event.kind == CacheEventKind::Evicted).copied().collect();
        for trial in trials {
            let served = |events: &[CacheEvent]| with_cache(&conversation, trial, "other", events, simulate);
            let name = &trial.policy.name;
            for (ideal, after) in served(&[]).iter().zip(served(&evicted)) {
                assert!(after.read_at_ends <= ideal.read_at_ends && after.ready <= ideal.ready, "{name}: {ideal:?}, {after:?}");
            }
            for CacheUse { read_at_ends, read_at_best, tokens, .. } in served(&events) {
                assert!(read_at_ends <= read_at_best && read_at_best <= tokens, "{name}");
            }
        }
    });
}
