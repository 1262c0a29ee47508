//! Kinds of files that are known and that no reader reads yet, so that they are refused by their name and not misread.
//!
//! A new kind is one row. A row becomes a reader by a file of its own and a row of [`FORMATS`](super::FORMATS).

use serde_json::Value;

/// A known kind of file.
struct Kind {
    /// The name in a refusal, with its article.
    name: &'static str,
    /// What marks it. One of these must hold for one of the first records: every condition of it, separated by spaces.
    ///
    /// `a.b` is a field that is not null; of a list, each element is looked at. `=`, `^=` and `$=` compare its text: equal, begins
    /// with, ends with. `file=` compares the name of the file.
    marks: &'static [&'static str],
}

/// Every kind, the more specific first.
const KINDS: &[Kind] = &[
    Kind {
        name: "a Qwen Code session",
        marks: &["uuid sessionId message.parts", "uuid sessionId systemPayload", "uuid sessionId provenance"],
    },
    Kind {
        name: "a Gemini CLI chat",
        marks: &["sessionId projectHash", "type=gemini timestamp", "messages.type=gemini", "$rewindTo"],
    },
    Kind {
        name: "a Gemini API conversation",
        marks: &["role=model parts", "contents.role contents.parts", "history.role history.parts"],
    },
    Kind { name: "an opencode export", marks: &["info.id^=ses_", "messages.info.sessionID^=ses_"] },
    Kind {
        name: "a part of opencode's storage",
        marks: &["id^=msg_ sessionID^=ses_", "id^=prt_ messageID^=msg_", "id^=ses_ projectID"],
    },
    Kind { name: "an opencode database", marks: &["sqlite=part sqlite=message sqlite=session"] },
    Kind {
        name: "a Copilot CLI session",
        marks: &[
            "type=session.start data.sessionId",
            "type^=session. data.producer=copilot-agent",
            "type=user.message data.content",
            "type=assistant.message data.messageId",
            "type^=tool.execution_ data.toolCallId",
        ],
    },
    Kind {
        name: "a pi session",
        marks: &[
            "type=session cwd id timestamp",
            "type=model_change modelId",
            "type=thinking_level_change thinkingLevel",
            "type=message message.role=toolResult",
            "type=message message.content.type=toolCall",
        ],
    },
    Kind {
        name: "an OpenHands event log",
        marks: &[
            "kind$=Event source=agent timestamp",
            "kind$=Event source=user timestamp",
            "kind$=Event source=environment timestamp",
            "history.kind$=Event history.source",
            "action args source=agent",
            "action args source=user",
            "observation extras source=agent",
            "observation extras source=environment",
            "history.action history.args history.source",
        ],
    },
    Kind {
        name: "a SWE-agent trajectory",
        marks: &[
            "trajectory environment",
            "trajectory history",
            "history.role history.message_type",
            "history.role history.agent",
        ],
    },
    Kind {
        name: "a Cline CLI session",
        marks: &["sessionId agent updated_at messages.role", "messages.modelInfo messages.metrics"],
    },
    Kind {
        name: "a Cline task",
        marks: &["role content file=api_conversation_history.json", "type=say say ts", "type=ask ask ts", "role ts modelInfo"],
    },
    Kind {
        name: "a Roo Code task",
        marks: &["role condenseId", "role condenseParent", "role truncationParent", "role truncationId"],
    },
    Kind { name: "an ATIF trajectory", marks: &["schema_version^=ATIF", "steps.step_id steps.source"] },
    Kind {
        name: "a log of requests to an API",
        marks: &[
            "messages.role response.content.type",
            "body.messages.role",
            "request.messages.role",
            "request.body.messages.role",
            "request_body.messages.role",
            "kwargs.messages.role",
            "proxy_server_request.body",
            "input.messages.role",
            "body.input.role",
            "body.input.type",
            "request.input.role",
            "input.role model",
            "input.role instructions",
            "body.contents.parts",
            "request.contents.parts",
        ],
    },
    Kind { name: "an OpenTelemetry export", marks: &["resourceSpans.scopeSpans", "resource_spans.scope_spans"] },
    Kind { name: "a Langfuse export", marks: &["traceId type=GENERATION", "observations.traceId"] },
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
    Kind { name: "a SQLite database", marks: &["sqlite"] },
];

/// What marks a record of Claude Code. Its reader also takes any record with a type and an id for one, and logs have both.
const CLAUDE_CODE: &[&str] = &[
    "uuid isSidechain",
    "uuid message.role message.content",
    "sessionId message.role message.content",
    "session_id message.role message.content",
    "type=system subtype uuid",
    "type=attachment attachment",
    "type=progress data uuid",
    "type=summary leafUuid",
    "type=last-prompt leafUuid",
    "type=file-history-snapshot snapshot",
    "type=queue-operation operation",
];

