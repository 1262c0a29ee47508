//! Looks for a fact in other words in a request that lacks it: [`reworded`] has the rules.

use crate::engine::journal::{Journal, Request, RequestCursor};
use crate::facts::extract;
use crate::facts::references::Fact;
use crate::text::facts::reworded::{self, Part};
use crate::transcript::conversation::{BlockKind, Conversation};

/// The texts of the current request.
pub(super) struct RequestTexts<'a> {
    conversation: &'a Conversation,
    journal: &'a Journal,
    cursor: RequestCursor,
}

impl<'a> RequestTexts<'a> {
    pub fn new(conversation: &'a Conversation, journal: &'a Journal) -> Self {
        Self { conversation, journal, cursor: RequestCursor::default() }
    }

    /// Advances to the next request.
    pub fn advance(&mut self, request: &Request) {
        self.cursor.advance(request);
    }

    /// Whether the request says a fact in other words: its parts may be in several blocks.
    pub fn say(&self, fact: &Fact) -> bool {
        let parts = reworded::parts(fact.kind, &fact.text);
        !parts.is_empty() && parts.iter().all(|part| self.have(part))
    }

    fn have(&self, part: &Part) -> bool {
        self.cursor.blocks().iter().any(|sent| {
            let block = self.journal.block(self.conversation, sent.block);
            if block.kind == BlockKind::Thinking {
                return part.is_in(&block.text());
            }
            let mut is_in = false;
            extract::texts(block, &mut |text| is_in = is_in || part.is_in(text));
            is_in
        })
    }
}
