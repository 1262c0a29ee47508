//! The first screen of an inspection: what fills the context, and what compactions did.

use std::collections::{BTreeMap, BTreeSet};

use super::families::{Member, by_family, sessions};
use super::{GROWTH, Inspection, Inspections, folder, number, tokens};
use crate::analysis::inspect::{RecordedUsage, WITHOUT_TEXTS};
use crate::metrics::column::Unit;
use crate::report::screen::{Check, Prose, Screen, ScreenTable, Step};
use crate::report::table_model::{ColumnHeader, LONGEST_NAME, TableModel, cut, cut_path, left_out};
use crate::report::{Layout, number_format, spark};
use crate::util::text::{file_name, plural};

/// Rows of the table.
const SHOWN: usize = 12;

pub fn screen(inspections: &Inspections, layout: &Layout) -> Option<Screen> {
    let all = &inspections.conversations;
    if all.is_empty() {
        return None;
    }
    Some(Screen {
        scope: scope(all),
        answer: vec![Prose::new(content(all)), Prose::new(compactions(all) + &bill(all))],
        table: ScreenTable::new(largest(all), vec![0, 8, 6, 4, 1, 5, 2, 3, 7], "conversations"),
        checks: checks(inspections),
        changes: Vec::new(),
        next: next(layout),
    })
}

fn scope(all: &[Inspection]) -> Prose {
    let transcripts: BTreeSet<&str> = all.iter().map(|inspection| inspection.transcript.as_str()).collect();
    let mut formats: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().for_each(|inspection| *formats.entry(&*inspection.format).or_default() += 1);
    let formats = formats.iter().map(|(format, count)| format!("{format} {count}")).collect::<Vec<_>>().join(", ");
    let calls = number(all.iter().map(|inspection| inspection.calls).sum());
    let (conversations, transcripts) = (plural(all.len(), "conversation"), plural(transcripts.len(), "transcript"));
    Prose::new(format!("{conversations} of {transcripts}{}, {calls} calls ({formats})", sessions(all)))
}

/// What most of the tokens are.
fn content(all: &[Inspection]) -> String {
    let sum = |of: fn(&super::TokensByKind) -> u64| all.iter().map(|inspection| of(&inspection.tokens)).sum::<u64>();
    let total = sum(|tokens| tokens.total);
    let mut kinds = [
        ("Tool results", sum(|tokens| tokens.tool_result)),
        ("Tool uses", sum(|tokens| tokens.tool_use)),
        ("Texts of the assistant", sum(|tokens| tokens.assistant_text)),
        ("Thinking blocks", sum(|tokens| tokens.thinking)),
        ("Texts that people typed", sum(|tokens| tokens.typed)),
        ("Texts that the harness injected", sum(|tokens| tokens.injected)),
    ];
    kinds.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
    let [(first, most), (second, next), ..] = kinds;
    let share = |part: u64| number_format::value(Unit::Share, Some(part as f64 / total.max(1) as f64));
    let second = second.to_lowercase();
    format!("{first} are {} of the {} tokens, {second} are {}.", share(most), tokens(total), share(next))
}

fn compactions(all: &[Inspection]) -> String {
    let recorded: usize = all.iter().map(|inspection| inspection.recorded_compactions.len()).sum();
    let peak = all.iter().map(|inspection| inspection.recorded_usage.peak_request).max().unwrap_or(0);
    let largest = if peak == 0 { String::new() } else { format!(" The largest request has {} tokens.", tokens(peak)) };
    if recorded == 0 {
        return format!("No compaction is recorded.{largest}");
    }
    let losses = || all.iter().flat_map(|inspection| &inspection.compaction_losses);
    let sum = |of: fn(&crate::analysis::inspect::CompactionLoss) -> usize| losses().map(of).sum::<usize>();
    let (needed, nowhere) = (sum(|loss| loss.needed), sum(|loss| loss.nowhere));
    let conversations = all.iter().filter(|inspection| !inspection.recorded_compactions.is_empty()).count();
    let mut text = format!(
        "{} {} recorded in {}.",
        plural(recorded, "compaction"),
        if recorded == 1 { "is" } else { "are" },
        plural(conversations, "conversation")
    );
    if needed > 0 {
        let share = |part: usize| number_format::value(Unit::Share, Some(part as f64 / needed as f64));
        text += &format!(
            " The agents then used {} facts from before: {} were in the summary, {} were fetched again, {} neither.",
            number(needed),
            share(sum(|loss| loss.in_summary)),
            share(sum(|loss| loss.fetched_again)),
            share(nowhere)
        );
    }
    text + &largest
}

