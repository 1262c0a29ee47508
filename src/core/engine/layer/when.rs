//! When a layer is due.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::engine::size::Size;

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
    /// When the request is larger than the window, up to `retry.max` times.
    Overflow,
    /// After the tool_results that answer a call of this tool.
    Tool(String),
    /// After a response that calls this tool, before its results enter. If the layer edits the context, the calls behind it in the response
    /// are not run; if it removes the call, the results are left without one, and the API refuses the request.
    ToolUse(String),
    /// After every n calls.
    Calls(#[schemars(range(min = 1))] usize),
    /// After every n turns, before the request that follows the next typed user message.
    Turns(#[schemars(range(min = 1))] usize),
    /// When at least this many minutes passed since the last response, by the recorded timestamps.
    IdleMinutes(f64),
    /// When the requests since the layer last edited the context, or since the beginning, have together at least this many tokens by
    /// the report's counter. Those that are larger than the window do not count.
    Sent(Size),
    /// When at least one of these comes: `user-turn`, `calls`, `turns`, `idle-minutes` or `sent`.
    Any(#[schemars(schema_with = "conditions_schema")] Vec<When>),
    /// When all of these come before the same request: `user-turn`, `calls`, `turns`, `idle-minutes` or `sent`.
    All(#[schemars(schema_with = "conditions_schema")] Vec<When>),
    /// Just before one of these layers acts (only `archive`).
    Before(Vec<String>),
    /// Just after one of these layers acted (only `restore`).
    After(Vec<String>),
}

/// The schema of conditions that `any` and `all` join.
fn conditions_schema(generator: &mut SchemaGenerator) -> Schema {
    let of = |name: &str, value: Schema| json_schema!({ "type": "object", "properties": { name: value }, "required": [name], "additionalProperties": false });
    let count = || json_schema!({ "type": "integer", "minimum": 1 });
    let conditions = [
        json_schema!({ "const": "user-turn" }),
        of("calls", count()),
        of("turns", count()),
        of("idle-minutes", json_schema!({ "type": "number", "minimum": 0 })),
        of("sent", Size::json_schema(generator)),
    ];
    json_schema!({ "type": "array", "minItems": 1, "items": { "oneOf": conditions } })
}

impl When {
    /// Returns the conditions that decide before a request: those that are joined, or else itself.
    pub fn conditions(&self) -> &[When] {
        match self {
            When::Any(conditions) | When::All(conditions) => conditions,
            one => std::slice::from_ref(one),
        }
    }

    /// Returns whether it can be joined with others by `any` and `all`.
    pub fn can_be_joined(&self) -> bool {
        matches!(self, When::UserTurn | When::Calls(_) | When::Turns(_) | When::IdleMinutes(_) | When::Sent(_))
    }

    /// Returns the tool whose calls it waits for.
    pub fn tool(&self) -> Option<&str> {
        match self {
            When::Tool(tool) | When::ToolUse(tool) => Some(tool),
            _ => None,
        }
    }

    /// Returns whether it comes only before the request that follows a message that the user typed.
    pub fn waits_for_user(&self) -> bool {
        match self {
            When::UserTurn | When::Turns(_) => true,
            When::Any(conditions) => conditions.iter().all(When::waits_for_user),
            When::All(conditions) => conditions.iter().any(When::waits_for_user),
            _ => false,
        }
    }

    /// Returns why a session has no moment at which the layer is due; `None` if every long session has one, or if the agent or other
    /// layers decide.
    pub fn why_never(&self) -> Option<String> {
        match self {
            When::UserTurn => Some("the user types nothing".to_owned()),
            When::TurnEnd => Some("no response ends a turn before the user types again".to_owned()),
            When::Calls(calls) => Some(format!("no session has more than {calls} calls")),
            When::Turns(turns) => Some(format!("no session has more than {turns} turns")),
            When::IdleMinutes(minutes) => Some(format!("no pause takes {minutes} minutes")),
            When::Sent(size) => Some(format!("the requests of no session have together {size} tokens")),
            When::Any(conditions) => {
                let whys: Option<Vec<String>> = conditions.iter().map(When::why_never).collect();
                whys.map(|whys| whys.join(", "))
            }
            When::All(_) => Some("its conditions never come before the same request".to_owned()),
            When::Always | When::Entry | When::AfterResponse | When::Overflow => None,
            When::Tool(_) | When::ToolUse(_) | When::Before(_) | When::After(_) => None,
        }
    }
}
