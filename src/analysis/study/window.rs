//! The context window of a replay.

use serde::{Deserialize, Serialize};

use super::Study;
use crate::engine::policy::Policy;
use crate::transcript::conversation::Conversation;

/// Context window in tokens if nothing names one: what most models of the recorded agents had.
pub const DEFAULT_WINDOW: u64 = 200_000;

/// What is known of the context window of a conversation, before a policy is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownWindow {
    /// The window that the user named, or else the recorded one.
    stated: Option<u64>,
    /// The window of the recorded models.
    of_models: Option<u64>,
}

impl KnownWindow {
    /// `stated` is the window that the user or else the record names, `of_models` that of the recorded models.
    pub fn new(stated: Option<u64>, of_models: Option<u64>) -> Self {
        Self { stated, of_models }
    }

    /// Returns the window of a replay: the one that was given, recorded, set by the policy, or that the recorded models have.
    pub fn of(self, policy: &Policy) -> u64 {
        self.stated.or(policy.window).or(self.of_models).unwrap_or(DEFAULT_WINDOW)
    }
}

impl Study {
    /// Returns what is known of the window of a conversation.
    pub fn known_window(&self, conversation: &Conversation) -> KnownWindow {
        KnownWindow::new(self.window.or(conversation.window), self.prices.window(conversation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_counts_before_the_policy_and_the_models_after_it() {
        let policy = |window| Policy { window, ..Policy::keep_all() };
        for (stated, of_policy, of_models, expected) in
            [(Some(1), Some(2), Some(3), 1), (None, Some(2), Some(3), 2), (None, None, Some(3), 3), (None, None, None, 200_000)]
        {
            assert_eq!(KnownWindow::new(stated, of_models).of(&policy(of_policy)), expected);
        }
    }
}
