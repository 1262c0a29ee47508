//! Inspections as a document.

mod families;
mod losses;
mod meters;
mod screen;
mod usage;

use serde::Serialize;

use super::table_model::{ColumnHeader, TableModel, common_folder, left_out, left_out_transcripts};
use super::{Document, Layout, Screen, Section, csv, json, number_format, spark};
use crate::analysis::inspect::{Inspection, TokensByKind};
use crate::metrics::column::Unit;
use crate::results::saved::Coverage;
use crate::util::text::plural;

/// Maximum rows of a table; the rest is only counted.
const SHOWN: usize = 20;
/// Bars of the sparkline in the growth column.
const GROWTH: usize = 20;

/// Version of the JSON.
const VERSION: u64 = 2;

#[derive(Serialize)]
struct InspectionsJson<'a> {
    /// Version 1 was the list of the conversations alone.
    version: u64,
    conversations: &'a [Inspection],
    coverage: &'a Coverage,
}

/// All inspected conversations.
pub struct Inspections {
    pub conversations: Vec<Inspection>,
    pub coverage: Coverage,
}

impl Document for Inspections {
    const CSV: Option<fn(&Self) -> Vec<u8>> = Some(|inspections| csv_lines(&inspections.conversations));

    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("conversations", "conversations, the largest family first", |all, _| vec![overview(&all.conversations)]),
        Section::new("kinds", "tokens by kind of content", |all, _| vec![kinds(&all.conversations)]),
        Section::new("usage", "recorded usage and its cost", |all, _| vec![usage::usage(&all.conversations)]),
        Section::new("results", "the largest tool results", |all, _| vec![results(&all.conversations)]),
        Section::new("meters", "sizes by each token estimator", |all, _| vec![meters::meters(&all.conversations)]),
        Section::new("compactions", "recorded compactions", |all, _| vec![compactions(&all.conversations)]),
        Section::new("losses", "what recorded compactions lost", |all, _| {
            vec![losses::losses(&all.conversations), losses::nowhere(&all.conversations)]
        }),
        Section::new("notes", "notes on places in transcripts", |all, _| vec![notes(&all.conversations)]),
        Section::new("left-out", "transcripts that are not in the results", |all, _| vec![left_out_transcripts(&all.coverage)]),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::screen(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(&InspectionsJson { version: VERSION, conversations: &self.conversations, coverage: &self.coverage })
    }
}

fn tokens(tokens: u64) -> String {
    number_format::value(Unit::Tokens, Some(tokens as f64))
}

fn number(count: usize) -> String {
    number_format::count(count as u64)
}

fn folder(inspections: &[Inspection]) -> &str {
    common_folder(inspections.iter().map(|inspection| inspection.transcript.as_str()))
}

/// Returns the rows to show, and a footnote that counts the others.
fn cut(mut rows: Vec<Vec<String>>, item: &str) -> (Vec<Vec<String>>, Vec<String>) {
    let omitted = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    (rows, if omitted > 0 { vec![format!("{} in -o json", plural(omitted, &format!("more {item}")))] } else { Vec::new() })
}

fn overview(inspections: &[Inspection]) -> TableModel {
    let folder = folder(inspections);
    let row = |member: &families::Member| {
        let (inspection, [transcript, conversation]) = (member.inspection, member.names(folder, usize::MAX));
        vec![
            transcript,
            conversation,
            inspection.identity.label().unwrap_or_else(|| inspection.format.to_string()),
            number(inspection.calls),
            number(inspection.messages),
            number(inspection.tool_uses),
            number(inspection.tool_results),
            tokens(inspection.tokens.total),
            number(inspection.recorded_compactions.len()),
            spark::line(&inspection.growth, GROWTH),
        ]
    };
    let (rows, mut footnotes) = cut(families::by_family(inspections).iter().map(row).collect(), "conversation");
    footnotes.extend(left_out(folder));
    footnotes.push(
        "~ estimated: the text of all messages, as if nothing had been compacted; growth: the size of each call's request"
            .to_owned(),
    );
    let transcripts: std::collections::BTreeSet<_> = inspections.iter().map(|inspection| &inspection.transcript).collect();
    let mut headers = vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation"), ColumnHeader::names("agent")];
    headers.extend(["calls", "messages", "tool uses", "tool results", "~tokens", "compactions"].map(ColumnHeader::numbers));
    headers.push(ColumnHeader::prose("growth"));
    let (transcripts, conversations) = (plural(transcripts.len(), "transcript"), plural(inspections.len(), "conversation"));
    let title = format!("{transcripts}, {conversations}{}", families::sessions(inspections));
    TableModel { title, subject: String::new(), headers, rows, footnotes }
}

