//! Checks the prompt cache on traces that are small enough to compute by hand.

use recompact::engine::policy::{Breakpoints, CacheSettings, Policy};
use recompact::engine::replay::NoObserver;
use recompact::metrics::prompt_cache::{CacheSetup, CacheTerms, CacheUse, InitialState, PROVIDERS, Provider, simulate};
use recompact::transcript::conversation::{Block, BlockId, BlockKind, Conversation, MINUTE, Usage, text_wire};

use crate::support::trace::Holds::{Result as Answer, Text, Thought, ThoughtUse, Use};
use crate::support::trace::{behind_a_breakpoint, clear, conversation, growing, layer, two_results};
use crate::support::trial::{Trial, preset_with};

/// Tokens of system prompt and tools.
const OVERHEAD: u64 = 1_000;

fn keep_all() -> Policy {
    preset_with("keep-all", &[])
}

fn served(conversation: &Conversation, policy: Policy, provider: &str, min_tokens: u64, before: InitialState) -> Vec<CacheUse> {
    let provider = Provider::by_name(provider).expect(provider);
    let terms = vec![CacheTerms { provider, min_tokens, long: false, model: 0 }; conversation.calls.len()];
    served_by(conversation, policy, &terms, before)
}

fn served_by(conversation: &Conversation, policy: Policy, terms: &[CacheTerms], before: InitialState) -> Vec<CacheUse> {
    let policy = Policy { cache: CacheSettings { breakpoints: Breakpoints::Best }, ..policy };
    let trial = Trial { overhead: OVERHEAD, ..Trial::new(policy) };
    let journal = trial.replay(conversation, &mut NoObserver);
    let size = |id: BlockId| trial.counter.unit.block(journal.block(conversation, id), false);
    let request_tokens = &journal.request_tokens()[..];
    let policy = &trial.policy;
    let setup =
        CacheSetup { conversation, policy, journal: &journal, request_tokens, terms, initial: before, events: &[], size: &size };
    simulate(&setup)
}

/// Terms of Anthropic's cache.
fn anthropic(long: bool, model: usize) -> CacheTerms {
    CacheTerms { provider: Provider::by_name("anthropic").expect("a provider"), min_tokens: 1_024, long, model }
}

/// Returns the tokens of each request, and the tokens it read with breakpoints at the best places and at the ends.
fn reads(served: &[CacheUse]) -> Vec<[u64; 3]> {
    served.iter().map(|of_call| [of_call.tokens, of_call.read, of_call.read_at_ends]).collect()
}

/// Nothing was cached before; half of the overhead is stable.
const COLD: InitialState = InitialState { warm: 0, stable: 500 };

#[test]
fn each_provider_reads_the_prefix_by_its_own_rules() {
    // A minute, six, twenty and forty minutes between the second response and the third request.
    let cases = [
        ("anthropic", 1_024, [7_000, 0, 0, 0]),
        ("anthropic", 6_000, [7_000, 0, 0, 0]),
        // As long as the second request, which is cached; one token more, and it is not.
        ("anthropic", 7_000, [7_000, 0, 0, 0]),
        ("anthropic", 7_001, [0, 0, 0, 0]),
        ("openai", 1_024, [6_912, 6_912, 0, 0]),
        ("openai-5.5", 1_024, [6_528, 6_528, 0, 0]),
        ("openai-5.6", 1_024, [5_888, 5_888, 5_888, 0]),
        ("gemini", 2_048, [7_000, 0, 0, 0]),
        ("other", 1_024, [7_000, 0, 0, 0]),
    ];
    for (provider, min_tokens, third) in cases {
        for (minutes, third) in [1, 6, 20, 40].into_iter().zip(third) {
            let second = match provider {
                _ if min_tokens > 5_000 => 0,
                "openai" | "openai-5.5" => 4_992, // 39 × 128, 10 × 512 - 128
                "openai-5.6" => 4_864,            // 5 × 1,024 - 256
                _ => 5_000,
            };
            let served = served(&growing(1 + minutes), keep_all(), provider, min_tokens, COLD);
            let expected = [[5_000, 0, 0], [7_000, second, second], [8_500, third, third]];
            assert_eq!(reads(&served), expected, "{provider}, {min_tokens}, {minutes} minutes");
            assert_eq!(
                served.iter().map(|of_call| of_call.is_cached).collect::<Vec<_>>(),
                [5_000, 7_000, 8_500].map(|n| n >= min_tokens)
            );
            assert!(served.iter().all(|of_call| of_call.broken.is_none()));
        }
    }
    assert_eq!(PROVIDERS.len(), 6, "a provider without a case");
}

