//! Checks the files of outputs that were moved to disk, as the page of [`spilled`](mod@crate::findings::rules::spilled)
//! describes.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::markers::pattern_of;
use super::place::Place;
use super::tree::{Entry, EntryKind, Index, PathMatch};
use crate::findings::rules::spilled;
use crate::findings::{Finding, Level};
use crate::transcript::conversation::{Block, BlockKind};

/// The content of a marker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PersistedOutputMarker {
    pub path: String,
    /// Size of the file as the marker writes it: `66.8KB`.
    pub size: Option<String>,
    pub preview: String,
}

/// A marker, and its place in the transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedOutput {
    pub marker: PersistedOutputMarker,
    pub place: Place,
}

/// State of the file that a marker names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It has the size that the marker says, and begins like the preview.
    Whole,
    /// Shorter than the marker says.
    Incomplete,
    /// It has other content.
    Differs,
    Missing,
    /// The path leads to a link or a pipe.
    NoFile,
    /// The path leads out of the tree.
    Outside,
    /// It exists, but could not be read.
    Unreadable,
}

/// Returns the marker of a block, if the block is one.
pub fn marker(block: &Block) -> Option<PersistedOutputMarker> {
    static LEARN: LazyLock<Regex> = LazyLock::new(|| pattern_of("<persisted-output>\nFull output: {}\nPreview:\n"));
    static CLAUDE: LazyLock<Regex> =
        LazyLock::new(|| pattern_of("<persisted-output>\nOutput too large ({}). Full output saved to: {}\n"));
    static EARLIER: LazyLock<Regex> = LazyLock::new(|| pattern_of("[Earlier tool result saved at {}]"));
    if !matches!(block.kind, BlockKind::ToolResult(_)) {
        return None;
    }
    let text = block.text();
    let body = |from: usize| {
        let rest = &text[from..];
        rest.rfind("\n</persisted-output>").map_or(rest, |end| &rest[..end])
    };
    if let Some(captures) = LEARN.captures(&text) {
        let preview = body(captures.get_match().end()).to_owned();
        return Some(PersistedOutputMarker { path: captures[1].to_owned(), size: None, preview });
    }
    if let Some(captures) = CLAUDE.captures(&text) {
        let rest = body(captures.get_match().end()).trim_start_matches('\n');
        // The preview follows a heading. Three dots at its end mark what was cut off.
        let preview = rest.strip_prefix("Preview (first ").and_then(|rest| rest.split_once("):\n")).map_or("", |(_, text)| text);
        let preview = preview.strip_suffix("\n...").unwrap_or(preview).to_owned();
        return Some(PersistedOutputMarker { path: captures[2].to_owned(), size: Some(captures[1].to_owned()), preview });
    }
    let path = EARLIER.captures(&text)?[1].to_owned();
    Some(PersistedOutputMarker { path, size: None, preview: String::new() })
}

/// Result of the check of one file.
pub struct CheckedFile<'a> {
    pub state: State,
    pub entry: Option<&'a Entry>,
    pub bytes: Option<Vec<u8>>,
    /// Description of what is wrong, as the end of a sentence that begins with the file.
    pub why: String,
}

/// Finds and compares the file of a marker in the transcript `near`.
pub fn check<'a>(marker: &PersistedOutputMarker, near: &str, index: &Index<'a>) -> CheckedFile<'a> {
    let without_file = |state, why: &str| CheckedFile { state, entry: None, bytes: None, why: why.to_owned() };
    let (entry, components) = match index.find(&marker.path, near) {
        PathMatch::At { entry, components } => (entry, components),
        PathMatch::Nowhere => return without_file(State::Missing, "is not in the tree"),
        PathMatch::Outside => {
            return without_file(State::Outside, "is not in the tree, and files outside the tree are not opened");
        }
    };
    match entry.kind {
        EntryKind::File => {}
        EntryKind::Link => return without_file(State::NoFile, "is a symbolic link, and was not followed"),
        EntryKind::Special => {
            return without_file(State::NoFile, "is a pipe, a socket or a device, and was not opened");
        }
    }
    let bytes = match index.tree.read(&entry.name) {
        Ok(bytes) => bytes,
        Err(why) => {
            return CheckedFile { state: State::Unreadable, entry: Some(entry), bytes: None, why: why.to_string() };
        }
    };
    let (state, why) = compare(marker, &bytes);
    if components == 1 && state == State::Differs && marker.path.contains(['/', '\\']) {
        // Only the name is the same, so the file probably belongs to another output.
        return without_file(State::Missing, "is not in the tree (a file of that name in another folder has other content)");
    }
    CheckedFile { state, entry: Some(entry), bytes: Some(bytes), why }
}

/// Length of learn-claude-code's previews in characters. It moves only longer results to disk, so a whole file is longer.
const PREVIEW_CHARS: usize = 2_000;

