//! Audits as documents.

mod screen;

use std::collections::BTreeMap;

use serde::Serialize;

use super::table_model::{ColumnHeader, TableModel, common_folder, findings, left_out, left_out_transcripts};
use super::{Detail, Document, Layout, Length, Screen, Section, csv, json, number_format};
use crate::analysis::audit::archive_chain::Chain;
use crate::analysis::audit::persisted_outputs::State;
use crate::analysis::audit::{Audit, Compacted, Transcript};
use crate::findings::{Case, FINDINGS, Level};
use crate::metrics::column::Unit;
use crate::util::text::plural;

/// Maximum rows of a table; the rest is only counted.
const SHOWN: usize = 20;

impl Document for Audit {
    const CSV: Option<fn(&Self) -> Vec<u8>> = Some(csv_lines);
    const CASES: Option<fn(&Self) -> Vec<Case>> = Some(Audit::cases);

    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("transcripts", "transcripts, and what is wrong with each", |audit, detail| {
            vec![overview(audit, limit(detail))]
        }),
        Section::new("markers", "offloaded files that markers name", |audit, detail| vec![markers(audit, limit(detail))]),
        Section::new("archives", "archives of the same session", |audit, detail| vec![chains(audit, limit(detail))]),
        Section::new("compactions", "recorded compactions, and what became of what they removed", |audit, detail| {
            vec![compactions(audit, limit(detail))]
        }),
        Section::new("findings", "what is wrong, by kind and one by one", |audit, _| {
            vec![counts(audit), findings::list(&audit.findings)]
        }),
        Section::new("totals", "files and bytes", |audit, _| vec![totals(audit)]),
        Section::new("orphans", "offloaded files that no marker names", |audit, detail| vec![orphans(audit, limit(detail))]),
        Section::new("notes", "notes on places in transcripts", |audit, detail| vec![notes(audit, limit(detail))]),
        Section::new("left-out", "transcripts that are not in the audit", |audit, _| vec![left_out_transcripts(&audit.coverage)]),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::screen(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

/// Maximum rows of a table.
fn limit(detail: &Detail) -> usize {
    if detail.length == Length::Short { SHOWN } else { usize::MAX }
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

fn table(title: String, headers: Vec<ColumnHeader>, (rows, footnotes): (Vec<Vec<String>>, Vec<String>)) -> TableModel {
    TableModel { title, subject: String::new(), headers, rows, footnotes }
}

/// Returns the rows to show, and a footnote that counts the others.
fn cut(mut rows: Vec<Vec<String>>, limit: usize, item: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let omitted = rows.len().saturating_sub(limit);
    rows.truncate(limit);
    (rows, if omitted > 0 { vec![format!("{} in -o json", plural(omitted, &format!("more {item}")))] } else { Vec::new() })
}

/// One row per transcript, worst first: those with most errors, then warnings, then notes; equal ones keep their order.
fn overview(audit: &Audit, limit: usize) -> TableModel {
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
    let (rows, mut footnotes) = cut(worst.iter().map(row).collect(), limit, "transcript");
    footnotes.extend(left_out(folder));
    let mut headers = vec![ColumnHeader::names("transcript"), ColumnHeader::names("format")];
    let numbers = ["calls", "compactions", "offloaded files found", "bytes", "errors", "warnings", "notes"];
    headers.extend(numbers.map(ColumnHeader::numbers));
    table(format!("Audited: {}", plural(audit.transcripts.len(), "transcript")), headers, (rows, footnotes))
}

/// Which systems compacted: systems and their markers, over all transcripts.
fn markers(audit: &Audit, limit: usize) -> TableModel {
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
    let (rows, footnotes) = cut(markers.into_iter().map(row).collect(), limit, "marker");
    let headers = vec![
        ColumnHeader::names("system"),
        ColumnHeader::names("first at"),
        ColumnHeader::numbers("times"),
        ColumnHeader::numbers("transcripts"),
        ColumnHeader::prose("marker"),
    ];
    table("Compaction markers".to_owned(), headers, (rows, footnotes))
}

/// One row per file, grouped by session.
fn chains(audit: &Audit, limit: usize) -> TableModel {
    let folder = folder(audit);
    let rows_of = |(index, chain): (usize, &Chain)| {
        let row = |part: &crate::analysis::audit::archive_chain::ChainFile| {
            let numbers = [number(part.messages), number(part.shared), bytes(part.bytes), bytes(part.copied)];
            [(index + 1).to_string(), part.path[folder.len()..].to_owned()].into_iter().chain(numbers).collect()
        };
        chain.files.iter().map(row).collect::<Vec<Vec<String>>>()
    };
    let (rows, mut footnotes) = cut(audit.chains.iter().enumerate().flat_map(rows_of).collect(), limit, "file");
    footnotes.push("shared, copied: messages that an earlier file of the session also holds, and their bytes".to_owned());
    let mut headers = vec![ColumnHeader::names("session"), ColumnHeader::names("archive, earliest first")];
    headers.extend(["messages", "shared", "bytes", "copied"].map(ColumnHeader::numbers));
    table(format!("Archives of the same session: {}", plural(audit.chains.len(), "session")), headers, (rows, footnotes))
}

/// What each compaction removed, and what became of it.
fn compactions(audit: &Audit, limit: usize) -> TableModel {
    let folder = folder(audit);
    let rows_of = |transcript: &Transcript| {
        let row = |Compacted { recorded, lost, .. }: &Compacted| {
            let location = format!("{}:{}", &transcript.path[folder.len()..], recorded.line);
            let sizes = [recorded.tokens_before, recorded.tokens_after].map(tokens);
            let lost = lost.as_ref().map(|lost| {
                let in_summary = if lost.encrypted { "encrypted".to_owned() } else { number(lost.in_summary) };
                let counts = [lost.fetched_again, lost.nowhere].map(number);
                let [fetched, nowhere] = counts;
                vec![number(lost.needed), in_summary, fetched, tokens(Some(lost.refetched_tokens)), nowhere]
            });
            let lost = lost.unwrap_or_else(|| vec![number_format::MISSING.to_owned(); 5]);
            [location, recorded.kind.to_string()].into_iter().chain(sizes).chain(lost).collect::<Vec<String>>()
        };
        transcript.compactions.iter().map(row).collect::<Vec<_>>()
    };
    let (rows, mut footnotes) = cut(audit.transcripts.iter().flat_map(rows_of).collect(), limit, "compaction");
    footnotes.push(
        "needed: facts from before the compaction that were used after it; those in no column came from the agent's or the user's words"
            .to_owned(),
    );
    let mut headers = vec![ColumnHeader::names("location"), ColumnHeader::names("kind")];
    let numbers = ["tokens before", "tokens after", "needed", "in the summary", "fetched again", "~tokens refetched", "nowhere"];
    headers.extend(numbers.map(ColumnHeader::numbers));
    table("Recorded compactions".to_owned(), headers, (rows, footnotes))
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
    let footnotes = vec!["recompact catalog findings NAME explains each".to_owned()];
    let headers =
        [ColumnHeader::names("finding")].into_iter().chain(["errors", "warnings", "notes"].map(ColumnHeader::numbers)).collect();
    table(format!("Findings: {}", number(audit.findings.len())), headers, (rows, footnotes))
}

fn totals(audit: &Audit) -> TableModel {
    let totals = &audit.totals;
    let row = |name: &str, files: Option<usize>, size: u64| {
        vec![name.to_owned(), files.map_or(number_format::MISSING.to_owned(), number), bytes(size)]
    };
    let rows = vec![
        row("transcripts", Some(totals.transcripts), totals.bytes),
        row("archives among them", Some(totals.archives), totals.archive_bytes),
        row("copies of messages in other archives", None, totals.copied_bytes),
        row("offloaded files that markers name", Some(totals.persisted), totals.persisted_bytes),
        row("offloaded files that no marker names", Some(totals.orphans.len()), totals.orphan_bytes),
    ];
    let headers = vec![ColumnHeader::names("total"), ColumnHeader::numbers("files"), ColumnHeader::numbers("bytes")];
    table("Totals".to_owned(), headers, (rows, Vec::new()))
}

fn orphans(audit: &Audit, limit: usize) -> TableModel {
    let rows = audit.totals.orphans.iter().map(|orphan| vec![orphan.path.clone(), bytes(orphan.bytes)]).collect();
    let headers = vec![ColumnHeader::names("file"), ColumnHeader::numbers("bytes")];
    table("Offloaded files that no marker names".to_owned(), headers, cut(rows, limit, "file"))
}

fn notes(audit: &Audit, limit: usize) -> TableModel {
    let location = |path: &str, line: Option<u32>| line.map_or(path.to_owned(), |line| format!("{path}:{line}"));
    let rows: Vec<_> = audit.notes.iter().map(|note| vec![location(&note.path, note.line), note.what.clone()]).collect();
    let headers = vec![ColumnHeader::names("location"), ColumnHeader::prose("note")];
    table(format!("Notes: {}", rows.len()), headers, cut(rows, limit, "note"))
}

/// Renders one CSV line per finding.
fn csv_lines(audit: &Audit) -> Vec<u8> {
    #[derive(Serialize)]
    struct CsvRow<'a> {
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
        let row = CsvRow {
            id: &finding.id,
            level: finding.level.name(),
            path: csv::text(&finding.path),
            line: finding.line,
            call: finding.call,
            message: csv::text(&finding.message),
            data: csv::text(&serde_json::Value::Object(finding.data.clone()).to_string()),
        };
        writer.serialize(row).expect(csv::IN_MEMORY);
    }
    writer.into_inner().expect(csv::IN_MEMORY)
}
