//! How messages name what they are about.

use super::Replay;
use crate::access;
use crate::conversation::{BlockId, Kind};
use crate::text;

/// Most characters of a transcript's text that a message repeats.
const SHOWN: usize = 60;

/// Who did it: the layer; in the record its harness.
pub fn who<'a>(replay: &Replay<'a>, layer: usize) -> &'a str {
    if replay.is_record() { "the harness" } else { replay.layer(layer) }
}

/// The beginning of a text, on one line, in quotes.
pub fn quoted(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = text::head(&line, SHOWN);
    format!("\"{shown}{}\"", if shown.len() < line.len() { "…" } else { "" })
}

/// A tool call by its tool, and what it asked for: `Read src/pool.rs`.
pub fn asked(replay: &Replay, result: BlockId) -> String {
    let Kind::ToolResult(pair) = replay.block(result).kind else { return String::new() };
    let pair = replay.conversation.pair(pair);
    let input = pair.used.and_then(|used| replay.conversation.block(used).field("input"));
    let Some(input) = input else { return pair.name.clone() };
    let first = || input.as_object().into_iter().flatten().find_map(|(_, value)| value.as_str());
    let what = access::named(input).or_else(first).or(input.as_str()).unwrap_or_default();
    let line = what.lines().next().unwrap_or_default();
    let shown = if line.len() < what.len() { format!("{}…", text::head(line, SHOWN)) } else { shortened(line) };
    format!("{} {shown}", pair.name).trim_end().to_owned()
}

fn shortened(line: &str) -> String {
    let shown = text::head(line, SHOWN);
    format!("{shown}{}", if shown.len() < line.len() { "…" } else { "" })
}