/// Returns the tokens of one kind.
type KindTokens = fn(&TokensByKind) -> u64;

fn kinds(inspections: &[Inspection]) -> TableModel {
    let sum = |kind: KindTokens| inspections.iter().map(|inspection| kind(&inspection.tokens)).sum::<u64>();
    let total = sum(|tokens| tokens.total);
    let kinds: [(&str, KindTokens); 8] = [
        ("tool results", |t| t.tool_result),
        ("tool uses", |t| t.tool_use),
        ("assistant text", |t| t.assistant_text),
        ("thinking", |t| t.thinking),
        ("typed text", |t| t.typed),
        ("injected text", |t| t.injected),
        ("images, documents", |t| t.media),
        ("other", |t| t.other),
    ];
    let row = |(name, kind): (&str, KindTokens)| {
        let share = (total > 0).then(|| sum(kind) as f64 / total as f64);
        vec![name.to_owned(), tokens(sum(kind)), number_format::value(Unit::Share, share)]
    };
    let rows = kinds.into_iter().filter(|(_, kind)| sum(*kind) > 0).map(row).collect();
    let headers = vec![ColumnHeader::names("kind"), ColumnHeader::numbers("~tokens"), ColumnHeader::numbers("share")];
    TableModel { title: "Tokens by kind".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }
}

fn results(inspections: &[Inspection]) -> TableModel {
    let folder = folder(inspections);
    let results_of = |inspection: &Inspection| {
        let transcript = inspection.transcript[folder.len()..].to_owned();
        inspection.largest_results.iter().map(move |result| (transcript.clone(), result.clone())).collect::<Vec<_>>()
    };
    let mut largest: Vec<_> = inspections.iter().flat_map(results_of).collect();
    largest.sort_by_key(|(_, result)| std::cmp::Reverse(result.tokens));
    largest.truncate(10);
    let row = |(transcript, result): &(String, crate::analysis::inspect::LargeResult)| {
        vec![format!("{transcript}:{}", result.line), result.tool.clone(), tokens(result.tokens)]
    };
    let headers = vec![ColumnHeader::names("location"), ColumnHeader::names("tool"), ColumnHeader::numbers("~tokens")];
    let rows = largest.iter().map(row).collect();
    TableModel { title: "Largest tool results".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }
}

fn compactions(inspections: &[Inspection]) -> TableModel {
    let folder = folder(inspections);
    let rows_of = |inspection: &Inspection| {
        let row = |compaction: &crate::analysis::inspect::RecordedCompaction| {
            let recorded = |tokens: Option<u64>| number_format::value(Unit::Tokens, tokens.map(|tokens| tokens as f64));
            let trigger = compaction.trigger.clone().unwrap_or_else(|| number_format::MISSING.to_owned());
            vec![
                format!("{}:{}", &inspection.transcript[folder.len()..], compaction.line),
                compaction.kind.to_string(),
                trigger,
                number(compaction.before_call),
                recorded(compaction.tokens_before),
                recorded(compaction.tokens_after),
                tokens(compaction.put),
                number(compaction.cleared),
            ]
        };
        inspection.recorded_compactions.iter().map(row).collect::<Vec<_>>()
    };
    let (rows, footnotes) = cut(inspections.iter().flat_map(rows_of).collect(), "compaction");
    let mut headers = vec![ColumnHeader::names("location"), ColumnHeader::names("kind"), ColumnHeader::names("trigger")];
    headers.extend(
        ["before call", "tokens before", "tokens after", "~tokens inserted", "results cleared"].map(ColumnHeader::numbers),
    );
    TableModel { title: "Recorded compactions".to_owned(), subject: String::new(), headers, rows, footnotes }
}

