//! Finds the blocks of the context in a message that a policy wrote: which stay, which were rewritten, which are new.
//!
//! Policies copy messages and change parts of them. A block that is found again stays the block that it was, with its origin, its
//! place in a tool call and its facts; so a program that clears a result does the same as the layer `clear`.

use serde_json::Value;

use super::target::TargetBlock;
use crate::engine::context::Context;
use crate::transcript::conversation::BlockId;

/// Fields that a policy may rewrite in a block that stays.
const FIELDS: [&str; 5] = ["text", "content", "input", "thinking", "is_error"];

/// Returns the blocks of a written message. `old` are the blocks of the messages that it replaces.
///
/// # Errors
///
/// Fails if a tool call or a result is not one of the old blocks, or changes what cannot change.
pub(super) fn align(context: &Context, old: &[BlockId], written: Vec<Value>) -> Result<Vec<TargetBlock>, String> {
    let mut taken = vec![false; old.len()];
    let in_place = old.len() == written.len();
    let mut next = 0;
    let mut blocks = Vec::with_capacity(written.len());
    for (index, wire) in written.into_iter().enumerate() {
        let of = |at: usize| context.block(old[at]).wire();
        let found = match tool_call_id(&wire) {
            Some(id) => {
                let is_same = |at: &usize| of(*at)["type"] == wire["type"] && tool_call_id(of(*at)) == Some(id);
                let mut found = (0..old.len()).filter(is_same).peekable();
                let is_there = found.peek().is_some();
                found.find(|at| !taken[*at]).ok_or_else(|| {
                    let kind = wire["type"].as_str().unwrap_or_default();
                    let why = if is_there { "is named twice" } else { "is not in the messages that it replaces" };
                    format!("its {kind} `{id}` {why}")
                })?
            }
            None => {
                let is_same = |at: &usize| !taken[*at] && is_same_json(of(*at), &wire);
                let twin = in_place && !taken[index] && of(index)["type"] == wire["type"] && wire["type"] == "text";
                match (next..old.len()).find(is_same) {
                    Some(at) => at,
                    None if twin => index,
                    None => {
                        blocks.push(TargetBlock::New(wire));
                        continue;
                    }
                }
            }
        };
        taken[found] = true;
        next = found + 1;
        blocks.push(TargetBlock::Old { block: old[found], rewrites: rewrites(of(found), wire)? });
    }
    Ok(blocks)
}

/// Returns whether [`align`] finds every old block again, each in its place.
pub(super) fn stays_in_place(context: &Context, old: &[BlockId], written: &[Value]) -> bool {
    let is_found = |(index, wire): (usize, &Value)| {
        let before = context.block(old[index]).wire();
        before["type"] == wire["type"]
            && match tool_call_id(wire) {
                Some(id) => tool_call_id(before) == Some(id),
                // A text before another one may be that one, moved.
                None => is_same_json(before, wire) || (wire["type"] == "text" && index + 1 == old.len()),
            }
    };
    old.len() == written.len() && written.iter().enumerate().all(is_found)
}

/// Returns the id of the tool call that a block is part of.
fn tool_call_id(wire: &Value) -> Option<&str> {
    match wire["type"].as_str()? {
        "tool_use" => wire["id"].as_str(),
        "tool_result" => wire["tool_use_id"].as_str(),
        _ => None,
    }
}

/// Returns the fields that differ, with their new values. A field that is missing in the new form stays as it is.
fn rewrites(old: &Value, new: Value) -> Result<Vec<(&'static str, Value)>, String> {
    let Value::Object(new) = new else { return Ok(Vec::new()) };
    let mut rewrites = Vec::new();
    for (key, value) in new {
        if old.get(&key).is_some_and(|before| is_same_json(before, &value)) {
            continue;
        }
        let Some(field) = FIELDS.into_iter().find(|field| *field == key) else {
            return Err(format!("it changes `{key}` of a block; only {} can change", FIELDS.join(", ")));
        };
        rewrites.push((field, value));
    }
    Ok(rewrites)
}

/// Returns whether two values are the same in every language: `1`, `1.0` and `1e0` are one number.
fn is_same_json(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same_json(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same = |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| is_same_json(value, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        (one, other) => one == other,
    }
}
