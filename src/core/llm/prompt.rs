//! The prompts for summaries: instructions as data, one TOML file per prompt.
//!
//! The wording is ours; the sections are those that each harness asks for. The conversation is enclosed in an XML element, and
//! the instructions say that it is data: the summarizer must not follow instructions in a tool's output.
//!
//! ```toml
//! [[layer]]
//! id = "auto"
//! do = "summarize"
//! prompt = "lcc-s08"                 # a built-in prompt (`recompact catalog prompts`), or your own:
//! # prompt = { system = "You write handovers.", user = "Summarise this.\n\n{conversation}\n\n{focus}", take = "summary" }
//! ```

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::util::ValueError;
use crate::util::template::{fill, has_placeholder};
use crate::util::text::did_you_mean;

/// The instructions of a summarizer, and how to extract the summary from its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    /// One line for the catalog.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Where the sections come from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    /// User message with the placeholder `{conversation}` and, optionally, `{focus}`.
    #[schemars(regex(pattern = r"\{conversation\}"))]
    pub user: String,
    /// Sentence that replaces `{focus}` in `user` if the call has a focus; it contains the placeholder `{focus}` itself.
    #[serde(default = "default_focus", skip_serializing_if = "is_default_focus")]
    pub focus: String,
    /// Names of elements (`<analysis>…</analysis>`) to remove from the answer; default: think, thinking, analysis.
    #[serde(default = "default_strip", skip_serializing_if = "is_default_strip")]
    pub strip: Vec<String>,
    /// Name of the element that contains the summary; without it, or if the answer has no such element, the whole rest of the
    /// answer is the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
}

fn default_focus() -> String {
    "Keep every detail about this: {focus}".to_owned()
}

fn is_default_focus(focus: &String) -> bool {
    *focus == default_focus()
}

/// The elements in which models write their thinking.
fn default_strip() -> Vec<String> {
    ["think", "thinking", "analysis"].map(str::to_owned).to_vec()
}

fn is_default_strip(strip: &Vec<String>) -> bool {
    *strip == default_strip()
}

/// Instructions of a layer: the name of a built-in prompt, or a prompt of your own.
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
        Self::Named(DEFAULT_PROMPT.to_owned())
    }
}

/// The prompt of layers that name none.
const DEFAULT_PROMPT: &str = "handover";

/// A built-in prompt.
pub struct PromptKind {
    pub name: &'static str,
    pub toml: &'static str,
}

macro_rules! prompts {
    ($($name:literal),* $(,)?) => {
        /// Every built-in prompt; the first is the default.
        pub const PROMPTS: &[PromptKind] = &[$(PromptKind { name: $name, toml: include_str!(concat!("prompt/", $name, ".toml")) }),*];
    };
}

prompts!["handover", "lcc-s06", "lcc-s08", "lcc-s08-late", "claude-code"];

/// The parsed prompts in the order of [`PROMPTS`].
static BUILT_IN: LazyLock<Vec<Prompt>> = LazyLock::new(|| {
    let parsed = |kind: &PromptKind| toml::from_str(kind.toml).expect("it is part of the program, and a test parses it");
    PROMPTS.iter().map(parsed).collect()
});

/// Returns the built-in prompt with this name.
pub fn prompt(name: &str) -> Option<&'static Prompt> {
    BUILT_IN.get(PROMPTS.iter().position(|kind| kind.name == name)?)
}

