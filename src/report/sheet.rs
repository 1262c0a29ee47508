//! What the reports for people show, before it is drawn: sheets of cells. The table and Markdown draw the same sheets.

use std::collections::{HashMap, HashSet};

use crate::results::{Column, LayerRow, ResultNote, Results, Row, Summary, Unit};
use crate::text::many;

use super::shown;

/// A titled table. The title and the lines below are ours; all other texts are raw, and whoever draws them escapes them.
pub struct Sheet {
    pub title: String,
    /// The measure the numbers are of, where they are all of one; else empty.
    pub measure: String,
    pub heads: Vec<Head>,
    pub rows: Vec<Vec<String>>,
    /// Lines below: legends, and what was left out.
    pub below: Vec<String>,
}

pub struct Head {
    pub text: String,
    pub holds: Holds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// What a row is about. A sheet that is cut into several repeats these columns, its first ones.
    Names,
    Numbers,
    /// Text of any length, wrapped where the width is limited.
    Prose,
}

/// Transcripts and notes shown before the rest is only counted.
const SHOWN: usize = 10;

/// The policy every comparison begins with: nothing is compacted.
const KEEP_ALL: &str = "keep-all";

/// Every sheet that has something to show.
pub fn sheets(results: &Results) -> Vec<Sheet> {
    [summary(results), conversations(results), layers(results), quirks(results), notes(results)]
        .into_iter()
        .filter(|sheet| !sheet.rows.is_empty())
        .collect()
}

/// Policies × measures over everything.
fn summary(results: &Results) -> Sheet {
    let transcripts = results.summary.iter().map(|summary| summary.transcripts).max().unwrap_or(0);
    let conversations = conversations_of(&results.rows).len().max(transcripts);
    let mut heads = vec![Head::names("policy")];
    heads.extend(results.columns.iter().map(|column| Head::numbers(&title(column))));
    let rows = keep_all_first(results).map(|summary| {
        let values = results.columns.iter().map(|column| with_interval(column, summary));
        std::iter::once(summary.policy.clone()).chain(values).collect()
    });
    let mut below = Vec::new();
    if results.columns.iter().any(|column| column.estimated) {
        below.push("~ estimated, not counted".to_owned());
    }
    if results.summary.iter().any(|s| results.columns.iter().any(|column| s.values.get(&column.id).is_none())) {
        below.push(format!("{} does not apply", shown::MISSING));
    }
    let title = format!("Summary: {}, {}", many(transcripts, "transcript"), many(conversations, "conversation"));
    Sheet { title, measure: String::new(), heads, rows: rows.collect(), below }
}

fn with_interval(column: &Column, summary: &Summary) -> String {
    let value = shown::value(column.unit, summary.values.get(&column.id));
    match summary.intervals.entry(&column.id) {
        Some(ends) => {
            let [low, high] = ends.map(|end| shown::value(column.unit, Some(end)));
            format!("{value} ({low} … {high})")
        }
        None => value,
    }
}

/// Conversations × policies in one measure: the first share there is, else the first size. The largest conversations by the
/// first column of tokens come first. Empty where there is but one conversation.
fn conversations(results: &Results) -> Sheet {
    let rows_of = conversations_of(&results.rows);
    let first = |unit: Unit| results.columns.iter().find(|column| column.unit == unit);
    let (Some(size), true) = (first(Unit::Tokens).or(results.columns.first()), rows_of.len() > 1) else {
        return Sheet { title: String::new(), measure: String::new(), heads: vec![], rows: vec![], below: vec![] };
    };
    let measure = first(Unit::Share).unwrap_or(size);

    let folder = common_folder(results.rows.iter().map(|row| row.transcript.as_str()));
    let mut sized: Vec<(f64, &Vec<&Row>)> = rows_of.iter().map(|rows| (largest(size, rows), rows)).collect();
    sized.sort_by(|a, b| b.0.total_cmp(&a.0));
    let policies: Vec<&str> = keep_all_first(results).map(|summary| summary.policy.as_str()).collect();
    let mut heads = vec![Head::names("transcript"), Head::names("conversation"), Head::numbers(&title(size))];
    heads.extend(policies.iter().map(|policy| Head::numbers(policy)));
    let rows = sized.iter().take(SHOWN).filter_map(|(tokens, rows)| {
        let of: &Row = rows.first()?;
        let values: HashMap<&str, Option<f64>> =
            rows.iter().map(|row| (row.policy.as_str(), row.values.get(&measure.id))).collect();
        let mut cells =
            vec![of.transcript[folder.len()..].to_owned(), of.conversation.clone(), shown::value(size.unit, Some(*tokens))];
        cells.extend(policies.iter().map(|policy| shown::value(measure.unit, values.get(policy).copied().flatten())));
        Some(cells)
    });
    let rows: Vec<_> = rows.collect();
    let left = sized.len() - rows.len();
    let mut below = left_out(folder);
    if left > 0 {
        below.push(format!("{} in -o json and -o csv", many(left, "more conversation")));
    }
    let which = if left > 0 { format!("The {SHOWN} largest conversations") } else { "Conversations".to_owned() };
    Sheet { title: format!("{which} by policy"), measure: title(measure), heads, rows, below }
}

