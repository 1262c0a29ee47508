//! The recorded conversation as a sequence of steps that change what the agent can see.

use crate::transcript::conversation::{Conversation, Message};

/// One step of the recorded conversation.
#[derive(Clone, Copy)]
pub(super) enum HistoryStep<'a> {
    /// A message enters, after this number of responses.
    Enter(&'a Message, u32),
    /// The recorded compaction with this index happens, after this number of responses.
    Compact(usize, u32),
    /// The call with this index begins.
    Call(u32),
}

pub(super) fn steps(conversation: &Conversation) -> Vec<HistoryStep<'_>> {
    let (mut steps, mut call, mut compaction) = (Vec::new(), 0, 0);
    for (index, message) in conversation.messages.iter().enumerate() {
        while conversation.compactions.get(compaction).is_some_and(|next| next.message_index <= index) {
            steps.push(HistoryStep::Compact(compaction, call));
            compaction += 1;
        }
        if conversation.calls.get(call as usize).is_some_and(|next| next.response == index) {
            steps.push(HistoryStep::Call(call));
            call += 1;
        }
        steps.push(HistoryStep::Enter(message, call));
    }
    steps
}

/// Returns the messages that enter in a step. Those of a compaction may contain blocks that it kept.
pub(super) fn entering_messages<'a>(conversation: &'a Conversation, step: &HistoryStep<'a>) -> &'a [Message] {
    match step {
        HistoryStep::Enter(message, _) => std::slice::from_ref(message),
        HistoryStep::Compact(index, _) => conversation.compactions[*index].edit.messages(),
        HistoryStep::Call(_) => &[],
    }
}
