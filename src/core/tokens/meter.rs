//! Sizes of text and messages: the estimates of harnesses, exactly as their programming languages compute them, and real tokens.
//!
//! Every size is additive: the size of a list of messages follows from the sizes of its messages, and almost always from those of its
//! blocks and their number ([`SizeUnit::adds_up`]). So a replay keeps a running total and computes only what changes.

mod agent_framework;
mod gemini;
mod harness;
pub mod javascript;
mod json;
mod langchain;
mod llama_index;
pub mod media;
mod notation;
mod number;
mod pi;
mod pieces;
pub mod python;
pub mod python_text;
mod rates;
mod schema;
pub mod tokens;
mod unprintable;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::notation::Notation;
use self::tokens::Vocabulary;
use crate::transcript::conversation::{Block, BlockKind, Role};
use crate::util::text::{has_stand_ins, lone_surrogate};

pub use self::harness::{METERS, Meter, MeterDescription, RECORDED, Rounding, UnknownMeter};
pub use self::rates::{Rates, SCALE, TextClass, scaled};

/// The unit of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SizeUnit {
    /// Unicode code points of the text the model reads (Python's `len`).
    Chars,
    /// UTF-8 bytes of that text.
    Bytes,
    /// UTF-16 units of that text (JavaScript's and Java's `length`).
    Utf16,
    /// Characters of Python's `str(messages)`.
    PyRepr,
    /// Characters of Python's `json.dumps(messages, ensure_ascii=False)`.
    Json,
    /// Characters of Python's `json.dumps(messages)`.
    JsonAscii,
    /// UTF-16 units of JavaScript's `JSON.stringify(messages)`.
    JsJson,
    /// Tokens of that text in o200k_base; special tokens count as ordinary text.
    O200k,
    /// Tokens of that text in cl100k_base; special tokens count as ordinary text.
    Cl100k,
    /// Tokens by LangChain's `count_tokens_approximately`.
    LangChain,
    /// Tokens as LlamaIndex's memory buffers count them.
    LlamaIndex,
    /// Tokens as LlamaIndex's `Memory` counts them.
    LlamaIndexMemory,
    /// Tokens as pi estimates them.
    Pi,
    /// Quarters of a token as Gemini CLI estimates them.
    Gemini,
    /// Tokens as Microsoft's agent-framework estimates them.
    AgentFramework,
    /// Messages, whatever their size; what a message is says `messages` of the policy.
    Messages,
    /// Ten-thousandths of a token of that text by rates fitted to recorded usage. Only reports use it; no policy can name it.
    Fitted(Rates),
}

impl SizeUnit {
    /// Maximum number of units in one context: all named ones and a fitted one.
    pub const MAX_UNITS: usize = Self::ALL.len() + 1;

