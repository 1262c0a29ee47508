//! Messages of sub-agents inside `progress` records of their session.
//!
//! Versions up to about 2.1.70 report each message of a sub-agent so. Where the sub-agent has records or a file of its own, these are
//! read; elsewhere, what was reported is all that there is.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{Message, Record, Type};
use super::text::Text;

/// The data of a `progress` record.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Progress {
    agent_id: Text,
    hook_name: Text,
    prompt: Text,
    message: Option<Box<Record>>,
}

impl Progress {
    /// The name of the hook that reports: `SessionStart:clear`.
    pub fn hook_name(&self) -> Option<&str> {
        self.hook_name.get()
    }
}

/// Turns reports of messages into records of their sub-agents.
#[derive(Default)]
pub struct Reports {
    begun: HashSet<String>,
}

impl Reports {
    /// Returns the records that a record reports: one, but two if the prompt of the sub-agent was not reported as a message.
    pub fn unpack(&mut self, record: &mut Record) -> Vec<Record> {
        let Some(Progress { agent_id, prompt, message, .. }) = record.data.take().map(|data| *data) else {
            return Vec::new();
        };
        // Those of tools and hooks have no message. Whichever else has one reports an agent: `agent_progress`, `skill_progress`.
        let is_message = |message: &Record| matches!(message.r#type, Type::User | Type::Assistant) && message.message.is_some();
        let Some(mut message) = message.filter(|message| is_message(message)) else { return Vec::new() };
        let agent = match agent_id.get().or(record.parent_tool_use_id.get()) {
            Some(agent) => agent.to_owned(),
            None => return Vec::new(),
        };
        let begins = self.begun.insert(agent.clone());
        let own = |r#type, uuid, timestamp, message| Record {
            line: record.line,
            is_reported: true,
            r#type,
            uuid,
            parent_uuid: if begins { Text::Null } else { Text::Missing },
            session_id: record.session_id.clone(),
            agent_id: Text::Is(agent.clone()),
            timestamp,
            cwd: record.cwd.clone(),
            is_sidechain: Some(true),
            message,
            ..Record::default()
        };
        let mut records = Vec::new();
        if let (true, false, Some(prompt)) = (begins, message.r#type == Type::User, prompt.get()) {
            let prompt = Message { content: json!(prompt), ..Message::default() };
            records.push(own(Type::User, Text::Missing, message.timestamp.clone(), Some(Box::new(prompt))));
        }
        let parent_uuid = if records.is_empty() && begins { Text::Null } else { Text::Missing };
        let reported = own(message.r#type.clone(), message.uuid.clone(), message.timestamp.clone(), message.message.take());
        records.push(Record { parent_uuid, request_id: message.request_id, ..reported });
        records
    }
}

/// Leaves out reports of sub-agents that have records of their own, in this file or in another one (`own_files`, by thread name), and of
/// those without an answer.
pub fn drop_known(records: &mut [Record], contents: &mut [Value], own_files: &[Arc<HashSet<String>>]) {
    let own = || records.iter().filter(|record| !record.is_reported);
    let responses: HashSet<&str> = own().filter_map(Record::response_id).collect();
    let agents: HashSet<&str> = own().filter(|record| record.is_side()).filter_map(|record| record.agent_id.get()).collect();
    let is_known = |record: &Record| {
        let agent = record.agent_id.get().unwrap_or_default();
        let is_recorded = agents.contains(agent) || record.response_id().is_some_and(|id| responses.contains(id));
        is_recorded || own_files.iter().any(|names| names.contains(&format!("agent-{agent}")))
    };
    let reported = || records.iter().filter(|record| record.is_reported);
    let agent = |record: &Record| record.agent_id.get().map(str::to_owned);
    let known: HashSet<String> = reported().filter(|record| is_known(record)).filter_map(agent).collect();
    // Of some, only the prompt is reported.
    let answered: HashSet<String> = reported().filter(|record| record.is_assistant()).filter_map(agent).collect();
    for (record, content) in records.iter_mut().zip(contents) {
        if record.is_reported && record.agent_id.get().is_some_and(|agent| known.contains(agent) || !answered.contains(agent)) {
            *record = Record { line: record.line, ..Record::default() };
            content.take();
        }
    }
}
