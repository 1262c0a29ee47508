//! The content of reports for people, before it is drawn: tables of cells. The table, markdown and html reports draw
//! the same tables.

pub mod calibration;
pub mod compare;
pub mod comparison;
pub mod cost;
pub mod cost_check;
pub mod findings;
pub mod growth;
mod interval_notes;
pub mod retention;
pub mod spending;
pub mod summarizers;
pub mod sweep;

use std::collections::HashSet;

use crate::results::saved::{Coverage, LayerRow, LeftOut, ResultNote, Results};
use crate::util::text::plural;

use super::number_format;

/// A titled table. The title and the footnotes are ours; all other texts are raw, and the code that draws them must
/// escape them.
pub struct TableModel {
    pub title: String,
    /// What all numbers are about, such as a column or a policy; follows the title. Empty if there is no single
    /// subject.
    pub subject: String,
    pub headers: Vec<ColumnHeader>,
    pub rows: Vec<Vec<String>>,
    /// Lines below the table: legends, and what is left out.
    pub footnotes: Vec<String>,
}

/// How a row is meant; drawn as a colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    /// The answer.
    Chosen,
    /// Not to be used.
    Unfit,
    /// For comparison only.
    Reference,
}

#[derive(Clone)]
pub struct ColumnHeader {
    pub text: String,
    pub kind: CellKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// What a row is about. These are the first columns; a table that is split into several repeats them.
    Names,
    Numbers,
    /// One or two words; never wider than a number.
    Words,
    /// Text of any length; wrapped if the width is limited.
    Prose,
    /// Unchanged lines, one per row. The table has no other column.
    Verbatim,
}

/// Maximum rows of conversations and notes; the rest is only counted.
const SHOWN: usize = 10;
/// Maximum characters shown of a fact, counted before escaping.
const LONGEST: usize = 60;
/// Maximum characters of the name of a file on a screen.
pub const LONGEST_NAME: usize = 36;

/// What each layer did.
pub fn layers(results: &Results) -> TableModel {
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("layer")];
    headers.extend(["fired", "skipped", "failed", "edits", "tokens freed"].map(ColumnHeader::numbers));
    if results.layers.iter().any(|layer| layer.note.is_some()) {
        headers.push(ColumnHeader::prose("note"));
    }
    let rows = results.layers.iter().map(|layer| {
        let LayerRow { policy, layer, fired, skipped, failed, edits, tokens_freed, note } = layer;
        let mut cells = vec![policy.clone(), layer.clone()];
        cells.extend([fired, skipped, failed, edits].map(|count| number_format::grouped(*count as f64, 0)));
        cells.push(number_format::grouped(*tokens_freed as f64, 0));
        cells.extend(note.clone());
        cells
    });
    let rows: Vec<_> = rows.collect();
    TableModel { title: "Layers".to_owned(), subject: String::new(), headers, rows, footnotes: vec![] }
}

/// Bugs of the original systems that the replay reproduces.
pub fn quirks(results: &Results) -> TableModel {
    let rows = results.policies.iter().flat_map(|p| p.known_bugs.iter().map(|quirk| vec![p.name.clone(), quirk.clone()]));
    let headers = vec![ColumnHeader::names("policy"), ColumnHeader::prose("bug")];
    TableModel {
        title: "Known bugs of the original, reproduced".to_owned(),
        subject: String::new(),
        headers,
        rows: rows.collect(),
        footnotes: vec![],
    }
}

pub fn notes(results: &Results) -> TableModel {
    let location = |note: &ResultNote| match note.line {
        Some(line) => format!("{}:{line}", note.path),
        None => note.path.clone(),
    };
    let rows: Vec<_> = results.notes.iter().take(SHOWN).map(|note| vec![location(note), note.what.clone()]).collect();
    let left = results.notes.len() - rows.len();
    let footnotes = (left > 0).then(|| format!("{} in -o json", plural(left, "more note")));
    let files: HashSet<&str> = results.notes.iter().map(|note| note.path.as_str()).collect();
    let title = format!("Notes: {} on {}", results.notes.len(), plural(files.len(), "file"));
    let headers = vec![ColumnHeader::names("location"), ColumnHeader::prose("note")];
    TableModel { title, subject: String::new(), headers, rows, footnotes: footnotes.into_iter().collect() }
}

