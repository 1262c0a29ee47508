//! What a live driver prints: `tests/oracles/scripted_model.mjs` describes it.

use recompact::engine::context::{Context, ContextMessage};
use recompact::transcript::conversation::{Block, BlockKind, Conversation, Role};
use recompact::transcript::format::{self, ReadOptions};
use serde_json::{Value, json};

/// One run of a program.
pub struct Run {
    pub window: u64,
    pub max_output: u64,
    /// The transcript that the program wrote.
    session: String,
    /// The requests of the agent, without those for a summary.
    pub requests: Vec<Real>,
    /// The requests for a summary.
    pub asked: Vec<Real>,
    /// For each of them, the index of the agent's request behind it.
    pub folds: Vec<usize>,
    /// The text of every summary.
    pub summary: String,
}

/// One real request.
pub struct Real {
    pub items: Vec<Value>,
    pub tools: u64,
    pub said: Value,
}

impl Real {
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|item| item[1].as_str())
    }
}

impl Run {
    pub fn read(printed: &str) -> Self {
        let mut lines = printed.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of the driver"));
        let settings = lines.next().expect("a line with settings");
        let mut run = Self {
            window: settings["window"].as_u64().expect("a window"),
            max_output: settings["max_output"].as_u64().expect("a limit"),
            session: settings["session"].as_str().expect("a transcript").to_owned(),
            requests: Vec::new(),
            asked: Vec::new(),
            folds: Vec::new(),
            summary: String::new(),
        };
        let mut items: Vec<Value> = Vec::new();
        for line in lines {
            items.truncate(line["shared"].as_u64().expect("a number") as usize);
            items.extend_from_slice(line["then"].as_array().expect("items"));
            let real =
                Real { items: items.clone(), tools: line["tools"].as_u64().expect("a number"), said: line["said"].clone() };
            if real.tools > 0 {
                run.requests.push(real);
            } else {
                run.summary = real.said[1].as_str().expect("a text").to_owned();
                run.folds.push(run.requests.len());
                run.asked.push(real);
            }
        }
        run
    }

    /// The session as this program reads it.
    pub fn conversation(&self) -> Conversation {
        let bytes = self.session.as_bytes();
        let mut reading = (format::sniff(bytes).expect("a known format").read)(bytes, &ReadOptions::default());
        assert!(reading.notes.is_empty(), "{:?}", reading.notes);
        assert_eq!(reading.conversations.len(), 1);
        reading.conversations.swap_remove(0)
    }
}

/// The items of a message. Each text of a user message is one.
pub fn items(context: &Context, message: &ContextMessage) -> Vec<Value> {
    let blocks = || message.blocks.iter().map(|id| context.block(*id));
    if message.role == Role::Assistant {
        let text: String = blocks().filter(|block| block.kind == BlockKind::Text).map(Block::text).collect();
        let call = |block: &Block| match block.kind {
            BlockKind::ToolUse(pair) => {
                Some(json!([context.conversation().pair(pair).id, block.wire()["name"], block.wire()["input"]]))
            }
            _ => None,
        };
        return vec![json!(["assistant", text, blocks().filter_map(call).collect::<Vec<_>>()])];
    }
    blocks()
        .map(|block| match block.kind {
            BlockKind::ToolResult(pair) => json!(["result", context.conversation().pair(pair).id, block.text()]),
            _ => json!(["user", block.text()]),
        })
        .collect()
}
