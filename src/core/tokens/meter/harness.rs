//! Meters: how a harness estimates its context, written as a short text such as `py-repr/4` or `recorded+ceil(chars/4)`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Rates, SCALE, SizeUnit};

/// How a harness estimates its context.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Meter {
    /// Use the recorded usage of the last call, if there is one, and estimate only what came after it. The replay adds them up.
    pub recorded: bool,
    /// With `recorded`: what came after the last response counts for nothing until it has been sent; the response counts as its
    /// recorded output.
    pub usage_only: bool,
    pub unit: SizeUnit,
    pub rounding: Rounding,
}

/// Conversion of a size to tokens. Divides doubles, as harnesses do in their own languages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rounding {
    /// No division.
    No,
    /// Divided and rounded down.
    Floor(f64),
    /// Divided and rounded up.
    Ceil(f64),
}

impl Meter {
    /// Creates a meter that reports sizes in a unit, without division.
    pub const fn from_unit(unit: SizeUnit) -> Self {
        Self { recorded: false, usage_only: false, unit, rounding: Rounding::No }
    }

    /// Creates a meter for tokens at fitted rates.
    pub const fn fitted(rates: Rates) -> Self {
        Self { unit: SizeUnit::Fitted(rates), rounding: Rounding::Floor(SCALE as f64), ..Self::from_unit(SizeUnit::Chars) }
    }

    /// Returns whether it estimates tokens, and not characters or bytes.
    pub fn counts_tokens(&self) -> bool {
        self.recorded || self.unit.counts_tokens() || self.rounding != Rounding::No
    }

    /// Converts a size in the meter's unit to the estimate.
    pub fn apply(&self, raw: u64) -> u64 {
        match self.rounding {
            Rounding::No => raw,
            Rounding::Floor(by) => (raw as f64 / by).floor() as u64,
            Rounding::Ceil(by) => (raw as f64 / by).ceil() as u64,
        }
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let recorded = match (self.recorded, self.usage_only) {
            (false, _) => "",
            (true, false) => RECORDED_PREFIX,
            (true, true) => USAGE_PREFIX,
        };
        match self.rounding {
            Rounding::Floor(_) if matches!(self.unit, SizeUnit::Fitted(_)) => write!(f, "{}", self.unit),
            Rounding::No => write!(f, "{recorded}{}", self.unit),
            Rounding::Floor(by) => write!(f, "{recorded}{}/{by}", self.unit),
            Rounding::Ceil(by) => write!(f, "{recorded}ceil({}/{by})", self.unit),
        }
    }
}

const RECORDED_PREFIX: &str = "recorded+";
const USAGE_PREFIX: &str = "recorded-or-";

impl FromStr for Meter {
    type Err = UnknownMeter;