#[test]
fn one_hour_cache_lives_for_an_hour() {
    let anthropic = Provider::by_name("anthropic").expect("a provider");
    assert_eq!([false, true].map(|long| anthropic.lifetime(long)), [5.0, 60.0]);
}

#[test]
fn first_request_reads_a_cache_written_before_the_session() {
    let first = |warm| reads(&served(&growing(2), keep_all(), "anthropic", 1_024, InitialState { warm, stable: 900 }))[0];
    assert_eq!([1_500, 900].map(first), [[5_000, 1_500, 1_500], [5_000, 0, 0]]);
}

#[test]
fn next_request_writes_what_was_behind_the_last_breakpoint() {
    let mut recorded = behind_a_breakpoint();
    let of = |conversation: &Conversation, provider: &str| {
        let served = served(conversation, keep_all(), provider, 1_024, COLD);
        assert!(served.iter().all(|of_call| of_call.broken.is_none()));
        [[served[0].unwritten, served[1].ready], [served[1].unwritten, served[1].read_at_ends]]
    };
    let all_written = [[0, 5_000], [0, 5_000]];
    assert_eq!(of(&recorded, "anthropic"), [[1_000, 4_000], [0, 4_000]]);
    assert_eq!(reads(&served(&recorded, keep_all(), "anthropic", 1_024, COLD))[2], [8_500, 7_000, 7_000]);
    assert_eq!(of(&recorded, "gemini"), all_written, "a provider without breakpoints");
    // More than the second request does not read: the result that it brought was larger.
    recorded.calls[1].usage = Some(Usage { input: 9_000, ..Usage::default() });
    assert_eq!(of(&recorded, "anthropic"), [[1_000, 4_000], [3_000, 4_000]]);
    recorded.calls[1].usage = None;
    recorded.calls[0].usage = Some(Usage { input: 100, cache_write_5m: 4_900, ..Usage::default() });
    assert_eq!(of(&recorded, "anthropic"), all_written, "a handful");
    // Without any recorded write, input is all that the record knows.
    recorded.calls.iter_mut().for_each(|call| call.usage = Some(Usage { input: 5_000, ..Usage::default() }));
    assert_eq!(of(&recorded, "anthropic"), all_written);
}

#[test]
fn edit_rebills_every_token_behind_it() {
    let served = served(&two_results(), clear(), "anthropic", 1_024, COLD);
    // The third request is 3,990 shorter; its prefix ends with the tool_use before the cleared result, and no request ended
    // there. The nearest request that ended before it is the first, of 2,997.
    assert_eq!(reads(&served), [[2_997, 0, 0], [7_000, 2_997, 2_997], [4_013, 3_000, 2_997]]);
    let broken = served[2].broken.expect("the prefix was alive");
    // Only the placeholder is billed again; the second tool_use and its result are new.
    assert_eq!((broken.layer, broken.rebilled, broken.freed), (0, 10, 3_990));
    assert_eq!(served[2].ready, 7_000);
}

#[test]
fn edit_of_an_expired_prefix_is_no_break() {
    let late = conversation(&[(0, Text(1_997)), (0, Use), (1, Answer(4_000)), (1, Use), (9, Answer(1_000)), (9, Text(100))]);
    let served = served(&late, clear(), "anthropic", 1_024, COLD);
    assert_eq!(reads(&served)[2], [4_013, 0, 0]);
    assert!(served[2].expired && served[2].broken.is_none());
}

