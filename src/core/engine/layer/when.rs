//! When a layer is due.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a layer is due. If the layer has a `threshold`, the context must also be over it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum When {
    /// Before every request.
    #[default]
    Always,
    /// Once for each new message, before the other layers see it.
    Entry,
    /// Before the request that follows a message that the user typed.
    UserTurn,
    /// After a response with a text and without a tool call, before the messages that follow it enter.
    TurnEnd,
    /// After each response and the results that answer it: before the next request, or at the end of a turn before the messages that
    /// follow it enter.
    AfterResponse,
    /// When the request is larger than the window, up to `max_retries` times.
    Overflow,
    /// After the tool_results that answer a call of this tool.
    Tool(String),
    /// After every n calls.
    Calls(#[schemars(range(min = 1))] usize),
    /// After every n turns, before the request that follows the next typed user message.
    Turns(#[schemars(range(min = 1))] usize),
    /// When at least this many minutes passed since the last response, by the recorded timestamps.
    IdleMinutes(f64),
    /// Just before one of these layers acts (only `archive`).
    Before(Vec<String>),
    /// Just after one of these layers acted (only `restore`).
    After(Vec<String>),
}

impl When {
    /// Returns why a session has no moment at which the layer is due; `None` if every long session has one, or if the agent or other
    /// layers decide.
    pub fn why_never(&self) -> Option<String> {
        match self {
            When::UserTurn => Some("the user types nothing".to_owned()),
            When::TurnEnd => Some("no response ends a turn before the user types again".to_owned()),
            When::Calls(calls) => Some(format!("no session has more than {calls} calls")),
            When::Turns(turns) => Some(format!("no session has more than {turns} turns")),
            When::IdleMinutes(minutes) => Some(format!("no pause takes {minutes} minutes")),
            When::Always | When::Entry | When::AfterResponse | When::Overflow => None,
            When::Tool(_) | When::Before(_) | When::After(_) => None,
        }
    }
}
