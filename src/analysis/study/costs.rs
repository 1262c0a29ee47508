//! Costs over many conversations: what the replays of one conversation share, the cost check, and the rows of cache
//! invalidations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::engine::context::size_of;
use crate::engine::journal::Journal;
use crate::engine::policy::Policy;
use crate::engine::replay::{self, RecordedReplay, RecordedRequests};
use crate::metrics::cost::{self, Cost, CostCheck, PricedBreak, Tariff, WorstCall, check, cost, outputs};
use crate::metrics::prompt_cache::{CacheEvent, CacheEventKind, CacheMode, CacheSetup, InitialState};
use crate::metrics::retention::Retention;
use crate::results::saved::{CheckRow, CostlyInvalidation, EventCounts, InvalidationRow, ResultNote};
use crate::transcript::conversation::{BlockId, Conversation};

use super::Study;

/// What the costs of one conversation's replays share.
pub struct ConversationCosts {
    tariff: Tariff,
    before: InitialState,
    /// Tokens of the response of each call.
    outputs: Vec<u64>,
    check: Option<CostCheck>,
    /// Cache events of the record that replays take over.
    events: Vec<CacheEvent>,
    /// Why the conversation is not priced.
    refused: Option<String>,
}

impl ConversationCosts {
    /// If anything was billed, `record` shows whether the simulation reproduces the bill, at the prices of the recorded
    /// models.
    pub fn new(setup: &replay::ReplaySetup, study: &Study, record: Option<(&RecordedReplay, &RecordedRequests)>) -> Self {
        let conversation = setup.conversation;
        let before = InitialState::from_record(conversation, setup.overhead);
        let tariff = Tariff::new(conversation, &study.prices, study.priced_as.as_deref());
        let own = study.priced_as.is_some().then(|| Tariff::new(conversation, &study.prices, None));
        let recorded_tariff = own.as_ref().unwrap_or(&tariff);
        let check = record.map(|record| check_record(setup, record, before, recorded_tariff, study.cache));
        let too_far_off = check.as_ref().filter(|check| check.residual().abs() > study.max_residual);
        let refused = too_far_off.map(refusal_reason);
        // What the cache of one provider did says nothing about another one.
        let has_provider = |event: &&CacheEvent| {
            let [as_recorded, as_priced] = [recorded_tariff, &tariff].map(|tariff| tariff.terms()[event.call].provider.name);
            as_recorded == as_priced
        };
        let events = check.iter().filter(|_| study.cache == CacheMode::Recorded).flat_map(|check| &check.events);
        let events = events.filter(has_provider).copied().collect();
        Self { refused, tariff, before, outputs: outputs(conversation, setup.sizes, setup.counter), check, events }
    }

    /// Returns the cost of a replay; `None` if the simulation does not reproduce the record.
    pub fn cost(&self, setup: &replay::ReplaySetup, journal: &Journal, kept: &Retention) -> Option<Cost> {
        if self.refused.is_some() {
            return None;
        }
        let size = size(setup, journal);
        let terms = self.tariff.terms();
        let cache = CacheSetup {
            conversation: setup.conversation,
            policy: setup.policy,
            journal,
            request_tokens: &setup.recorded.map_or_else(|| journal.request_tokens(), |recorded| recorded.sizes_of(journal)),
            terms,
            initial: self.before,
            events: &self.events,
            size: &size,
        };
        Some(cost(&cost::CostSetup { cache, tariff: &self.tariff, outputs: &self.outputs, retention: kept }))
    }

    /// Returns the cost check as a row of results.
    pub fn row(&self, transcript: &str, conversation: &str) -> Option<CheckRow> {
        let check = self.check.as_ref()?;
        Some(CheckRow {
            transcript: transcript.into(),
            conversation: conversation.into(),
            calls: check.calls,
            matching_calls: check.matching,
            recorded_read: check.recorded.read,
            simulated_read: check.simulated.read,
            tokens: check.recorded.tokens,
            counted_tokens: check.counted.tokens,
            recorded_cost: check.recorded.cost,
            usage_cost: check.by_usage,
            simulated_cost: check.simulated.cost,
            counted_cost: check.counted.cost,
            in_usd: check.in_usd,
            error: check.residual(),
            ideal_cost: check.ideal.cost,
            ideal_error: check.ideal_residual(),
            events: self.event_counts(check),
            worst_call: check.worst.map(|worst| worst.call + 1),
            why: check.worst.map(|worst| worst.why.to_owned()),
            priced: self.refused.is_none(),
        })
    }

    fn event_counts(&self, check: &CostCheck) -> EventCounts {
        let count = |kind| check.events.iter().filter(|event| event.kind == kind).count();
        EventCounts {
            evicted: count(CacheEventKind::Evicted),
            lived_on: count(CacheEventKind::LivedOn),
            extended: count(CacheEventKind::Extended),
            replayed: self.events.len(),
        }
    }

    /// Returns a note that says why a conversation has no costs.
    pub fn refusal(&self, transcript: &str, conversation: &Conversation) -> Option<ResultNote> {
        let why = self.refused.as_ref()?;
        let worst = self.check.as_ref()?.worst?;
        let line = conversation.messages[conversation.calls[worst.call].response].line;
        let what = format!("conversation {}: {why}", conversation.name);
        Some(ResultNote { path: transcript.to_owned(), line: Some(line), what })
    }