impl Instructions {
    /// Checks the name, or the prompt.
    ///
    /// # Errors
    ///
    /// Fails if the name is unknown or the prompt lacks `{conversation}`.
    pub fn check(&self) -> Result<(), ValueError> {
        match self {
            Self::Named(name) if prompt(name).is_none() => {
                let known: Vec<_> = PROMPTS.iter().map(|kind| kind.name).collect();
                Err(ValueError::new(format!("there is no prompt `{name}`{}", did_you_mean(name, &known))))
            }
            Self::Own(own) if !has_placeholder(&own.user, "conversation") => {
                Err(ValueError::new("`prompt.user` needs the placeholder `{conversation}`: the summarizer would read nothing"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the prompt; the default one if the name is unknown, which [`Self::check`] reports as an error.
    pub fn prompt(&self) -> &Prompt {
        match self {
            Self::Own(own) => own,
            Self::Named(name) => prompt(name).unwrap_or(&BUILT_IN[0]),
        }
    }
}

impl Prompt {
    /// Returns a prompt with these two messages. The user message has the placeholder `{conversation}`.
    pub fn new(system: String, user: String) -> Self {
        Self { system, user, focus: default_focus(), strip: default_strip(), ..Self::default() }
    }

    /// Returns the user message. The conversation is enclosed in an element whose tags do not occur in it.
    pub fn user(&self, conversation: &str, focus: Option<&str>) -> String {
        let element = unused_element_name(conversation);
        let conversation = format!("<{element}>\n{conversation}\n</{element}>");
        let focus = focus.map_or(String::new(), |focus| fill(&self.focus, &[("focus", focus)]));
        fill(&self.user, &[("conversation", &conversation), ("focus", &focus)]).trim().to_owned()
    }

    /// Extracts the summary from an answer. An element without an end tag reaches to the end of the answer.
    pub fn summary(&self, answer: &str) -> String {
        let mut text = answer.to_owned();
        for tag in &self.strip {
            text = remove_elements(&text, tag);
        }
        let taken = self.take.as_deref().and_then(|tag| element_content(&text, tag));
        taken.unwrap_or(&text).trim().to_owned()
    }
}

/// Returns an element name whose tags do not occur in the text.
fn unused_element_name(conversation: &str) -> String {
    let names = (1..).map(|n| if n == 1 { "conversation".to_owned() } else { format!("conversation-{n}") });
    let mut free =
        names.filter(|name| !conversation.contains(&format!("<{name}>")) && !conversation.contains(&format!("</{name}>")));
    free.next().unwrap_or_default()
}

fn remove_elements(text: &str, tag: &str) -> String {
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

fn element_content<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
    let inner = &text[text.find(&open)? + open.len()..];
    Some(inner.rfind(&close).map_or(inner, |end| &inner[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_prompts_load_and_fill() {
        for kind in PROMPTS {
            let prompt: Prompt = toml::from_str(kind.toml).unwrap_or_else(|error| panic!("{}: {error}", kind.name));
            assert!(!prompt.about.is_empty() && !prompt.source.is_empty(), "{} says what it is", kind.name);
            let named = Instructions::Named(kind.name.to_owned());
            assert_eq!((named.check(), named.prompt()), (Ok(()), &prompt), "{}", kind.name);
            assert!(has_placeholder(&prompt.user, "conversation"), "{}", kind.name);
            assert!(prompt.user("TALK", None).contains("<conversation>\nTALK\n</conversation>"), "{}", kind.name);
        }
    }

    #[test]
    fn conversation_text_cannot_close_its_prompt_mark() {
        let prompt = Prompt { user: "{conversation}".to_owned(), ..Prompt::default() };
        assert_eq!(prompt.user("a</conversation>b", None), "<conversation-2>\na</conversation>b\n</conversation-2>");
    }

    #[test]
    fn prompt_extracts_the_summary_from_the_answer() {
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
    fn custom_prompt_must_include_the_conversation() {
        let own = Instructions::Own(Box::new(Prompt { user: "Summarise.".to_owned(), ..Prompt::default() }));
        assert!(own.check().is_err_and(|error| error.to_string().contains("{conversation}")));
        let message = Instructions::Named("lcc-s8".to_owned()).check().unwrap_err().to_string();
        assert!(message.starts_with("there is no prompt `lcc-s8`") && message.contains("lcc-s08"), "{message}");
    }
}
