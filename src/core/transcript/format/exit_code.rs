//! Tells from the text of a result whether its command failed, for formats that have no field for it.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// How many lines at the beginning may hold what a harness says about a command. After them its output begins.
const HEADER_LINES: usize = 6;

/// Beginnings of results that a harness writes if a tool failed.
const FAILURES: [&str; 4] = ["Error:", "Script failed", "apply_patch verification failed", "Traceback (most recent call last)"];

/// A line with the exit code of a command, as harnesses write it: `Process exited with code 1`, `Exit code: 1`,
/// `[The command completed with exit code 1.]`, `<returncode>1</returncode>`.
static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
    let by = r"(?:(?:(?:the )?(?:process|command) )?(?:exited|completed|finished|failed) with (?:exit )?(?:code|status))";
    let code = r"(?:exit (?:code|status)|exit_code|return ?code)";
    Regex::new(&format!(r"(?i)^[\[(<]?(?:error: )?(?:{by}|{code})[:=>]? ?(-?\d+)\b")).expect("a valid pattern")
});

/// Returns whether a result says that its command failed. An exit code counts more than any other word.
pub fn says_failed(content: &Value) -> bool {
    match content {
        Value::String(text) => text_says_failed(text),
        Value::Array(parts) => parts.iter().find_map(|part| part.get("text")?.as_str()).is_some_and(text_says_failed),
        _ => false,
    }
}

fn text_says_failed(text: &str) -> bool {
    let text = text.trim();
    let header = text.lines().take(HEADER_LINES).take_while(|line| line.trim_end() != "Output:");
    let footer = text.lines().next_back().filter(|line| line.starts_with(['[', '(', '<']));
    let code = header.chain(footer).find_map(exit_code).or_else(|| recorded_exit_code(text));
    code.map_or_else(|| FAILURES.iter().any(|start| text.starts_with(start)), |code| code != "0")
}

fn exit_code(line: &str) -> Option<String> {
    Some(EXIT_CODE.captures(line.trim_start())?[1].to_owned())
}

/// Returns the code in `{"output": …, "metadata": {"exit_code": 1}}`, as Codex wrote results until about 0.50.
fn recorded_exit_code(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text.strip_prefix('{').map(|_| text)?).ok()?;
    let code = value.pointer("/metadata/exit_code").or_else(|| value.get("exit_code"))?;
    Some(code.as_i64()?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn failed(text: &str) -> bool {
        says_failed(&json!(text))
    }

    #[test]
    fn exit_codes_of_harnesses_are_errors() {
        for text in [
            "Chunk ID: 1\nWall time: 0.2 seconds\nProcess exited with code 101\nOutput:\nok",
            "Exit code: 2\nWall time: 0.1 seconds\nOutput:\n",
            "Error: exit code 2 no such file",
            "<returncode>1</returncode>\n<output>\n</output>",
            "text\n[The command completed with exit code 1.]",
            r#"{"output":"no","metadata":{"exit_code":1,"duration_seconds":0.1}}"#,
            "Process exited with code -1",
            "Error: no such user",
            "Script failed\nWall time 0.1 seconds",
        ] {
            assert!(failed(text), "{text}");
        }
    }

    #[test]
    fn output_that_speaks_of_exit_codes_is_none() {
        for text in [
            "Process exited with code 0\nOutput:\nProcess exited with code 1",
            "Exit code: 0\nOutput:\nError: exit code 2",
            "the docs: exit code 1 means a failure",
            "a\nb\nc\nd\ne\nf\ng\nProcess exited with code 1",
            "Errors: none",
            "{\"exit_code\":0}",
            "",
        ] {
            assert!(!failed(text), "{text}");
        }
    }

    #[test]
    fn the_first_text_of_a_list_tells() {
        assert!(says_failed(&json!([{"type": "image"}, {"type": "text", "text": "Exit code: 1"}])));
        assert!(!says_failed(&json!([])) && !says_failed(&json!(null)));
    }
}
