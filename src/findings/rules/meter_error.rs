//! `meter_error`: the policy's own meter is far from the tokens that the record was billed.
//!
//! What it means: from call to call the meter's estimate of what entered is off by 15 % or more in the median. Why it hurts: a
//! trigger that goes by it comes too early, and cuts off what there was room for, or too late, and the API refuses. What to
//! change: `meter = "recorded+ceil(chars/4)"`, which estimates only what came since the last call; a divisor that fits
//! (`recompact inspect` compares meters); a threshold with room for the error. Evidence: openclaw #70052, #103930, pi #2562,
//! agentscope-java #2985, langchain #34664.
//!
//! A warning where the sum is off by as much, a note where errors of both signs level out, or where the meter counts characters,
//! which a threshold in characters may mean. One for each meter of a layer's threshold; `by_class` is estimate ÷ usage where one
//! class of blocks is nine tenths of what entered. Silent for meters that go by recorded usage, and under 30 calls whose growth
//! is recorded. The rounds are those between the first call over the threshold by the meter and by usage, before anything was
//! compacted; usage holds system prompt and tools, which such meters leave out. Of the record it holds what its harness says a
//! compaction began with against the usage of the call before and what entered since.
//!
//! Precision: 10 opened, held against what `recompact inspect` says of the meter: 10 right, most by little (16 to 19 %). Most of
//! the rounds are the system prompt's.

use serde_json::{Map, Value};

use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::calibration::{Delta, FEWEST, Spread, deltas, median, message_size, metered, quantile};
use crate::tokens::meter::{Class, Divide, Meter, SizeUnit};
use crate::transcript::conversation::{Compaction, RecordedEdit};
use crate::util::text::plural;

/// The relative error from which a meter is told: ours; the calibrated counter is below it.
const LEAST_ERROR: f64 = 0.15;
/// The share of what entered that makes a call one of a class.
const OF_A_CLASS: f64 = 0.9;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return of_the_record(replay);
    }
    let mut meters: Vec<(Meter, usize)> = Vec::new();
    for (index, layer) in replay.policy.layers.iter().enumerate().filter(|(_, layer)| layer.enabled && layer.threshold.is_some())
    {
        let meter = layer.meter.or(replay.policy.meter).filter(|meter| !meter.recorded);
        if let Some(meter) = meter.filter(|meter| meters.iter().all(|(known, _)| known != meter)) {
            meters.push((meter, index));
        }
    }
    if meters.is_empty() {
        return Vec::new();
    }
    let deltas = deltas(replay.conversation);
    if deltas.len() < FEWEST {
        return Vec::new();
    }
    meters.into_iter().filter_map(|(meter, layer)| of_meter(replay, meter, layer, &deltas)).collect()
}

fn of_meter(replay: &ReplayView, meter: Meter, layer: usize, deltas: &[Delta]) -> Option<Detection> {
    let pairs = metered(replay.conversation, deltas, &meter);
    let spread = Spread::of(pairs.iter().copied()).filter(|spread| spread.error >= LEAST_ERROR)?;
    let mut ratios: Vec<f64> = pairs.iter().map(|(estimate, recorded)| estimate / *recorded as f64).collect();
    let [least, p95] = [0.0, 0.95].map(|share| quantile(&mut ratios, share));
    let middle = median(&mut ratios)?;
    let limit = replay.journal.threshold_checks.iter().find(|weighed| weighed.layer == layer).map(|weighed| weighed.limit);
    let in_tokens = !counts_characters(meter);
    let crossing = limit.filter(|_| in_tokens).and_then(|limit| Crossing::of(replay, meter, limit));
    let error = spread.error * 100.0;
    let (calls, id) = (plural(pairs.len(), "call"), replay.layer(layer));
    let message = match (in_tokens, limit) {
        (false, limit) => {
            let trigger = limit.map_or(String::new(), |limit| {
                format!(": {id}'s trigger, {limit} of them, is about {:.0} tokens", limit as f64 / middle)
            });
            format!("{meter} counts characters, {middle:.1} for each token that was billed ({calls}){trigger}")
        }
        (true, _) => {
            let rounds = crossing.as_ref().map_or(String::new(), |crossing| format!("; {}", crossing.told(id)));
            let ratio = spread.ratio;
            format!(
                "{meter} estimates {ratio:.2} of what was billed in all, off by {error:.0} % from call to call in the median ({calls}){rounds}"
            )
        }
    };
    let is_off = (spread.ratio - 1.0).abs() >= LEAST_ERROR && in_tokens;
    let level = if is_off { Level::Warning } else { Level::Note };
    let found = Detection::of_all(level, message).with("meter", meter.to_string()).with("calls", pairs.len());
    let found = found.with("error", spread.error).with("ratio", spread.ratio).with("min", least).with("median", middle);
    let found = found.with("p95", p95).with("by_class", by_class(deltas, &pairs)).with("layer", replay.layer(layer));
    let found = found.with("trigger", limit).with("estimated_at", crossing.as_ref().and_then(|crossing| crossing.estimated));
    Some(found.with("billed_at", crossing.and_then(|crossing| crossing.billed)))
}

