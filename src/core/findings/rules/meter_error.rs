//! `meter_error`: the policy's own meter is far from the tokens that the recorded session was billed.
//!
//! What it means: from call to call, the meter's estimate of what entered has a median error of 15 % or more. Why it
//! hurts: a threshold with this meter is reached too early, so that content is cut although there is room for it, or
//! too late, so that the API refuses the request. What to change: `meter = "recorded+ceil(chars/4)"`, which estimates
//! only what came since the last call; a divisor that fits (`recompact inspect` compares meters); a threshold with room
//! for the error. Evidence: openclaw #70052, #103930, pi #2562, agentscope-java #2985, langchain #34664.
//!
//! It is a warning if the sum is off by as much. It is a note if errors of both signs cancel out, or if the meter
//! counts characters, because a threshold may be meant in characters. There is one finding for each meter of a layer's
//! threshold. `by_class` is estimate ÷ usage where one class of blocks is nine tenths of what entered. The rule does
//! not run on meters that use recorded usage. With fewer than 30 calls whose growth is recorded it compares the meter
//! with the report's count of all messages, and reports a count that is off by two fifths or more, as four characters a
//! token are for Chinese. The message
//! compares the first calls over the threshold, by the meter and by usage, before anything was compacted; usage
//! includes system prompt and tools, which such meters leave out. For the recorded session the rule compares the size
//! that the harness reports before a compaction with the usage of the call before plus what entered since.
//!
//! Precision: we opened 10 findings and compared them with `recompact inspect`: 10 are right, most by little (16 to 19
//! %). Most of the distance between the two calls comes from the system prompt.

use serde_json::{Map, Value};

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::calibration::{Delta, MIN_DELTAS, Spread, deltas, median, message_size, metered, quantile};
use crate::tokens::meter::{Meter, TextClass};
use crate::transcript::conversation::{Compaction, RecordedEdit};
use crate::util::text::plural;

/// Relative error from which a meter is reported. We chose the number; the calibrated counter is below it.
const LEAST_ERROR: f64 = 0.15;
/// Without usage to check either, a meter is reported whose count is less than this share of the report's, or the inverse. We chose the
/// number: tokenizers of code and English differ by less.
const FAR: f64 = 0.6;
/// Fewest tokens for that. We chose the number.
const LEAST_TOKENS: u64 = 10_000;
/// Share of what entered that assigns a call to one class of blocks.
const CLASS_SHARE: f64 = 0.9;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return detect_in_record(replay);
    }
    let mut meters: Vec<(Meter, usize)> = Vec::new();
    for (index, layer) in replay.policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled && layer.threshold.is_some())
    {
        let meter = layer.meter.or(replay.policy.meter).filter(|meter| !meter.recorded && meter.unit.adds_up());
        if let Some(meter) = meter.filter(|meter| meters.iter().all(|(known, _)| known != meter)) {
            meters.push((meter, index));
        }
    }
    if meters.is_empty() {
        return Vec::new();
    }
    let deltas = deltas(replay.conversation);
    if deltas.len() < MIN_DELTAS {
        return meters.into_iter().filter_map(|(meter, layer)| against_report(replay, meter, layer)).collect();
    }
    meters.into_iter().filter_map(|(meter, layer)| detection_of_meter(replay, meter, layer, &deltas)).collect()
}

/// Compares a meter with the report's counter over all messages.
fn against_report(replay: &ReplayView, meter: Meter, layer: usize) -> Option<Detection> {
    let (conversation, unit) = (replay.conversation, meter.unit);
    let messages = &conversation.messages;
    let sum = messages.iter().map(|message| message_size(conversation, message, unit)).sum();
    let estimate = meter.apply(unit.list(messages.len(), sum));
    let tokens: u64 = messages.iter().flat_map(|message| &message.blocks).map(|id| (replay.tokens)(*id)).sum();
    let ratio = estimate as f64 / tokens.max(1) as f64;
    if !meter.counts_tokens() || tokens < LEAST_TOKENS || (FAR..=1.0 / FAR).contains(&ratio) {
        return None;
    }
    let limit = replay.journal.threshold_checks.iter().find(|check| check.layer == layer)?.limit;
    let (id, in_report) = (replay.layer(layer), (limit as f64 / ratio).round() as u64);
    let message = format!(
        "{meter} counts {estimate} tokens in all messages, the report {tokens}: {id}'s threshold of {limit} is about {in_report} of \
         the report's; the recording has no usage that could decide"
    );
    let detection = Detection::of_all(Level::Warning, message).with("meter", meter.to_string()).with("layer", id);
    Some(detection.with("ratio", ratio).with("estimate", estimate).with("tokens", tokens).with("trigger", limit))
}

