//! Finds what the page of [`spilled`](mod@crate::findings::rules::spilled) describes.

use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;

use super::markers::holes;
use super::place::Place;
use super::tree::{Entry, EntryKind, Index, PathMatch as Leads};
use crate::findings::rules::spilled;
use crate::findings::{Finding, Level};
use crate::transcript::conversation::{Block, Kind};

/// What a marker says of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Marker {
    pub path: String,
    /// As it is written: `66.8KB`.
    pub size: Option<String>,
    pub preview: String,
}

/// A marker, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedOutput {
    pub marker: Marker,
    pub place: Place,
}

/// What became of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// There, as long as the marker says, and beginning as the preview does.
    Whole,
    /// Shorter than the marker says.
    Incomplete,
    /// Something else is in it.
    Differs,
    Missing,
    /// A link or a pipe stands in its place.
    NoFile,
    /// The path leads out of the tree.
    Outside,
    /// It is there, but could not be read.
    Unreadable,
}

/// The marker that a block is.
pub fn marker(block: &Block) -> Option<Marker> {
    static LEARN: LazyLock<Regex> = LazyLock::new(|| holes("<persisted-output>\nFull output: {}\nPreview:\n"));
    static CLAUDE: LazyLock<Regex> =
        LazyLock::new(|| holes("<persisted-output>\nOutput too large ({}). Full output saved to: {}\n"));
    static EARLIER: LazyLock<Regex> = LazyLock::new(|| holes("[Earlier tool result saved at {}]"));
    if !matches!(block.kind, Kind::ToolResult(_)) {
        return None;
    }
    let text = block.text();
    let within = |from: usize| {
        let rest = &text[from..];
        rest.rfind("\n</persisted-output>").map_or(rest, |end| &rest[..end])
    };
    if let Some(caught) = LEARN.captures(&text) {
        let preview = within(caught.get_match().end()).to_owned();
        return Some(Marker { path: caught[1].to_owned(), size: None, preview });
    }
    if let Some(caught) = CLAUDE.captures(&text) {
        let rest = within(caught.get_match().end()).trim_start_matches('\n');
        // What follows the heading; what was cut off stands as three dots.
        let preview = rest.strip_prefix("Preview (first ").and_then(|rest| rest.split_once("):\n")).map_or("", |(_, text)| text);
        let preview = preview.strip_suffix("\n...").unwrap_or(preview).to_owned();
        return Some(Marker { path: caught[2].to_owned(), size: Some(caught[1].to_owned()), preview });
    }
    let path = EARLIER.captures(&text)?[1].to_owned();
    Some(Marker { path, size: None, preview: String::new() })
}

/// A file that was looked into.
pub struct Checked<'a> {
    pub state: State,
    pub entry: Option<&'a Entry>,
    pub bytes: Option<Vec<u8>>,
    /// What else is to be said, as the end of a sentence.
    pub why: String,
}

/// Looks for the file of a marker in the transcript `near`.
pub fn check<'a>(marker: &Marker, near: &str, index: &Index<'a>) -> Checked<'a> {
    let nothing = |state, why: &str| Checked { state, entry: None, bytes: None, why: why.to_owned() };
    let (entry, components) = match index.find(&marker.path, near) {
        Leads::At { entry, components } => (entry, components),
        Leads::Nowhere => return nothing(State::Missing, "is not in the tree"),
        Leads::Outside => return nothing(State::Outside, "is not in the tree, and nothing outside of it is opened"),
    };
    match entry.kind {
        EntryKind::File => {}
        EntryKind::Link => return nothing(State::NoFile, "is a symbolic link there, and was not followed"),
        EntryKind::Special => return nothing(State::NoFile, "is a pipe, a socket or a device there, and was not opened"),
    }
    let bytes = match index.tree.read(&entry.name) {
        Ok(bytes) => bytes,
        Err(why) => return Checked { state: State::Unreadable, entry: Some(entry), bytes: None, why },
    };
    let (state, why) = compare(marker, &bytes);
    if components == 1 && state == State::Differs && marker.path.contains(['/', '\\']) {
        // Only the name is the same: it may well be another's file.
        return nothing(State::Missing, "is not in the tree (a file of that name in another folder begins otherwise)");
    }
    Checked { state, entry: Some(entry), bytes: Some(bytes), why }
}

