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
    /// Reads are multiples of this many tokens.
    pub step: u64,
    /// A prefix can be read even after thinking was dropped from it.
    pub reads_past_thinking: bool,
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
        reads_past_thinking: true,
        minutes: 5.0,
        long_minutes: 60.0,
    },
    Provider {
        name: "openai",
        about: "before GPT-5.6: any prefix of at least 1,024 tokens, in steps of 128; writing is free",
        source: "developers.openai.com: prompt caching guide",
        look_back: None,
        step: 128,
        reads_past_thinking: false,
        minutes: 10.0,
        long_minutes: 10.0,
    },
    Provider {
        name: "openai-5.6",
        about: "since GPT-5.6: any prefix of at least 1,024 tokens; writing costs more than input",
        source: "developers.openai.com: prompt caching guide",
        look_back: None,
        step: 1,
        reads_past_thinking: true,
        minutes: 30.0,
        long_minutes: 30.0,
    },
    Provider {
        name: "gemini",
        about: "implicit caching: any prefix, not guaranteed; writing is free",
        source: "docs.cloud.google.com: context caching",
        look_back: None,
        step: 1,
        reads_past_thinking: true,
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
    reads_past_thinking: true,
    minutes: 5.0,
    long_minutes: 5.0,
};

impl Provider {
    pub fn by_name(name: &str) -> Option<&'static Self> {
        PROVIDERS.iter().find(|provider| provider.name == name)
    }

    /// Returns the minutes that a prefix lives after its last use.
    pub fn lifetime(&self, long: bool) -> f64 {
        if long { self.long_minutes } else { self.minutes }
    }
}