fn detection_of_meter(replay: &ReplayView, meter: Meter, layer: usize, deltas: &[Delta]) -> Option<Detection> {
    let pairs = metered(replay.conversation, deltas, &meter, None);
    let spread = Spread::from_pairs(pairs.iter().copied()).filter(|spread| spread.error >= LEAST_ERROR)?;
    let mut ratios: Vec<f64> = pairs.iter().map(|(estimate, recorded)| estimate / *recorded as f64).collect();
    let [least, p95] = [0.0, 0.95].map(|share| quantile(&mut ratios, share));
    let median_ratio = median(&mut ratios)?;
    let limit = replay.journal.threshold_checks.iter().find(|check| check.layer == layer).map(|check| check.limit);
    let in_tokens = meter.counts_tokens();
    let crossing = limit.filter(|_| in_tokens).and_then(|limit| Crossing::find(replay, meter, limit));
    let error = spread.error * 100.0;
    let (calls, id) = (plural(pairs.len(), "call"), replay.layer(layer));
    let message = match (in_tokens, limit) {
        (false, limit) => {
            let threshold = limit.map_or(String::new(), |limit| {
                format!(": {id}'s threshold of {limit} is about {:.0} tokens", limit as f64 / median_ratio)
            });
            format!("{meter} counts characters, {median_ratio:.1} for each billed token ({calls}){threshold}")
        }
        (true, _) => {
            let crossing = crossing.as_ref().map_or(String::new(), |crossing| format!("; {}", crossing.describe(id)));
            let ratio = spread.ratio;
            format!(
                "{meter} estimates {ratio:.2} of the billed tokens in total, with a median error of {error:.0} % per call \
                 ({calls}){crossing}"
            )
        }
    };
    let is_off = (spread.ratio - 1.0).abs() >= LEAST_ERROR && in_tokens;
    let level = if is_off { Level::Warning } else { Level::Note };
    let detection = Detection::of_all(level, message).with("meter", meter.to_string()).with("calls", pairs.len());
    let detection = detection.with("error", spread.error).with("ratio", spread.ratio).with("min", least);
    let detection = detection.with("median", median_ratio).with("p95", p95).with("by_class", by_class(deltas, &pairs));
    let detection = detection.with("layer", replay.layer(layer)).with("trigger", limit);
    let detection = detection.with("estimated_at", crossing.as_ref().and_then(|crossing| crossing.estimated));
    Some(detection.with("billed_at", crossing.and_then(|crossing| crossing.billed)))
}

/// Median of estimate ÷ usage for each class of blocks, over the calls for which almost only this class entered.
fn by_class(deltas: &[Delta], pairs: &[(f64, u64)]) -> Value {
    let names = ["result", "tool_use", "text", "thinking"];
    let mut by_class = Map::new();
    for (class, name) in TextClass::ALL.iter().zip(names) {
        let is_of_class = |delta: &Delta| {
            let all: u64 = delta.characters.iter().sum();
            delta.characters[*class as usize] as f64 >= CLASS_SHARE * all as f64
        };
        let calls = deltas.iter().zip(pairs).filter(|(delta, _)| is_of_class(delta));
        let mut ratios: Vec<f64> = calls.map(|(_, (estimate, recorded))| estimate / *recorded as f64).collect();
        by_class.extend(median(&mut ratios).map(|ratio| (name.to_owned(), ratio.into())));
    }
    by_class.into()
}

