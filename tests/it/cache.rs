//! The prompt cache and its costs, on conversations so small that a person can reckon them: sizes are characters, a call is
//! answered at once, and prices are ratios to that of input.

use recompact::cache::{Before, PROVIDERS, Provider, Served, Terms, serve};
use recompact::conversation::{BlockId, Builder, Call, Conversation, Message, Origin, Role, Thinking};
use recompact::policy::Policy;
use recompact::replay::NoObserver;
use serde_json::{Value, json};

use crate::trial::{Trial, preset_with};

/// Milliseconds in a minute.
const MINUTE: i64 = 60_000;

/// Tokens of system prompt and tools.
const OVERHEAD: u64 = 1_000;

/// What a message holds.
#[derive(Clone, Copy)]
enum Holds {
    Text(usize),
    Thought(usize, usize),
    /// A tool_use of 3 characters.
    Use,
    Result(usize),
}
use Holds::{Result as Answer, Text, Thought, Use};

/// Alternating messages, user first, each with the minute it came.
fn conversation(messages: &[(i64, Holds)]) -> Conversation {
    let mut builder = Builder::new("main", "test", Thinking::Turn);
    let mut pairs = 0;
    for (place, (minute, holds)) in messages.iter().enumerate() {
        let role = if place % 2 == 0 { Role::User } else { Role::Assistant };
        let text = |chars: usize| json!({"type": "text", "text": "x".repeat(chars)});
        let wires: Vec<Value> = match *holds {
            Text(chars) => vec![text(chars)],
            Thought(thinking, chars) => vec![json!({"type": "thinking", "thinking": "t".repeat(thinking)}), text(chars)],
            Use => {
                pairs += 1;
                vec![json!({"type": "tool_use", "id": format!("t{pairs}"), "name": "t", "input": {}})]
            }
            Answer(chars) => vec![json!({"type": "tool_result", "tool_use_id": format!("t{pairs}"), "content": "r".repeat(chars)})],
        };
        let origin = |wire: &Value| match (role, wire["type"].as_str()) {
            (Role::Assistant, _) => Origin::Agent,
            (_, Some("tool_result")) => Origin::Tool,
            _ => Origin::Typed,
        };
        let blocks: Vec<BlockId> = wires.into_iter().map(|wire| (origin(&wire), wire)).map(|(origin, wire)| builder.block(wire, origin, 1)).collect();
        let time = Some(minute * MINUTE);
        let message = Message { role, plain: false, blocks, time, line: 1 };
        match role {
            Role::User => builder.message(message),
            Role::Assistant => builder.response(message, Call { time, ..Call::default() }),
        };
    }
    builder.finish()
}
