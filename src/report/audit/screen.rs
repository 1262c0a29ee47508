//! The first screen of an audit: how much is wrong, and what.

use super::{Audit, number, tokens};
use crate::analysis::audit::persisted_outputs::State;
use crate::analysis::inspect::{CompactionLoss, NAMED, WITHOUT_TEXTS};
use crate::findings::rules::secret;
use crate::findings::{FINDINGS, Finding, Level, by_id};
use crate::metrics::column::Unit;
use crate::report::screen::{Check, Prose, Screen, ScreenTable, Step, changes};
use crate::report::table_model::{ColumnHeader, LONGEST_NAME, TableModel, Tone, cut_path, cut_to};
use crate::report::{Layout, number_format};
use crate::util::text::{file_name, plural};

/// Number of losses that are named.
const WORST_LOSSES: usize = 5;
/// Maximum characters of what a finding means.
const MEANING: usize = 64;

pub fn screen(audit: &Audit, layout: &Layout) -> Option<Screen> {
    if audit.transcripts.is_empty() {
        return None;
    }
    let (model, tones) = kinds(audit);
    Some(Screen {
        scope: scope(audit),
        answer: [Prose::new(wrong(audit)), Prose::new(files(audit) + &compactions(audit))]
            .into_iter()
            .chain(losses(audit))
            .collect(),
        table: ScreenTable { tones, ..ScreenTable::new(model, vec![0, 0, 0, 2, 1, 3], "findings") },
        checks: checks(audit),
        changes: changes(&audit.findings),
        next: next(audit, layout),
    })
}

fn scope(audit: &Audit) -> Prose {
    let calls = number(audit.transcripts.iter().map(|transcript| transcript.calls).sum());
    let size = number_format::value(Unit::Bytes, Some(audit.totals.bytes as f64));
    Prose::new(format!("{}, {calls} calls, {size}", plural(audit.transcripts.len(), "transcript")))
}

/// `14 errors and 31 warnings in 11 of 27 transcripts.`
fn wrong(audit: &Audit) -> String {
    let of_level = |level: Level| audit.findings.iter().filter(move |finding| finding.level == level);
    let (errors, warnings) = (of_level(Level::Error).count(), of_level(Level::Warning).count());
    if errors + warnings == 0 {
        return "Nothing wrong was found.".to_owned();
    }
    let secrets = audit.findings.iter().filter(|finding| finding.id == secret::ID).count();
    let secrets = match secrets {
        0 => String::new(),
        1 => " One of them is a key, a token or a password that everyone who has the file can read.".to_owned(),
        some => format!(" {} of them are keys, tokens or passwords that everyone who has the files can read.", number(some)),
    };
    let serious = audit.findings.iter().filter(|finding| finding.level != Level::Note);
    let files: std::collections::BTreeSet<&str> = serious.map(|finding| finding.path.as_str()).collect();
    format!(
        "{} and {} in {} of {}.{secrets}",
        plural(errors, "error"),
        plural(warnings, "warning"),
        files.len(),
        plural(audit.transcripts.len(), "transcript")
    )
}

/// What became of the files to which outputs were moved.
fn files(audit: &Audit) -> String {
    let states = || audit.transcripts.iter().flat_map(|transcript| &transcript.persisted);
    let named: usize = states().map(|(_, count)| count).sum();
    let whole: usize = states().filter(|(state, _)| **state == State::Whole).map(|(_, count)| count).sum();
    let unchanged = match (named, whole) {
        (0, _) => return String::new(),
        (1, 1) => "it was found unchanged".to_owned(),
        (_, 0) => "none was found unchanged".to_owned(),
        (_, 1) => "1 was found unchanged".to_owned(),
        (_, _) => format!("{} were found unchanged", number(whole)),
    };
    format!("Tool outputs were moved to {}; {unchanged}. ", plural(named, "file"))
}

fn compactions(audit: &Audit) -> String {
    let all = || audit.transcripts.iter().flat_map(|transcript| &transcript.compactions);
    let lost = || all().filter_map(|compacted| compacted.lost.as_ref());
    let needed: usize = lost().map(|lost| lost.needed).sum();
    let text = match all().count() {
        0 => return "No compaction is recorded.".to_owned(),
        count => format!("{}:", plural(count, "recorded compaction")),
    };
    if needed == 0 {
        return format!("{text} nothing from before was used after.");
    }
    let share = |part: usize| number_format::value(Unit::Share, Some(part as f64 / needed as f64));
    format!(
        "{text} of {} facts that were used again, {} were in the summary, {} were fetched again (~{} tokens), {} neither.",
        number(needed),
        share(lost().map(|lost| lost.in_summary).sum()),
        share(lost().map(|lost| lost.fetched_again).sum()),
        tokens(Some(lost().map(|lost| lost.refetched_tokens).sum())),
        share(lost().map(|lost| lost.nowhere).sum())
    )
}

