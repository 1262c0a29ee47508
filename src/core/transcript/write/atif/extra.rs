//! What `extra.recompact` holds of a conversation: who held it, recorded compactions, calls of other branches, and of blocks and calls what no
//! step says.

use serde_json::{Map, Value, json};

use super::{first_results, metrics};
use crate::transcript::conversation::{
    Block, BlockId, BlockKind, Call, Compaction, Conversation, Iteration, Message, Origin, RecordedEdit, Role,
};
use crate::transcript::format::says_failed;

/// Writes what is known of the conversation beside its messages.
pub(super) fn of(conversation: &Conversation) -> Value {
    let (thinking, identity) = (json!(conversation.thinking), json!(conversation.identity));
    let mut extra = Map::from_iter([("thinking".to_owned(), thinking), ("identity".to_owned(), identity)]);
    let mut add = |key: &str, value: Value| {
        if !value.is_null() && !value.as_array().is_some_and(Vec::is_empty) {
            extra.insert(key.to_owned(), value);
        }
    };
    add("window", json!(conversation.window));
    add("project", json!(conversation.project));
    add("blocks", blocks(conversation));
    add("other_branches", conversation.other_branches.iter().map(other_branch).collect());
    let places = places(conversation);
    add("compactions", conversation.compactions.iter().map(|one| compaction(conversation, &places, one)).collect());
    extra.into()
}

/// Writes what a step does not say of a call.
pub(super) fn call(call: &Call) -> Map<String, Value> {
    let mut fields = Map::new();
    for (key, id) in [("message_id", &call.message_id), ("request_id", &call.request_id)] {
        fields.extend(id.as_ref().map(|id| (key.to_owned(), id.as_str().into())));
    }
    if !call.other_iterations.is_empty() {
        let iteration = |other: &Iteration| json!({"model": other.model, "metrics": metrics(other.usage)});
        fields.insert("iterations".to_owned(), call.other_iterations.iter().map(iteration).collect());
    }
    if !call.service.modes.is_empty() {
        fields.insert("service".to_owned(), json!(call.service.modes));
    }
    if call.service.web_searches > 0 {
        fields.insert("web_searches".to_owned(), call.service.web_searches.into());
    }
    fields
}

/// Writes a call of a branch that is not read.
fn other_branch(call: &Call) -> Value {
    let mut fields = self::call(call);
    fields.extend(call.usage.map(|usage| ("metrics".to_owned(), metrics(usage))));
    fields.extend(call.model.as_ref().map(|model| ("model_name".to_owned(), model.as_str().into())));
    fields.extend(call.time.map(|time| ("time".to_owned(), time.into())));
    fields.into()
}

/// Writes what no step says of blocks of messages. Each is named by the numbers of its message and of its place in it.
fn blocks(conversation: &Conversation) -> Value {
    let mut all = Vec::new();
    for (at, message) in conversation.messages.iter().enumerate() {
        // Of a message that no step can hold, the only step is of a user.
        let is_one_step = message.role == Role::User && first_results(conversation, at).is_none();
        for (place, block) in message.blocks.iter().map(|id| conversation.block(*id)).enumerate() {
            let mut details = details(block, usual_origin(message.role, is_one_step, block));
            if !details.is_empty() {
                details.insert("at".to_owned(), json!([at, place]));
                all.push(details.into());
            }
        }
    }
    Value::Array(all)
}

/// Who a block is of, if only its step says it.
fn usual_origin(role: Role, is_one_step: bool, block: &Block) -> Origin {
    match (role, block.kind, block.origin) {
        (Role::Assistant, ..) => Origin::Agent,
        (_, BlockKind::ToolResult(_), _) => Origin::Tool,
        (_, _, Origin::User) => Origin::User,
        _ if is_one_step => Origin::User,
        _ => Origin::Injected,
    }
}

/// Writes where a block differs from what its content says: who wrote it, its recorded size, and whether its tool failed.
fn details(block: &Block, usual: Origin) -> Map<String, Value> {
    let mut details = Map::new();
    if block.origin != usual {
        details.insert("origin".to_owned(), json!(block.origin));
    }
    details.extend(block.recorded_tokens.map(|tokens| ("tokens".to_owned(), tokens.into())));
    let is_result = matches!(block.kind, BlockKind::ToolResult(_));
    if is_result && block.field("is_error").is_none() && says_failed(&block.wire["content"]) != block.says_failed {
        details.insert("failed".to_owned(), block.says_failed.into());
    }
    details
}

/// Returns the numbers of the message and of the place of each block.
fn places(conversation: &Conversation) -> Vec<Option<[usize; 2]>> {
    let mut places = vec![None; conversation.blocks.len()];
    for (at, message) in conversation.messages.iter().enumerate() {
        message.blocks.iter().enumerate().for_each(|(place, block)| places[block.index()] = Some([at, place]));
    }
    places
}

/// Writes a recorded compaction. A block that it kept is named by its place.
fn compaction(conversation: &Conversation, places: &[Option<[usize; 2]>], compaction: &Compaction) -> Value {
    let block = |id: &BlockId| match places[id.index()] {
        Some(place) => json!(place),
        None => {
            let block = conversation.block(*id);
            let mut fields = details(block, Origin::Compaction);
            fields.insert("block".to_owned(), block.wire.clone());
            fields.into()
        }
    };
    let message = |message: &Message| {
        let blocks: Vec<Value> = message.blocks.iter().map(block).collect();
        json!({"role": message.role.as_str(), "is_string": message.is_string_content, "blocks": blocks})
    };
    let (what, edit): (&str, Vec<Value>) = match &compaction.edit {
        RecordedEdit::Fold { into } => ("messages", into.iter().map(message).collect()),
        RecordedEdit::Clear { pairs } => {
            ("cleared", pairs.iter().map(|pair| conversation.pair(*pair).id.as_str().into()).collect())
        }
    };
    json!({"before": compaction.message_index, "trigger": compaction.trigger, "tokens_before": compaction.tokens_before,
        "tokens_after": compaction.tokens_after, "summary": compaction.summary_usage.map(metrics), what: edit})
}