fn notes(inspections: &[Inspection]) -> TableModel {
    let rows_of = |inspection: &Inspection| {
        let location =
            |line: Option<u32>| line.map_or(inspection.transcript.clone(), |line| format!("{}:{line}", inspection.transcript));
        inspection.notes.iter().map(|note| vec![location(note.line), note.what.clone()]).collect::<Vec<_>>()
    };
    let rows: Vec<_> = inspections.iter().flat_map(rows_of).collect();
    let title = format!("Notes: {}", rows.len());
    let (rows, footnotes) = cut(rows, "note");
    TableModel {
        title,
        subject: String::new(),
        headers: vec![ColumnHeader::names("location"), ColumnHeader::prose("note")],
        rows,
        footnotes,
    }
}

/// Renders one CSV line per conversation, with every property that has a single value.
fn csv_lines(inspections: &[Inspection]) -> Vec<u8> {
    #[derive(Serialize)]
    struct CsvRow<'a> {
        transcript: String,
        conversation: String,
        format: &'a str,
        agent: String,
        version: String,
        session: String,
        parent: String,
        start: String,
        models: String,
        calls: usize,
        messages: usize,
        turns: usize,
        tool_uses: usize,
        tool_results: usize,
        tokens: u64,
        tokens_typed: u64,
        tokens_injected: u64,
        tokens_assistant_text: u64,
        tokens_thinking: u64,
        tokens_tool_use: u64,
        tokens_tool_result: u64,
        tokens_media: u64,
        tokens_other: u64,
        overhead: u64,
        recorded_calls: usize,
        recorded_input: u64,
        recorded_cache_read: u64,
        recorded_cache_write_5m: u64,
        recorded_cache_write_1h: u64,
        recorded_output: u64,
        recorded_usd: Option<f64>,
        recorded_compactions: usize,
        persisted_outputs: usize,
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for inspection in inspections {
        let (tokens, usage, identity) = (&inspection.tokens, &inspection.recorded_usage, &inspection.identity);
        let text = |text: &Option<String>| csv::text(text.as_deref().unwrap_or_default());
        let row = CsvRow {
            transcript: csv::text(&inspection.transcript),
            conversation: csv::text(&inspection.conversation),
            format: &inspection.format,
            agent: text(&identity.agent),
            version: text(&identity.version),
            session: text(&identity.session),
            parent: text(&identity.parent),
            start: text(&identity.start),
            models: csv::text(&inspection.models.join(" ")),
            calls: inspection.calls,
            messages: inspection.messages,
            turns: inspection.turns,
            tool_uses: inspection.tool_uses,
            tool_results: inspection.tool_results,
            tokens: tokens.total,
            tokens_typed: tokens.typed,
            tokens_injected: tokens.injected,
            tokens_assistant_text: tokens.assistant_text,
            tokens_thinking: tokens.thinking,
            tokens_tool_use: tokens.tool_use,
            tokens_tool_result: tokens.tool_result,
            tokens_media: tokens.media,
            tokens_other: tokens.other,
            overhead: inspection.overhead,
            recorded_calls: usage.calls,
            recorded_input: usage.input,
            recorded_cache_read: usage.cache_read,
            recorded_cache_write_5m: usage.cache_write_5m,
            recorded_cache_write_1h: usage.cache_write_1h,
            recorded_output: usage.output,
            recorded_usd: usage.usd,
            recorded_compactions: inspection.recorded_compactions.len(),
            persisted_outputs: inspection.persisted_outputs,
        };
        writer.serialize(row).expect(csv::IN_MEMORY);
    }
    writer.into_inner().expect(csv::IN_MEMORY)
}
