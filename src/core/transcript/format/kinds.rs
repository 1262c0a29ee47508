//! Kinds of files that are known and that no reader reads yet, so that they are refused by their name and not misread.
//!
//! A new kind is one row. A row becomes a reader by a file of its own and a row of [`FORMATS`](super::FORMATS).

use super::head::Head;

/// A known kind of file.
struct Kind {
    /// The name in a refusal, with its article.
    name: &'static str,
    /// What marks it ([`marks`](super::marks)). One of the first records must have one of these.
    marks: &'static [&'static str],
}

/// The database of opencode, which is a store and no transcript.
const OPENCODE: &str = "an opencode database";

/// The files of opencode before version 1.2. Later versions move their sessions into the database, and leave the files.
const STORAGE: &str = "a part of opencode's storage";

/// A file of a Cline, Roo or Kilo task that is not its messages.
const SCREEN: &str = "a part of a Cline task";

/// A file of a session that has one file for each event.
const EVENT: &str = "one event of an OpenHands conversation";

/// Every kind, the more specific first.
const KINDS: &[Kind] = &[
    Kind {
        name: "a Gemini API conversation",
        marks: &["role=model parts", "contents.role contents.parts", "history.role history.parts"],
    },
    Kind { name: STORAGE, marks: &["id^=msg_ sessionID^=ses_", "id^=prt_ messageID^=msg_", "id^=ses_ projectID"] },
    Kind { name: OPENCODE, marks: &["sqlite=part sqlite=message sqlite=session"] },
    Kind { name: EVENT, marks: &["file^=event- kind$=Event source timestamp"] },
    Kind {
        name: "an OpenHands event log of version 0",
        marks: &[
            "action args source=agent",
            "action args source=user",
            "observation extras source=agent",
            "observation extras source=environment",
            "history.action history.args history.source",
        ],
    },
    Kind { name: SCREEN, marks: &["type=say say ts", "type=ask ask ts", "files_in_context model_usage"] },
    Kind { name: "a log of requests to Gemini's API", marks: &["body.contents.parts", "request.contents.parts"] },
    Kind { name: "an OpenTelemetry export", marks: &["resourceSpans.scopeSpans", "resource_spans.scope_spans"] },
    Kind { name: "a Langfuse export", marks: &["observations.traceId"] },
    Kind { name: "a LangSmith export", marks: &["run_type inputs trace_id", "run_type=llm inputs"] },
    Kind { name: "a Kimi CLI session", marks: &["role=_system_prompt", "role=_checkpoint", "role=_usage"] },
    Kind { name: "a Kimi Code session", marks: &["type=llm.request", "type=context.append_loop_event", "type=usage.record"] },
    Kind {
        name: "a goose session",
        marks: &[
            "role content.type=toolRequest",
            "role content.type=toolResponse",
            "working_dir message_count",
            "file=sessions.db sqlite",
        ],
    },
    Kind { name: "a crush database", marks: &["file=crush.db sqlite"] },
    Kind { name: "a Cursor database", marks: &["sqlite=cursorDiskKV", "file=state.vscdb sqlite"] },
    Kind { name: "a Cursor transcript", marks: &["role=user message.content", "role=assistant message.content"] },
    Kind { name: "a Continue session", marks: &["sessionId workspaceDirectory history.message.role"] },
    Kind { name: "a Droid session", marks: &["type=session_start id title"] },
    Kind { name: "an Amp thread", marks: &["id^=T- messages.role"] },
    Kind { name: "a VS Code chat", marks: &["requesterUsername requests", "kind v.requests"] },
    Kind { name: "a ChatGPT export", marks: &["mapping current_node"] },
    Kind { name: "a claude.ai export", marks: &["chat_messages.sender"] },
    Kind { name: "a ShareGPT data set", marks: &["conversations.from conversations.value"] },
    Kind { name: "a SQLite database without the tables of opencode", marks: &["sqlite"] },
];

/// Returns the name of the kind that no reader reads, if a file that begins so is of one, and why it is not read.
pub fn unread(head: &Head) -> Option<(&'static str, &'static str)> {
    let kind = KINDS.iter().find(|kind| head.is_marked(kind.marks))?;
    let why = match kind.name {
        OPENCODE if cfg!(feature = "sqlite") => "which is read only as a file of its own: not compressed, and not from a pipe",
        OPENCODE => "which this program cannot read: it was built without the feature `sqlite`",
        SCREEN => "whose messages are in api_conversation_history.json beside it: name that",
        EVENT => "which is read as a whole: name its folder, with base_state.json in it",
        STORAGE => "whose sessions are in opencode.db since version 1.2: name that",
        _ => "not read yet",
    };
    Some((kind.name, why))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn named(file: &str, records: &[Value]) -> Option<&'static str> {
        unread(&Head { file, bytes: b"", records: records.to_vec() }).map(|(kind, _)| kind)
    }

    #[test]
    fn a_database_is_refused_by_what_it_is() {
        let named = |file: &str, tables: Value| {
            let (kind, why) = unread(&Head { file, bytes: b"", records: vec![json!({ "sqlite": tables })] }).expect("a kind");
            format!("{kind}, {why}")
        };
        let opencode = named("copy", json!(["session", "message", "part", "event"]));
        assert!(opencode.starts_with("an opencode database, which"), "{opencode}");
        assert_eq!(opencode.contains("`sqlite`"), !cfg!(feature = "sqlite"));
        assert_eq!(named("sessions.db", json!(["sessions", "messages"])), "a goose session, not read yet");
        assert_eq!(named("crush.db", json!(["files", "sessions"])), "a crush database, not read yet");
        assert_eq!(named("state.vscdb", json!(["ItemTable", "cursorDiskKV"])), "a Cursor database, not read yet");
        assert_eq!(named("x.db", json!(["t"])), "a SQLite database without the tables of opencode, not read yet");
    }

    /// One invented record of each kind, its keys in another order than the programs write them.
    #[test]
    fn each_kind_is_named_by_one_record() {
        let kinds = [
            ("a Gemini API conversation", json!({"parts": [{"text": "hi"}], "role": "model"})),
            ("an OpenHands event log of version 0", json!({"source": "user", "args": {}, "action": "message"})),
            (SCREEN, json!({"ts": 1, "say": "text", "text": "hi", "type": "say"})),
            ("a log of requests to Gemini's API", json!({"body": {"contents": [{"parts": [{"text": "hi"}]}]}, "time": 1})),
        ];
        for (name, record) in kinds {
            assert_eq!(named("a.json", &[json!({"v": 1}), record]), Some(name));
        }
        let chat = [json!({"role": "user", "content": "go", "ts": 1})];
        assert_eq!(named("a.json", &chat), None);
    }
}
