//! Recorded usage: the tokens that a provider billed for a call.

/// Maximum tokens of a recorded number. Larger ones are capped, so that sums cannot overflow.
pub(super) const MAX_TOKENS: u64 = u32::MAX as u64;

/// The largest context window that is sold: Llama 4 Scout, 10 Mi tokens (LiteLLM's price table of 2026-11-23).
const LARGEST_WINDOW: u64 = 10 << 20;

/// Tokens that the provider billed for one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to the prompt cache.
    pub input: u64,
    /// Input tokens read from the prompt cache.
    pub cache_read: u64,
    /// Input tokens written to the prompt cache with a lifetime of 5 minutes.
    pub cache_write_5m: u64,
    /// Input tokens written to the prompt cache with a lifetime of 1 hour.
    pub cache_write_1h: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// The part of `output` that is reasoning, if recorded.
    pub reasoning: Option<u64>,
}

impl Usage {
    /// Returns whether request and output each fit the largest context window that there is.
    pub fn is_possible(&self) -> bool {
        let Self { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning: _ } = *self;
        let request = [input, cache_read, cache_write_5m, cache_write_1h].into_iter().fold(0, u64::saturating_add);
        request <= LARGEST_WINDOW && output <= LARGEST_WINDOW
    }

    /// Caps all numbers.
    pub(super) fn capped(self) -> Self {
        let Self { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning } = self;
        let [input, cache_read, cache_write_5m, cache_write_1h, output] =
            [input, cache_read, cache_write_5m, cache_write_1h, output].map(|tokens| tokens.min(MAX_TOKENS));
        Self { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning }
    }

    /// Returns the tokens of the request: everything that the model read.
    pub fn request(&self) -> u64 {
        self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h
    }
}

/// Another model call that the provider made for the same request: an earlier iteration of the model itself, or an advisor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Iteration {
    /// `None` if it is the model of the call.
    pub model: Option<String>,
    pub usage: Usage,
}

/// How the provider served a call, where that changes its price.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Service {
    /// What the price depends on, by the names of price tables: `fast`, `us`, `priority`, `batches`. Empty for the usual service.
    pub modes: Vec<String>,
    /// Searches of the web that the provider made and bills by the number.
    pub web_searches: u64,
}
