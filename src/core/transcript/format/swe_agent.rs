//! Trajectories of SWE-agent (`trajectories/**/*.traj`).
//!
//! `history` holds the messages; `trajectory` repeats them for each step. Newer runs have calls and results of the chat API. In older
//! ones the model wrote its command into a block of its text (`action`), and the next user message is what was printed: a call and its
//! result, whose tool is the first word of the command. Demonstrations (`is_demo`) are a part of the prompt. What the history processors
//! of a run cut from its requests is known where the steps have the requests ([`sent`]). The file has only totals of the usage.

mod sent;

use serde_json::{Value, json};

use super::head::Head;
use super::notes::Notes;
use super::openai_chat::Recorded;
use super::openai_chat::dialogue::Dialogue;
use super::openai_chat::text_calls;
use super::{Certainty, Format, Joins, Note, ReadOptions, Reading, document, jsonl};
use crate::transcript::conversation::{Conversation, Identity};

/// The id of the format.
const NAME: &str = "swe-agent";

/// The runs of a benchmark are where its user puts them.
pub const FORMAT: Format = Format {
    name: NAME,
    about: "SWE-agent trajectories (*.traj), whose calls may be texts",
    sniff,
    read,
    folders: &[],
    store: None,
    joins: Joins::Nothing,
};

const MARKS: &[&str] =
    &["trajectory environment", "trajectory history", "history.role history.message_type", "history.role history.agent"];

fn sniff(head: &Head) -> Certainty {
    head.is_marked(MARKS).into()
}

fn read(bytes: &[u8], _: &ReadOptions) -> Reading {
    let mut notes = Notes::default();
    let Some(document) = document::read(bytes, "history", usize::MAX) else {
        let why = "not a trajectory of SWE-agent: it is no document with a `history`";
        return Reading { conversations: Vec::new(), notes: vec![Note::skipped(1, why)] };
    };
    notes.lines.extend(document.note());
    let mut messages = Vec::new();
    for (line, raw) in &document.messages {
        let values = jsonl::values::<Value>(*line, raw.get().as_bytes(), &mut notes.lines);
        messages.extend(values.into_iter().map(|value| Recorded { line: *line, value }));
    }
    as_chat(&mut messages);
    let mut requests = sent::Requests::new(&document, &messages);
    let mut dialogue = Dialogue::new("main", NAME, text_calls::are_in(&messages, false));
    for (at, message) in messages.into_iter().enumerate() {
        if requests.has(at) {
            requests.compare(at, message.line, dialogue.settle(&mut notes), &mut notes);
        }
        dialogue.read(message, &mut notes);
    }
    requests.finish(&mut notes);
    let conversation = dialogue.finish(&mut notes);
    let identified = conversation.map(|conversation| Conversation { identity: Identity::of(NAME), ..conversation });
    Reading { conversations: identified.into_iter().collect(), notes: notes.finish() }
}

