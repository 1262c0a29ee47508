//! Rules by which providers cache prompts.

/// Prompt cache rules of a provider.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provider {
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    /// Source of the rules.
    pub source: &'static str,
    /// Prefixes need cache breakpoints and are found at most this many blocks before one; `None`: found wherever two requests
    /// differ.
    pub look_back: Option<usize>,
    /// Reads are multiples of this many tokens, less `step_offset`.
    pub step: u64,
    pub step_offset: u64,
    /// Tokens at the end of a request that no later request reads.
    pub unread_end: u64,
    /// Minutes that a prefix lives after its last use.
    pub minutes: f64,
    /// The same, if the longer lifetime was paid for.
    pub long_minutes: f64,
}

/// All providers.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "anthropic",
        about: "prefixes at cache breakpoints, found up to 20 blocks before one; writing costs more than input",
        source: "platform.claude.com/docs: prompt caching",
        look_back: Some(20),
        step: 1,
        step_offset: 0,
        unread_end: 0,
        minutes: 5.0,
        long_minutes: 60.0,
    },
    Provider {
        name: "openai",
        about: "before GPT-5.5: any prefix of at least 1,024 tokens, in steps of 128; writing is free",
        source: "developers.openai.com: prompt caching guide; 173 recorded requests of gpt-5.3-codex-spark",
        look_back: None,
        step: 128,
        step_offset: 0,
        unread_end: 0,
        minutes: 10.0,
        long_minutes: 10.0,
    },
    Provider {
        name: "openai-5.5",
        about: "GPT-5.5: as openai, but all recorded reads are a multiple of 512 tokens less 128",
        source: "developers.openai.com: prompt caching guide; 1,346 recorded requests of gpt-5.5",
        look_back: None,
        step: 512,
        step_offset: 128,
        unread_end: 0,
        minutes: 10.0,
        long_minutes: 10.0,
    },
    Provider {
        name: "openai-5.6",
        about: "since GPT-5.6: any prefix of at least 1,024 tokens; all recorded reads are a multiple of 1,024 less 256, and end at \
                least 115 tokens before the last request; writing costs more than input",
        source: "developers.openai.com: prompt caching guide; 675 recorded requests of gpt-5.6-sol",
        look_back: None,
        step: 1_024,
        step_offset: 256,
        unread_end: 115,
        minutes: 30.0,
        long_minutes: 30.0,
    },
    Provider {
        name: "gemini",
        about: "implicit caching: any prefix, not guaranteed; writing is free",
        source: "docs.cloud.google.com: context caching",
        look_back: None,
        step: 1,
        step_offset: 0,
        unread_end: 0,
        minutes: 5.0,
        long_minutes: 5.0,
    },
    OTHER,
];

/// Used for unknown providers.
pub const OTHER: Provider = Provider {
    name: "other",
    about: "any prefix, for five minutes",
    source: "an assumption",
    look_back: None,
    step: 1,
    step_offset: 0,
    unread_end: 0,
    minutes: 5.0,
    long_minutes: 5.0,
};

impl Provider {
    /// Returns the provider with this name.
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    /// Returns how many tokens of a cached prefix are read.
    pub fn round_down(&self, prefix: u64) -> u64 {
        ((prefix + self.step_offset) / self.step * self.step).saturating_sub(self.step_offset)
    }

    /// Returns the minutes that a prefix lives after its last use.
    pub fn lifetime(&self, long: bool) -> f64 {
        if long { self.long_minutes } else { self.minutes }
    }
}