/// learn-claude-code's previews have so many characters, and what is shorter is not moved: a file has more.
const PREVIEW_CHARS: usize = 2_000;

fn compare(marker: &Marker, bytes: &[u8]) -> (State, String) {
    let preview = marker.preview.as_bytes();
    if !bytes.starts_with(preview) {
        let why = match preview.starts_with(bytes) {
            true => return (State::Incomplete, format!("has {} bytes and ends within its preview", bytes.len())),
            false => "does not begin as its preview does",
        };
        return (State::Differs, why.to_owned());
    }
    match &marker.size {
        Some(size) if size_of(bytes.len() as u64, size) => (State::Whole, String::new()),
        // A program in JavaScript counts a text in units of UTF-16.
        Some(size) if size_of(units(bytes), size) => (State::Whole, String::new()),
        Some(size) if named(size).is_some_and(|named| (bytes.len() as f64) < named) => {
            (State::Incomplete, format!("has {} bytes, and was written with {size}", bytes.len()))
        }
        Some(size) => (State::Differs, format!("has {} bytes, and was written with {size}", bytes.len())),
        None if bytes.len() == preview.len() && marker.preview.chars().count() >= PREVIEW_CHARS => {
            (State::Incomplete, format!("has {} bytes, and holds no more than its preview", bytes.len()))
        }
        None => (State::Whole, String::new()),
    }
}

/// Whether so many bytes are written so. Claude Code writes one digit after the point, and leaves out a zero.
fn size_of(bytes: u64, written: &str) -> bool {
    // A unit of the last digit, for there are two ways to round.
    let (Some(named), Some(step)) = (named(written), step(written)) else { return true };
    (bytes as f64 - named).abs() <= step * 0.1
}

fn units(bytes: &[u8]) -> u64 {
    String::from_utf8_lossy(bytes).encode_utf16().count() as u64
}

fn step(written: &str) -> Option<f64> {
    let unit = written.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').trim();
    match unit {
        "KB" => Some(1024.0),
        "MB" => Some(1024.0 * 1024.0),
        "GB" => Some(1024.0 * 1024.0 * 1024.0),
        "bytes" | "B" => Some(1.0),
        _ => None,
    }
}

fn named(written: &str) -> Option<f64> {
    let number = written.trim_end_matches(|c: char| !c.is_ascii_digit());
    Some(number.parse::<f64>().ok()? * step(written)?)
}

/// What is wrong with a file, by its state; `times` is how often the marker stands in the transcript.
pub fn finding(transcript: &str, spill: &PersistedOutput, checked: &Checked, times: usize) -> Option<Finding> {
    let level = match checked.state {
        State::Whole | State::Unreadable => return None,
        State::Incomplete => Level::Warning,
        State::Differs | State::Missing | State::NoFile | State::Outside => Level::Error,
    };
    let mut data = serde_json::Map::new();
    data.insert("path".to_owned(), spill.marker.path.as_str().into());
    data.insert("state".to_owned(), serde_json::to_value(checked.state).unwrap_or_default());
    data.insert("size".to_owned(), spill.marker.size.clone().into());
    data.insert("bytes".to_owned(), checked.bytes.as_ref().map(Vec::len).into());
    data.insert("times".to_owned(), times.into());
    Some(Finding {
        id: spilled::ID.to_owned(),
        level,
        path: transcript.to_owned(),
        line: Some(spill.place.line),
        call: spill.place.call,
        message: format!("the output that was moved to {} {}", spill.marker.path, checked.why),
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
    fn a_marker_is_held_against_its_file() {
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
            let marker = Marker { path: path.to_owned(), size: size.map(str::to_owned), preview: preview.to_owned() };
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
