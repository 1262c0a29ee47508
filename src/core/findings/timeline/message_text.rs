//! Names texts and tool calls in finding messages.

use crate::findings::timeline::ReplayView;
use crate::transcript::conversation::{BlockId, BlockKind};
use crate::transcript::tool_access;
use crate::util::text;

/// Maximum characters of a transcript's text that a message repeats.
const SHOWN: usize = 60;

/// Returns the beginning of a text, on one line, in quotes.
pub fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = text::head(&line, SHOWN);
    format!("\"{shown}{}\"", if shown.len() < line.len() { "…" } else { "" })
}

/// Describes the tool call of a result by its tool and main argument: `Read src/pool.rs`. Long paths are cut at the beginning, other
/// texts at the end.
pub fn tool_call(replay: &ReplayView, result: BlockId) -> String {
    let BlockKind::ToolResult(pair) = replay.block(result).kind else { return String::new() };
    let (input, pair) = (replay.conversation.input_of(pair), replay.conversation.pair(pair));
    let Some(input) = input else { return pair.name.clone() };
    if let Some(path) = tool_access::named_path(input) {
        let shown = text::tail(path, SHOWN);
        return format!("{} {}{shown}", pair.name, if shown.len() < path.len() { "…" } else { "" });
    }
    let first_text = || input.as_object().into_iter().flatten().find_map(|(_, value)| value.as_str());
    let argument = first_text().or(input.as_str()).unwrap_or_default().trim();
    let shown = text::head(argument.lines().next().unwrap_or_default(), SHOWN);
    format!("{} {shown}{}", pair.name, if shown.len() < argument.len() { "…" } else { "" }).trim_end().to_owned()
}