/// What every layer did.
fn layers(results: &Results) -> Sheet {
    let mut heads = vec![Head::names("policy"), Head::names("layer")];
    heads.extend(["fired", "skipped", "failed", "edits", "tokens.freed"].map(Head::numbers));
    if results.layers.iter().any(|layer| layer.note.is_some()) {
        heads.push(Head::prose("note"));
    }
    let rows = results.layers.iter().map(|layer| {
        let LayerRow { policy, layer, fired, skipped, failed, edits, tokens_freed, note } = layer;
        let mut cells = vec![policy.clone(), layer.clone()];
        cells.extend([fired, skipped, failed, edits].map(|count| shown::grouped(*count as f64, 0)));
        cells.push(shown::grouped(*tokens_freed as f64, 0));
        cells.extend(note.clone());
        cells
    });
    let rows: Vec<_> = rows.collect();
    Sheet { title: "Layers".to_owned(), measure: String::new(), heads, rows, below: vec![] }
}

/// Behaviour of the originals that was replayed as it is.
fn quirks(results: &Results) -> Sheet {
    let rows = results.policies.iter().flat_map(|p| p.quirks.iter().map(|quirk| vec![p.name.clone(), quirk.clone()]));
    let heads = vec![Head::names("policy"), Head::prose("quirk")];
    Sheet { title: "Quirks kept".to_owned(), measure: String::new(), heads, rows: rows.collect(), below: vec![] }
}

fn notes(results: &Results) -> Sheet {
    let place = |note: &ResultNote| match note.line {
        Some(line) => format!("{}:{line}", note.path),
        None => note.path.clone(),
    };
    let rows: Vec<_> = results.notes.iter().take(SHOWN).map(|note| vec![place(note), note.what.clone()]).collect();
    let left = results.notes.len() - rows.len();
    let below = (left > 0).then(|| format!("{} in -o json", many(left, "more note")));
    let files: HashSet<&str> = results.notes.iter().map(|note| note.path.as_str()).collect();
    let title = format!("Notes: {} on {}", results.notes.len(), many(files.len(), "file"));
    let heads = vec![Head::names("place"), Head::prose("note")];
    Sheet { title, measure: String::new(), heads, rows, below: below.into_iter().collect() }
}

/// The rows of every conversation, in the order of the results.
fn conversations_of(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let place = *places.entry((&row.transcript, &row.conversation)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(row);
    }
    groups
}

fn largest(size: &Column, rows: &[&Row]) -> f64 {
    rows.iter().filter_map(|row| row.values.get(&size.id)).fold(0.0, f64::max)
}

fn keep_all_first(results: &Results) -> impl Iterator<Item = &Summary> {
    let (first, others): (Vec<_>, Vec<_>) = results.summary.iter().partition(|summary| summary.policy == KEEP_ALL);
    first.into_iter().chain(others)
}

fn title(column: &Column) -> String {
    format!("{}{}", if column.estimated { "~" } else { "" }, column.id)
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

impl Head {
    pub fn names(text: &str) -> Self {
        Self { text: text.to_owned(), holds: Holds::Names }
    }

    pub fn numbers(text: &str) -> Self {
        Self { text: text.to_owned(), holds: Holds::Numbers }
    }

    pub fn prose(text: &str) -> Self {
        Self { text: text.to_owned(), holds: Holds::Prose }
    }
}