/// Whether it is in characters or bytes, as a threshold may be, too.
fn counts_characters(meter: Meter) -> bool {
    meter.divide == Divide::No && !matches!(meter.measure, SizeUnit::O200k | SizeUnit::Cl100k | SizeUnit::Fitted(_))
}

/// Estimate ÷ usage of the calls for which one class of blocks entered, and little else.
fn by_class(deltas: &[Delta], pairs: &[(f64, u64)]) -> Value {
    let names = ["result", "tool_use", "text", "thinking"];
    let mut by_class = Map::new();
    for (class, name) in Class::ALL.iter().zip(names) {
        let is_of = |delta: &Delta| {
            let all: u64 = delta.characters.iter().sum();
            delta.characters[*class as usize] as f64 >= OF_A_CLASS * all as f64
        };
        let of = deltas.iter().zip(pairs).filter(|(delta, _)| is_of(delta));
        let mut ratios: Vec<f64> = of.map(|(_, (estimate, recorded))| estimate / *recorded as f64).collect();
        by_class.extend(median(&mut ratios).map(|ratio| (name.to_owned(), ratio.into())));
    }
    by_class.into()
}

/// The first calls over a threshold, counted from 1.
struct Crossing {
    limit: u64,
    estimated: Option<usize>,
    billed: Option<usize>,
}

impl Crossing {
    /// Over the calls before the first recorded compaction; none where neither is over.
    fn of(replay: &ReplayView, meter: Meter, limit: u64) -> Option<Self> {
        let conversation = replay.conversation;
        let compacted = conversation.compactions.first().map_or(usize::MAX, |compaction| compaction.at);
        let (mut read, mut sum) = (0, 0);
        let mut crossing = Self { limit, estimated: None, billed: None };
        for (index, call) in conversation.calls.iter().enumerate().take_while(|(_, call)| call.response <= compacted) {
            let entered = &conversation.messages[read..call.response];
            sum += entered.iter().map(|message| message_size(conversation, message, meter.measure)).sum::<u64>();
            read = call.response;
            if meter.apply(meter.measure.list(read, sum)) > limit {
                crossing.estimated.get_or_insert(index + 1);
            }
            if call.billed().is_some_and(|usage| usage.request() > limit) {
                crossing.billed.get_or_insert(index + 1);
            }
        }
        (crossing.estimated.is_some() || crossing.billed.is_some()).then_some(crossing)
    }

    fn told(&self, layer: &str) -> String {
        let trigger = format!("{layer}'s trigger, {}, is passed", self.limit);
        match (self.estimated, self.billed) {
            (Some(estimated), Some(billed)) if estimated == billed => format!("{trigger} at call {estimated} by both"),
            (Some(estimated), Some(billed)) if estimated < billed => {
                format!(
                    "{trigger} at call {estimated} by the meter, {} before usage passes it",
                    plural(billed - estimated, "call")
                )
            }
            (Some(estimated), Some(billed)) => {
                format!(
                    "{trigger} at call {estimated} by the meter, {} after usage passed it",
                    plural(estimated - billed, "call")
                )
            }
            (Some(estimated), None) => format!("{trigger} at call {estimated} by the meter, and never by usage"),
            (None, Some(billed)) => format!("{trigger} at call {billed} by usage, and never by the meter"),
            (None, None) => String::new(),
        }
    }
}

/// What compactions say they began with, held against usage.
fn of_the_record(replay: &ReplayView) -> Vec<Detection> {
    // What is said of a clearing is the tokens of the results it looked at.
    let folds = replay.conversation.compactions.iter().filter(|made| matches!(made.edit, RecordedEdit::Fold { .. }));
    let pairs: Vec<(f64, u64)> = folds.filter_map(|made| before(replay, made)).collect();
    let Some(spread) = Spread::of(pairs.iter().copied()).filter(|spread| spread.error >= LEAST_ERROR) else { return Vec::new() };
    let message = format!(
        "the harness says its compactions began with {:.2} of the tokens that usage and what entered since tell, off by {:.0} % in the median \
         ({})",
        spread.ratio,
        spread.error * 100.0,
        plural(pairs.len(), "compaction")
    );
    let found = Detection::of_all(Level::Note, message).with("compactions", pairs.len());
    vec![found.with("ratio", spread.ratio).with("error", spread.error)]
}

/// Tokens before a compaction as its harness says; and those of the call before, with what was appended since.
fn before(replay: &ReplayView, made: &Compaction) -> Option<(f64, u64)> {
    let conversation = replay.conversation;
    let call = conversation.calls.iter().rfind(|call| call.response < made.at)?;
    let entered = conversation.messages[call.response..made.at].iter().flat_map(|message| &message.blocks);
    let grown: u64 = entered.map(|id| (replay.tokens)(*id)).sum();
    Some((made.tokens_before? as f64, call.billed()?.request() + grown))
}
