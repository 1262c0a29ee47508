//! What a driver gets and gives: `tests/oracles/recordings.py` describes both.

use std::collections::HashMap;

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::replay::Observer;
use recompact::transcript::conversation::{Block, BlockId, BlockKind, Conversation};
use serde_json::{Value, json};

use super::driver::Answers;
use super::items::items;

/// Returns the line of a conversation: for each call, the messages that are new since the call before.
pub fn recording(conversation: &Conversation) -> String {
    let part = |block: &Block| {
        let field = |name: &str| block.wire()[name].clone();
        match block.kind {
            BlockKind::Thinking => None,
            BlockKind::ToolUse(pair) => {
                Some(json!({"id": conversation.pair(pair).id, "name": field("name"), "input": field("input")}))
            }
            BlockKind::ToolResult(pair) => Some(json!({"id": conversation.pair(pair).id, "result": block.text()})),
            _ => Some(json!({"text": block.text()})),
        }
    };
    let mut from = 0;
    let calls: Vec<Value> = (conversation.calls.iter())
        .map(|call| {
            let new = &conversation.messages[from..call.response];
            from = call.response;
            let message = |message: &recompact::transcript::conversation::Message| {
                let parts: Vec<_> = message.blocks.iter().filter_map(|id| part(conversation.block(*id))).collect();
                (!parts.is_empty()).then(|| json!({"role": message.role.as_str(), "content": parts}))
            };
            new.iter().filter_map(message).collect()
        })
        .collect();
    format!("{}\n", json!({ "calls": calls }))
}

/// Compares each request with the driver's answer.
pub struct Requests<'a> {
    answers: &'a mut Answers,
    theirs: Vec<String>,
    /// Number of calls whose answers were read. A replay sends nothing for a call without messages; the driver answers it.
    answered: usize,
    /// Items of the messages that were seen, as JSON texts, by their blocks.
    known: HashMap<Vec<BlockId>, Vec<String>>,
    /// For each request, how it differs.
    pub differences: Vec<Option<String>>,
}

impl<'a> Requests<'a> {
    pub fn new(answers: &'a mut Answers) -> Self {
        Self { answers, theirs: Vec::new(), answered: 0, known: HashMap::new(), differences: Vec::new() }
    }
}

impl Requests<'_> {
    /// Reads the answers of the first `calls` calls, and returns the estimate of the last.
    pub fn read_answers(&mut self, calls: usize) -> Option<u64> {
        let mut estimate = None;
        while self.answered < calls {
            estimate = self.answers.next(&mut self.theirs);
            self.answered += 1;
        }
        estimate
    }
}

impl Observer for Requests<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let estimate = self.read_answers(request.call + 1);
        let mut at = 0;
        let mut difference = None;
        for message in context.messages() {
            let ours = self
                .known
                .entry(message.blocks.clone())
                .or_insert_with(|| items(context, message).iter().map(Value::to_string).collect());
            for our_item in ours {
                let their_item = self.theirs.get(at).map_or("nothing", String::as_str);
                if our_item != their_item && difference.is_none() {
                    let [ours, theirs] = [our_item.as_str(), their_item].map(|item| item.chars().take(300).collect::<String>());
                    difference = Some(format!("item {at}: ours {ours}\n  theirs {theirs}"));
                }
                at += 1;
            }
        }
        if difference.is_none() && at != self.theirs.len() {
            difference = Some(format!("ours has {at} items, theirs {}", self.theirs.len()));
        }
        if let Some(estimate) = estimate.filter(|estimate| difference.is_none() && *estimate != request.estimate) {
            difference = Some(format!("the estimate is {}, theirs {estimate}", request.estimate));
        }
        self.differences.push(difference.map(|difference| format!("call {}: {difference}", request.call + 1)));
    }
}
