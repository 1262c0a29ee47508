//! What a program changed for one request, so that its next answer need not say it again.

use rustc_hash::FxHashSet;

use crate::engine::context::Edit;
use crate::engine::external::{Listing, MessageId};

/// The changes of the last answer, which was for its request only. The view of that request has them, and new messages extend it.
#[derive(Debug, Default)]
pub(super) struct RequestChanges {
    /// The messages that it named, and those that it went on from.
    named: FxHashSet<MessageId>,
    /// Indices of the messages with a rewritten block, in the history and in the view.
    rewritten: FxHashSet<usize>,
    /// Those with other blocks than in the history.
    reshaped: FxHashSet<usize>,
}

impl RequestChanges {
    /// Whether they had an effect, so that there is a view.
    pub(super) fn made_view(&self) -> bool {
        !(self.rewritten.is_empty() && self.reshaped.is_empty())
    }

    /// Returns whether an answer can go on from these changes. `view_holds` says whether the history is as it was, but for new messages.
    pub(super) fn holds(&self, view_holds: bool) -> bool {
        view_holds || !self.made_view()
    }

    /// Returns these changes and those of the answer that goes on from them.
    ///
    /// # Errors
    ///
    /// Fails if the answer lists all messages, or names one again.
    pub(super) fn and(mut self, listing: &Listing) -> Result<Self, String> {
        let Listing::Changes { drop, replace } = listing else {
            return Err("an answer with `again` has no `messages`: it names what changes beside the last answer".to_owned());
        };
        for id in drop.iter().chain(replace.iter().flat_map(|message| &message.replaces)) {
            if !self.named.insert(*id) {
                return Err(format!("`again`: message {id} is named twice, by this answer or by those that it goes on from"));
            }
        }
        Ok(self)
    }

    /// Returns these changes with the edits of the answer; `None` if no answer can go on from them. The next edits are found in the
    /// history and applied to the view, so each message must stay where it is, and a message that is edited again must have the blocks
    /// that it has in the history.
    pub(super) fn with(mut self, edits: &[Edit]) -> Option<Self> {
        let (mut rewritten, mut reshaped) = (Vec::new(), Vec::new());
        for edit in edits {
            match edit {
                Edit::Rewrite { message, .. } if !self.reshaped.contains(message) => rewritten.push(*message),
                Edit::Retain { message, .. } if !edit.removes_message() => reshaped.push(*message),
                Edit::Replace { messages, into } if messages.len() == 1 && into.len() == 1 => reshaped.push(messages.start),
                _ => return None,
            }
        }
        if reshaped.iter().any(|message| self.rewritten.contains(message) || !self.reshaped.insert(*message)) {
            return None;
        }
        self.rewritten.extend(rewritten);
        Some(self)
    }
}