/// Returns the name of the kind that no reader reads, if these records of a file of this name are of one.
pub fn unread(file: &str, records: &[Value]) -> Option<&'static str> {
    let is_one = |kind: &&Kind| records.iter().any(|record| is_marked(kind.marks, file, record));
    KINDS.iter().find(is_one).map(|kind| kind.name)
}

/// Returns whether one of these records is surely of Claude Code.
pub fn is_claude_code(records: &[Value]) -> bool {
    records.iter().any(|record| is_marked(CLAUDE_CODE, "", record))
}

fn is_marked(marks: &[&str], file: &str, record: &Value) -> bool {
    marks.iter().any(|mark| mark.split(' ').all(|condition| holds(condition, file, record)))
}

fn holds(condition: &str, file: &str, record: &Value) -> bool {
    let (left, wanted) = condition.split_once('=').unwrap_or((condition, ""));
    let (path, matches): (&str, fn(&str, &str) -> bool) = match left.as_bytes().last() {
        Some(b'^') => (&left[..left.len() - 1], |text, wanted| text.starts_with(wanted)),
        Some(b'$') => (&left[..left.len() - 1], |text, wanted| text.ends_with(wanted)),
        _ => (left, |text, wanted| text == wanted),
    };
    if path == "file" {
        return matches(file, wanted);
    }
    let is_compared = condition.contains('=');
    any_at(record, path, &|value| match value {
        Value::String(text) if is_compared => matches(text, wanted),
        value => !is_compared && !value.is_null(),
    })
}

/// Returns whether a value at this path passes a test.
fn any_at(value: &Value, path: &str, passes: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| any_at(element, path, passes)),
        value if path.is_empty() => passes(value),
        value => {
            let (key, rest) = path.split_once('.').unwrap_or((path, ""));
            let field = value.get(key);
            // A list itself is there, even if it is empty.
            field.is_some_and(|field| any_at(field, rest, passes) || (rest.is_empty() && field.is_array() && passes(field)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_look_into_lists_and_compare_texts() {
        let record =
            json!({"type": "say", "list": [{"id": "ses_1"}, {"kind": "MessageEvent"}], "none": null, "empty": [], "ts": 1});
        for yes in ["type", "type=say", "list.id^=ses_", "list.kind$=Event", "empty", "ts", "file=a.json", "file$=.json"] {
            assert!(holds(yes, "a.json", &record), "{yes}");
        }
        for no in
            ["none", "type=ask", "list.id=ses_", "list.kind^=Event", "ts=1", "type.say", "other", "list.other", "file=b.json"]
        {
            assert!(!holds(no, "a.json", &record), "{no}");
        }
    }

    /// One invented record of each kind, its keys in another order than the programs write them.
    #[test]
    fn each_kind_is_named_by_one_record() {
        let named = [
            (
                "a Qwen Code session",
                json!({"message": {"parts": [{"text": "go"}], "role": "user"}, "sessionId": "s", "uuid": "u"}),
            ),
            ("a Gemini CLI chat", json!({"messages": [], "projectHash": "h", "sessionId": "s"})),
            ("a Gemini API conversation", json!({"parts": [{"text": "hi"}], "role": "model"})),
            ("an opencode export", json!({"messages": [], "info": {"title": "t", "id": "ses_1"}})),
            ("a Copilot CLI session", json!({"data": {"content": "go"}, "id": "e", "type": "user.message"})),
            ("a pi session", json!({"timestamp": "t", "cwd": "/w", "id": "s", "type": "session"})),
            ("an OpenHands event log", json!({"timestamp": "t", "source": "user", "kind": "MessageEvent"})),
            ("a SWE-agent trajectory", json!({"history": [{"role": "system", "agent": "main"}], "trajectory": []})),
            (
                "a Cline CLI session",
                json!({"messages": [{"role": "user"}], "updated_at": "t", "agent": "lead", "sessionId": "s"}),
            ),
            ("a Cline task", json!({"ts": 1, "say": "text", "text": "hi", "type": "say"})),
            ("an ATIF trajectory", json!({"steps": [], "schema_version": "ATIF-v1.7"})),
            ("a log of requests to an API", json!({"body": {"messages": [{"role": "user"}]}, "time": 1})),
        ];
        for (name, record) in named {
            assert_eq!(unread("a.json", &[json!({"v": 1}), record]), Some(name));
        }
        let chat = [json!({"role": "user", "content": "go", "ts": 1})];
        assert_eq!(unread("a.json", &chat), None);
        assert_eq!(unread("api_conversation_history.json", &chat), Some("a Cline task"));
    }

    #[test]
    fn ordinary_logs_are_not_of_claude_code() {
        let log =
            [json!({"type": "event", "sessionId": "s", "level": "info"}), json!({"type": "user", "uuid": "a", "text": "hi"})];
        assert!(!is_claude_code(&log) && unread("a.jsonl", &log).is_none());
        assert!(is_claude_code(&[json!({"type": "user", "uuid": "u", "message": {"role": "user", "content": "go"}})]));
    }
}
