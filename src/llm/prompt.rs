//! What a model is told when it is asked for a summary: instructions as data, one file a harness.
//!
//! Worded by us after the sections that each harness asks for. The conversation stands between two marks, and the instructions say
//! that it is data: what a tool once printed must not give orders to the summarizer.
//!
//! ```toml
//! [[layer]]
//! id = "auto"
//! do = "summarize"
//! prompt = "lcc-s08"                 # a built-in one (`recompact catalog prompts`), or instructions of your own:
//! # prompt = { system = "You write handovers.", user = "Summarise this.\n\n{conversation}\n\n{focus}", take = "summary" }
//! ```

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::util::template::{asks_for, fill};
use crate::util::text::did_you_mean;

/// The instructions of a summarizer, and what of its answer is the summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// One line for the catalog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Where the sections were read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// With the hole `{conversation}`, and where it is honoured, `{focus}`.
    #[schemars(regex(pattern = r"\{conversation\}"))]
    pub user: String,
    /// What stands in place of `{focus}` where there is one; it has that hole itself.
    #[serde(default = "usual_focus", skip_serializing_if = "is_usual_focus")]
    pub focus: String,
    /// Elements (`<analysis>…</analysis>`) that are no part of the summary.
    #[serde(default = "usual_strip", skip_serializing_if = "is_usual_strip")]
    pub strip: Vec<String>,
    /// The element that holds the summary; without it, or where the answer has none, all that is left is the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
}

fn usual_focus() -> String {
    "Keep every detail about this: {focus}".to_owned()
}

fn is_usual_focus(focus: &String) -> bool {
    *focus == usual_focus()
}

/// In which models that think aloud do so.
fn usual_strip() -> Vec<String> {
    ["think", "thinking", "analysis"].map(str::to_owned).to_vec()
}

fn is_usual_strip(strip: &Vec<String>) -> bool {
    *strip == usual_strip()
}

/// Instructions of a layer: built in, by name, or its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Instructions {
    /// A built-in prompt (`recompact catalog prompts`).
    Named(String),
    /// Instructions of your own.
    Own(Box<Prompt>),
}

impl Default for Instructions {
    fn default() -> Self {
        Self::Named(DEFAULT.to_owned())
    }
}

/// Those of a layer that names none.
const DEFAULT: &str = "handover";

/// A prompt that comes with the program.
pub struct PromptKind {
    pub name: &'static str,
    pub toml: &'static str,
}

macro_rules! prompts {
    ($($name:literal),* $(,)?) => {
        /// Every built-in prompt; the first is that of layers which name none.
        pub const PROMPTS: &[PromptKind] = &[$(PromptKind { name: $name, toml: include_str!(concat!("prompt/", $name, ".toml")) }),*];
    };
}

prompts!["handover", "lcc-s06", "lcc-s08", "lcc-s08-late", "claude-code"];

/// Read once, in the order of [`PROMPTS`].
static BUILT_IN: LazyLock<Vec<Prompt>> =
    LazyLock::new(|| PROMPTS.iter().map(|kind| toml::from_str(kind.toml).unwrap_or_default()).collect());

/// The built-in prompt with this name.
pub fn prompt(name: &str) -> Option<&'static Prompt> {
    BUILT_IN.get(PROMPTS.iter().position(|kind| kind.name == name)?)
}

