//! Tests with an invented session that is built call by call.

use proptest::collection::vec;
use proptest::prelude::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Value, json};

use super::*;
use crate::tokens::meter::{SCALE, SizeUnit};
use crate::transcript::conversation::{
    Block, BlockId, Call, Compaction, ConversationBuilder, Message, Origin, RecordedEdit, Role, Thinking, Usage, text_wire,
};

/// One call: its new blocks, the tokens of its recorded request, and the model's response.
struct TestCall {
    entered: Vec<(Value, Origin)>,
    request: u64,
    model: &'static str,
    response: Vec<Value>,
    compacted: bool,
}

fn step(entered: Value, request: u64, response: Value) -> TestCall {
    TestCall { entered: vec![(entered, Origin::Tool)], request, model: "claude-x", response: vec![response], compacted: false }
}

fn text(length: usize) -> Value {
    text_wire("t".repeat(length))
}

fn result(length: usize) -> Value {
    json!({"type": "tool_result", "tool_use_id": "t1", "content": "r".repeat(length)})
}

fn thinking(length: usize) -> Value {
    json!({"type": "thinking", "thinking": "h".repeat(length)})
}

fn typed(mut step: TestCall) -> TestCall {
    step.entered[0].1 = Origin::User;
    step
}

fn session(steps: Vec<TestCall>) -> Conversation {
    let mut builder = ConversationBuilder::new("main", "test", Thinking::Turn);
    let message = |role, blocks: Vec<BlockId>| Message { role, is_string_content: false, blocks, time: None, line: 1 };
    let mut entered = 0;
    for step in steps {
        if step.compacted {
            let into = message(Role::User, vec![builder.text("s".repeat(40), Origin::Compaction, 1)]);
            let edit = RecordedEdit::Fold { into: vec![into] };
            builder.compaction(Compaction {
                message_index: entered,
                edit,
                trigger: None,
                tokens_before: None,
                tokens_after: None,
                summary_usage: None,
                line: 1,
            });
        }
        let blocks = step.entered.into_iter().map(|(wire, origin)| builder.block(wire, origin, 1)).collect();
        builder.message(message(Role::User, blocks));
        let usage = (step.request > 0).then(|| Usage { input: step.request, ..Usage::default() });
        let call = Call { usage, model: Some(step.model.to_owned()), ..Call::default() };
        let blocks = step.response.into_iter().map(|wire| builder.block(wire, Origin::Agent, 1)).collect();
        entered = builder.response(message(Role::Assistant, blocks), call).expect("a response") + 1;
    }
    builder.finish()
}

#[test]
fn delta_holds_what_entered_and_request_growth() {
    let image = json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}});
    let mut other_model = step(result(10), 1_500, text(5));
    other_model.model = "claude-y";
    let mut same_model = step(result(10), 1_510, thinking(7));
    same_model.model = "claude-y";
    let mut after_thinking = step(result(20), 1_530, text(5));
    after_thinking.model = "claude-y";
    let mut compacted = step(result(10), 1_900, text(5));
    compacted.compacted = true;
    let steps = vec![
        typed(step(text(2), 1_000, text(4))),
        step(result(100), 1_050, text(5)),
        step(result(10), 0, text(5)),
        step(result(10), 1_100, text(5)),
        step(result(10), 1_110, text(5)),
        step(result(10), 1_110, text(5)),
        other_model,
        same_model,
        after_thinking,
        typed(TestCall { model: "claude-y", ..step(text(30), 1_560, text(5)) }),
        typed(TestCall { model: "claude-y", ..step(text(40), 1_600, text(5)) }),
        TestCall { model: "claude-y", ..step(image, 1_700, text(5)) },
        TestCall { model: "claude-y", ..compacted },
        TestCall { model: "claude-y", ..step(result(10), 2_000, text(5)) },
    ];
    let found: Vec<_> = deltas(&session(steps)).into_iter().map(|delta| (delta.call, delta.characters, delta.tokens)).collect();
    let expected = [
        (1, [100, 0, 4, 0], 50),
        // Call 2 has no usage, so call 3 cannot be compared with it.
        (4, [10, 0, 5, 0], 10),
        // The request of call 5 did not grow; call 6 has another model.
        (7, [10, 0, 5, 0], 10),
        (8, [20, 0, 0, 7], 20),
        // Before call 9 the thinking of call 7 was removed; before call 10 there was none.
        (10, [0, 0, 45, 0], 40),
        // Call 11 has an image; before call 12 a summary replaced everything.
        (13, [10, 0, 5, 0], 100),
    ];
    assert_eq!(found, expected);
}

