//! Results that a harness wrote in place of a file that it had shown before.

use std::collections::HashMap;

use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::engine::layer::{file_part_asked_for, says_range};
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, PairId};
use crate::transcript::tool_access;

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
    let input = conversation.block(conversation.pair(pair).tool_use?).field("input")?.as_object()?;
    let others = input.values().filter(|value| !matches!(value, Value::Null | Value::Bool(_)) && !says_range(value));
    if others.count() > 1 {
        return None;
    }
    file_part_asked_for(conversation, pair)
}

/// Returns those of the short results whose file an earlier result shows, and that no call between them changes.
fn shown_before(conversation: &Conversation, short: Vec<(String, BlockId)>) -> Vec<BlockId> {
    let mut asked: HashMap<String, Vec<BlockId>> = HashMap::new();
    short.into_iter().for_each(|(part, id)| asked.entry(part).or_default().push(id));
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks).map(|id| (*id, conversation.block(*id)));
    let mut shown: HashMap<String, (BlockId, usize)> = HashMap::new();
    let mut found = Vec::new();
    for (id, block) in blocks {
        let BlockKind::ToolResult(pair) = block.kind else { continue };
        let Some(part) = part_of_file(conversation, pair).filter(|part| asked.contains_key(part)) else { continue };
        let bytes = block.text().len();
        match shown.get(&part) {
            Some((earlier, most)) if asked[&part].contains(&id) && *most >= TIMES * bytes => {
                found.extend(Some(id).filter(|id| !is_changed_between(conversation, pair, *earlier, *id)));
            }
            _ => _ = shown.insert(part, (id, bytes)),
        }
    }
    found
}

/// Whether a call between two results changes a file with the name of the file that this call asked for.
fn is_changed_between(conversation: &Conversation, pair: PairId, first: BlockId, second: BlockId) -> bool {
    let input = |pair: PairId| conversation.block(conversation.pair(pair).tool_use?).field("input");
    let name_of = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    let Some(name) = input(pair).and_then(tool_access::named_path).map(name_of) else { return true };
    let between = (first.index() + 1..second.index()).map(|index| &conversation.blocks[index]);
    let mut calls = between.filter_map(|block| match block.kind {
        BlockKind::ToolUse(pair) => Some(pair),
        _ => None,
    });
    calls.any(|other| {
        let access = input(other).map(|input| tool_access::access_of(&conversation.pair(other).name, input));
        access.is_some_and(|access| access.writes.iter().any(|path| name_of(path) == name))
    })
}
