//! The messages of a request as items, which `tests/oracles/recordings.py` describes.

use recompact::engine::context::{Context, ContextMessage};
use recompact::transcript::conversation::{Block, BlockKind, Role};
use serde_json::{Value, json};

/// Returns the items of a message. Texts of the user that follow each other are one item.
pub fn items(context: &Context, message: &ContextMessage) -> Vec<Value> {
    let blocks: Vec<&Block> = message.blocks.iter().map(|id| context.block(*id)).collect();
    if message.role == Role::Assistant {
        let mut text = String::new();
        let mut calls = Vec::new();
        for block in blocks {
            match block.kind {
                BlockKind::ToolUse(pair) => {
                    calls.push(json!([context.conversation().pair(pair).id, block.wire()["name"], block.wire()["input"]]));
                }
                BlockKind::Thinking => {}
                _ => text += &block.text(),
            }
        }
        return vec![json!(["assistant", text, calls])];
    }
    let is_result = |block: &&Block| matches!(block.kind, BlockKind::ToolResult(_));
    let mut items = Vec::new();
    for group in blocks.chunk_by(|before, after| is_result(before) == is_result(after)) {
        match group[0].kind {
            BlockKind::ToolResult(_) => items.extend(group.iter().map(|block| {
                let BlockKind::ToolResult(pair) = block.kind else { unreachable!("a group of results") };
                json!(["result", context.conversation().pair(pair).id, block.text()])
            })),
            _ => items.push(json!(["user", group.iter().map(|block| said(block)).collect::<String>()])),
        }
    }
    items
}

/// Returns the text of a block; of a picture, what `partText` in `scripted_model.mjs` says of it.
fn said(block: &Block) -> String {
    match block.kind {
        BlockKind::Media => {
            let data = block.wire()["source"]["data"].as_str().unwrap_or_else(|| panic!("a picture: {}", block.wire()));
            format!("[picture of {} characters]", data.len())
        }
        _ => block.text().to_string(),
    }
}