#[test]
fn deltas_with_unrecorded_text_are_skipped() {
    let steps = vec![typed(step(text(2), 100, thinking(0))), step(result(9), 200, text(4)), step(result(9), 300, text(4))];
    let mut conversation = session(steps);
    conversation.blocks[1].recorded_tokens = Some(70);
    assert_eq!(deltas(&conversation).iter().map(|delta| delta.call).collect::<Vec<_>>(), [2]);
}

/// Generates deltas from rates and a constant per call, with lengths that vary by fixed steps.
fn generated(rates: [f64; 4], per_call: f64, count: u64) -> Vec<Delta> {
    let delta = |n: u64| {
        let characters = [n * 7_919 % 9_001, n * 104_729 % 3_001, n * 1_299_709 % 2_003, n * 15_485_863 % 4_001];
        let tokens: f64 = characters.iter().zip(rates).map(|(count, rate)| *count as f64 * rate).sum();
        Delta { call: n as usize, characters, tokens: (tokens + per_call).round() as u64 }
    };
    (1..=count).map(delta).collect()
}

#[test]
fn fit_recovers_known_rates() {
    for count in [240, 2_000] {
        let rates = fit(&generated([0.35, 0.32, 0.29, 0.41], 95.0, count)).expect("deltas");
        let far = rates.by_class.iter().zip([3_500, 3_200, 2_900, 4_100]).map(|(found, known)| found.abs_diff(known));
        assert!(far.max() <= Some(10) && rates.per_call.abs_diff(95) <= 3, "{count}: {rates:?}");
    }
}

#[test]
fn fit_tolerates_a_tenth_of_outliers() {
    let mut deltas = generated([0.35, 0.32, 0.29, 0.41], 95.0, 300);
    for delta in deltas.iter_mut().step_by(10) {
        delta.tokens *= 5;
    }
    let rates = fit(&deltas).expect("deltas");
    let far = rates.by_class.iter().zip([3_500, 3_200, 2_900, 4_100]).map(|(found, known)| found.abs_diff(known));
    assert!(far.max() <= Some(200), "{rates:?}");
}

#[test]
fn rare_block_class_gets_the_common_rate() {
    let mut deltas = generated([0.35, 0.35, 0.35, 0.9], 50.0, 100);
    for delta in &mut deltas {
        // Thinking is at most one character in a hundred, and has another rate.
        delta.characters[3] = 0;
        delta.tokens = 50 + (delta.characters.iter().sum::<u64>() as f64 * 0.35).round() as u64;
    }
    deltas[5].characters[3] = 10;
    assert_eq!(fit(&deltas).map(|rates| rates.by_class[3].abs_diff(3_500) <= 2), Some(true));
    assert_eq!(Fit::from_deltas(&deltas[..MIN_DELTAS - 1]), None);
    assert_eq!(Fit::from_deltas(&deltas).map(|fit| (fit.deltas, fit.spread.error < 0.01)), Some((100, true)));
    // Two equal calls have no slope.
    assert_eq!(fit(&[deltas[0].clone(), deltas[0].clone()]), None);
}

#[test]
fn fit_errors_are_of_the_held_out_half() {
    let (low, high) = (generated([0.2; 4], 0.0, 40), generated([0.4; 4], 0.0, 40));
    let spread = Fit::from_deltas(&[low, high].concat()).expect("deltas").spread;
    // The estimate is half the tokens of the second half, and twice those of the first.
    assert!((spread.error - 0.75).abs() < 0.3 && spread.p10 < 0.51 && spread.p90 > 1.98, "{spread:?}");
}