/// Makes calls and results of the chat API of those that are texts.
fn as_chat(messages: &mut [Recorded]) {
    let mut open: Option<String> = None;
    for (n, recorded) in messages.iter_mut().enumerate() {
        let message = &mut recorded.value;
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        if message["is_demo"] == true {
            message["role"] = json!("developer");
            continue;
        }
        match (role.as_str(), open.take()) {
            ("assistant", _) => {
                let action = message["action"].as_str().map(str::trim).filter(|action| !action.is_empty());
                if let Some(action) = action.filter(|_| message["tool_calls"].is_null()).map(str::to_owned) {
                    let id = format!("action_{n}");
                    let name = action.split_whitespace().next().unwrap_or_default();
                    let function = json!({"name": name, "arguments": json!({"command": action}).to_string()});
                    message["tool_calls"] = json!([{"id": id, "type": "function", "function": function}]);
                    if message["thought"].is_string() {
                        message["content"] = json!(message["thought"].as_str().unwrap_or_default().trim());
                    }
                    open = Some(id);
                }
            }
            ("user", Some(id)) => {
                message["role"] = json!("tool");
                message["tool_call_id"] = json!(id);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::read_one;
    use super::*;

    fn trajectory(history: Value) -> String {
        json!({"environment": "main", "trajectory": [], "history": history, "info": {}}).to_string()
    }

    #[test]
    fn an_action_is_a_call_and_what_it_printed_its_result() {
        let history = json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "As others did.", "is_demo": true},
            {"role": "user", "content": "Boil it."},
            {"role": "assistant", "content": "I look.\n```\nopen cup\n```", "thought": "I look.\n", "action": "open cup\n"},
            {"role": "user", "content": "cold"},
            {"role": "assistant", "content": "```\nsubmit\n```", "thought": "", "action": "submit"},
        ]);
        let (lines, notes) = read_one(&FORMAT, &trajectory(history));
        assert_eq!(
            lines,
            ["u: (As others did.) Boil it.", "a: I look. [action_3 open]", "u: [action_3 = cold]", "a: [action_5 submit]"]
        );
        assert_eq!(notes, Vec::<String>::new());
    }

    /// A run whose second and third requests have a shorter result of the first call, as its processors left it.
    #[test]
    fn what_was_cut_from_a_request_is_a_compaction() {
        let call = |id: &str, what: &str| {
            let call = json!({"id": id, "type": "function", "function": {"name": "open", "arguments": "{}"}});
            json!({"role": "assistant", "content": what, "action": "open", "tool_calls": [call]})
        };
        let result = |id: &str, text: &str| json!({"role": "tool", "content": text, "tool_call_ids": [id]});
        let user = json!({"role": "user", "content": "Boil it."});
        let history = [
            json!({"role": "system", "content": "Be brief."}),
            user.clone(),
            call("c1", "One."),
            result("c1", "cold"),
            call("c2", "Two."),
            result("c2", "warm"),
            call("c3", "Three."),
            result("c3", "hot"),
            json!({"role": "assistant", "content": "Done."}),
        ];
        let mut query: Vec<Value> = [2, 4, 6, 8].map(|end| history[..end].to_vec().into()).to_vec();
        // Marks of the prompt cache cut nothing.
        query[1][1]["content"] = json!([{"type": "text", "text": "Boil it.", "cache_control": {"type": "ephemeral"}}]);
        for request in &mut query[2..] {
            request[3]["content"] = "1 line left out".into();
        }
        query[3][5]["content"] = "1 line left out".into();
        let steps: Vec<Value> = query.into_iter().map(|query| json!({"query": query})).collect();
        let text = json!({"environment": "main", "trajectory": steps, "history": history, "info": {}}).to_string();
        let reading = (FORMAT.read)(text.as_bytes(), &ReadOptions::default());
        let conversation = &reading.conversations[0];
        assert_eq!((reading.notes.len(), conversation.calls.len(), conversation.compactions.len()), (0, 4, 2));
        let after = |at: usize| -> Vec<String> {
            let messages = conversation.compactions[at].edit.messages().iter();
            messages.flat_map(|message| &message.blocks).map(|id| conversation.block(*id).text().into_owned()).collect()
        };
        assert_eq!(conversation.compactions.iter().map(|one| one.message_index).collect::<Vec<_>>(), [5, 7]);
        assert_eq!(after(0), ["Boil it.", "One.", "{}", "1 line left out", "Two.", "{}", "warm"]);
        assert_eq!(
            after(1),
            ["Boil it.", "One.", "{}", "1 line left out", "Two.", "{}", "1 line left out", "Three.", "{}", "hot"]
        );
        // What the first compaction left in place of a result stays in the second one.
        let third = |at: usize| conversation.compactions[at].edit.messages()[2].blocks[0];
        assert_eq!(third(0), third(1));
        assert_eq!(conversation.compactions[0].edit.messages()[0].blocks, conversation.messages[0].blocks);
    }

    #[test]
    fn a_request_of_other_messages_is_not_compared() {
        let history = json!([{"role": "user", "content": "Boil it."}, {"role": "assistant", "content": "Done."}]);
        let steps = json!([{"query": [{"role": "user", "content": "Boil it."}, {"role": "user", "content": "Again."}]}]);
        let text = json!({"environment": "main", "trajectory": steps, "history": history, "info": {}}).to_string();
        let (lines, notes) = read_one(&FORMAT, &text);
        assert_eq!(lines, ["u: Boil it.", "a: Done."]);
        assert!(notes.len() == 1 && notes[0].contains("1 request(s) in `trajectory`"), "{notes:?}");
    }

    #[test]
    fn newer_runs_have_calls_of_the_api() {
        let call = json!({"id": "c1", "type": "function", "function": {"name": "open", "arguments": "{\"path\": \"cup\"}"}});
        let history = json!([
            {"role": "user", "content": "Boil it.", "agent": "main", "message_type": "observation"},
            {"role": "assistant", "content": "I look.", "action": "open cup", "tool_calls": [call], "message_type": "action"},
            {"role": "tool", "content": "cold", "tool_call_ids": ["c1"], "message_type": "observation"},
            {"role": "assistant", "content": "Cold.", "message_type": "thought"},
        ]);
        let (lines, _) = read_one(&FORMAT, &trajectory(history));
        assert_eq!(lines, ["u: Boil it.", "a: I look. [c1 open]", "u: [c1 = cold]", "a: Cold."]);
    }
}
