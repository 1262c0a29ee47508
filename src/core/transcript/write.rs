//! Writes conversations in a form that other programs read, and says what that form cannot hold.
//!
//! Each form is one file and one row of [`TARGETS`]. What was written is read again at once and compared with the conversation, so
//! what is lost is counted, not supposed ([`Losses`]).

mod atif;
mod losses;
mod messages;
mod openai_chat;

use serde_json::{Map, Value, json};

use super::conversation::{BlockId, Call, Conversation, Message};
use super::format::{self, Format, ReadOptions};
use crate::text::surrogates::restore_escapes;

pub use losses::{Losses, Lost};

/// A form that conversations are written in.
pub struct Target {
    /// Its id, which is also that of the format that reads it.
    pub name: &'static str,
    /// Description for the help, one line.
    pub about: &'static str,
    /// Ending of the names of its files, without the dot.
    pub ending: &'static str,
    /// Writes a conversation, with its system prompt or without.
    write: fn(&Conversation, System) -> String,
}

/// Every form, in the order of the help.
pub const TARGETS: &[Target] = &[messages::TARGET, openai_chat::TARGET, atif::TARGET];

/// Whether the system prompt is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    Written,
    LeftOut,
}

/// A conversation in another form.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// The content of the file: UTF-8, with a line break at its end.
    pub text: String,
    /// What the form cannot hold.
    pub losses: Losses,
}

/// Returns the form with this id.
pub fn by_name(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

impl Target {
    /// Writes a conversation. The text is the same each time.
    pub fn convert(&self, conversation: &Conversation) -> Converted {
        let whole = self.attempt(conversation, System::Written);
        if conversation.system.is_none() || whole.losses.count(Lost::Sign) == 0 {
            return whole;
        }
        // The first messages do not say which API they are of, and with a system prompt the file is taken for one of another.
        let bare = self.attempt(conversation, System::LeftOut);
        if bare.losses.count(Lost::Sign) == 0 { bare } else { whole }
    }

    /// Writes a conversation and reads it again, as anyone would, or else in the format that it is in.
    fn attempt(&self, conversation: &Conversation, system: System) -> Converted {
        let text = (self.write)(conversation, system);
        let read = |format: &Format| (format.read)(text.as_bytes(), &ReadOptions::default()).conversations.into_iter().next();
        let losses = |again: Option<Conversation>| Losses::between(conversation, again.as_ref());
        let found = format::sniff(text.as_bytes());
        let recognised = losses(found.and_then(read));
        let losses = if recognised.is_misread() && found.is_none_or(|found| found.name != self.name) {
            let mut losses = losses(format::by_name(self.name).and_then(read));
            losses.add(Lost::Sign, 1);
            losses
        } else {
            recognised
        };
        Converted { text, losses }
    }
}

/// Writes the system prompt and the messages, one a line. `messages_of` returns what the form has for one message of the conversation; a
/// response comes with its call.
fn lines(
    conversation: &Conversation,
    system: System,
    messages_of: impl Fn(&Message, Option<&Call>) -> Vec<Map<String, Value>>,
) -> String {
    let mut text = String::new();
    if let (Some(prompt), System::Written) = (&conversation.system, system) {
        text += &line(&json!({"role": "system", "content": prompt}));
    }
    let mut call_of = calls(conversation);
    for (at, message) in conversation.messages.iter().enumerate() {
        messages_of(message, call_of(at)).into_iter().for_each(|fields| text += &line(&Value::Object(fields)));
    }
    text
}

/// Returns a line of JSON, with lone surrogates as they were recorded.
fn line(value: &Value) -> String {
    restore_escapes(value.to_string()) + "\n"
}

/// Returns the wire forms of blocks.
fn wires<'a>(conversation: &'a Conversation, blocks: &[BlockId]) -> Vec<&'a Value> {
    blocks.iter().map(|block| &conversation.block(*block).wire).collect()
}

/// Returns for each message its call, if it is a response.
fn calls<'a>(conversation: &'a Conversation) -> impl FnMut(usize) -> Option<&'a Call> {
    let mut calls = conversation.calls.iter().peekable();
    move |message| calls.next_if(|call| call.response == message)
}