/// The first calls over a threshold, counted from 1.
struct Crossing {
    limit: u64,
    /// By the meter's estimate.
    estimated: Option<usize>,
    /// By the recorded usage.
    billed: Option<usize>,
}

impl Crossing {
    /// Looks at the calls before the first recorded compaction. `None` if neither estimate nor usage exceeds the threshold.
    fn find(replay: &ReplayView, meter: Meter, limit: u64) -> Option<Self> {
        let conversation = replay.conversation;
        let compacted = conversation.compactions.first().map_or(usize::MAX, |compaction| compaction.message_index);
        let (mut read, mut sum) = (0, 0);
        let mut crossing = Self { limit, estimated: None, billed: None };
        for (index, call) in conversation.calls.iter().enumerate().take_while(|(_, call)| call.response <= compacted) {
            let entered = &conversation.messages[read..call.response];
            sum += entered.iter().map(|message| message_size(conversation, message, meter.unit)).sum::<u64>();
            read = call.response;
            if meter.apply(meter.unit.list(read, sum)) > limit {
                crossing.estimated.get_or_insert(index + 1);
            }
            if call.billed().is_some_and(|usage| usage.request() > limit) {
                crossing.billed.get_or_insert(index + 1);
            }
        }
        (crossing.estimated.is_some() || crossing.billed.is_some()).then_some(crossing)
    }

    fn describe(&self, layer: &str) -> String {
        let threshold = format!("{layer}'s threshold of {}", self.limit);
        match (self.estimated, self.billed) {
            (Some(estimated), Some(billed)) if estimated == billed => {
                format!("the meter and billed usage both pass {threshold} at call {estimated}")
            }
            (Some(estimated), Some(billed)) if estimated < billed => {
                format!(
                    "the meter passes {threshold} at call {estimated}, {} before billed usage does",
                    plural(billed - estimated, "call")
                )
            }
            (Some(estimated), Some(billed)) => {
                format!(
                    "the meter passes {threshold} at call {estimated}, {} after billed usage does",
                    plural(estimated - billed, "call")
                )
            }
            (Some(estimated), None) => {
                format!("the meter passes {threshold} at call {estimated}, billed usage never does")
            }
            (None, Some(billed)) => format!("billed usage passes {threshold} at call {billed}, the meter never does"),
            (None, None) => String::new(),
        }
    }
}

/// Compares the sizes that the harness reports before its compactions with usage.
fn detect_in_record(replay: &ReplayView) -> Vec<Detection> {
    // For a clearing, the record gives the tokens of the results that the harness looked at, not of the context.
    let summaries =
        replay.conversation.compactions.iter().filter(|compaction| matches!(compaction.edit, RecordedEdit::Fold { .. }));
    let pairs: Vec<(f64, u64)> = summaries.filter_map(|compaction| tokens_before(replay, compaction)).collect();
    let Some(spread) = Spread::from_pairs(pairs.iter().copied()).filter(|spread| spread.error >= LEAST_ERROR) else {
        return Vec::new();
    };
    let message = format!(
        "the harness's token counts before its compactions are {:.2} of billed usage plus later messages, with a median error of \
         {:.0} % ({})",
        spread.ratio,
        spread.error * 100.0,
        plural(pairs.len(), "compaction")
    );
    let detection = Detection::of_all(Level::Note, message).with("compactions", pairs.len());
    vec![detection.with("ratio", spread.ratio).with("error", spread.error)]
}

/// Returns the tokens before a compaction as the harness reports them, and as the usage of the call before plus what was appended
/// since.
fn tokens_before(replay: &ReplayView, compaction: &Compaction) -> Option<(f64, u64)> {
    let conversation = replay.conversation;
    let call = conversation.calls.iter().rfind(|call| call.response < compaction.message_index)?;
    let entered = conversation.messages[call.response..compaction.message_index].iter().flat_map(|message| &message.blocks);
    let appended: u64 = entered.map(|id| (replay.tokens)(*id)).sum();
    Some((compaction.tokens_before? as f64, call.billed()?.request() + appended))
}
