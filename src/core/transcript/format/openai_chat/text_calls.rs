//! Calls that a model writes as text: mini-swe-agent runs the only bash block of a response, and sends what it printed as the next
//! user message. So that message is a result, not a text that a person typed.

use serde_json::Value;

use super::Recorded;

/// Info strings of a block that is run. Newer versions have one of their own, so that quoted shell code is not run.
const LANGUAGES: [&str; 2] = ["bash", "mswea_bash_command"];

/// Bytes after the opening marks in which the language and the end of its line must be, so that a long line is not searched each time.
const LONGEST_LANGUAGE: usize = 40;

/// Beginning of what it sends back. Other chats also have bash blocks, but no message like this after them.
const OBSERVATION: &str = "<returncode>";

/// Beginning of the text with which a person goes on after the run.
const NEW_TASK: &str = "The user added a new task:";

/// The name of the tool in such calls.
pub const TOOL: &str = "bash";

/// A response that runs a command.
#[derive(Debug, PartialEq, Eq)]
pub struct Action<'a> {
    pub before: &'a str,
    pub command: &'a str,
    pub after: &'a str,
}

/// Returns whether a document says that it is a run of mini-swe-agent.
pub fn is_run(document: &Value) -> bool {
    let format = document.get("trajectory_format").and_then(Value::as_str);
    format.is_some_and(|format| format.starts_with("mini-swe-agent")) || document.pointer("/info/mini_version").is_some()
}

/// Returns whether the calls of these messages are text: none is a call of the API, and one is answered as mini-swe-agent does. In a run
/// that says that it is one, any user message after it is an answer, because every configuration has its own words.
pub fn are_in(messages: &[Recorded], is_run: bool) -> bool {
    let has_calls = |message: &Recorded| message.value.get("tool_calls").is_some_and(|calls| !calls.is_null());
    let text = |message: &Recorded, role: &str| {
        (message.value.get("role")? == role).then(|| super::message::text(message.value.get("content")?)).flatten()
    };
    let is_answered = |pair: &[Recorded]| {
        text(&pair[0], "assistant").is_some_and(|text| action(&text).is_some())
            && text(&pair[1], "user").is_some_and(|text| is_run || text.trim_start().starts_with(OBSERVATION))
    };
    !messages.iter().any(has_calls) && messages.windows(2).any(is_answered)
}

/// Returns whether a response in a log and the text of the user after it are a call and its result.
pub fn is_call_and_result(response: &str, next: &str) -> bool {
    next.trim_start().starts_with(OBSERVATION) && action(response).is_some()
}

/// Returns whether a person typed this user message after the first response.
pub fn is_typed(text: &str) -> bool {
    text.trim_start().starts_with(NEW_TASK)
}

/// Splits a response at its action; `None` if it does not have exactly one. The harness refuses such a response.
pub fn action(text: &str) -> Option<Action<'_>> {
    let mut blocks = blocks(text);
    blocks.next().filter(|_| blocks.next().is_none())
}

/// Returns the blocks that would be run.
fn blocks(text: &str) -> impl Iterator<Item = Action<'_>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let open = from + text[from..].find("```")?;
            let inside = open + 3;
            let line = text.as_bytes()[inside..].iter().take(LONGEST_LANGUAGE).position(|byte| *byte == b'\n');
            let line_end = line.map(|length| inside + length);
            let Some(line_end) = line_end.filter(|end| LANGUAGES.contains(&text[inside..*end].trim())) else {
                from = inside;
                continue;
            };
            // The line break before the end belongs to it, so an empty command begins with it.
            let close = line_end + text[line_end..].find("\n```")?;
            from = close + 4;
            let command = text.get(line_end + 1..close).unwrap_or_default();
            return Some(Action { before: text[..open].trim_end(), command, after: text[from..].trim() });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_block_is_the_action() {
        let found = |before, command, after| Some(Action { before, command, after });
        assert_eq!(action("I look.\n\n```bash\nls\n```"), found("I look.", "ls", ""));
        assert_eq!(action("```mswea_bash_command\nls \\\n -a\n```\nThen."), found("", "ls \\\n -a", "Then."));
        assert_eq!(action("Not ```python\nx\n``` but\n```bash \nls\n```"), found("Not ```python\nx\n``` but", "ls", ""));
        for none in ["ls", "```sh\nls\n```", "```bash\nls\n```\n```bash\npwd\n```", "```bash\nls", "```bash", "```"] {
            assert_eq!(action(none), None, "{none}");
        }
        assert_eq!(action("```bash\n```"), found("", "", ""));
        assert_eq!(action(&format!("{}\n", "`".repeat(3_000_000))), None, "in linear time");
    }
}