fn compare(marker: &PersistedOutputMarker, bytes: &[u8]) -> (State, String) {
    let preview = marker.preview.as_bytes();
    if !bytes.starts_with(preview) {
        return if preview.starts_with(bytes) {
            (State::Incomplete, format!("has {} bytes and ends within its preview", bytes.len()))
        } else {
            (State::Differs, "does not begin like its preview".to_owned())
        };
    }
    match &marker.size {
        Some(size) if matches_size(bytes.len() as u64, size) => (State::Whole, String::new()),
        // JavaScript counts a text in UTF-16 units.
        Some(size) if matches_size(utf16_units(bytes), size) => (State::Whole, String::new()),
        Some(size) if parse_size(size).is_some_and(|expected| (bytes.len() as f64) < expected) => {
            (State::Incomplete, format!("has {} bytes, but its marker says {size}", bytes.len()))
        }
        Some(size) => (State::Differs, format!("has {} bytes, but its marker says {size}", bytes.len())),
        None if bytes.len() == preview.len() && marker.preview.chars().count() >= PREVIEW_CHARS => {
            (State::Incomplete, format!("has {} bytes, no more than its preview", bytes.len()))
        }
        None => (State::Whole, String::new()),
    }
}

/// Whether a number of bytes matches a written size. Claude Code writes one digit after the point, and leaves out a zero. An unreadable
/// size matches everything.
fn matches_size(bytes: u64, written: &str) -> bool {
    // One unit of the last digit is tolerated, because there are two ways to round.
    let (Some(expected), Some(unit)) = (parse_size(written), parse_unit(written)) else { return true };
    (bytes as f64 - expected).abs() <= unit * 0.1
}

fn utf16_units(bytes: &[u8]) -> u64 {
    String::from_utf8_lossy(bytes).encode_utf16().count() as u64
}

/// Returns the bytes of the unit in a written size.
fn parse_unit(written: &str) -> Option<f64> {
    let unit = written.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    match unit {
        "KB" => Some(1024.0),
        "MB" => Some(1024.0 * 1024.0),
        "GB" => Some(1024.0 * 1024.0 * 1024.0),
        "bytes" | "B" => Some(1.0),
        _ => None,
    }
}

/// Returns a written size in bytes.
fn parse_size(written: &str) -> Option<f64> {
    let number = written.trim_end_matches(|c: char| !c.is_ascii_digit());
    Some(number.parse::<f64>().ok()? * parse_unit(written)?)
}

/// Reports a file by its state. `times` is the number of times that the transcript has the marker.
pub fn finding(transcript: &str, output: &PersistedOutput, checked: &CheckedFile, times: usize) -> Option<Finding> {
    let level = match checked.state {
        State::Whole | State::Unreadable => return None,
        State::Incomplete => Level::Warning,
        State::Differs | State::Missing | State::NoFile | State::Outside => Level::Error,
    };
    let mut data = serde_json::Map::new();
    data.insert("path".to_owned(), output.marker.path.as_str().into());
    data.insert("state".to_owned(), serde_json::to_value(checked.state).expect("a name"));
    data.insert("size".to_owned(), output.marker.size.clone().into());
    data.insert("bytes".to_owned(), checked.bytes.as_ref().map(Vec::len).into());
    data.insert("times".to_owned(), times.into());
    Some(Finding {
        id: spilled::ID.to_owned(),
        level,
        path: transcript.to_owned(),
        line: Some(output.place.line),
        call: output.place.call,
        message: format!("the output that was moved to {} {}", output.marker.path, checked.why),
        data,
        conversation: None,
        policy: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::tree;
    use super::*;

    #[test]
    fn persisted_marker_is_compared_with_its_file() {
        let long = "y".repeat(2_000);
        let long: &'static str = long.leak();
        let files = tree(&[
            ("out/a.txt", "one\ntwo\nthree"),
            ("out/b.txt", "on"),
            ("out/c.txt", "->"),
            ("out/d.txt", long),
            ("flat.txt", "else"),
        ]);
        let index = Index::new(&files);
        let state = |path: &str, size: Option<&str>, preview: &str| {
            let marker =
                PersistedOutputMarker { path: path.to_owned(), size: size.map(str::to_owned), preview: preview.to_owned() };
            check(&marker, "runs/t.jsonl", &index).state
        };
        for (path, size, preview, expected) in [
            ("out/a.txt", None, "one\n", State::Whole),
            ("out/a.txt", Some("13 bytes"), "one", State::Whole),
            ("out/a.txt", Some("20KB"), "one", State::Incomplete),
            ("out/a.txt", Some("3 bytes"), "one", State::Differs),
            ("out/a.txt", None, "two", State::Differs),
            ("out/b.txt", None, "one", State::Incomplete),
            ("out/c.txt", None, "", State::NoFile),
            ("out/d.txt", None, long, State::Incomplete),
            ("out/d.txt", Some("2KB"), "yy", State::Whole),
            ("out/e.txt", None, "", State::Missing),
            ("other/flat.txt", None, "text", State::Missing),
            ("/etc/passwd", None, "", State::Outside),
            ("../a.txt", None, "", State::Outside),
        ] {
            assert_eq!(state(path, size, preview), expected, "{path} {size:?} {preview}");
        }
    }
}
