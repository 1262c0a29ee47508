//! `attachment` records (since version 2.1.9x): content that the harness adds to messages of the user.

use serde::Deserialize;
use serde_json::Value;

use super::text::Text;

/// The fields that contain the text of visible types. Command lines and output of hooks are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Attachment {
    r#type: Text,
    hook_event: Text,
    hook_name: Text,
    command_mode: Text,
    content: Value,
    text: Value,
    prompt: Value,
    snippet: Value,
    skills: Value,
    memories: Value,
    blocking_error: Value,
    message: Value,
    new_date: Value,
    plan_content: Value,
    added_blocks: Value,
    added_lines: Value,
    added_names: Value,
    added_types: Value,
}

impl Attachment {
    /// The name of the hook that ran: `SessionStart:clear`.
    pub fn hook_name(&self) -> Option<&str> {
        self.hook_name.get()
    }

    /// Whether a person typed the text while the agent worked.
    pub fn is_queued_prompt(&self) -> bool {
        self.r#type.get() == Some("queued_command") && self.command_mode.get() == Some("prompt")
    }

    /// Returns the text that the model saw, as far as it is in the record. A type is visible if the harness sends it and the record
    /// contains its text. The harness writes sentences around that text (`<system-reminder>`, "The date has changed"); they are not in
    /// the record, and this reader does not invent them.
    ///
    /// | visible types | field with the text |
    /// |---|---|
    /// | `file`, `nested_memory`, `skill_listing`, `hook_additional_context`, `task_reminder`, `todo`, `todo_reminder`, `selected_lines_in_ide`, `critical_system_reminder` | `content` |
    /// | `hook_success` of `SessionStart` and `UserPromptSubmit` | `content` (output of other hooks is shown only to the user) |
    /// | `hook_blocking_error`, `hook_stopped_continuation` | `blockingError`, `message` |
    /// | `total_tokens_reminder` · `queued_command` · `edited_text_file` · `date_change` · `plan_file_reference` | `text` · `prompt` · `snippet` · `newDate` · `planContent` |
    /// | `invoked_skills`, `relevant_memories` | the `content` of each |
    /// | `mcp_instructions_delta`, `deferred_tools_delta`, `agent_listing_delta` | what was added: blocks, or else lines, or else names |
    ///
    /// This was compared with recorded usage: the tokens of these texts and of the results explain the growth from one request to the
    /// next. An empty `task_reminder` still costs about 80 tokens, whose text is not in the record.
    ///
    /// Skipped: `hook_system_message`, `command_permissions`, `auto_mode`, `compact_file_reference` and all other types:
    /// settings of the harness, messages to the user, or text that is not in the record.
    pub fn visible_text(&self) -> Option<String> {
        let fields: &[&Value] = match self.r#type.get()? {
            "file"
            | "nested_memory"
            | "skill_listing"
            | "hook_additional_context"
            | "task_reminder"
            | "todo"
            | "todo_reminder"
            | "selected_lines_in_ide"
            | "critical_system_reminder" => &[&self.content],
            "hook_success" if matches!(self.hook_event.get(), Some("SessionStart" | "UserPromptSubmit")) => &[&self.content],
            "hook_blocking_error" => &[&self.blocking_error],
            "hook_stopped_continuation" => &[&self.message],
            "total_tokens_reminder" => &[&self.text],
            "queued_command" => &[&self.prompt],
            "edited_text_file" => &[&self.snippet],
            "date_change" => &[&self.new_date],
            "plan_file_reference" => &[&self.plan_content],
            "invoked_skills" => &[&self.skills],
            "relevant_memories" => &[&self.memories],
            "mcp_instructions_delta" | "deferred_tools_delta" | "agent_listing_delta" => {
                &[&self.added_blocks, &self.added_lines, &self.added_names, &self.added_types]
            }
            _ => return None,
        };
        let mut texts = Vec::new();
        for field in fields {
            collect_texts(field, &mut texts);
            if !texts.is_empty() {
                break;
            }
        }
        Some(texts.join("\n")).filter(|text| !text.is_empty())
    }
}

/// Collects the texts in a field: a string, the items of a list, or the text field of an object (its name depends on the type).
fn collect_texts<'a>(field: &'a Value, texts: &mut Vec<&'a str>) {
    match field {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(object) => {
            let keys = ["content", "text", "file", "subject", "blockingError"];
            if let Some(inner) = keys.into_iter().find_map(|key| object.get(key)) {
                collect_texts(inner, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(attachment: Value, expected: Option<&str>) {
        let attachment: Attachment = serde_json::from_value(attachment).expect("any object is an attachment");
        assert_eq!(attachment.visible_text().as_deref(), expected);
    }

    #[test]
    fn attachment_text_is_found_for_each_type() {
        check(json!({"type": "hook_additional_context", "content": ["one", "two"]}), Some("one\ntwo"));
        check(
            json!({"type": "nested_memory", "path": "/a.md", "content": {"path": "/a.md", "content": "be kind"}}),
            Some("be kind"),
        );
        let file = json!({"type": "text", "file": {"filePath": "/a.rs", "content": "fn a() {}"}});
        check(json!({"type": "file", "filename": "/a.rs", "content": file}), Some("fn a() {}"));
        check(json!({"type": "total_tokens_reminder", "text": "9 left"}), Some("9 left"));
        check(json!({"type": "queued_command", "prompt": [{"type": "text", "text": "also this"}]}), Some("also this"));
        check(json!({"type": "edited_text_file", "filename": "a", "snippet": "1→x"}), Some("1→x"));
        check(json!({"type": "invoked_skills", "skills": [{"name": "s", "content": "how to s"}]}), Some("how to s"));
        check(json!({"type": "deferred_tools_delta", "addedNames": ["A", "B"]}), Some("A\nB"));
        check(json!({"type": "task_reminder", "content": [{"id": "1", "subject": "test it"}]}), Some("test it"));
    }

    #[test]
    fn attachments_unseen_by_the_model_are_skipped() {
        check(json!({"type": "hook_success", "hookEvent": "PostToolUse", "content": "formatted", "stdout": "x"}), None);
        check(json!({"type": "hook_success", "hookEvent": "SessionStart", "content": ""}), None);
        check(json!({"type": "task_reminder", "content": []}), None);
        check(json!({"type": "compact_file_reference", "filename": "/a.rs"}), None);
        check(json!({"type": "of_tomorrow", "content": "?"}), None);
        check(json!({"type": 5}), None);
    }
}
