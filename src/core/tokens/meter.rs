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
mod message_count;
mod model_text;
mod notation;
mod number;
mod pi;
pub mod python;
pub mod python_text;
mod rates;
mod rules;
mod schema;
mod unprintable;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::rules::UnitRules;
use crate::text::tokens::Vocabulary;
use crate::transcript::conversation::{Block, Role};

pub use self::harness::{METERS, Meter, MeterDescription, RECORDED, Rounding, UnknownMeter};
pub use self::rates::{Rates, SCALE, TextClass, scaled};

macro_rules! units {
    ($($(#[$about:meta])+ $unit:ident $name:literal $rules:expr;)+) => {
        /// The unit of a size.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub enum SizeUnit {
            $($(#[$about])+ $unit,)+
            /// Ten-thousandths of a token of that text by rates fitted to recorded usage. Only reports use it; no policy can name it.
            Fitted(Rates),
        }

        impl SizeUnit {
            /// Every named unit, with its name.
            pub const ALL: [(SizeUnit, &'static str); [$($name),+].len()] = [$((SizeUnit::$unit, $name)),+];

            fn rules(&self) -> &dyn UnitRules {
                match self {
                    $(SizeUnit::$unit => &$rules,)+
                    SizeUnit::Fitted(rates) => rates,
                }
            }
        }
    };
}

units! {
    /// Unicode code points of the text the model reads (Python's `len`).
    Chars "chars" model_text::CHARS;
    /// UTF-8 bytes of that text.
    Bytes "bytes" model_text::BYTES;
    /// UTF-16 units of that text (JavaScript's and Java's `length`).
    Utf16 "utf16" model_text::UTF16;
    /// Characters of Python's `str(messages)`.
    PyRepr "py-repr" python::REPR;
    /// Characters of Python's `json.dumps(messages, ensure_ascii=False)`.
    Json "json" python::DUMPS;
    /// Characters of Python's `json.dumps(messages)`.
    JsonAscii "json-ascii" python::DUMPS_ASCII;
    /// UTF-16 units of JavaScript's `JSON.stringify(messages)`.
    JsJson "js-json" javascript::STRINGIFY;
    /// Tokens of that text in o200k_base; special tokens count as ordinary text.
    O200k "o200k" Vocabulary::O200k;
    /// Tokens of that text in cl100k_base; special tokens count as ordinary text.
    Cl100k "cl100k" Vocabulary::Cl100k;
    /// Tokens by LangChain's `count_tokens_approximately`.
    LangChain "langchain" langchain::LangChain;
    /// Tokens as LlamaIndex's memory buffers count them.
    LlamaIndex "llama-index" llama_index::LlamaIndexBuffer;
    /// Tokens as LlamaIndex's `Memory` counts them.
    LlamaIndexMemory "llama-index-memory" llama_index::LlamaIndexMemory;
    /// Tokens as pi estimates them.
    Pi "pi" pi::Pi;
    /// Quarters of a token as Gemini CLI estimates them.
    Gemini "gemini" gemini::Gemini;
    /// Tokens as Microsoft's agent-framework estimates them.
    AgentFramework "agent-framework" agent_framework::AgentFramework;
    /// Messages, whatever their size; what a message is says `messages` of the policy.
    Messages "messages" message_count::MessageCount;
}

impl SizeUnit {
    /// Maximum number of units in one context: all named ones and a fitted one.
    pub const MAX_UNITS: usize = Self::ALL.len() + 1;

    /// Returns whether a message is larger than its blocks together by an amount that depends only on their number. Only such a unit
    /// can say how large a single block is, so only such a unit can count for reports.
    pub fn adds_up(self) -> bool {
        self.rules().adds_up()
    }

    /// Returns whether it is a number of tokens, and not of characters, bytes or messages.
    fn counts_tokens(self) -> bool {
        self.rules().counts_tokens()
    }

    /// Returns whether it is the length of messages as a program writes them, with keys, brackets and escapes.
    pub fn is_serialized(self) -> bool {
        matches!(self, Self::PyRepr | Self::Json | Self::JsonAscii | Self::JsJson)
    }

    /// Returns the size of a block inside its message. `plain`: the message's content is a bare string.
    pub fn block(self, block: &Block, plain: bool) -> u64 {
        self.rules().block(block, plain)
    }

    /// Returns the size of a message of `blocks` blocks whose sizes add up to `sum`.
    pub fn message(self, role: Role, plain: bool, blocks: usize, sum: u64) -> u64 {
        self.rules().message(role, plain, blocks, sum)
    }

    /// Returns the size of a list of `messages` messages whose sizes add up to `sum`.
    pub fn list(self, messages: usize, sum: u64) -> u64 {
        self.rules().list(messages, sum)
    }

    /// Returns the size of a text alone: for `PyRepr` it is `len(repr(text))`, for the JSON units the length of the JSON string.
    pub fn text(self, text: &str) -> u64 {
        self.rules().text(text)
    }
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
    fn units_say_what_they_count() {
        let names = |is_listed: fn(SizeUnit) -> bool| {
            let listed = SizeUnit::ALL.into_iter().filter(|(unit, _)| is_listed(*unit));
            listed.map(|(_, name)| name).collect::<Vec<_>>().join(" ")
        };
        let tokens = "o200k cl100k langchain llama-index llama-index-memory pi agent-framework";
        assert_eq!(names(SizeUnit::counts_tokens), tokens);
        let of_messages = "langchain llama-index llama-index-memory pi agent-framework messages";
        assert_eq!(names(|unit| !unit.adds_up()), of_messages);
        let fitted = SizeUnit::Fitted(Rates::default());
        assert!(fitted.counts_tokens() && fitted.adds_up());
    }

    #[test]
    fn messages_of_units_that_add_up_have_a_frame_of_fixed_size() {
        let fitted = (SizeUnit::Fitted(Rates::default()), "fitted");
        for (unit, name) in SizeUnit::ALL.into_iter().chain([fitted]).filter(|(unit, _)| unit.adds_up()) {
            for (role, plain, blocks) in [(Role::User, true, 1), (Role::User, false, 3), (Role::Assistant, false, 0)] {
                let frame = |sum| unit.message(role, plain, blocks, sum) - sum;
                assert_eq!([frame(1), frame(7), frame(1_000)], [frame(0); 3], "{name}: {role:?} {plain} {blocks}");
            }
        }
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
        let half = crate::text::surrogates::stand_in(0xD83D).expect("a surrogate").to_string();
        assert_eq!([SizeUnit::Chars, SizeUnit::Bytes, SizeUnit::Utf16].map(|measure| measure.text(&half)), [1, 3, 1]);
        assert_eq!(SizeUnit::O200k.text(&half), SizeUnit::O200k.text("\u{fffd}"));
    }
}
