//! Writes a session of Claude Code: one line per block, with the usage on every line of a response, the structured copy of each
//! result, and a compaction when the context comes near its window.

use serde_json::{Value, json};

use crate::trace::{Response, ToolCall, Trace};

/// Characters of the context at which Claude Code compacts: 160,000 tokens of four characters.
const FULL: usize = 640_000;
/// System prompt and tools, in tokens.
const OVERHEAD: usize = 18_000;
/// 2026-03-01T00:00:00Z.
const BEGIN: i64 = 1_772_323_200;
/// Seconds from one line to the next.
const STEP: i64 = 7;

/// Writes the session with this number, which is in its ids.
pub fn write(trace: &Trace, number: usize) -> String {
    let mut session = Session { number, ..Session::default() };
    for (index, response) in trace.responses.iter().enumerate() {
        if let Some(request) = &response.request {
            session.request(request);
        }
        session.response(index, response);
    }
    session.lines
}

#[derive(Default)]
struct Session {
    number: usize,
    lines: String,
    records: usize,
    /// Characters of the current context.
    context: usize,
}

impl Session {
    /// Writes a record with these fields and those that all records have.
    fn record(&mut self, mut fields: Value) {
        let time = BEGIN + STEP * self.records as i64;
        let parent = if fields["type"] == "system" { None } else { self.records.checked_sub(1).map(|record| self.uuid(record)) };
        fields["uuid"] = self.uuid(self.records).into();
        fields["parentUuid"] = parent.into();
        fields["isSidechain"] = false.into();
        fields["sessionId"] = self.uuid(usize::MAX).into();
        fields["timestamp"] = jiff::Timestamp::from_second(time).unwrap_or_default().to_string().into();
        fields["cwd"] = "/home/dev/project".into();
        fields["version"] = "2.1.30".into();
        self.records += 1;
        self.lines.push_str(&fields.to_string());
        self.lines.push('\n');
    }

    fn request(&mut self, text: &str) {
        if self.context > FULL {
            self.compact();
        }
        self.context += text.len();
        self.record(json!({"type": "user", "userType": "external", "message": {"role": "user", "content": text}}));
    }

    fn compact(&mut self) {
        let metadata = json!({"trigger": "auto", "preTokens": OVERHEAD + self.context / 4});
        let last = self.uuid(self.records - 1);
        self.record(json!({
            "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "logicalParentUuid": last, "compactMetadata": metadata,
        }));
        let summary = "This session is being continued from a previous conversation. The work so far went as asked. ".repeat(50);
        self.context = summary.len();
        self.record(json!({
            "type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": summary},
        }));
    }

    fn response(&mut self, index: usize, response: &Response) {
        let usage = json!({
            "input_tokens": 4, "cache_creation_input_tokens": 600,
            "cache_read_input_tokens": OVERHEAD + self.context / 4, "output_tokens": 250, "service_tier": "standard",
        });
        let thinking = response.thinking.as_ref().map(|text| json!({"type": "thinking", "thinking": text, "signature": "c2ln"}));
        let text = response.text.as_ref().map(|text| json!({"type": "text", "text": text}));
        let calls =
            response.calls.iter().map(|call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}));
        for block in thinking.into_iter().chain(text).chain(calls) {
            self.context += block.to_string().len();
            self.record(json!({
                "type": "assistant", "requestId": format!("req_{index:08}"),
                "message": {
                    "id": format!("msg_{index:08}"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
                    "content": [block], "stop_reason": null, "usage": usage,
                },
            }));
        }
        for call in &response.calls {
            self.result(call);
        }
    }

    fn result(&mut self, call: &ToolCall) {
        let copy = match call.name {
            "bash" => json!({"stdout": call.result, "stderr": "", "interrupted": false}),
            _ => json!({"type": "text", "file": {"filePath": call.input["path"], "content": call.result}}),
        };
        self.context += call.result.len();
        self.record(json!({
            "type": "user", "toolUseResult": copy,
            "message": {"role": "user", "content": [{"tool_use_id": call.id, "type": "tool_result", "content": call.result}]},
        }));
    }

    fn uuid(&self, record: usize) -> String {
        format!("{:08x}-5e55-4000-8000-{record:012x}", self.number)
    }
}
