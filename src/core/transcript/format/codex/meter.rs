//! Interprets recorded tokens: usage, a repetition of it, or an estimate.
//!
//! Usage is recorded in events (`token_count`), since 0.153 also in records (`token_usage_record`), and the same response is often in
//! both. Either may have the tokens of the response, the running total of the session, or both.

use super::super::Note;
use super::fields::Fields;
use super::item::Item;
use super::record::{Record, RecordKind};
use crate::transcript::conversation::Usage;

/// The tokens of one record.
#[derive(Debug, Clone)]
pub struct TokenInfo {
    source: Source,
    total: Option<TokenUsage>,
    last: Option<TokenUsage>,
    window: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Event,
    Record,
}

/// Tokens of one request and its response. `input_tokens` includes cache reads and writes; `output_tokens` includes reasoning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TokenUsage {
    input_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    output_tokens: u64,
    reasoning_output_tokens: u64,
    total_tokens: u64,
}

/// What the tokens of a record mean.
#[derive(Debug, Clone, Copy)]
pub struct Counted {
    pub event: TokenEvent,
    /// The context window of the model.
    pub window: Option<u64>,
}

/// The meaning of one event.
#[derive(Debug, Clone, Copy)]
pub enum TokenEvent {
    /// Usage of a response.
    Used(Usage),
    /// Codex's estimate of the context in tokens. It writes one after a compaction, when there is no usage yet.
    Estimate(u64),
    /// The running total did not change: Codex repeats the event when rate limits change or a request failed.
    Repeated,
}

/// Replaces the tokens of every record by their meaning. Returns whether usage comes before the items of its response, as versions up to
/// about 0.50 wrote it.
pub fn count(records: &mut [Record]) -> bool {
    let mut meter = UsageMeter::default();
    let (mut response_began, mut usage_first) = (false, None);
    for record in records {
        match &record.kind {
            RecordKind::Tokens(info) => {
                let event = meter.read(info);
                if matches!(event, TokenEvent::Used(_)) {
                    usage_first.get_or_insert(!response_began);
                }
                record.kind = RecordKind::Counted(Counted { event, window: info.window });
            }
            RecordKind::Item(item) => response_began |= is_of_model(item),
            _ => {}
        }
    }
    usage_first.unwrap_or(false)
}

fn is_of_model(item: &Item) -> bool {
    match item {
        Item::Message(message) => message.role == "assistant",
        Item::AgentMessage(_) | Item::Output(_) | Item::FoundTools(_) | Item::Compaction | Item::Unknown(_) => false,
        _ => true,
    }
}

/// Follows the running totals of a session.
#[derive(Debug, Default)]
struct UsageMeter {
    /// The latest running totals: of events, and of records.
    totals: [Option<TokenUsage>; 2],
    /// The latest usage, if the other source may repeat it.
    unpaired: Option<(Source, TokenUsage)>,
}

impl UsageMeter {
    fn read(&mut self, info: &TokenInfo) -> TokenEvent {
        if let Some(estimate) = info.last.filter(|last| !last.is_usage()) {
            return TokenEvent::Estimate(estimate.total_tokens);
        }
        let total = info.total.filter(|total| total.sum() > 0);
        let [own, other] = match info.source {
            Source::Event => self.totals,
            Source::Record => [self.totals[1], self.totals[0]],
        };
        let by_totals = || Some(total?.since(own.or(other)));
        let Some(usage) = info.last.or_else(by_totals).filter(TokenUsage::is_usage) else { return TokenEvent::Repeated };
        let is_same = |before: Option<TokenUsage>| total.zip(before).is_some_and(|(total, before)| total.sum() == before.sum());
        let other_source = self.unpaired.filter(|(source, _)| *source != info.source);
        let is_pair = other_source.is_some_and(|(_, known)| known.is_same_response(&usage) || is_same(other));
        if let Some(total) = total {
            self.totals[info.source as usize] = Some(total);
        }
        if is_same(own) || is_pair {
            self.unpaired = if is_pair { None } else { self.unpaired };
            return TokenEvent::Repeated;
        }
        self.unpaired = Some((info.source, usage));
        TokenEvent::Used(usage.usage())
    }
}

impl TokenInfo {
    /// Reads the `info` of a `token_count` event.
    pub fn of_event(info: &Fields, notes: &mut Vec<Note>) -> Self {
        Self {
            source: Source::Event,
            total: TokenUsage::new(info, "total_token_usage", notes),
            last: TokenUsage::new(info, "last_token_usage", notes),
            window: info.get("model_context_window", notes),
        }
    }

    /// Reads a `token_usage_record`; `None` if it has no tokens.
    pub fn of_response(record: &Fields, notes: &mut Vec<Note>) -> Option<Self> {
        let total = TokenUsage::new(record, "thread_token_usage", notes);
        let last = TokenUsage::new(record, "usage", notes);
        (total.is_some() || last.is_some()).then_some(Self { source: Source::Record, total, last, window: None })
    }
}

impl TokenUsage {
    fn new(record: &Fields, key: &str, notes: &mut Vec<Note>) -> Option<Self> {
        let fields = record.object(key, notes)?;
        let mut tokens = |key| fields.tokens(key, notes).unwrap_or(0);
        Some(Self {
            input_tokens: tokens("input_tokens"),
            cached_input_tokens: tokens("cached_input_tokens"),
            cache_write_input_tokens: tokens("cache_write_input_tokens"),
            output_tokens: tokens("output_tokens"),
            reasoning_output_tokens: tokens("reasoning_output_tokens"),
            total_tokens: tokens("total_tokens"),
        })
    }

    /// Returns whether this is usage; an estimate has only a total.
    fn is_usage(&self) -> bool {
        self.input_tokens > 0 || self.output_tokens > 0
    }

    fn sum(&self) -> u64 {
        if self.total_tokens > 0 { self.total_tokens } else { self.input_tokens.saturating_add(self.output_tokens) }
    }

    /// Returns whether two records have the same tokens. A running total of only one of them does not matter.
    fn is_same_response(&self, other: &Self) -> bool {
        let of_request = |usage: &Self| (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens);
        of_request(self) == of_request(other)
    }

    /// Returns what was used since an earlier running total. A total that became smaller began again at zero.
    fn since(&self, before: Option<Self>) -> Self {
        let Some(before) = before else { return *self };
        if self.input_tokens < before.input_tokens || self.output_tokens < before.output_tokens {
            return *self;
        }
        let more = |tokens: fn(&Self) -> u64| tokens(self).saturating_sub(tokens(&before));
        Self {
            input_tokens: more(|usage| usage.input_tokens),
            cached_input_tokens: more(|usage| usage.cached_input_tokens),
            cache_write_input_tokens: more(|usage| usage.cache_write_input_tokens),
            output_tokens: more(|usage| usage.output_tokens),
            reasoning_output_tokens: more(|usage| usage.reasoning_output_tokens),
            total_tokens: more(|usage| usage.total_tokens),
        }
    }

    /// Converts to [`Usage`], which keeps cache reads and writes apart from input.
    fn usage(&self) -> Usage {
        let cache_read = self.cached_input_tokens.min(self.input_tokens);
        let cache_write_5m = self.cache_write_input_tokens.min(self.input_tokens - cache_read);
        Usage {
            input: self.input_tokens - cache_read - cache_write_5m,
            cache_read,
            cache_write_5m,
            cache_write_1h: 0,
            output: self.output_tokens,
            reasoning: Some(self.reasoning_output_tokens),
        }
    }
}