#[test]
fn prefix_too_short_to_cache_is_never_broken() {
    let served = served(&two_results(), clear(), "anthropic", 7_001, COLD);
    assert!(!served[1].is_cached && served[2].ready == 0 && served[2].broken.is_none());
}

#[test]
fn summarized_messages_are_not_counted_as_entered() {
    let summarize = layer("do = \"summarize\"\nthreshold = 5_500\nmeter = \"chars\"\nkeep_recent = 0");
    let served = served(&two_results(), summarize, "anthropic", 500, COLD);
    // Only a summary of 20 is left; it replaces the last response and its result, of 4,003.
    assert_eq!(reads(&served)[1], [1_020, 1_000, 500]);
    let broken = served[1].broken.expect("the prefix was alive");
    assert_eq!((broken.rebilled, broken.freed), (20, 2_997 - 1_020));
}

#[test]
fn dropped_thinking_is_not_counted_as_freed_by_an_edit() {
    let turns =
        [(0, Text(1_997)), (0, ThoughtUse(700)), (1, Answer(4_000)), (1, Thought(600, 50)), (2, Text(100)), (2, Text(10))];
    let at_turns = layer("do = \"clear\"\nwhen = \"user-turn\"\nkeep_recent = 0\nplaceholder = \"0123456789\"");
    let served = served(&conversation(&turns), at_turns, "anthropic", 1_024, COLD);
    assert_eq!(served.iter().map(|of_call| of_call.tokens).collect::<Vec<_>>(), [2_997, 7_700, 3_160]);
    let broken = served[2].broken.expect("the prefix was alive");
    assert_eq!((broken.layer, broken.rebilled, broken.freed), (0, 10, 3_990));
}

#[test]
fn server_side_edit_breaks_no_prefix() {
    let on_server = layer("do = \"clear\"\nkeep_recent = 1\nplaceholder = \"0123456789\"\nscope = \"server\"");
    let served = served(&two_results(), on_server, "anthropic", 1_024, COLD);
    // The request reads everything but the newest exchange: 1,000 + 1,997 + 3 + 10.
    assert_eq!(reads(&served)[2], [4_013, 3_010, 3_010]);
    assert!(served[2].broken.is_none());
}

#[test]
fn dropped_thinking_breaks_no_prefix() {
    let turns = [(0, Text(1_997)), (0, ThoughtUse(700)), (1, Answer(4_000)), (1, Text(100)), (2, Text(40)), (2, Text(10))];
    // The third request is 700 shorter, because thinking was dropped: 2,997 tokens precede it, and 7,000 were sent before.
    for (provider, second, third) in [("anthropic", 2_997, 7_000), ("openai-5.6", 2_816, 5_888), ("openai", 2_944, 6_912)] {
        let served = served(&conversation(&turns), keep_all(), provider, 1_024, COLD);
        let expected = [[2_997, 0, 0], [7_700, second, second], [7_140, third, third]];
        assert_eq!(reads(&served), expected, "{provider}");
        assert!(served.iter().all(|of_call| of_call.broken.is_none()), "no layer did it");
    }
}

/// Before the third request a layer cuts the 700 characters of the first response to 10: thinking, or text of as many bytes.
#[test]
fn thinking_that_a_layer_edits_breaks_the_prefix_like_text() {
    let cut = layer(
        "do = \"truncate\"\nwhen = { calls = 2 }\nparts = [\"thinking\", \"text\"]\nmax_chars = 600\nkeep_head = 9\nkeep_tail = 0\nmarker = \"-\"",
    );
    let turns = [(0, Text(500)), (0, ThoughtUse(700)), (1, Answer(4_000)), (1, Use), (2, Answer(1_000)), (2, Text(100))];
    let thought = conversation(&turns);
    let mut said = thought.clone();
    said.blocks[1] = Block { kind: BlockKind::Text, wire: text_wire("t".repeat(700)), ..said.blocks[1].clone() };
    for conversation in [thought, said] {
        let served = &served(&conversation, cut.clone(), "anthropic", 500, COLD);
        assert_eq!(reads(served), [[1_500, 0, 0], [6_203, 1_500, 1_500], [6_516, 1_500, 1_500]]);
        let broken = served[2].broken.expect("the prefix was alive");
        assert_eq!((broken.layer, broken.rebilled, broken.freed), (0, 4_013, 690));
    }
}

