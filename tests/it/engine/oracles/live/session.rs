//! The session of a program whose transcript recompact does not read, made from its requests.

use std::collections::HashMap;

use recompact::transcript::conversation::{
    BlockId, Call, Compaction, Conversation, ConversationBuilder, Message, Origin, RecordedEdit, Role, Thinking,
};
use serde_json::{Value, json};

use super::run::Run;

/// Returns what was said, and at each compaction what then stood in the request.
pub fn of_requests(run: &Run) -> Conversation {
    let builder = ConversationBuilder::new("main", "openai-chat", Thinking::None);
    let mut session = Session { builder, blocks: HashMap::new(), line: 0 };
    for (index, real) in run.requests.iter().enumerate() {
        session.line += 1;
        let folded = run.folds.contains(&index);
        // What the compaction itself says is neither a result nor typed.
        let is_said = |item: &Value| {
            let is_typed = |text: &str| run.typed.iter().any(|typed| text.contains(typed));
            item[0] == "result" || item[0] == "user" && item[1].as_str().is_some_and(is_typed)
        };
        let mut new = Vec::new();
        for item in &real.items {
            if !session.blocks.contains_key(&item.to_string()) && (!folded || is_said(item)) {
                new.extend(session.add(item, Origin::User));
            }
        }
        let message = session.message(Role::User, new);
        session.builder.message(message);
        if folded {
            session.fold(&real.items);
        }
        let response = session.add(&real.said, Origin::Agent);
        let message = session.message(Role::Assistant, response);
        session.builder.response(message, Call { usage: Some(real.usage), ..Call::default() });
    }
    session.builder.finish()
}

struct Session {
    builder: ConversationBuilder,
    /// The blocks of each item.
    blocks: HashMap<String, Vec<BlockId>>,
    /// Number of requests so far.
    line: u32,
}

impl Session {
    fn message(&self, role: Role, blocks: Vec<BlockId>) -> Message {
        Message { role, is_string_content: false, blocks, time: None, line: self.line }
    }

    /// Adds the blocks of an item. `origin` is that of its text.
    fn add(&mut self, item: &Value, origin: Origin) -> Vec<BlockId> {
        let mut new = Vec::new();
        if item[0] == "result" {
            let wire = json!({"type": "tool_result", "tool_use_id": item[1], "content": item[2]});
            new.push(self.builder.block(wire, Origin::Tool, self.line));
        } else {
            if item[1] != "" {
                new.push(self.builder.text(item[1].as_str().expect("a text"), origin, self.line));
            }
            for call in item[2].as_array().into_iter().flatten() {
                let wire = json!({"type": "tool_use", "id": call[0], "name": call[1], "input": call[2]});
                new.push(self.builder.block(wire, Origin::Agent, self.line));
            }
        }
        self.blocks.insert(item.to_string(), new.clone());
        new
    }

    /// Adds a compaction after which these items are the context.
    fn fold(&mut self, items: &[Value]) {
        let mut into = Vec::new();
        for item in items {
            let known = self.blocks.get(&item.to_string()).cloned();
            let blocks = known.unwrap_or_else(|| self.add(item, Origin::Compaction));
            into.push(self.message(if item[0] == "assistant" { Role::Assistant } else { Role::User }, blocks));
        }
        self.builder.compaction(Compaction {
            message_index: self.builder.so_far().messages.len(),
            edit: RecordedEdit::Fold { into },
            trigger: None,
            tokens_before: None,
            tokens_after: None,
            summary_usage: None,
            line: self.line,
        });
    }
}
