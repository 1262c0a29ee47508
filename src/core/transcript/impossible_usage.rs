//! Recorded usage that cannot be: more input or output than any context window.
//!
//! A proxy or a broken harness writes it. The message stays, and the usage is left out with a note, because one such number costs more
//! than the rest of a session.

use super::conversation::{Conversation, Usage};
use super::format::{Note, Reading};

/// Leaves out usage that cannot be, with a note for each conversation that has some.
pub fn drop_from(reading: &mut Reading) {
    for conversation in &mut reading.conversations {
        reading.notes.extend(drop_from_calls(conversation));
        for call in conversation.calls.iter_mut().chain(&mut conversation.other_branches) {
            call.usage = call.usage.filter(Usage::is_possible);
            call.other_iterations.retain(|other| other.usage.is_possible());
        }
    }
}

fn drop_from_calls(conversation: &mut Conversation) -> Option<Note> {
    let is_impossible = |call: &usize| conversation.calls[*call].usage.is_some_and(|usage| !usage.is_possible());
    let impossible: Vec<usize> = (0..conversation.calls.len()).filter(is_impossible).collect();
    let first = *impossible.first()?;
    let line = conversation.messages[conversation.calls[first].response].line;
    let usage = conversation.calls[first].usage.unwrap_or_default();
    let more = if impossible.len() == 1 { String::new() } else { format!(", as that of {} more calls", impossible.len() - 1) };
    let text = format!(
        "{}: call {} cannot have used {} tokens of input and {} of output; this usage was left out{more}",
        conversation.name,
        first + 1,
        usage.request(),
        usage.output
    );
    impossible.into_iter().for_each(|call| conversation.calls[call].usage = None);
    Some(Note::skipped(line, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{Call, ConversationBuilder, Message, Origin, Role, Thinking};
    use serde_json::json;

    /// Returns whether the usage of a response is kept, and the notes.
    fn kept(usage: Usage) -> (bool, Vec<String>) {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
        let text = builder.block(json!({"type": "text", "text": "x"}), Origin::Agent, 7);
        let message = Message { role: Role::Assistant, is_string_content: false, blocks: vec![text], time: None, line: 7 };
        builder.response(message, Call { usage: Some(usage), ..Call::default() });
        let mut reading = Reading { conversations: vec![builder.finish()], notes: Vec::new() };
        drop_from(&mut reading);
        (reading.conversations[0].calls[0].usage.is_some(), reading.notes.into_iter().map(|note| note.what).collect())
    }

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    #[test]
    fn usage_above_any_window_is_left_out() {
        assert_eq!(kept(usage(10 << 20, 9)), (true, vec![]));
        let note = "main: call 1 cannot have used 10485761 tokens of input and 9 of output; this usage was left out";
        assert_eq!(kept(usage((10 << 20) + 1, 9)), (false, vec![note.to_owned()]));
        let note = "main: call 1 cannot have used 4294967295 tokens of input and 0 of output; this usage was left out";
        assert!(!kept(usage(9, (10 << 20) + 1)).0);
        assert_eq!(kept(usage(1 << 63, 0)), (false, vec![note.to_owned()]), "the number was capped");
    }

    #[test]
    fn many_calls_are_one_note() {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::All);
        for line in 1..=3 {
            let text = builder.block(json!({"type": "text", "text": "x"}), Origin::Agent, line);
            let message = Message { role: Role::Assistant, is_string_content: false, blocks: vec![text], time: None, line };
            builder.response(message, Call { usage: Some(usage(20 << 20, 1)), ..Call::default() });
        }
        let mut reading = Reading { conversations: vec![builder.finish()], notes: Vec::new() };
        drop_from(&mut reading);
        let notes: Vec<_> = reading.notes.iter().map(|note| (note.line, note.what.as_str())).collect();
        let text = "main: call 1 cannot have used 20971520 tokens of input and 1 of output; this usage was left out, as that of 2 more calls";
        assert_eq!(notes, [(Some(1), text)]);
    }
}
