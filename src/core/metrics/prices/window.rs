//! Context window of a recorded conversation, if its models are known.

use std::collections::HashSet;

use super::Prices;
use crate::transcript::conversation::Conversation;

/// Tokens that Claude Code gives a model with a larger window, unless its id ends in `[1m]`.
const USUAL_CLAUDE_WINDOW: u64 = 200_000;

impl Prices {
    /// Returns the smallest window of the models of a conversation; `None` if the window of none is known.
    ///
    /// A list says how much a model can take. Of a Claude model that can take 1,000,000 tokens, a harness uses 200,000 unless
    /// it asks for more, which the recorded id says (`[1m]`) or a recorded request that is larger shows.
    pub fn window(&self, conversation: &Conversation) -> Option<u64> {
        let mut models = HashSet::new();
        let calls = conversation.calls.iter().filter(|call| models.insert(call.model.as_deref()));
        let largest = conversation.calls.iter().filter_map(|call| call.billed()).map(|usage| usage.request()).max();
        let usual = |model: &str, window: u64| {
            let is_large = model.to_lowercase().ends_with("[1m]") || largest.is_some_and(|tokens| tokens > USUAL_CLAUDE_WINDOW);
            if model.to_lowercase().contains("claude") && !is_large { window.min(USUAL_CLAUDE_WINDOW) } else { window }
        };
        let windows = calls.filter_map(|call| {
            let model = call.model.as_deref()?;
            self.quote(Some(model), call.time).window.map(|window| usual(model, window))
        });
        windows.min()
    }
}
