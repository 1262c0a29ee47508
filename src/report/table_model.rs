//! What the reports for people show, before it is drawn: sheets of cells. The table and Markdown draw the same sheets.

mod calibration;
mod certainty;
pub mod compare;
mod comparison;
mod cost;
pub mod findings;
mod growth;
pub mod retention;
mod spending;
mod summarizers;
pub mod sweep;

use std::collections::HashSet;

use crate::results::saved::{LayerRow, ResultNote, Results};
use crate::util::text::plural;

use super::number_format;

/// A titled table. The title and the lines below are ours; all other texts are raw, and whoever draws them escapes them.
pub struct TableModel {
    pub title: String,
    /// The measure the numbers are of, where they are all of one; else empty.
    pub measure: String,
    pub heads: Vec<ColumnHeader>,
    pub rows: Vec<Vec<String>>,
    /// Lines below: legends, and what was left out.
    pub below: Vec<String>,
}

pub struct ColumnHeader {
    pub text: String,
    pub holds: CellKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// What a row is about. A sheet that is cut into several repeats these columns, its first ones.
    Names,
    Numbers,
    /// A word or two of someone's own: never wider than a number.
    Words,
    /// Text of any length, wrapped where the width is limited.
    Prose,
    /// Lines that stay as they are, one a row. No other column stands beside it.
    Verbatim,
}

/// Transcripts and notes shown before the rest is only counted.
const SHOWN: usize = 10;
/// Characters of a fact that are shown, before they are escaped.
const LONGEST: usize = 60;

/// Every sheet that has something to show.
pub fn sheets(results: &Results) -> Vec<TableModel> {
    let found = [
        sweep::recommended(results),
        sweep::front(results),
        sweep::plot(results),
        sweep::sensitivity(results),
        sweep::chosen(results),
    ];
    let sheets = [
        compare::summary(results),
        comparison::against(results),
        compare::conversations(results),
        growth::growth(results),
        cost::breaks(results),
        cost::costliest(results),
        cost::checks(results),
        retention::by_side(results),
        retention::by_generation(results),
        summarizers::summarizers(results),
        retention::misses(results),
        findings::counts(results),
        findings::worst(results),
        layers(results),
        spending::spending(results),
        calibration::calibrations(results),
        quirks(results),
        notes(results),
    ];
    let all = found.into_iter().flatten().chain(sheets).chain(sweep::toml(results));
    all.filter(|sheet| !sheet.rows.is_empty()).collect()
}

/// What every layer did.
fn layers(results: &Results) -> TableModel {
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("layer")];
    heads.extend(["fired", "skipped", "failed", "edits", "tokens.freed"].map(ColumnHeader::numbers));
    if results.layers.iter().any(|layer| layer.note.is_some()) {
        heads.push(ColumnHeader::prose("note"));
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
    TableModel { title: "Layers".to_owned(), measure: String::new(), heads, rows, below: vec![] }
}

/// Behaviour of the originals that was replayed as it is.
fn quirks(results: &Results) -> TableModel {
    let rows = results.policies.iter().flat_map(|p| p.quirks.iter().map(|quirk| vec![p.name.clone(), quirk.clone()]));
    let heads = vec![ColumnHeader::names("policy"), ColumnHeader::prose("quirk")];
    TableModel { title: "Quirks kept".to_owned(), measure: String::new(), heads, rows: rows.collect(), below: vec![] }
}

fn notes(results: &Results) -> TableModel {
    let place = |note: &ResultNote| match note.line {
        Some(line) => format!("{}:{line}", note.path),
        None => note.path.clone(),
    };
    let rows: Vec<_> = results.notes.iter().take(SHOWN).map(|note| vec![place(note), note.what.clone()]).collect();
    let left = results.notes.len() - rows.len();
    let below = (left > 0).then(|| format!("{} in -o json", plural(left, "more note")));
    let files: HashSet<&str> = results.notes.iter().map(|note| note.path.as_str()).collect();
    let title = format!("Notes: {} on {}", results.notes.len(), plural(files.len(), "file"));
    let heads = vec![ColumnHeader::names("place"), ColumnHeader::prose("note")];
    TableModel { title, measure: String::new(), heads, rows, below: below.into_iter().collect() }
}

/// The folder that all paths have in common, with its last slash: tables leave it out.
pub fn common_folder<'a>(mut paths: impl Iterator<Item = &'a str>) -> &'a str {
    let Some(first) = paths.next() else { return "" };
    let folder = |end: usize| first[..end].rfind('/').map_or("", |slash| &first[..=slash]);
    paths.fold(folder(first.len()), |common, path| {
        let same = common.bytes().zip(path.bytes()).take_while(|(a, b)| a == b).count();
        if same == common.len() { common } else { folder(first.floor_char_boundary(same)) }
    })
}

/// Says which folder the paths of a table are in.
pub fn left_out(folder: &str) -> Vec<String> {
    if folder.is_empty() { Vec::new() } else { vec![format!("all in {}", super::escape::terminal(folder))] }
}

/// The characters of a text that a cell has room for.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text.to_owned(),
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

impl TableModel {
    /// Lines as they are.
    pub fn verbatim(title: String, measure: String, lines: impl IntoIterator<Item = String>, below: Vec<String>) -> Self {
        let heads = vec![ColumnHeader { text: String::new(), holds: CellKind::Verbatim }];
        Self { title, measure, heads, rows: lines.into_iter().map(|line| vec![line]).collect(), below }
    }

    pub fn is_verbatim(&self) -> bool {
        self.heads.iter().any(|head| head.holds == CellKind::Verbatim)
    }
}

impl ColumnHeader {
    pub fn names(text: &str) -> Self {
        Self { text: text.to_owned(), holds: CellKind::Names }
    }

    pub fn numbers(text: &str) -> Self {
        Self { text: text.to_owned(), holds: CellKind::Numbers }
    }

    pub fn words(text: &str) -> Self {
        Self { text: text.to_owned(), holds: CellKind::Words }
    }

    pub fn prose(text: &str) -> Self {
        Self { text: text.to_owned(), holds: CellKind::Prose }
    }
}
