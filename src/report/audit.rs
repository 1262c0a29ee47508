//! Renders audits, by report name.

use std::collections::BTreeMap;

use serde::Serialize;

use super::table_model::{ColumnHeader, TableModel, common_folder, findings, left_out};
use super::{Style, ci, csv, json, markdown, number_format, table};
use crate::analysis::audit::archive_chain::Chain;
use crate::analysis::audit::persisted_outputs::State;
use crate::analysis::audit::{Audit, Compacted, Transcript};
use crate::findings::{FINDINGS, Level};
use crate::metrics::column::Unit;
use crate::util::text::plural;

/// Maximum rows of a table; the rest is only counted.
const SHOWN: usize = 20;

/// The reports that can show audits.
pub fn shown_as() -> Vec<&'static str> {
    ["table", "json", "csv", "markdown"].into_iter().chain(ci::SHOWN_AS).collect()
}

/// Renders an audit in the report with this name.
pub fn render(report: &str, audit: &Audit, style: &Style) -> Vec<u8> {
    match report {
        "json" => json::write(audit),
        "csv" => csv_lines(audit),
        "markdown" => markdown::draw_all(&sheets(audit, usize::MAX)),
        report if ci::SHOWN_AS.contains(&report) => ci::render(report, &audit.cases()),
        _ => table::draw_all(&sheets(audit, SHOWN), style),
    }
}

fn sheets(audit: &Audit, shown: usize) -> Vec<TableModel> {
    let sheets = [
        overview(audit, shown),
        markers(audit, shown),
        chains(audit, shown),
        compactions(audit, shown),
        counts(audit),
        findings::list(&audit.findings),
        totals(audit),
        orphans(audit, shown),
        notes(audit, shown),
    ];
    sheets.into_iter().filter(|sheet| !sheet.rows.is_empty()).collect()
}

fn number(count: usize) -> String {
    number_format::count(count as u64)
}

fn bytes(bytes: u64) -> String {
    number_format::value(Unit::Bytes, Some(bytes as f64))
}

fn tokens(tokens: Option<u64>) -> String {
    number_format::value(Unit::Tokens, tokens.map(|tokens| tokens as f64))
}

fn folder(audit: &Audit) -> &str {
    common_folder(audit.transcripts.iter().map(|transcript| transcript.path.as_str()))
}

fn sheet(title: String, heads: Vec<ColumnHeader>, (rows, below): (Vec<Vec<String>>, Vec<String>)) -> TableModel {
    TableModel { title, measure: String::new(), heads, rows, below }
}

/// Returns the rows to show, and a footnote that counts the others.
fn cut(mut rows: Vec<Vec<String>>, shown: usize, what: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let left = rows.len().saturating_sub(shown);
    rows.truncate(shown);
    (rows, if left > 0 { vec![format!("{} in -o json", plural(left, &format!("more {what}")))] } else { Vec::new() })
}

/// One row per transcript, worst first: those with most errors, then warnings, then notes; equal ones keep their order.
fn overview(audit: &Audit, shown: usize) -> TableModel {
    let folder = folder(audit);
    let mut levels: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for finding in &audit.findings {
        levels.entry(&finding.path).or_default()[finding.level as usize] += 1;
    }
    let levels_of = |transcript: &Transcript| levels.get(transcript.path.as_str()).copied().unwrap_or_default();
    let mut worst: Vec<&Transcript> = audit.transcripts.iter().collect();
    worst.sort_by_key(|transcript| std::cmp::Reverse(levels_of(transcript)));
    let row = |transcript: &&Transcript| {
        let Transcript { path, format, calls, compactions, persisted, bytes: size, .. } = transcript;
        let names = [path[folder.len()..].to_owned(), (*format).to_owned()];
        let whole = persisted.get(&State::Whole).copied().unwrap_or(0);
        let all: usize = persisted.values().sum();
        let persisted = if all == 0 { String::new() } else { format!("{} of {}", number(whole), number(all)) };
        let counts = [*calls, compactions.len()].map(number);
        let levels = levels_of(transcript).map(|count| if count == 0 { String::new() } else { number(count) });
        names.into_iter().chain(counts).chain([persisted, bytes(*size)]).chain(levels).collect()
    };
    let (rows, mut below) = cut(worst.iter().map(row).collect(), shown, "transcript");
    below.extend(left_out(folder));
    let mut heads = vec![ColumnHeader::names("transcript"), ColumnHeader::names("format")];
    let numbers = ["calls", "compactions", "offloaded files found", "bytes", "errors", "warnings", "notes"];
    heads.extend(numbers.map(ColumnHeader::numbers));
    sheet(format!("Audited: {}", plural(audit.transcripts.len(), "transcript")), heads, (rows, below))
}

