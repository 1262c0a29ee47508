//! Recorded usage: the tokens that a provider billed for a call.

/// Maximum tokens of a recorded number. A usage with more is dropped and a block size is capped, so that sums cannot overflow.
pub(super) const MAX_TOKENS: u64 = u32::MAX as u64;

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
    /// Returns whether all numbers are at most 2³² − 1, so that sums of them cannot overflow.
    pub fn is_possible(&self) -> bool {
        let Self { input, cache_read, cache_write_5m, cache_write_1h, output, reasoning: _ } = *self;
        [input, cache_read, cache_write_5m, cache_write_1h, output].iter().all(|tokens| *tokens <= MAX_TOKENS)
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
