//! Results that a harness wrote in place of a file that it had shown before.

use std::collections::HashMap;

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::engine::layer::{file_part_asked_for, says_range};
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, PairId};
use crate::transcript::tool_access;
use crate::util::text::recorded_file_name;

/// How such results begin in Claude Code 2.0 and 2.1, and in Cline.
const WORDINGS: [&str; 3] = [
    "File unchanged since last read",
    "Wasted call \u{2014} file unchanged since your last Read",
    "[[NOTE] This file read has been removed to save space",
];
/// Most bytes of a result in another wording. Claude Code's has 154. We chose the number.
const MOST_BYTES: usize = 300;
/// The file, as it was shown before, is at least this many times as long. We chose the number.
const TIMES: usize = 10;
/// A short answer with one of these words may say that the file is not there any more.
const GONE_WORDS: [&str; 6] = ["not exist", "no such", "not found", "error", "denied", "empty"];

/// Returns the stubs of a conversation: results in a known wording, and short answers to a call that got a much longer one before,
/// if it asks for nothing but a file, or a range of it, and no call has changed a file of that name since.
pub(in crate::findings) fn stubs(conversation: &Conversation) -> FxHashSet<BlockId> {
    let results =
        conversation.messages.iter().flat_map(|message| &message.blocks).filter_map(|id| match conversation.block(*id).kind {
            BlockKind::ToolResult(pair) => Some((*id, pair)),
            _ => None,
        });
    let mut stubs = FxHashSet::default();
    let mut short = Vec::new();
    for (id, pair) in results {
        let result = conversation.block(id);
        let text = result.text();
        if WORDINGS.iter().any(|begin| text.trim_start().starts_with(begin)) {
            stubs.insert(id);
        } else if text.len() <= MOST_BYTES && !text.trim().is_empty() && !result.is_error() && !says_that_it_is_gone(&text) {
            short.extend(part_of_file(conversation, pair).map(|part| (part, id)));
        }
    }
    if !short.is_empty() {
        stubs.extend(shown_before(conversation, short));
    }
    stubs
}

fn says_that_it_is_gone(text: &str) -> bool {
    let text = text.to_lowercase();
    GONE_WORDS.iter().any(|word| text.contains(word))
}

/// Returns the part of a file that a call asked for, if its input has no other text.
fn part_of_file(conversation: &Conversation, pair: PairId) -> Option<String> {
    let input = conversation.input_of(pair)?.as_object()?;
    let others = input.values().filter(|value| !matches!(value, Value::Null | Value::Bool(_)) && !says_range(value));
    if others.count() > 1 {
        return None;
    }
    file_part_asked_for(conversation, pair)
}

/// Returns those of the short results whose file an earlier result shows, and that no call between them changes.
fn shown_before(conversation: &Conversation, short: Vec<(String, BlockId)>) -> Vec<BlockId> {
    let (parts, short): (FxHashSet<String>, FxHashSet<BlockId>) = short.into_iter().unzip();
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks).map(|id| (*id, conversation.block(*id)));
    let mut shown: HashMap<String, (BlockId, usize)> = HashMap::new();
    let mut found = Vec::new();
    for (id, block) in blocks {
        let BlockKind::ToolResult(pair) = block.kind else { continue };
        let Some(part) = part_of_file(conversation, pair).filter(|part| parts.contains(part)) else { continue };
        let bytes = block.text().len();
        match shown.get(&part) {
            Some((earlier, most)) if short.contains(&id) && *most >= TIMES * bytes => found.push((pair, *earlier, id)),
            _ => _ = shown.insert(part, (id, bytes)),
        }
    }
    if found.is_empty() {
        return Vec::new();
    }
    let changes = changes(conversation);
    let is_unchanged = |(pair, first, second): &(PairId, BlockId, BlockId)| {
        let name = conversation.input_of(*pair).and_then(tool_access::named_path).map(recorded_file_name);
        let of_file = |name| changes.get(name).map_or(&[][..], Vec::as_slice);
        name.map(of_file).is_some_and(|at| at.partition_point(|at| at <= first) >= at.partition_point(|at| at < second))
    };
    found.into_iter().filter(is_unchanged).map(|(_, _, stub)| stub).collect()
}

/// Returns the calls that change files, by the name of the file, in the order of their blocks.
fn changes(conversation: &Conversation) -> HashMap<String, Vec<BlockId>> {
    let mut changes: HashMap<String, Vec<BlockId>> = HashMap::new();
    for (index, block) in conversation.blocks.iter().enumerate() {
        let BlockKind::ToolUse(pair) = block.kind else { continue };
        let access = conversation.input_of(pair).map(|input| tool_access::access_of(&conversation.pair(pair).name, input));
        for path in access.into_iter().flat_map(|access| access.writes) {
            changes.entry(recorded_file_name(&path).to_owned()).or_default().push(BlockId(index as u32));
        }
    }
    changes
}