/// Which systems compacted: systems and their markers, over all transcripts.
fn markers(audit: &Audit, shown: usize) -> TableModel {
    let folder = folder(audit);
    // Number of markers, number of transcripts, and the first location.
    let mut markers: BTreeMap<(&str, &str), (usize, usize, String)> = BTreeMap::new();
    for transcript in &audit.transcripts {
        for marker in &transcript.systems {
            let first = || (0, 0, format!("{}:{}", &transcript.path[folder.len()..], marker.line));
            let (times, files, _) = markers.entry((marker.system, marker.marker)).or_insert_with(first);
            (*times, *files) = (*times + marker.times, *files + 1);
        }
    }
    let row = |((system, marker), (times, files, first)): ((&str, &str), (usize, usize, String))| {
        vec![system.to_owned(), first, number(times), number(files), marker.replace('\n', " ")]
    };
    let (rows, below) = cut(markers.into_iter().map(row).collect(), shown, "marker");
    let heads = vec![
        ColumnHeader::names("system"),
        ColumnHeader::names("first at"),
        ColumnHeader::numbers("times"),
        ColumnHeader::numbers("transcripts"),
        ColumnHeader::prose("marker"),
    ];
    sheet("Compaction markers".to_owned(), heads, (rows, below))
}

/// One row per file, grouped by session.
fn chains(audit: &Audit, shown: usize) -> TableModel {
    let folder = folder(audit);
    let rows_of = |(index, chain): (usize, &Chain)| {
        let row = |part: &crate::analysis::audit::archive_chain::Part| {
            let numbers = [number(part.messages), number(part.shared), bytes(part.bytes), bytes(part.copied)];
            [(index + 1).to_string(), part.path[folder.len()..].to_owned()].into_iter().chain(numbers).collect()
        };
        chain.files.iter().map(row).collect::<Vec<Vec<String>>>()
    };
    let (rows, mut below) = cut(audit.chains.iter().enumerate().flat_map(rows_of).collect(), shown, "file");
    below.push("shared, copied: messages that an earlier file of the session also holds, and their bytes".to_owned());
    let mut heads = vec![ColumnHeader::names("session"), ColumnHeader::names("archive, earliest first")];
    heads.extend(["messages", "shared", "bytes", "copied"].map(ColumnHeader::numbers));
    sheet(format!("Archives of the same session: {}", plural(audit.chains.len(), "session")), heads, (rows, below))
}

/// What each compaction removed, and what became of it.
fn compactions(audit: &Audit, shown: usize) -> TableModel {
    let folder = folder(audit);
    let rows_of = |transcript: &Transcript| {
        let row = |Compacted { recorded, lost, .. }: &Compacted| {
            let place = format!("{}:{}", &transcript.path[folder.len()..], recorded.line);
            let sizes = [recorded.tokens_before, recorded.tokens_after].map(tokens);
            let lost = lost.as_ref().map(|lost| {
                let in_summary = if lost.encrypted { "encrypted".to_owned() } else { number(lost.in_summary) };
                let counts = [lost.fetched_again, lost.nowhere].map(number);
                let [fetched, nowhere] = counts;
                vec![number(lost.needed), in_summary, fetched, tokens(Some(lost.refetched_tokens)), nowhere]
            });
            let lost = lost.unwrap_or_else(|| vec![number_format::MISSING.to_owned(); 5]);
            [place, recorded.kind.to_owned()].into_iter().chain(sizes).chain(lost).collect::<Vec<String>>()
        };
        transcript.compactions.iter().map(row).collect::<Vec<_>>()
    };
    let (rows, mut below) = cut(audit.transcripts.iter().flat_map(rows_of).collect(), shown, "compaction");
    below.push(
        "needed: facts from before the compaction that were used after it; those in no column came from the agent's or the user's words"
            .to_owned(),
    );
    let mut heads = vec![ColumnHeader::names("location"), ColumnHeader::names("kind")];
    let numbers = ["tokens before", "tokens after", "needed", "in the summary", "fetched again", "~tokens refetched", "nowhere"];
    heads.extend(numbers.map(ColumnHeader::numbers));
    sheet("Recorded compactions".to_owned(), heads, (rows, below))
}

