//! A trajectory in ATIF 1.8, as harbor and its viewers read it: a step for each response with its calls and their results, and one for what
//! people and the harness said.
//!
//! What ATIF has no place for is in `extra.recompact`, of the root and of the steps: which message a step is of, blocks that it cannot
//! hold, and what [`extra`] lists. Our reader of the format uses it; other programs see the steps. A sub-agent is a trajectory of its own,
//! which names the session of its parent: a conversation does not know which call started which sub-agent.

mod extra;

use serde_json::{Map, Value, json};

use super::{System, Target, calls, wires};
use crate::text::surrogates::restore_escapes;
use crate::transcript::conversation::{Block, BlockKind, Call, Conversation, Message, Origin, Role, Usage};
use crate::transcript::format::atif_form as form;

pub(super) const TARGET: Target =
    Target { name: "atif", about: "an ATIF 1.8 trajectory; what ATIF has no place for is in `extra`", ending: "json", write };

fn write(conversation: &Conversation, system: System) -> String {
    let mut steps = Vec::new();
    if let (Some(prompt), System::Written) = (&conversation.system, system) {
        steps.push(json!({"source": "system", "message": prompt}));
    }
    let mut call_of = calls(conversation);
    for (at, message) in conversation.messages.iter().enumerate() {
        match message.role {
            Role::Assistant => steps.push(response(conversation, at, call_of(at))),
            Role::User => user(conversation, at, &mut steps),
        }
    }
    for (number, step) in steps.iter_mut().enumerate() {
        step["step_id"] = (number + 1).into();
    }
    let identity = &conversation.identity;
    let known = |name: &Option<String>| name.clone().unwrap_or_else(|| form::UNKNOWN.to_owned());
    let mut agent = json!({"name": known(&identity.agent), "version": known(&identity.version)});
    if let Some(parent) = identity.parent.as_deref().filter(|_| identity.is_sub_agent()) {
        agent["extra"] = json!({form::PARENT: parent});
    }
    let mut root = json!({
        "schema_version": "ATIF-v1.8",
        "session_id": identity.session,
        "agent": agent,
        "steps": steps,
        "extra": {form::OWN: extra::of(conversation)},
    });
    if let (None, Some(fields)) = (&identity.session, root.as_object_mut()) {
        fields.shift_remove("session_id");
    }
    restore_escapes(serde_json::to_string_pretty(&root).expect("values with text keys")) + "\n"
}

/// Begins a step of a message, with the content that the step can hold.
fn step(source: &str, at: usize, message: &Message, content: Map<String, Value>) -> Value {
    let mut step = json!({"source": source});
    let fields = step.as_object_mut().expect("an object");
    fields.extend(message.time.and_then(timestamp).map(|time| ("timestamp".to_owned(), time.into())));
    fields.extend(content);
    let mut own = json!({"message": at});
    if message.is_string_content {
        own["is_string"] = true.into();
    }
    step["extra"] = json!({form::OWN: own});
    step
}

fn timestamp(time: i64) -> Option<String> {
    Some(jiff::Timestamp::from_millisecond(time).ok()?.to_string())
}

fn response(conversation: &Conversation, at: usize, call: Option<&Call>) -> Value {
    let message = &conversation.messages[at];
    let blocks = wires(conversation, &message.blocks);
    let mut step = step("agent", at, message, form::write_response(&blocks));
    if form::read_response(&step, &mut |_| {}).iter().ne(blocks.iter().copied()) {
        step["extra"][form::OWN]["blocks"] = json!(blocks);
    }
    let Some(call) = call else {
        step["llm_call_count"] = 0.into();
        return step;
    };
    if let Some(model) = &call.model {
        step["model_name"] = model.as_str().into();
    }
    if let Some(usage) = call.usage {
        step["metrics"] = metrics(usage);
    }
    let own = step["extra"][form::OWN].as_object_mut().expect("an object");
    own.extend(extra::call(call));
    step
}

