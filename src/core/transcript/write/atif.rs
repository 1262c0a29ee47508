//! A trajectory in ATIF 1.7, as harbor and its viewers read it: a step for each response with its calls and their results, and one for what
//! people and the harness said.
//!
//! What ATIF has no place for is in `extra.recompact`, of the root and of the steps: which message a step is of, blocks that it cannot
//! hold, recorded compactions. Our reader of the format uses it; other programs see the steps.

use serde_json::{Map, Value, json};

use super::{System, Target, calls, wires};
use crate::text::surrogates::restore_escapes;
use crate::transcript::conversation::{
    Block, BlockId, BlockKind, Call, Conversation, Message, Origin, RecordedEdit, Role, Usage,
};
use crate::transcript::format::{atif_form as form, says_failed};

pub(super) const TARGET: Target =
    Target { name: "atif", about: "an ATIF 1.7 trajectory; what ATIF has no place for is in `extra`", ending: "json", write };

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
    let known = |name: &Option<String>| name.clone().unwrap_or_else(|| "unknown".to_owned());
    let root = json!({
        "schema_version": "ATIF-v1.7",
        "session_id": identity.session.as_deref().unwrap_or(&conversation.name),
        "agent": {"name": known(&identity.agent), "version": known(&identity.version)},
        "steps": steps,
        "extra": {form::OWN: root_extra(conversation)},
    });
    restore_escapes(serde_json::to_string_pretty(&root).expect("values with text keys")) + "\n"
}

/// Writes what is known of the conversation beside its messages.
fn root_extra(conversation: &Conversation) -> Value {
    let mut extra = Map::new();
    extra.insert("thinking".to_owned(), json!(conversation.thinking));
    extra.extend(conversation.window.map(|window| ("window".to_owned(), window.into())));
    extra.extend(conversation.project.as_deref().map(|project| ("project".to_owned(), project.into())));
    if !conversation.compactions.is_empty() {
        extra.insert("compactions".to_owned(), compactions(conversation));
    }
    extra.into()
}

/// Writes the recorded compactions. A block that one of them kept is named by the numbers of its message and of its place in it.
fn compactions(conversation: &Conversation) -> Value {
    let mut places: Vec<Option<[usize; 2]>> = vec![None; conversation.blocks.len()];
    for (at, message) in conversation.messages.iter().enumerate() {
        message.blocks.iter().enumerate().for_each(|(place, block)| places[block.index()] = Some([at, place]));
    }
    let block =
        |block: &BlockId| places[block.index()].map_or_else(|| conversation.block(*block).wire.clone(), |place| json!(place));
    let message = |message: &Message| {
        let blocks: Vec<Value> = message.blocks.iter().map(block).collect();
        json!({"role": message.role.as_str(), "is_string": message.is_string_content, "blocks": blocks})
    };
    let written = conversation.compactions.iter().map(|compaction| {
        let (what, edit): (&str, Vec<Value>) = match &compaction.edit {
            RecordedEdit::Fold { into } => ("messages", into.iter().map(message).collect()),
            RecordedEdit::Clear { pairs } => {
                ("cleared", pairs.iter().map(|pair| conversation.pair(*pair).id.as_str().into()).collect())
            }
        };
        json!({"before": compaction.message_index, "trigger": compaction.trigger, "tokens_before": compaction.tokens_before,
            "tokens_after": compaction.tokens_after, what: edit})
    });
    written.collect()
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
    for (key, id) in [("message_id", &call.message_id), ("request_id", &call.request_id)] {
        if let Some(id) = id {
            step["extra"][form::OWN][key] = id.as_str().into();
        }
    }
    step
}

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
    if !is_usual {
        let exact: Vec<Value> = blocks.iter().map(|block| exact(block)).collect();
        let mut step = step("user", at, message, content(&blocks));
        step["extra"][form::OWN]["blocks"] = exact.into();
        steps.push(step);
        return;
    }
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
    let exact: Vec<Value> = results.iter().map(|block| exact(block)).collect();
    if results.iter().map(read).ne(exact.iter().cloned()) {
        own["blocks"] = exact.into();
    }
    step["extra"][form::OWN]["results"] = own;
}

/// Returns the wire form of a block. Where the record says of a result whether its tool failed and the text does not say it, the field of
/// Anthropic's API does, with null for a result that is not marked.
fn exact(block: &Block) -> Value {
    let mut wire = block.wire.clone();
    let is_result = matches!(block.kind, BlockKind::ToolResult(_));
    if is_result && block.field("is_error").is_none() && says_failed(&block.wire["content"]) != block.says_failed {
        wire["is_error"] = if block.says_failed { true.into() } else { Value::Null };
    }
    wire
}