/// Kinds of findings × levels.
fn counts(audit: &Audit) -> TableModel {
    let row = |kind: &crate::findings::FindingKind| {
        let count =
            |level: Level| audit.findings.iter().filter(|finding| finding.id == kind.id && finding.level == level).count();
        let counts = Level::ALL.map(count);
        (counts.iter().sum::<usize>() > 0).then(|| {
            [kind.id.to_owned()].into_iter().chain(counts.map(|n| if n == 0 { String::new() } else { number(n) })).collect()
        })
    };
    let rows: Vec<Vec<String>> = FINDINGS.iter().filter_map(row).collect();
    let below = vec!["recompact catalog findings NAME explains each".to_owned()];
    let heads =
        [ColumnHeader::names("finding")].into_iter().chain(["errors", "warnings", "notes"].map(ColumnHeader::numbers)).collect();
    sheet(format!("Findings: {}", number(audit.findings.len())), heads, (rows, below))
}

fn totals(audit: &Audit) -> TableModel {
    let totals = &audit.totals;
    let row = |what: &str, files: Option<usize>, size: u64| {
        vec![what.to_owned(), files.map_or(number_format::MISSING.to_owned(), number), bytes(size)]
    };
    let rows = vec![
        row("transcripts", Some(totals.transcripts), totals.bytes),
        row("archives among them", Some(totals.archives), totals.archive_bytes),
        row("copies of messages in other archives", None, totals.copied_bytes),
        row("offloaded files that markers name", Some(totals.persisted), totals.persisted_bytes),
        row("offloaded files that no marker names", Some(totals.orphans.len()), totals.orphan_bytes),
    ];
    let heads = vec![ColumnHeader::names("what"), ColumnHeader::numbers("files"), ColumnHeader::numbers("bytes")];
    sheet("Totals".to_owned(), heads, (rows, Vec::new()))
}

fn orphans(audit: &Audit, shown: usize) -> TableModel {
    let rows = audit.totals.orphans.iter().map(|orphan| vec![orphan.path.clone(), bytes(orphan.bytes)]).collect();
    let heads = vec![ColumnHeader::names("file"), ColumnHeader::numbers("bytes")];
    sheet("Offloaded files that no marker names".to_owned(), heads, cut(rows, shown, "file"))
}

fn notes(audit: &Audit, shown: usize) -> TableModel {
    let place = |path: &str, line: Option<u32>| line.map_or(path.to_owned(), |line| format!("{path}:{line}"));
    let rows: Vec<_> = audit.notes.iter().map(|note| vec![place(&note.path, note.line), note.what.clone()]).collect();
    let heads = vec![ColumnHeader::names("location"), ColumnHeader::prose("note")];
    sheet(format!("Notes: {}", rows.len()), heads, cut(rows, shown, "note"))
}

/// Renders one CSV line per finding.
fn csv_lines(audit: &Audit) -> Vec<u8> {
    #[derive(Serialize)]
    struct Line<'a> {
        id: &'a str,
        level: &'a str,
        path: String,
        line: Option<u32>,
        call: Option<usize>,
        message: String,
        data: String,
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for finding in &audit.findings {
        let line = Line {
            id: &finding.id,
            level: finding.level.name(),
            path: csv::text(&finding.path),
            line: finding.line,
            call: finding.call,
            message: csv::text(&finding.message),
            data: csv::text(&serde_json::Value::Object(finding.data.clone()).to_string()),
        };
        writer.serialize(line).expect(csv::IN_MEMORY);
    }
    writer.into_inner().expect(csv::IN_MEMORY)
}