#[test]
fn request_cleared_equally_each_time_keeps_its_prefix() {
    let anew = layer("do = \"clear\"\nkeep_recent = 1\nplaceholder = \"0123456789\"\nscope = \"request\"");
    let long: Vec<_> =
        (0..12).flat_map(|minute| [(minute, if minute == 0 { Text(2_000) } else { Answer(1_000) }), (minute, Use)]).collect();
    let [state, anew] = [clear(), anew].map(|policy| served(&conversation(&long), policy, "anthropic", 1_024, COLD));
    assert_eq!(reads(&anew), reads(&state));
}

#[test]
fn cache_marks_are_found_only_within_the_look_back() {
    // 24 results; then all but the last five are cleared at once, so the first difference is far before the end.
    let long: Vec<_> =
        (0..25).flat_map(|minute| [(minute, if minute == 0 { Text(2_000) } else { Answer(1_000) }), (minute, Use)]).collect();
    let batch = layer("do = \"clear\"\nkeep_recent = 5\nplaceholder = \"0123456789\"\nclear_at_least = 18_000");
    let served = served(&conversation(&long), batch, "anthropic", 1_024, InitialState { warm: 0, stable: 1_000 });
    let cleared: Vec<_> = served.iter().filter(|of_call| of_call.broken.is_some()).collect();
    // Below the minimum of 1,024 nothing is read: the 1,000 of system prompt and tools are too short.
    assert_eq!(cleared.iter().map(|of_call| [of_call.read, of_call.read_at_ends]).collect::<Vec<_>>(), [[3_003, 0]]);
}

#[test]
fn each_model_has_its_own_cache() {
    let of_models = |models: [usize; 3], before: InitialState| {
        reads(&served_by(&growing(2), keep_all(), &models.map(|model| anthropic(false, model)), before))
    };
    // The third request finds what the first had written.
    assert_eq!(of_models([0, 1, 0], COLD), [[5_000, 0, 0], [7_000, 0, 0], [8_500, 5_000, 5_000]]);
    // What was warm when the conversation began is read by its first request, whichever model that asks, and by no other.
    let warm = InitialState { warm: 1_500, stable: 500 };
    assert_eq!(of_models([0, 1, 0], warm), [[5_000, 1_500, 1_500], [7_000, 0, 0], [8_500, 5_000, 5_000]]);
    assert_eq!(of_models([1, 0, 2], warm), [[5_000, 1_500, 1_500], [7_000, 0, 0], [8_500, 0, 0]]);
}

/// Twenty minutes between the second response and the third request. The third pays for its own prefix, not for that of the second.
#[test]
fn prefix_lives_as_long_as_the_last_request_paid_for() {
    for (long, third) in [([false, true, false], 7_000), ([true, false, true], 0)] {
        let served = served_by(&growing(21), keep_all(), &long.map(|long| anthropic(long, 0)), COLD);
        assert_eq!(reads(&served), [[5_000, 0, 0], [7_000, 5_000, 5_000], [8_500, third, third]], "{long:?}");
        let states: Vec<_> = served.iter().map(|of_call| (of_call.ready, of_call.expired)).collect();
        assert_eq!(states, [(0, false), (5_000, false), (third, third == 0)], "{long:?}");
    }
}