    fn from_str(text: &str) -> Result<Self, UnknownMeter> {
        parse(text.trim()).ok_or_else(|| UnknownMeter(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Meter> {
    let prefixed = |prefix| text.strip_prefix(prefix);
    let (usage_only, more) = (prefixed(USAGE_PREFIX), prefixed(RECORDED_PREFIX));
    let (recorded, usage_only, text) = (more.or(usage_only).is_some(), usage_only.is_some(), more.or(usage_only).unwrap_or(text));
    let rounded_up = text.strip_prefix("ceil(").and_then(|rest| rest.strip_suffix(')'));
    let (measure, rounding) = match (rounded_up, rounded_up.unwrap_or(text).split_once('/')) {
        (Some(_), quotient) => quotient.and_then(|(measure, by)| Some((measure, Rounding::Ceil(divisor(by)?))))?,
        (None, Some((measure, by))) => (measure, Rounding::Floor(divisor(by)?)),
        (None, None) => (text, Rounding::No),
    };
    Some(Meter { recorded, usage_only, unit: measure.parse().ok()?, rounding })
}

/// Parses a positive decimal number: `4`, `3.3`.
fn divisor(text: &str) -> Option<f64> {
    let decimal = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    text.parse().ok().filter(|by: &f64| decimal && by.is_finite() && *by > 0.0)
}

/// The error for an unknown meter or unit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown meter `{0}`; a meter is one of {known}, alone or as UNIT/4 (rounded down) or ceil(UNIT/4); `recorded+` before it \
     uses the recorded usage of the last call and estimates only what came after it, and `recorded-or-` estimates only where no \
     usage is recorded",
    known = SizeUnit::ALL.map(|(_, name)| name).join(", ")
)]
pub struct UnknownMeter(pub String);

impl TryFrom<String> for Meter {
    type Error = UnknownMeter;

    fn try_from(text: String) -> Result<Self, UnknownMeter> {
        text.parse()
    }
}

impl From<Meter> for String {
    fn from(meter: Meter) -> String {
        meter.to_string()
    }
}

/// A meter's entry in the catalog.
#[derive(Debug, Clone, Copy)]
pub struct MeterDescription {
    /// The text that [`Meter`] parses.
    pub name: &'static str,
    pub about: &'static str,
    /// The harness that uses this estimate, and where its code or documentation shows it.
    pub source: &'static str,
}

/// The unit of reports for models whose tokenizer is not public. No harness uses it, and no policy can name it.
pub const RECORDED: MeterDescription = MeterDescription {
    name: "recorded",
    about: "tokens estimated from the recorded usage of the same session: a rate per character for tool results, tool uses, text \
            and thinking, fitted (Theil–Sen) to the growth of requests from call to call; the messages added for a call share \
            the recorded growth. Only `--tokenizer recorded` accepts it; it is the default of reports for Claude models",
    source: "the reports; Anthropic publishes no tokenizer for Claude 3 and later",
};

/// The meters of known harnesses.
pub const METERS: &[MeterDescription] = &[
    MeterDescription {
        name: "chars",
        about: "Unicode code points of texts and results, and of each tool call its name and its input as compact JSON",
        source: "the output caps of SWE-agent (agents.py:70) and mini-swe-agent @a83fcae8 (config/default.yaml:131); Python's len(text)",
    },
    MeterDescription { name: "chars/4", about: "characters ÷ 4, rounded down", source: "kimi-cli 1.52.0 soul/compaction.py" },
    MeterDescription {
        name: "ceil(chars/4)",
        about: "characters ÷ 4, rounded up",
        source: "LangChain count_tokens_approximately, without what it adds for each message; `langchain` is exact",
    },
    MeterDescription {
        name: "ceil(chars/3.3)",
        about: "characters ÷ 3.3, rounded up",
        source: "LangChain for Anthropic's models, summarization middleware :252",
    },
    MeterDescription {
        name: "recorded+ceil(chars/4)",
        about: "the usage recorded for the last call, plus characters ÷ 4, rounded up, of what came after it",
        source: "Claude Code's auto-compaction by third-party analyses",
    },
    MeterDescription {
        name: "recorded-or-js-json/4",
        about: "the usage recorded for the last call, its output included; what came after it does not count yet. Without usage, \
                and for parts of the context, UTF-16 units of JSON.stringify(messages) ÷ 4",
        source: "opencode-ai 1.18.33, observed live",
    },
    MeterDescription {
        name: "utf16/4",
        about: "UTF-16 units ÷ 4, rounded down",
        source: "learn-claude-code's Java port @2afa4712 ContextCompactor.java:55",
    },
    MeterDescription {
        name: "utf16/3",
        about: "UTF-16 units ÷ 3, rounded down",
        source: "Cline SDK @21cb8d25 extensions/context/compaction-shared.ts",
    },
    MeterDescription {
        name: "utf16",
        about: "UTF-16 units: length in JavaScript and Java",
        source: "Claude Code's result budgets, toolLimits.ts",
    },
    MeterDescription {
        name: "ceil(bytes/4)",
        about: "UTF-8 bytes ÷ 4, rounded up",
        source: "Codex CLI @0100b103 codex-rs/core/src/truncate.rs",
    },
    MeterDescription {
        name: "py-repr",
        about: "characters of Python's str(messages), including keys, quotes and escapes",
        source: "learn-claude-code s08_context_compact/code.py @1baf1ac:251",
    },
    MeterDescription {
        name: "py-repr/4",
        about: "characters of Python's str(messages) ÷ 4, rounded down",
        source: "learn-claude-code agents/s06_context_compact.py @c171f8a:63",
    },
    MeterDescription {
        name: "json",
        about: "characters of Python's json.dumps(messages, ensure_ascii=False)",
        source: "learn-claude-code s08_context_compact/code.py @b6b5f33:244",
    },
    MeterDescription {
        name: "json-ascii/4",
        about: "characters of Python's json.dumps(messages) ÷ 4, rounded down: a character outside ASCII counts six or twelve times",
        source: "no harness known; json.dumps with default options",
    },
    MeterDescription {
        name: "js-json",
        about: "UTF-16 units of JSON.stringify(messages)",
        source: "gemini-cli @5411f113 chatCompressionService.ts:60 (its split point)",
    },
    MeterDescription {
        name: "js-json/4",
        about: "UTF-16 units of JSON.stringify(messages) ÷ 4, rounded down",
        source: "opencode @08f74b9b packages/opencode/src/session/compaction.ts (its tail)",
    },
    MeterDescription {
        name: "o200k",
        about: "tokens of o200k_base; the default of reports for models whose tokenizer is public",
        source: "tiktoken's encode_ordinary; images by Anthropic's rule, encrypted reasoning as recorded",
    },
    MeterDescription {
        name: "langchain",
        about: "for each message its characters ÷ 4, rounded up, plus 3; tool calls as Python's repr of the list",
        source: "LangChain count_tokens_approximately, langchain-core 1.8.2 messages/utils.py:2262",
    },
    MeterDescription {
        name: "llama-index",
        about: "tokens of cl100k_base of texts and results; tool calls count nothing, a response with calls alone counts 1",
        source: "LlamaIndex's ChatMemoryBuffer and ChatSummaryMemoryBuffer, llama-index-core 0.14.25: _token_count_for_messages",
    },
    MeterDescription {
        name: "llama-index-memory",
        about: "tokens of cl100k_base of texts and results, and of the id that each result answers; tool calls count nothing",
        source: "LlamaIndex's Memory, llama-index-core 0.14.25: _estimate_token_count",
    },
    MeterDescription {
        name: "recorded+pi",
        about: "the usage recorded for the last call, plus, for each message after it, UTF-16 units ÷ 4, rounded up; a call counts the \
                tool's name and its arguments by JSON.stringify",
        source: "pi-coding-agent 0.87.1 core/compaction/compaction.js: estimateTokens",
    },
    MeterDescription {
        name: "recorded+gemini/4",
        about: "the usage recorded for the last call, plus a quarter, rounded down, of what came after it: a character of ASCII counts \
                once, another one six times; calls and results count as JSON.stringify writes them",
        source: "@google/gemini-cli-core 0.61.0 utils/tokenCalculation.js: estimateTokenCountSync",
    },
    MeterDescription {
        name: "agent-framework",
        about: "for each message its characters as JSON ÷ 4, rounded down, with all keys, and a message id of seven characters; the \
                arguments of a call are a JSON text inside",
        source: "agent-framework-core 1.23.0 _compaction.py: CharacterEstimatorTokenizer",
    },
    MeterDescription {
        name: "messages",
        about: "the number of messages; what a message is says `messages` of the policy",
        source: "thresholds of LangChain's summarization, Semantic Kernel's reducers, OpenHands' condensers",
    },
    MeterDescription { name: "cl100k", about: "tokens of cl100k_base", source: "tiktoken's encode_ordinary" },
];

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(text: &str) -> Meter {
        text.parse().expect(text)
    }

    #[test]
    fn catalog_meters_round_trip() {
        for page in METERS {
            assert_eq!(meter(page.name).to_string(), page.name);
            let json = serde_json::to_string(&meter(page.name)).expect("a string");
            assert_eq!(serde_json::from_str::<Meter>(&json).expect("the same string"), meter(page.name));
        }
        for (_, name) in SizeUnit::ALL {
            assert!(METERS.iter().any(|page| page.name.contains(name)), "{name} is in no row");
        }
    }

    #[test]
    fn meter_estimates_round_as_named() {
        let estimates = ["chars", "chars/4", "ceil(chars/4)", "ceil(chars/3.3)"].map(|text| meter(text).apply(33));
        assert_eq!(estimates, [33, 8, 9, 10]);
        assert!(meter("recorded+ceil(chars/4)").recorded && !meter("recorded+ceil(chars/4)").usage_only);
        assert!(meter("recorded-or-ceil(chars/4)").recorded && meter("recorded-or-ceil(chars/4)").usage_only);
        assert_eq!(meter("chars/0.5").apply(u64::MAX), u64::MAX);
    }

    #[test]
    fn unknown_meter_error_lists_known_meters() {
        for text in
            ["", "char", "chars/0", "chars/-4", "chars/four", "chars/inf", "chars/1e3", "ceil(chars)", "recorded", "chars/4/4"]
        {
            let error = text.parse::<Meter>().expect_err(text).to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains("py-repr, json, json-ascii"), "{error}");
        }
    }
}