    /// Every named unit, with its name.
    pub const ALL: [(SizeUnit, &'static str); 16] = [
        (SizeUnit::Chars, "chars"),
        (SizeUnit::Bytes, "bytes"),
        (SizeUnit::Utf16, "utf16"),
        (SizeUnit::PyRepr, "py-repr"),
        (SizeUnit::Json, "json"),
        (SizeUnit::JsonAscii, "json-ascii"),
        (SizeUnit::JsJson, "js-json"),
        (SizeUnit::O200k, "o200k"),
        (SizeUnit::Cl100k, "cl100k"),
        (SizeUnit::LangChain, "langchain"),
        (SizeUnit::LlamaIndex, "llama-index"),
        (SizeUnit::LlamaIndexMemory, "llama-index-memory"),
        (SizeUnit::Pi, "pi"),
        (SizeUnit::Gemini, "gemini"),
        (SizeUnit::AgentFramework, "agent-framework"),
        (SizeUnit::Messages, "messages"),
    ];

    /// Returns whether a message is larger than its blocks together by an amount that depends only on their number. Only such a unit
    /// can say how large a single block is, so only such a unit can count for reports.
    pub fn adds_up(self) -> bool {
        let has_own_rules = matches!(
            self,
            SizeUnit::LangChain
                | SizeUnit::LlamaIndex
                | SizeUnit::LlamaIndexMemory
                | SizeUnit::Pi
                | SizeUnit::AgentFramework
                | SizeUnit::Messages
        );
        !has_own_rules
    }

    /// Returns whether it is a number of tokens, and not of characters, bytes or messages.
    pub(super) fn counts_tokens(self) -> bool {
        let counts_other = matches!(self, SizeUnit::Chars | SizeUnit::Bytes | SizeUnit::Utf16 | SizeUnit::Gemini);
        !counts_other && self != SizeUnit::Messages && self.notation().is_none()
    }

    /// Returns the size of a block inside its message. `plain`: the message's content is a bare string.
    pub fn block(self, block: &Block, plain: bool) -> u64 {
        match self.notation() {
            Some(notation) if plain => (notation.string)(&block.text()),
            Some(notation) => notation.value(&block.wire),
            None => match self {
                SizeUnit::Fitted(rates) => rates.block_size(block),
                SizeUnit::O200k | SizeUnit::Cl100k => self.block_tokens(block),
                SizeUnit::LangChain => langchain::block_chars(block),
                SizeUnit::LlamaIndex => llama_index::block_tokens(block),
                SizeUnit::LlamaIndexMemory => llama_index::memory_block_tokens(block),
                SizeUnit::Pi => pi::block_units(block),
                SizeUnit::Gemini => gemini::block_quarters(block),
                SizeUnit::AgentFramework => agent_framework::block_chars(block),
                SizeUnit::Messages => 0,
                _ => self.model_text_size(block),
            },
        }
    }

    /// Returns the size of a message of `blocks` blocks whose sizes add up to `sum`.
    pub fn message(self, role: Role, plain: bool, blocks: usize, sum: u64) -> u64 {
        match self.notation() {
            Some(notation) if plain => notation.message(role, sum),
            Some(notation) => notation.message(role, notation.items(blocks, sum)),
            None => match self {
                SizeUnit::LangChain => langchain::message_tokens(role, sum),
                SizeUnit::LlamaIndex => llama_index::message_tokens(role, sum),
                SizeUnit::Pi => pi::message_tokens(sum),
                SizeUnit::AgentFramework => agent_framework::message_tokens(role, blocks, sum),
                SizeUnit::Messages => 1,
                _ => sum,
            },
        }
    }

    /// Returns the size of a list of `messages` messages whose sizes add up to `sum`.
    pub fn list(self, messages: usize, sum: u64) -> u64 {
        self.notation().map_or(sum, |notation| notation.items(messages, sum))
    }

    /// Returns the size of a text alone: for `PyRepr` it is `len(repr(text))`, for the JSON units the length of the JSON string.
    pub fn text(self, text: &str) -> u64 {
        match self {
            SizeUnit::Chars | SizeUnit::LangChain | SizeUnit::AgentFramework => text.chars().count() as u64,
            SizeUnit::Bytes => text.len() as u64 - count_lone_surrogates(text),
            // A character takes two units where it takes four bytes, which begin with F0 or more.
            SizeUnit::Utf16 | SizeUnit::Pi => {
                (text.chars().count() + text.bytes().filter(|b| *b >= 0xF0).count()) as u64 - count_lone_surrogates(text)
            }
            SizeUnit::Gemini => gemini::text_quarters(text),
            SizeUnit::O200k => Vocabulary::O200k.count(text),
            SizeUnit::Cl100k | SizeUnit::LlamaIndex | SizeUnit::LlamaIndexMemory => Vocabulary::Cl100k.count(text),
            SizeUnit::PyRepr => (python::REPR.string)(text),
            SizeUnit::Json => (python::DUMPS.string)(text),
            SizeUnit::JsonAscii => (python::DUMPS_ASCII.string)(text),
            SizeUnit::JsJson => (javascript::STRINGIFY.string)(text),
            SizeUnit::Messages => 0,
            SizeUnit::Fitted(rates) => rates.text_size(text),
        }
    }

    /// Returns the notation of units that count messages as a language writes them, including punctuation.
    fn notation(self) -> Option<&'static Notation> {
        match self {
            SizeUnit::PyRepr => Some(&python::REPR),
            SizeUnit::Json => Some(&python::DUMPS),
            SizeUnit::JsonAscii => Some(&python::DUMPS_ASCII),
            SizeUnit::JsJson => Some(&javascript::STRINGIFY),
            SizeUnit::Chars
            | SizeUnit::Bytes
            | SizeUnit::Utf16
            | SizeUnit::O200k
            | SizeUnit::Cl100k
            | SizeUnit::LangChain
            | SizeUnit::LlamaIndex
            | SizeUnit::LlamaIndexMemory
            | SizeUnit::Pi
            | SizeUnit::Gemini
            | SizeUnit::AgentFramework
            | SizeUnit::Messages
            | SizeUnit::Fitted(_) => None,
        }
    }

    /// Returns the recorded tokens of a block, or else those of its text, plus an estimate for images and documents.
    fn block_tokens(self, block: &Block) -> u64 {
        block.recorded_tokens.unwrap_or_else(|| self.model_text_size(block) + media::parts(block).map(media::tokens).sum::<u64>())
    }