/// A prefix lives for five minutes: with the clock of the responses it was last used at minute 1, when the second response came.
#[test]
fn prefix_without_the_time_of_its_response_lives_from_its_request_on() {
    let third = |minute: i64, change: &dyn Fn(&mut Conversation)| {
        let mut conversation = growing(minute);
        change(&mut conversation);
        let served = served(&conversation, keep_all(), "anthropic", 1_024, COLD);
        assert_eq!(reads(&served)[..2], [[5_000, 0, 0], [7_000, 5_000, 5_000]]);
        (served[2].read, served[2].expired)
    };
    let without_responses = |conversation: &mut Conversation| conversation.calls.iter_mut().for_each(|call| call.time = None);
    let late_response = |conversation: &mut Conversation| conversation.calls[1].time = Some(3 * MINUTE);
    let without_clock = |conversation: &mut Conversation| {
        without_responses(conversation);
        conversation.messages.iter_mut().for_each(|message| message.time = None);
    };
    assert_eq!([6, 7].map(|minute| third(minute, &|_| ())), [(7_000, false), (0, true)]);
    assert_eq!([6, 7].map(|minute| third(minute, &without_responses)), [(7_000, false), (0, true)]);
    assert_eq!([8, 9].map(|minute| third(minute, &late_response)), [(7_000, false), (0, true)]);
    assert_eq!([7, 9_999].map(|minute| third(minute, &without_clock)), [(7_000, false); 2]);
}

/// The text is cut to 1,000 characters in the same way for each request, and the first result is replaced for the third: 2,000, then
/// 6,003, then 3,016 tokens. The third differs from the second where the result was, behind 2,003.
#[test]
fn break_is_by_the_layer_that_changed_the_prefix() {
    let toml = r#"
        name = "two"
        [[layer]]
        id = "cap"
        do = "truncate"
        scope = "request"
        parts = ["text"]
        max_chars = 1_000
        keep_head = 1_000
        keep_tail = 0
        marker = ""
        [[layer]]
        id = "micro"
        do = "clear"
        scope = "request"
        keep_recent = 1
        clear_at_least = 1
        placeholder = "0123456789"
    "#;
    let policy = Policy::parse(toml, "two", &[]).unwrap_or_else(|error| panic!("{error}"));
    let served = served(&two_results(), policy, "anthropic", 1_024, COLD);
    assert_eq!(reads(&served), [[2_000, 0, 0], [6_003, 2_000, 2_000], [3_016, 2_003, 2_000]]);
    let broken = served[2].broken.expect("the prefix was alive");
    // The placeholder is billed again, as after the edit alone; 4,000 became 10.
    assert_eq!((broken.layer, broken.rebilled, broken.freed), (1, 10, 3_990));
}

/// The first call shows what was warm, the least that a later one read what is stable, but no more than the overhead. A call that read
/// nothing found its prefix expired: it does not show that nothing is stable.
#[test]
fn initial_state_is_what_the_record_shows() {
    let cases: [(&[u64], u64, InitialState); 5] = [
        (&[], 1_000, InitialState { warm: 0, stable: 1_000 }),
        (&[1_500], 1_000, InitialState { warm: 1_500, stable: 1_000 }),
        (&[1_500, 0, 1_200, 900, 0], 1_000, InitialState { warm: 1_500, stable: 900 }),
        (&[0, 1_200, 900], 800, InitialState { warm: 0, stable: 800 }),
        (&[300, 0, 0], 1_000, InitialState { warm: 300, stable: 1_000 }),
    ];
    for (cache_reads, overhead, expected) in cases {
        let messages = [(0, Text(10)), (0, Text(10))].repeat(5);
        let mut conversation = conversation(&messages);
        for (call, cache_read) in conversation.calls.iter_mut().zip(cache_reads) {
            call.usage = Some(Usage { cache_read: *cache_read, input: 5, ..Usage::default() });
        }
        // Of a call without tokens nothing is known.
        conversation.calls.iter_mut().skip(cache_reads.len()).for_each(|call| call.usage = Some(Usage::default()));
        assert_eq!(InitialState::from_record(&conversation, overhead), expected, "{cache_reads:?}");
    }
}
