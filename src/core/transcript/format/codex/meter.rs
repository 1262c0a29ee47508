//! Interprets `token_count` events: usage, a repetition of it, or an estimate.

use serde::Deserialize;

use crate::transcript::conversation::Usage;

/// A `token_count` event.
#[derive(Debug, Deserialize)]
pub struct TokenCount {
    /// Null before the first response of a session.
    pub info: Option<TokenInfo>,
}

/// The content of a `token_count` event.
#[derive(Debug, Deserialize)]
pub struct TokenInfo {
    pub total_token_usage: Option<TokenUsage>,
    pub last_token_usage: TokenUsage,
    pub model_context_window: Option<u64>,
}

/// Tokens of one request and its response. `input_tokens` includes cache reads and writes; `output_tokens` includes reasoning.
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

/// Follows the running total of a session.
#[derive(Debug, Default)]
pub struct UsageMeter {
    /// Running total of the latest usage.
    last_total: Option<u64>,
    /// Tokens of the latest request.
    pub last_request: Option<u64>,
    /// Usage comes before the items of its response, as versions up to about 0.50 wrote it.
    pub usage_first: bool,
}

/// The meaning of one event.
#[derive(Debug)]
pub enum TokenEvent {
    /// Usage of a response.
    Used(Usage),
    /// Codex's estimate of the context in tokens. It writes one after a compaction, when there is no usage yet.
    Estimate(u64),
    /// The running total did not change: Codex repeats the event when rate limits change or a request failed.
    Repeated,
}

impl UsageMeter {
    /// Interprets an event. `response_began`: an item of the model came before it.
    pub fn read(&mut self, info: &TokenInfo, response_began: bool) -> TokenEvent {
        if !info.last_token_usage.is_usage() {
            return TokenEvent::Estimate(info.last_token_usage.total_tokens);
        }
        let total = info.total_token_usage.map(|usage| usage.total_tokens);
        if total.is_some() && total == self.last_total {
            return TokenEvent::Repeated;
        }
        self.usage_first |= self.last_request.is_none() && !response_began;
        self.last_total = total;
        let usage = info.last_token_usage.usage();
        self.last_request = Some(usage.request());
        TokenEvent::Used(usage)
    }
}

impl TokenUsage {
    /// Returns whether this is usage; an estimate has only a total.
    pub fn is_usage(&self) -> bool {
        self.input_tokens > 0 || self.output_tokens > 0
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