    /// Returns the models without a price.
    pub fn unknown_models(&self) -> &[String] {
        self.tariff.unknown_models()
    }

    /// Returns what has no known price and is in no cost: `service `fast` of claude-opus-4-6`.
    pub fn unpriced(&self) -> impl Iterator<Item = String> {
        self.tariff.unpriced().map(|(model, what)| format!("{what} of {model}"))
    }
}

/// Compares the simulated cost of the recorded session with the bill. Its requests have their recorded sizes: the check tests the
/// simulation of the cache, and the accuracy of the token counter is another question.
fn check_record(
    setup: &replay::ReplaySetup,
    (record, requests): (&RecordedReplay, &RecordedRequests),
    before: InitialState,
    tariff: &Tariff,
    cache_mode: CacheMode,
) -> CostCheck {
    let (conversation, RecordedReplay { policy, journal }) = (setup.conversation, record);
    let size = size(setup, journal);
    let cache = CacheSetup {
        conversation,
        policy,
        journal,
        request_tokens: &requests.sizes_of(journal),
        terms: tariff.terms(),
        initial: before,
        events: &[],
        size: &size,
    };
    check(&cache, tariff, cache_mode)
}

/// Returns the size of a block of the conversation, or of one that a layer wrote, by the token counter of the report.
fn size<'a>(setup: &'a replay::ReplaySetup, journal: &'a Journal) -> impl Fn(BlockId) -> u64 + 'a {
    let slot = setup.sizes.slot(setup.counter.unit);
    move |id| slot.map_or(0, |slot| size_of(setup.conversation, setup.sizes, &journal.synthetic_blocks, id, slot))
}

fn refusal_reason(check: &CostCheck) -> String {
    let (share, side) = (check.residual().abs() * 100.0, if check.residual() < 0.0 { "less" } else { "more" });
    let amount = |cost: f64| if check.in_usd { format!("${cost:.2}") } else { format!("{:.0} tokens of input", cost) };
    let worst = check.worst.map_or(String::new(), |WorstCall { call, recorded_read, simulated_read, why }| {
        format!("; the largest difference is at call {}, which read {recorded_read} tokens from the cache, not {simulated_read}: {why}", call + 1)
    });
    format!(
        "not priced: the simulated cost of the recorded session is {share:.0} % {side} than the bill ({}, billed {}){worst}",
        amount(check.simulated.cost),
        amount(check.recorded.cost),
    )
}

/// Cache invalidations of one policy, by the index of the layer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LayerBreaks(BTreeMap<usize, Vec<PricedBreak>>);

impl LayerBreaks {
    pub fn add_cost(&mut self, cost: &Cost) {
        for broken in &cost.breaks {
            self.0.entry(broken.what.layer).or_default().push(*broken);
        }
    }

    pub fn add(&mut self, other: Self) {
        for (layer, broken) in other.0 {
            self.0.entry(layer).or_default().extend(broken);
        }
    }

    /// Returns one row for each layer that invalidated a prefix.
    pub fn rows<'a>(&'a self, policy: &'a Policy) -> impl Iterator<Item = InvalidationRow> + 'a {
        self.0.iter().map(|(layer, broken)| {
            let mut break_even: Vec<f64> = broken.iter().map(|broken| broken.break_even.unwrap_or(f64::INFINITY)).collect();
            break_even.sort_by(f64::total_cmp);
            let paid = |broken: &&PricedBreak| broken.break_even.is_some_and(|calls| calls <= broken.followed as f64);
            InvalidationRow {
                policy: policy.name.clone(),
                layer: policy.layers[*layer].id.clone(),
                count: broken.len() as u64,
                tokens_rewritten: broken.iter().map(|broken| broken.what.rebilled).sum(),
                tokens_freed: broken.iter().map(|broken| broken.what.freed).sum(),
                usd: broken.iter().filter_map(|broken| broken.usd).reduce(|a, b| a + b),
                break_even: Some(break_even[break_even.len() / 2]).filter(|calls| calls.is_finite()),
                paid: broken.iter().filter(paid).count() as u64,
            }
        })
    }
}

/// Returns the costliest cache invalidations of one conversation.
pub fn costliest_breaks(
    most: usize,
    (transcript, conversation): (&str, &Conversation),
    policy: &Policy,
    cost: &Cost,
) -> Vec<CostlyInvalidation> {
    let row = |broken: &PricedBreak| CostlyInvalidation {
        policy: policy.name.clone(),
        transcript: transcript.to_owned(),
        conversation: conversation.name.clone(),
        call: broken.call + 1,
        line: conversation.messages[conversation.calls[broken.call].response].line,
        layer: policy.layers[broken.what.layer].id.clone(),
        tokens_rewritten: broken.what.rebilled,
        tokens_freed: broken.what.freed,
        tokens: broken.tokens,
        usd: broken.usd,
        break_even: broken.break_even,
        followed: broken.followed as u64,
    };
    let mut rows = cost.breaks.iter().filter(|broken| broken.what.rebilled > 0).map(row).collect();
    keep_costliest(most, &mut rows);
    rows
}

/// Keeps the costliest of many.
pub fn keep_costliest(most: usize, breaks: &mut Vec<CostlyInvalidation>) {
    breaks.sort_by(|a, b| b.tokens.total_cmp(&a.tokens));
    breaks.truncate(most);
}