/// Twenty calls bring about 8,000 characters each, then twenty about 24,000, at five to a token. A line through either half takes most of
/// it for constant.
#[test]
fn one_rate_counts_calls_that_bring_much_the_same() {
    let characters = |n: u64| if n < 20 { 8_000 + n % 3 } else { 24_000 + n % 3 };
    let delta = |n: u64| Delta { call: n as usize, characters: [characters(n), 0, 0, 0], tokens: characters(n) / 5 };
    let deltas: Vec<_> = (0..40).map(delta).collect();
    let constant = fit(&deltas[..20]).expect("a line");
    assert!(constant.per_call > 500, "{constant:?}");
    let fitted = Fit::from_deltas(&deltas).expect("enough deltas");
    assert!(fitted.rates.by_class.iter().all(|rate| rate.abs_diff(2_000) <= 1) && fitted.rates.per_call == 0, "{fitted:?}");
    assert!(fitted.spread.error < 1e-3, "{fitted:?}");
    // Calls of equal size have no slope at all.
    let equal = vec![deltas[0].clone(); MIN_DELTAS];
    assert_eq!((fit(&equal), Fit::from_deltas(&equal).map(|fit| fit.rates)), (None, one_rate(&equal)));
    let silent = vec![Delta { characters: [0; 4], ..deltas[0].clone() }; MIN_DELTAS];
    assert_eq!(Fit::from_deltas(&silent), None);
}

proptest! {
    /// Tokens may come from anything: rates, a constant, and what the transcript does not show.
    #[test]
    fn fit_is_never_worse_than_one_rate_on_the_held_out_calls(
        calls in vec(([0u64..3_000, 0u64..800, 0u64..400, 0u64..900], 0u64..2_000), MIN_DELTAS..90),
        rates in [0.1..0.6, 0.1..0.6, 0.1..0.6, 0.1..0.6],
        per_call in 0u64..300,
    ) {
        let deltas: Vec<_> = calls.into_iter().enumerate().map(|(call, (characters, unknown))| {
            let known: f64 = characters.iter().zip(rates).map(|(count, rate)| *count as f64 * rate).sum();
            Delta { call, characters, tokens: 1 + known as u64 + per_call + unknown }
        }).collect();
        let (first, last) = deltas.split_at(deltas.len() / 2);
        let by_one_rate = |(test, training): (&[Delta], &[Delta])| -> Vec<(f64, u64)> {
            let rates = one_rate(training).expect("text");
            test.iter().map(|delta| (estimate(&rates, delta), delta.tokens)).collect()
        };
        let simple = Spread::from_pairs([(first, last), (last, first)].map(by_one_rate).concat()).expect("calls");
        let fitted = Fit::from_deltas(&deltas).expect("enough deltas");
        prop_assert!(fitted.spread.error <= simple.error, "{fitted:?} {simple:?}");
        let pairs = fitted.held_out.iter().copied().zip(deltas.iter().map(|delta| delta.tokens));
        prop_assert_eq!(Spread::from_pairs(pairs), Some(fitted.spread));
    }
}

/// Returns the sizes of a session's blocks in tokens, at 0.5 tokens per character and ten per call.
fn tokens(conversation: &Conversation) -> Vec<f64> {
    let rates = Rates { by_class: [5_000; 4], per_call: 10 };
    let sizes = apportion(conversation, rates, &deltas(conversation));
    sizes.into_iter().map(|size| size as f64 / SCALE as f64).collect()
}

#[test]
fn request_growth_is_shared_among_new_blocks() {
    let steps = vec![
        typed(step(text(20), 1_000, text(20))),
        // The estimate is 10 + 10 for the response and 40 for the result; 90 are recorded, so each gets 1.5 times its estimate.
        step(result(80), 1_090, text(20)),
        // At most twice 20 + 40; the rest of the 200, which is 80, goes to the response.
        step(result(80), 1_290, text(20)),
        // Less than the estimate: 30 of 60.
        step(result(80), 1_320, text(20)),
    ];
    let conversation = session(steps);
    assert_eq!(tokens(&conversation), [10.0, 30.0, 60.0, 40.0 + 80.0, 80.0, 10.0, 20.0, 20.0]);
}

