//! What `token_count` events say: mostly usage, sometimes a repetition, once an estimate.

use serde::Deserialize;

use crate::transcript::conversation::Usage;

/// `info` is null before the first response of a session.
#[derive(Debug, Deserialize)]
pub struct TokenCount {
    pub info: Option<TokenInfo>,
}

/// What `event_msg/token_count` says.
#[derive(Debug, Deserialize)]
pub struct TokenInfo {
    pub total_token_usage: Option<TokenUsage>,
    pub last_token_usage: TokenUsage,
    pub model_context_window: Option<u64>,
}

/// Tokens of one request and its response. What was read from or written to the cache is part of `input_tokens`; reasoning
/// is part of `output_tokens`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TokenUsage {
    pub input_tokens: u64,
    pub cached_input_tokens: u64,
    pub cache_write_input_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_output_tokens: u64,
    pub total_tokens: u64,
}

/// The state of the running totals.
#[derive(Debug, Default)]
pub struct Meter {
    total: Option<u64>,
    /// Tokens of the latest request.
    pub last_request: Option<u64>,
    /// Usage comes ahead of the items it belongs to, as versions up to about 0.50 wrote it.
    pub ahead: bool,
}

/// What one event says.
#[derive(Debug)]
pub enum Reading {
    Used(Usage),
    /// Tokens of the context, estimated by Codex: what it writes after a compaction, when there is no usage yet.
    Estimate(u64),
    /// The running total stands still: Codex repeats the event when rate limits change or a request failed.
    Repeated,
}

impl Meter {
    /// `began`: an item of the model came before this event.
    pub fn read(&mut self, info: &TokenInfo, began: bool) -> Reading {
        if !info.last_token_usage.is_usage() {
            return Reading::Estimate(info.last_token_usage.total_tokens);
        }
        let total = info.total_token_usage.map(|usage| usage.total_tokens);
        if total.is_some() && total == self.total {
            return Reading::Repeated;
        }
        self.ahead |= self.last_request.is_none() && !began;
        self.total = total;
        let usage = info.last_token_usage.usage();
        self.last_request = Some(usage.request());
        Reading::Used(usage)
    }
}

impl TokenUsage {
    /// An estimate is a total without parts.
    pub fn is_usage(&self) -> bool {
        self.input_tokens > 0 || self.output_tokens > 0
    }

    /// Codex counts what it read from the cache, or wrote to it, as input; here they are apart.
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
