//! Finds the calls that results answer.

use std::collections::HashMap;
use std::ops::Range;

use crate::engine::context::Context;
use crate::engine::layer::BlockPosition;
use crate::engine::layer::result_filter::Candidate;
use crate::transcript::conversation::{BlockKind, PairId};

/// The calls directly before some messages with results. They are listed once for all these results, which may be thousands.
pub(super) struct CallsBefore<'c, 'a> {
    context: &'c Context<'a>,
    /// Positions of these messages; there is no response among them.
    results: Range<usize>,
    /// Of calls with one id, the first of the newest response. `None` if its input is empty.
    calls: HashMap<PairId, Option<BlockPosition>>,
}

impl<'c, 'a> CallsBefore<'c, 'a> {
    pub(super) fn new(context: &'c Context<'a>) -> Self {
        Self { context, results: 0..0, calls: HashMap::new() }
    }

    /// Returns the position of the call that a result answers, if the call is in the turn before and its input is not empty yet.
    pub(super) fn call_of(&mut self, candidate: &Candidate) -> Option<BlockPosition> {
        let (messages, last) = (self.context.messages(), candidate.position.message);
        let mut first = last;
        while first > 0 && !self.results.contains(&first) && !messages[first - 1].is_response() {
            first -= 1;
        }
        if self.results.contains(&first) {
            self.results.end = self.results.end.max(last + 1);
        } else {
            self.results = first..last + 1;
            self.list(first);
        }
        self.calls.get(&candidate.pair).copied().flatten()
    }

    /// Lists the calls of the responses directly before a message.
    fn list(&mut self, before: usize) {
        self.calls.clear();
        let messages = self.context.messages()[..before].iter().enumerate().rev();
        for (message, response) in messages.take_while(|(_, message)| message.is_response()) {
            for (block, id) in response.blocks.iter().enumerate() {
                let call = self.context.block(*id);
                let is_empty =
                    || call.field("input").is_none_or(|input| input.as_object().is_some_and(|fields| fields.is_empty()));
                if let BlockKind::ToolUse(pair) = call.kind {
                    self.calls.entry(pair).or_insert_with(|| (!is_empty()).then_some(BlockPosition { message, block }));
                }
            }
        }
    }
}