/// Thinking is removed after its turn; the remainder of a response stays.
#[test]
fn growth_remainder_is_not_assigned_to_thinking() {
    let mut thoughtful = step(text(20), 1_000, thinking(20));
    thoughtful.response.push(text(20));
    // The estimate is 10 for the thinking, 10 + 10 for the text and 40 for the result: at most 140 of 200 are shared.
    let conversation = session(vec![typed(thoughtful), step(result(80), 1_200, text(20))]);
    assert_eq!(tokens(&conversation), [10.0, 20.0, 40.0 + 60.0, 80.0, 20.0]);
}

#[test]
fn compaction_shares_usage_among_remaining_blocks() {
    // The overhead is 1,000 − 10. Afterwards the summary (estimate 20) and the result (estimate 40) share 1,080 − 990 = 90.
    let compacted = TestCall { compacted: true, ..step(result(80), 1_080, text(20)) };
    let conversation = session(vec![typed(step(text(20), 1_000, text(20))), compacted, step(result(80), 1_140, text(20))]);
    let sizes_of = |wanted: fn(&Block) -> bool| {
        let sizes = tokens(&conversation);
        let blocks = conversation.blocks.iter().zip(sizes).filter(|(block, _)| wanted(block));
        blocks.map(|(_, size)| size).collect::<Vec<_>>()
    };
    assert_eq!(sizes_of(|block| block.origin == Origin::Compaction), [30.0]);
    assert_eq!(sizes_of(|block| matches!(block.kind, crate::transcript::conversation::BlockKind::ToolResult(_))), [60.0, 40.0]);
}

#[test]
fn model_families_are_recognised_by_id() {
    for (models, unit) in [
        (
            ["gpt-5.5", "openai/gpt-4o:extended", "o3", "codex-mini-latest", "gpt-oss:20b", "openai.gpt-oss-120b-1:0"],
            Some(SizeUnit::O200k),
        ),
        (
            ["gpt-4", "GPT-4-turbo", "gpt-4-0613", "azure/gpt-35-turbo", "gpt-3.5-turbo-0125", "ft:gpt-3.5-turbo:mine::id"],
            Some(SizeUnit::Cl100k),
        ),
        (["claude-opus-4-6", "gemini-3-pro", "kimi-k2", "ocean", "text-davinci-003", "gpt2"], None),
    ] {
        assert_eq!(models.map(public_tokenizer), [unit; 6], "{models:?}");
    }
    let names = ["claude-opus-4-6", "us.anthropic.Claude-X", "gpt-5.5"].map(|model| family(model).map(|family| family.name));
    assert_eq!(names, [Some("claude"), Some("claude"), None]);
    let with =
        |models: &[&'static str]| session(models.iter().map(|model| TestCall { model, ..step(text(2), 5, text(2)) }).collect());
    let most = |models: &[&'static str]| main_model(&with(models)).map(str::to_owned);
    assert_eq!(most(&["a", "b", "b", "<synthetic>", "<synthetic>", "<synthetic>"]).as_deref(), Some("b"));
    assert_eq!(most(&["b", "a"]).as_deref(), Some("b"));
    assert_eq!(most(&["<synthetic>"]), None);
}

#[test]
fn a_short_session_is_counted_by_its_family() {
    let mut short = session(vec![typed(step(text(20), 1_000, text(20))), step(result(80), 1_090, text(20))]);
    let calibration = Calibration::for_conversation(&short).expect("a family");
    assert_eq!((calibration.by, calibration.deltas, calibration.rates), (RateSource::Family("claude"), 1, FAMILIES[0].rates));
    assert_eq!(calibration.meter().to_string(), "recorded");
    for call in &mut short.calls {
        call.model = Some("kimi-k2".to_owned());
    }
    assert_eq!(Calibration::for_conversation(&short), None);
}
