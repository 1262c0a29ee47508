//! The record in the order of what happened to what the agent could see.

use crate::transcript::conversation::{Conversation, Message};

/// What happens to what the recorded agent can see, in order.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// Blocks enter, after so many responses.
    Enter(&'a Message, u32),
    /// The recorded compaction with this index was made, after so many responses.
    Compact(usize, u32),
    /// The call with this index is about to be made.
    Call(u32),
}

pub(super) fn steps(conversation: &Conversation) -> Vec<Step<'_>> {
    let (mut steps, mut call, mut compaction) = (Vec::new(), 0, 0);
    for (index, message) in conversation.messages.iter().enumerate() {
        while conversation.compactions.get(compaction).is_some_and(|next| next.at <= index) {
            steps.push(Step::Compact(compaction, call));
            compaction += 1;
        }
        if conversation.calls.get(call as usize).is_some_and(|next| next.response == index) {
            steps.push(Step::Call(call));
            call += 1;
        }
        steps.push(Step::Enter(message, call));
    }
    steps
}

/// The messages that enter in a step. Those of a compaction may hold blocks that it kept.
pub(super) fn entering<'a>(conversation: &'a Conversation, step: &Step<'a>) -> &'a [Message] {
    match step {
        Step::Enter(message, _) => std::slice::from_ref(message),
        Step::Compact(index, _) => conversation.compactions[*index].edit.messages(),
        Step::Call(_) => &[],
    }
}