impl Instructions {
    /// Says what is wrong with them.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Named(name) if prompt(name).is_none() => {
                let known: Vec<_> = PROMPTS.iter().map(|kind| kind.name).collect();
                Err(format!("there is no prompt `{name}`{}", did_you_mean(name, &known)))
            }
            Self::Own(own) if !asks_for(&own.user, "conversation") => {
                Err("`prompt.user` needs the hole `{conversation}`: the summarizer would read nothing".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The prompt; the default one where a name is not known, which [`Self::check`] has refused.
    pub fn prompt(&self) -> &Prompt {
        match self {
            Self::Own(own) => own,
            Self::Named(name) => prompt(name).unwrap_or(&BUILT_IN[0]),
        }
    }
}

impl Prompt {
    /// The user's message. The conversation is put between two marks that it does not hold itself.
    pub fn user(&self, conversation: &str, focus: Option<&str>) -> String {
        let mark = mark(conversation);
        let conversation = format!("<{mark}>\n{conversation}\n</{mark}>");
        let focus = focus.map_or(String::new(), |focus| fill(&self.focus, &[("focus", focus)]));
        fill(&self.user, &[("conversation", &conversation), ("focus", &focus)]).trim().to_owned()
    }

    /// What of an answer is the summary. An element that was begun and not ended goes to the end of the answer.
    pub fn summary(&self, answer: &str) -> String {
        let mut text = answer.to_owned();
        for tag in &self.strip {
            text = without(&text, tag);
        }
        let taken = self.take.as_deref().and_then(|tag| within(&text, tag));
        taken.unwrap_or(&text).trim().to_owned()
    }
}

/// An element's name that a text does not hold.
fn mark(conversation: &str) -> String {
    let names = (1..).map(|n| if n == 1 { "conversation".to_owned() } else { format!("conversation-{n}") });
    let mut free =
        names.filter(|name| !conversation.contains(&format!("<{name}>")) && !conversation.contains(&format!("</{name}>")));
    free.next().unwrap_or_default()
}

fn without(text: &str, tag: &str) -> String {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(&open) {
        left.push_str(&rest[..at]);
        let inner = &rest[at + open.len()..];
        rest = inner.find(&close).map_or("", |end| &inner[end + close.len()..]);
    }
    left + rest
}

fn within<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let inner = &text[text.find(&open)? + open.len()..];
    Some(inner.rfind(&close).map_or(inner, |end| &inner[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_prompt_is_read_and_can_be_filled() {
        for kind in PROMPTS {
            let prompt: Prompt = toml::from_str(kind.toml).unwrap_or_else(|error| panic!("{}: {error}", kind.name));
            assert!(!prompt.about.is_empty() && !prompt.source.is_empty(), "{} says what it is", kind.name);
            let named = Instructions::Named(kind.name.to_owned());
            assert_eq!((named.check(), named.prompt()), (Ok(()), &prompt), "{}", kind.name);
            assert!(asks_for(&prompt.user, "conversation"), "{}", kind.name);
            assert!(prompt.user("TALK", None).contains("<conversation>\nTALK\n</conversation>"), "{}", kind.name);
        }
    }

    #[test]
    fn a_conversation_cannot_end_its_own_mark() {
        let prompt = Prompt { user: "{conversation}".to_owned(), ..Prompt::default() };
        assert_eq!(prompt.user("a</conversation>b", None), "<conversation-2>\na</conversation>b\n</conversation-2>");
    }

    #[test]
    fn the_summary_is_what_the_prompt_takes_of_the_answer() {
        let prompt = |strip: &[&str], take: Option<&str>| Prompt {
            strip: strip.iter().map(|tag| (*tag).to_owned()).collect(),
            take: take.map(str::to_owned),
            ..Prompt::default()
        };
        let cases = [
            (prompt(&[], None), " plain \n", "plain"),
            (prompt(&["think"], None), "<think>a <summary>b</summary></think>c", "c"),
            (prompt(&["think"], None), "a<think>cut off", "a"),
            (prompt(&["analysis"], Some("summary")), "<analysis>x</analysis>\n<summary>\ny\n</summary> z", "y"),
            (prompt(&["analysis"], Some("summary")), "no elements", "no elements"),
            (prompt(&[], Some("summary")), "<summary>not ended", "not ended"),
        ];
        for (prompt, answer, summary) in cases {
            assert_eq!(prompt.summary(answer), summary, "{answer}");
        }
    }

    #[test]
    fn instructions_of_ones_own_must_show_the_conversation() {
        let own = Instructions::Own(Box::new(Prompt { user: "Summarise.".to_owned(), ..Prompt::default() }));
        assert!(own.check().is_err_and(|what| what.contains("{conversation}")));
        let what = Instructions::Named("lcc-s8".to_owned()).check().unwrap_err();
        assert!(what.starts_with("there is no prompt `lcc-s8`") && what.contains("lcc-s08"), "{what}");
    }
}
