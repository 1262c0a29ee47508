//! Looks for a fact in other words in a request that lacks it: [`reworded`](crate::text::facts::reworded) has the rules.

use crate::engine::journal::{Journal, Request, RequestCursor};
use crate::facts::references::{FactId, References};
use crate::transcript::conversation::Conversation;

/// The texts of the current request.
pub(super) struct RequestTexts<'a> {
    conversation: &'a Conversation,
    references: &'a References,
    journal: &'a Journal,
    cursor: RequestCursor,
}

impl<'a> RequestTexts<'a> {
    pub fn new(conversation: &'a Conversation, references: &'a References, journal: &'a Journal) -> Self {
        Self { conversation, references, journal, cursor: RequestCursor::default() }
    }

    /// Advances to the next request.
    pub fn advance(&mut self, request: &Request) {
        self.cursor.advance(request);
    }

    /// Whether the request says a fact in other words.
    pub fn say(&self, fact: FactId) -> bool {
        let blocks = self.cursor.blocks().iter().map(|sent| sent.block);
        let block = |id| self.journal.block(self.conversation, id);
        self.references.say_in_other_words(fact, blocks, block, self.conversation.blocks.len())
    }
}
