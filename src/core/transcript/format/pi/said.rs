//! What pi sends for its entries: the words around summaries and commands, and blocks.

use serde_json::{Value, json};

use super::super::notes::Notes;
use super::Message;
use crate::transcript::conversation::text_wire;

/// Returns the text of a command that the user ran, as it is sent.
pub fn execution(message: &Message) -> String {
    let Message { command, output, exit_code, cancelled, truncated, full_output_path, .. } = message;
    let mut text = format!("Ran `{}`\n", command.as_deref().unwrap_or_default());
    match output.as_deref().filter(|output| !output.is_empty()) {
        Some(output) => text += &format!("```\n{output}\n```"),
        None => text += "(no output)",
    }
    match exit_code {
        _ if *cancelled == Some(true) => text += "\n\n(command cancelled)",
        Some(code) if *code != 0 => text += &format!("\n\nCommand exited with code {code}"),
        _ => {}
    }
    if let Some(path) = full_output_path.as_ref().filter(|_| *truncated == Some(true)) {
        text += &format!("\n\n[Output truncated. Full output: {path}]");
    }
    text
}

/// Returns the message that is sent for the summary of a compaction.
pub fn summary(summary: &str) -> String {
    format!(
        "The conversation history before this point was compacted into the following summary:\n\n<summary>\n{summary}\n</summary>"
    )
}

/// Returns the message that is sent for the summary of a branch that the user left.
pub fn branch(summary: &str) -> String {
    format!("The following is a summary of a branch that this conversation came back from:\n\n<summary>\n{summary}</summary>")
}

/// Converts blocks of pi: text, thinking, toolCall, image.
pub fn blocks(content: &Value, line: u32, notes: &mut Notes) -> Vec<Value> {
    let block = |block: &Value| {
        let field = |key: &str| block.get(key).and_then(Value::as_str);
        let text = |key: &str| field(key).filter(|text| !text.is_empty());
        match field("type") {
            Some("text") => text("text").map(text_wire),
            Some("thinking") => text("thinking").map(|thought| json!({"type": "thinking", "thinking": thought})),
            Some("toolCall") => Some(super::tool_use(block)),
            Some("image") => {
                let kind = field("mimeType").unwrap_or("image/png");
                let source = json!({"type": "base64", "media_type": kind, "data": field("data").unwrap_or_default()});
                Some(json!({"type": "image", "source": source}))
            }
            other => {
                notes.unknown_type(line, "blocks", other.unwrap_or("unknown"));
                None
            }
        }
    };
    match content {
        Value::Array(list) => list.iter().filter_map(block).collect(),
        Value::String(text) if !text.is_empty() => vec![text_wire(text)],
        Value::Null | Value::String(_) => Vec::new(),
        odd => {
            notes.odd_field(line, "content", odd);
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_user_are_sent_with_their_outcome() {
        let text = |execution_json: Value| execution(&serde_json::from_value(execution_json).expect("a command"));
        assert_eq!(text(json!({"command": "ls", "output": "a", "exitCode": 0})), "Ran `ls`\n```\na\n```");
        assert_eq!(text(json!({"command": "ls", "exitCode": 2})), "Ran `ls`\n(no output)\n\nCommand exited with code 2");
        let cut = json!({"command": "ls", "output": "a", "cancelled": true, "truncated": true, "fullOutputPath": "/t/o"});
        assert_eq!(text(cut), "Ran `ls`\n```\na\n```\n\n(command cancelled)\n\n[Output truncated. Full output: /t/o]");
    }
}