/// `Worst losses, needed later and in no text that the agent could see: `src/x.rs` (a.jsonl:40), …`
fn losses(audit: &Audit) -> Option<Prose> {
    let mut lost: Vec<(&str, &CompactionLoss)> = Vec::new();
    for transcript in &audit.transcripts {
        let file = file_name(&transcript.path);
        lost.extend(transcript.compactions.iter().filter_map(|compacted| Some((file, compacted.lost.as_ref()?))));
    }
    lost.sort_by_key(|(_, lost)| std::cmp::Reverse(lost.nowhere));
    // The heaviest of each compaction first.
    let facts = (0..NAMED).flat_map(|at| lost.iter().filter_map(move |(file, lost)| Some((file, lost.nowhere_facts.get(at)?))));
    let named = facts.take(WORST_LOSSES).map(|(file, fact)| {
        let place = Prose::default().name(cut_to(&fact.text, LONGEST_NAME)).words(" (");
        place.name(format!("{}:{}", cut_path(file, LONGEST_NAME), fact.line)).words(")")
    });
    let list = named.reduce(|all, next| all.words(", ").join(next))?;
    Some(Prose::new("Worst losses, needed later and in no text that the agent could see: ").join(list).words("."))
}

/// Kinds of findings, the worst first, each with its first finding.
fn kinds(audit: &Audit) -> (TableModel, Vec<Tone>) {
    let of_kind = |id: &str| audit.findings.iter().filter(|finding| finding.id == id).collect::<Vec<&Finding>>();
    let mut kinds: Vec<(&str, Vec<&Finding>)> = FINDINGS.iter().map(|kind| (kind.id, of_kind(kind.id))).collect();
    kinds.retain(|(_, findings)| !findings.is_empty());
    let count = |findings: &[&Finding], level: Level| findings.iter().filter(|finding| finding.level == level).count();
    // Who reads only the first row must know of a key that others can read.
    let order = |(id, findings): &(&str, Vec<&Finding>)| (*id == secret::ID, Level::ALL.map(|level| count(findings, level)));
    kinds.sort_by_key(|kind| std::cmp::Reverse(order(kind)));
    let row = |(id, findings): &(&str, Vec<&Finding>)| {
        let counts = Level::ALL.map(|level| match count(findings, level) {
            0 => String::new(),
            some => number(some),
        });
        let first = findings.iter().min_by_key(|finding| Level::ALL.iter().position(|level| *level == finding.level));
        let place = first.map(|finding| {
            let file = cut_path(file_name(&finding.path), LONGEST_NAME);
            finding.line.map_or(file.to_owned(), |line| format!("{file}:{line}"))
        });
        let meaning = by_id(id).map(|kind| cut_to(&kind.about(), MEANING)).unwrap_or_default();
        let cells = [(*id).to_owned()].into_iter().chain(counts).chain([meaning, place.unwrap_or_default()]);
        cells.collect::<Vec<String>>()
    };
    let tones =
        kinds.iter().map(|(_, findings)| if count(findings, Level::Error) > 0 { Tone::Unfit } else { Tone::Plain }).collect();
    let mut headers = vec![ColumnHeader::names("finding")];
    headers.extend(["errors", "warnings", "notes"].map(ColumnHeader::numbers));
    headers.extend([ColumnHeader::prose("what it means"), ColumnHeader::prose("first")]);
    let rows = kinds.iter().map(row).collect();
    (TableModel { title: "Findings".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }, tones)
}

fn checks(audit: &Audit) -> Vec<Check> {
    let mut checks = Vec::new();
    let compacted = audit.transcripts.iter().flat_map(|transcript| &transcript.compactions);
    if compacted.filter_map(|compacted| compacted.lost.as_ref()).any(|lost| lost.nowhere > 0) {
        let text = "neither: no text showed it when it was used; files may have held it, so `recompact replay` counts fewer as lost for good";
        checks.push(Check::new("compactions", text));
    }
    if !audit.coverage.is_complete() {
        checks.push(Check::new("left-out", format!("only {} audited", audit.coverage.line_were())));
    }
    if !audit.totals.orphans.is_empty() {
        let files = plural(audit.totals.orphans.len(), "offloaded file");
        checks.push(Check::new("orphans", format!("no marker names {files}")));
    }
    let others = audit.notes.iter().filter(|note| note.what != WITHOUT_TEXTS).count();
    if others < audit.notes.len() {
        checks.push(Check::new("notes", WITHOUT_TEXTS));
    }
    if others > 0 {
        checks.push(Check::new("notes", plural(others, "note")));
    }
    checks
}

fn next(audit: &Audit, layout: &Layout) -> Vec<Step> {
    let invocation = &layout.invocation;
    let mut steps = vec![Step::new(invocation.again("--show findings,compactions"), "each with its place; --full: all of it")];
    if let Some(worst) = audit.findings.iter().min_by_key(|finding| finding.level) {
        steps.push(Step::new(format!("recompact catalog findings {}", worst.id), "what a finding means, and what to do"));
    }
    steps.push(Step::new(invocation.other("replay", ""), "which policy would have lost less"));
    steps
}