/// What the record cost. Where its usage leaves something out, both sums, because other programs say the lower one.
fn bill(all: &[Inspection]) -> String {
    let sum = |of: fn(&RecordedUsage) -> Option<f64>| all.iter().filter_map(|one| of(&one.recorded_usage)).sum::<f64>();
    let (recorded, counted) = (sum(|usage| usage.usd), sum(|usage| usage.usd_counted));
    let [as_recorded, cost] = [recorded, counted].map(|usd| number_format::value(Unit::Usd, Some(usd)));
    match (recorded > 0.0, cost == as_recorded) {
        (false, _) => String::new(),
        (true, true) => format!(" They cost {cost} at list prices."),
        (true, false) => format!(
            " They cost {cost} at list prices; {as_recorded} by the recorded usage (so says ccusage), which {}.",
            leaves_out(all)
        ),
    }
}

/// What the recorded usage leaves out.
fn leaves_out(all: &[Inspection]) -> &'static str {
    let cuts_output = all.iter().any(|one| one.recorded_usage.output_counted > one.recorded_usage.output);
    let has_writes = |one: &Inspection| one.recorded_usage.cache_write > 0;
    let hides_writes = all.iter().any(|one| !has_writes(one) && one.recorded_usage.usd_counted > one.recorded_usage.usd);
    match (cuts_output, hides_writes) {
        (true, false) => "holds only the beginning of many responses",
        (true, true) => "holds only the beginning of many responses, and calls writes to the prompt cache input",
        (false, _) => "calls writes to the prompt cache input",
    }
}

/// The conversations of the largest families.
fn largest(all: &[Inspection]) -> TableModel {
    let folder = folder(all);
    let row = |member: &Member| {
        let (inspection, [transcript, conversation]) = (member.inspection, member.names(folder, LONGEST_NAME));
        let usage = &inspection.recorded_usage;
        let peak = (usage.peak_request > 0).then_some(usage.peak_request as f64);
        vec![
            transcript,
            conversation,
            inspection.identity.agent.clone().unwrap_or_else(|| inspection.format.to_string()),
            number(inspection.calls),
            tokens(inspection.tokens.total),
            number_format::value(Unit::Tokens, peak),
            number(inspection.recorded_compactions.len()),
            number_format::value(Unit::Usd, usage.usd_counted),
            spark::line(&inspection.growth, GROWTH),
        ]
    };
    let mut headers = vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation"), ColumnHeader::names("agent")];
    headers.extend(["calls", "~tokens", "largest request", "compactions", "list price"].map(ColumnHeader::numbers));
    headers.push(ColumnHeader::prose("growth"));
    let mut footnotes = left_out(folder);
    if all.len() > SHOWN {
        footnotes.insert(0, format!("{SHOWN} of {}, the largest families first", plural(all.len(), "conversation")));
    }
    let rows = by_family(all).iter().take(SHOWN).map(row).collect();
    TableModel { title: "Conversations".to_owned(), subject: String::new(), headers, rows, footnotes }
}

fn checks(inspections: &Inspections) -> Vec<Check> {
    let all = &inspections.conversations;
    let mut checks = Vec::new();
    if !inspections.coverage.is_complete() {
        checks.push(Check::new("left-out", format!("only {} could be read", inspections.coverage.line())));
    }
    let unpriced = all.iter().filter(|one| one.recorded_usage.calls > 0 && one.recorded_usage.usd.is_none()).count();
    if unpriced > 0 {
        checks.push(Check::new(
            "usage",
            format!("the bill is without {}, whose model has no known price", plural(unpriced, "conversation")),
        ));
    }
    let services: BTreeSet<&str> = all.iter().flat_map(|one| &one.recorded_usage.unpriced).map(String::as_str).collect();
    if !services.is_empty() {
        let what = services.into_iter().collect::<Vec<_>>().join(", ");
        checks.push(Check::new("usage", format!("the cost is too low: it is without {what}, whose price is unknown")));
    }
    let branches: usize = all.iter().map(|one| one.recorded_usage.other_branches).sum();
    if branches > 0 {
        let calls = plural(branches, "call");
        checks.push(Check::new(
            "usage",
            format!("the cost holds {calls} of branches that were left, and no replay has them (--branches all)"),
        ));
    }
    let mut notes: Vec<_> =
        all.iter().flat_map(|one| one.notes.iter().map(|note| (&one.transcript, note.line, &note.what))).collect();
    let count = notes.len();
    notes.retain(|(.., what)| *what != WITHOUT_TEXTS);
    if notes.len() < count {
        checks.push(Check::new("notes", WITHOUT_TEXTS));
    }
    if let Some((path, line, what)) = notes.iter().min() {
        let file = cut_path(file_name(path), LONGEST_NAME);
        let place = line.map_or(file.to_owned(), |line| format!("{file}:{line}"));
        let text = Prose::new(format!("{}, such as ", plural(notes.len(), "note")));
        let text = text.name(place).words(": ").name(cut(what));
        checks.push(Check { text, section: "notes" });
    }
    checks
}

fn next(layout: &Layout) -> Vec<Step> {
    let invocation = &layout.invocation;
    vec![
        Step::new(invocation.other("replay", ""), "which policy to ship for these sessions"),
        Step::new(invocation.other("audit", ""), "what is wrong with them"),
        Step::new(invocation.again("--show kinds,results,compactions"), "some of the sections; --full: all of them"),
    ]
}