/// The transcripts that are not in the results.
pub fn left_out_transcripts(coverage: &Coverage) -> TableModel {
    let row = |left_out: &LeftOut| vec![left_out.path.clone(), left_out.why.clone()];
    let rows: Vec<_> = coverage.left_out.iter().take(SHOWN).map(row).collect();
    let more = coverage.left_out.len() - rows.len();
    let more = (more > 0).then(|| format!("{} left out, listed in -o json", plural(more, "more file")));
    let transcripts = coverage.transcripts().count();
    let others = match coverage.left_out.len() - transcripts {
        0 => String::new(),
        others => format!(", and {} of something else", plural(others, "file")),
    };
    TableModel {
        title: format!("Left out: {}{others}", plural(transcripts, "transcript")),
        subject: String::new(),
        headers: vec![ColumnHeader::names("file"), ColumnHeader::prose("why")],
        rows,
        footnotes: more.into_iter().chain([format!("{} in these results", coverage.line_are())]).collect(),
    }
}

/// Returns the folder that all paths have in common, with its final slash. Tables leave it out of paths.
pub fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> &'a str {
    let Some(first) = paths.next() else { return "" };
    let folder = |end: usize| first[..end].rfind('/').map_or("", |slash| &first[..=slash]);
    paths.fold(folder(first.len()), |common, path| {
        let same = common.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
        if same == common.len() { common } else { folder(first.floor_char_boundary(same)) }
    })
}

/// Returns a footnote that names the folder left out of the paths of a table.
pub fn left_out(folder: &str) -> Vec<String> {
    if folder.is_empty() { Vec::new() } else { vec![format!("all in {}", super::escape::terminal(folder))] }
}

/// Cuts a text to the characters that a cell shows.
pub fn cut(text: &str) -> String {
    cut_to(text, LONGEST)
}

/// Cuts a text to this many characters.
pub fn cut_to(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => text.chars().take(longest - 1).chain(['…']).collect(),
    }
}

/// Cuts the middle of a path, so that its folder and the end of its name stay.
pub fn cut_path(path: &str, longest: usize) -> String {
    let (length, half) = (path.chars().count(), longest / 2);
    if length <= longest {
        return path.to_owned();
    }
    let ends = path.chars().take(half).chain(['…']).chain(path.chars().skip(length - (longest - half - 1)));
    ends.collect()
}

impl TableModel {
    /// A table of unchanged lines.
    pub fn verbatim(title: String, subject: String, lines: impl IntoIterator<Item = String>, footnotes: Vec<String>) -> Self {
        let headers = vec![ColumnHeader { text: String::new(), kind: CellKind::Verbatim }];
        Self { title, subject, headers, rows: lines.into_iter().map(|line| vec![line]).collect(), footnotes }
    }

    /// Returns whether its rows are lines of text that must stay as they are.
    pub fn is_verbatim(&self) -> bool {
        self.headers.iter().any(|header| header.kind == CellKind::Verbatim)
    }
}

impl ColumnHeader {
    pub fn names(text: &str) -> Self {
        Self { text: text.to_owned(), kind: CellKind::Names }
    }

    pub fn numbers(text: &str) -> Self {
        Self { text: text.to_owned(), kind: CellKind::Numbers }
    }

    pub fn words(text: &str) -> Self {
        Self { text: text.to_owned(), kind: CellKind::Words }
    }

    pub fn prose(text: &str) -> Self {
        Self { text: text.to_owned(), kind: CellKind::Prose }
    }
}
