//! A response of the model while its items come in.

use super::super::batch::Stamp;
use crate::transcript::conversation::{BlockId, Builder, Call, Message, Role, Usage};

#[derive(Debug)]
pub struct Response {
    pub at: Stamp,
    pub blocks: Vec<BlockId>,
    /// Those of the blocks that are encrypted reasoning.
    pub reasoning: Vec<BlockId>,
    pub usage: Option<Usage>,
    model: Option<String>,
    /// The next item of the model begins another response.
    pub ended: bool,
}

impl Response {
    pub fn new(at: Stamp, usage: Option<Usage>, model: Option<String>) -> Self {
        Self { at, blocks: Vec::new(), reasoning: Vec::new(), usage, model, ended: false }
    }

    /// Appends the response to the conversation. Gives the number of reasoning blocks whose size nothing tells.
    pub fn close(self, builder: &mut Builder) -> usize {
        let reasoned = self.usage.and_then(|usage| usage.reasoning);
        if let Some(tokens) = reasoned {
            // The record has one figure for all of them: the first stands for it.
            for (index, block) in self.reasoning.iter().enumerate() {
                builder.set_recorded_tokens(*block, if index == 0 { tokens } else { 0 });
            }
        }
        let Stamp { line, time } = self.at;
        let message = Message { role: Role::Assistant, plain: false, blocks: self.blocks, time, line };
        let call = Call { usage: self.usage, model: self.model, time, ..Call::default() };
        builder.response(message, call);
        if reasoned.is_some() { 0 } else { self.reasoning.len() }
    }
}