    /// Returns the size of the text that the model reads of a block; for a tool_use, that is its name and its input as JSON.
    fn model_text_size(self, block: &Block) -> u64 {
        let name = match block.kind {
            BlockKind::ToolUse(_) => block.wire.get("name").and_then(|name| name.as_str()).unwrap_or_default(),
            _ => "",
        };
        self.text(name) + self.text(&block.text())
    }
}

/// Counts the characters of a text that represent a lone surrogate. Each takes four bytes here and three in the original text, and
/// two UTF-16 units instead of one.
fn count_lone_surrogates(text: &str) -> u64 {
    if has_stand_ins(text) { text.chars().filter(|c| lone_surrogate(*c).is_some()).count() as u64 } else { 0 }
}

impl fmt::Display for SizeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = SizeUnit::ALL.iter().find(|(measure, _)| measure == self);
        f.write_str(name.map_or(RECORDED.name, |(_, name)| name))
    }
}

impl FromStr for SizeUnit {
    type Err = UnknownMeter;

    fn from_str(name: &str) -> Result<Self, UnknownMeter> {
        let known = SizeUnit::ALL.iter().find(|(_, known)| *known == name);
        known.map(|(measure, _)| *measure).ok_or_else(|| UnknownMeter(name.to_owned()))
    }
}

impl TryFrom<String> for SizeUnit {
    type Error = UnknownMeter;

    fn try_from(name: String) -> Result<Self, UnknownMeter> {
        name.parse()
    }
}

impl From<SizeUnit> for String {
    fn from(measure: SizeUnit) -> Self {
        measure.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{ConversationBuilder, Origin, Thinking};
    use serde_json::{Value, json};

    fn block(wire: Value) -> Block {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
        let id = builder.block(wire, Origin::Agent, 1);
        builder.so_far().block(id).clone()
    }

    #[test]
    fn text_meters_count_what_the_model_reads() {
        let read = |wire| {
            let block = block(wire);
            [SizeUnit::Chars, SizeUnit::Bytes, SizeUnit::Utf16].map(|measure| measure.block(&block, false))
        };
        let sizes = [
            json!({"type": "text", "text": "é😀"}),
            json!({"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "ls"}}),
            json!({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}),
            json!({"type": "ref", "n": 1}),
        ]
        .map(read);
        assert_eq!(sizes, [[2, 6, 3], [20, 20, 20], [3, 3, 3], [0, 0, 0], [20, 20, 20]]);
        assert_eq!([SizeUnit::Chars.message(Role::User, false, 2, 7), SizeUnit::Chars.list(3, 9)], [7, 9]);
    }

    #[test]
    fn tokens_are_recorded_counted_or_estimated() {
        let mut thinking = block(json!({"type": "thinking", "thinking": "one two"}));
        assert_eq!(SizeUnit::O200k.block(&thinking, false), 2);
        thinking.recorded_tokens = Some(900);
        assert_eq!([SizeUnit::O200k, SizeUnit::Chars].map(|measure| measure.block(&thinking, false)), [900, 7]);
        let picture = json!({"type": "image", "source": {"type": "file", "file_id": "f1"}});
        let result =
            json!({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "one two"}, picture]});
        assert_eq!(SizeUnit::Cl100k.block(&block(result), false), 2 + 1_600);
    }

    #[test]
    fn serialized_meters_count_braces_and_keys() {
        let text = block(json!({"type": "text", "text": "it's"}));
        assert_eq!(SizeUnit::PyRepr.block(&text, true), r#""it's""#.len() as u64);
        assert_eq!(SizeUnit::PyRepr.block(&text, false), r#"{'type': 'text', 'text': "it's"}"#.len() as u64);
        assert_eq!(SizeUnit::Json.message(Role::User, true, 1, 6), r#"{"role": "user", "content": "it's"}"#.len() as u64);
        assert_eq!(
            SizeUnit::JsJson.message(Role::Assistant, false, 2, 4),
            r#"{"role":"assistant","content":[{},{}]}"#.len() as u64
        );
        assert_eq!(SizeUnit::JsJson.list(2, 4), "[{},{}]".len() as u64);
    }

    #[test]
    fn lone_surrogates_are_measured_as_in_their_source() {
        let half = crate::util::text::stand_in(0xD83D).expect("a surrogate").to_string();
        assert_eq!([SizeUnit::Chars, SizeUnit::Bytes, SizeUnit::Utf16].map(|measure| measure.text(&half)), [1, 3, 1]);
        assert_eq!(SizeUnit::O200k.text(&half), SizeUnit::O200k.text("\u{fffd}"));
    }
}