/// Writes usage. `extra` has the parts that ATIF does not name.
fn metrics(usage: Usage) -> Value {
    let Usage { cache_read, cache_write_5m, cache_write_1h, output, reasoning, .. } = usage;
    let mut metrics = json!({"prompt_tokens": usage.request(), "completion_tokens": output, "cached_tokens": cache_read});
    let mut extra = Map::new();
    if cache_write_5m + cache_write_1h > 0 {
        extra.insert("cache_creation_input_tokens".to_owned(), (cache_write_5m + cache_write_1h).into());
    }
    if cache_write_1h > 0 {
        extra.insert("ephemeral_1h_input_tokens".to_owned(), cache_write_1h.into());
    }
    extra.extend(reasoning.map(|reasoning| ("reasoning_tokens".to_owned(), reasoning.into())));
    if !extra.is_empty() {
        metrics["extra"] = extra.into();
    }
    metrics
}

/// Adds a message of the user. Results that come first and are of the calls of the step before belong to that step.
fn user(conversation: &Conversation, at: usize, steps: &mut Vec<Value>) {
    let message = &conversation.messages[at];
    let blocks: Vec<&Block> = message.blocks.iter().map(|block| conversation.block(*block)).collect();
    let Some(results) = first_results(conversation, at) else {
        let mut step = step("user", at, message, content(&blocks));
        step["extra"][form::OWN]["blocks"] = blocks.iter().map(|block| block.wire.clone()).collect();
        steps.push(step);
        return;
    };
    if let Some(step) = steps.last_mut().filter(|_| results > 0) {
        observe(step, at, message, &blocks[..results]);
    }
    for group in blocks[results..].chunk_by(|a, b| source(a) == source(b)) {
        let mut step = step(source(group[0]), at, message, content(group));
        let wires = group.iter().map(|block| &block.wire);
        if form::read_parts(&step["message"], &mut |_| {}).iter().ne(wires) {
            step["extra"][form::OWN]["blocks"] = group.iter().map(|block| block.wire.clone()).collect();
        }
        steps.push(step);
    }
}

/// Returns how many results a message of the user begins with, all of the calls of the response before it; `None` if it has others, which
/// no step can hold.
fn first_results(conversation: &Conversation, at: usize) -> Option<usize> {
    let blocks: Vec<&Block> = conversation.messages[at].blocks.iter().map(|block| conversation.block(*block)).collect();
    let is_result = |block: &&Block| matches!(block.kind, BlockKind::ToolResult(_));
    let results = blocks.iter().take_while(|block| is_result(block)).count();
    let is_before = |block: &&Block| {
        let BlockKind::ToolResult(pair) = block.kind else { return false };
        let call = conversation.pair(pair).tool_use;
        let before = at.checked_sub(1).map(|before| &conversation.messages[before]);
        let before = before.filter(|before| before.role == Role::Assistant);
        before.is_some_and(|before| call.is_some_and(|call| before.blocks.contains(&call)))
    };
    let is_usual = !blocks[results..].iter().any(is_result) && blocks[..results].iter().all(is_before);
    is_usual.then_some(results)
}

/// Who a step of the user's side is of.
fn source(block: &Block) -> &'static str {
    if block.origin == Origin::User { "user" } else { "system" }
}

fn content(blocks: &[&Block]) -> Map<String, Value> {
    let wires: Vec<&Value> = blocks.iter().map(|block| &block.wire).collect();
    Map::from_iter([("message".to_owned(), form::write_parts(&wires))])
}

/// Adds results to the step that made their calls.
fn observe(step: &mut Value, at: usize, message: &Message, results: &[&Block]) {
    let observed = results.iter().map(|block| {
        let content = form::write_result(&block.wire["content"]);
        json!({"source_call_id": block.wire["tool_use_id"], "content": content})
    });
    step["observation"] = json!({"results": observed.collect::<Vec<Value>>()});
    let mut own = json!({ "message": at });
    if let Some(time) = message.time {
        own["time"] = time.into();
    }
    let read = |block: &&Block| {
        let content = form::read_result(&form::write_result(&block.wire["content"]), &mut |_| {});
        json!({"type": "tool_result", "tool_use_id": block.wire["tool_use_id"], "content": content})
    };
    if results.iter().map(read).ne(results.iter().map(|block| block.wire.clone())) {
        own["blocks"] = results.iter().map(|block| block.wire.clone()).collect();
    }
    step["extra"][form::OWN]["results"] = own;
}
