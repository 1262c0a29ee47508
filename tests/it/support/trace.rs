//! Conversations small enough to compute their costs by hand: sizes are characters, and responses take no time.

use recompact::engine::policy::Policy;
use recompact::transcript::conversation::{
    BlockId, Call, Conversation, ConversationBuilder, MINUTE, Message, Origin, Role, Thinking, Usage,
};
use serde_json::{Value, json};

use super::notation;

/// Content of a message.
#[derive(Clone, Copy)]
pub enum Holds {
    Text(usize),
    Thought(usize, usize),
    /// A tool_use of 3 characters.
    Use,
    ThoughtUse(usize),
    Result(usize),
}

/// Alternating messages, user first, each with the minute it came.
pub fn conversation(messages: &[(i64, Holds)]) -> Conversation {
    let mut builder = ConversationBuilder::new("main", "test", Thinking::Turn);
    let mut pairs = 0;
    for (place, (minute, holds)) in messages.iter().enumerate() {
        let role = if place % 2 == 0 { Role::User } else { Role::Assistant };
        let text = |chars: usize| json!({"type": "text", "text": "x".repeat(chars)});
        let thinking = |chars: usize| json!({"type": "thinking", "thinking": "t".repeat(chars)});
        pairs += usize::from(matches!(holds, Holds::Use | Holds::ThoughtUse(_)));
        let tool_use = json!({"type": "tool_use", "id": format!("t{pairs}"), "name": "t", "input": {}});
        let wires: Vec<Value> = match *holds {
            Holds::Text(chars) => vec![text(chars)],
            Holds::Thought(thought, chars) => vec![thinking(thought), text(chars)],
            Holds::Use => vec![tool_use],
            Holds::ThoughtUse(thought) => vec![thinking(thought), tool_use],
            Holds::Result(chars) => {
                vec![json!({"type": "tool_result", "tool_use_id": format!("t{pairs}"), "content": "r".repeat(chars)})]
            }
        };
        let origin = |wire: &Value| match (role, wire["type"].as_str()) {
            (Role::Assistant, _) => Origin::Agent,
            (_, Some("tool_result")) => Origin::Tool,
            _ => Origin::User,
        };
        let blocks: Vec<BlockId> =
            wires.into_iter().map(|wire| (origin(&wire), wire)).map(|(origin, wire)| builder.block(wire, origin, 1)).collect();
        let time = Some(minute * MINUTE);
        let message = Message { role, is_string_content: false, blocks, time, line: 1 };
        match role {
            Role::User => builder.message(message),
            Role::Assistant => builder.response(message, Call { time, ..Call::default() }),
        };
    }
    builder.finish()
}

/// A policy of one layer.
pub fn layer(toml: &str) -> Policy {
    let toml = format!("name = \"one\"\nabout = \"one layer\"\n[[layer]]\nid = \"one\"\n{toml}");
    Policy::parse(&toml, "test", &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Replaces the oldest results by ten characters; the newest one stays.
pub fn clear() -> Policy {
    layer("do = \"clear\"\nkeep_recent = 1\nplaceholder = \"0123456789\"")
}

/// Requests of 5,000, 7,000 and 8,500 tokens; each is a prefix of the next.
pub fn growing(third: i64) -> Conversation {
    conversation(&[
        (0, Holds::Text(4_000)),
        (0, Holds::Text(500)),
        (1, Holds::Text(1_500)),
        (1, Holds::Text(500)),
        (third, Holds::Text(1_000)),
        (third, Holds::Text(500)),
    ])
}

/// Requests of 2,997, 7,000 and 8,003 tokens: what was typed, then two results, of 4,000 and 1,000.
pub fn two_results() -> Conversation {
    conversation(&[
        (0, Holds::Text(1_997)),
        (0, Holds::Use),
        (1, Holds::Result(4_000)),
        (1, Holds::Use),
        (2, Holds::Result(1_000)),
        (2, Holds::Text(100)),
    ])
}

/// Requests of 5,000, 7,000 and 8,500 tokens with their bill. The last 1,000 of the first are behind its last cache breakpoint.
pub fn behind_a_breakpoint() -> Conversation {
    let text = "user: {x*3000}\n  note: {y*1000}\nassistant: {a*500}\nuser: {b*1500}\nassistant: {c*500}\nuser: {d*1000}\nassistant: {e*500}";
    let mut conversation = notation::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let usages = [(1_000, 0, 4_000), (0, 4_000, 3_000), (0, 7_000, 1_500)];
    for (call, (input, cache_read, cache_write_5m)) in conversation.calls.iter_mut().zip(usages) {
        call.usage = Some(Usage { input, cache_read, cache_write_5m, output: 100, ..Usage::default() });
    }
    conversation
}
