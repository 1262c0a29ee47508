//! Checks of policies as a document.

use super::screen::{Check, Prose, Screen, ScreenTable, Step};
use super::table_model::{ColumnHeader, LONGEST_NAME, TableModel, Tone, cut_path, left_out_transcripts};
use super::{Document, Layout, Section, json, number_format};
use crate::analysis::policy_check::{PolicyCheck, PolicyChecks, Remark};
use crate::findings::{Case, Level};
use crate::util::text::plural;

/// Policies whose remarks are counted in a sentence of their own.
const SENTENCES: usize = 3;

impl Document for PolicyChecks {
    const CASES: Option<fn(&Self) -> Vec<Case>> = Some(PolicyChecks::cases);

    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("remarks", "what is probably not what was meant", |checks, _| vec![remarks(checks).0]),
        Section::new("layers", "what each layer did on the sessions", |checks, _| vec![layers(checks)]),
        Section::new("tools", "the tools of the sessions", |checks, _| vec![tools(checks)]),
        Section::new("left-out", "transcripts that were not replayed", |checks, _| {
            checks.sessions.iter().map(|sessions| left_out_transcripts(&sessions.coverage)).collect()
        }),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        let (found, tones) = remarks(self);
        let table = if found.rows.is_empty() {
            ScreenTable::new(layers(self), vec![0, 0, 0, 2, 1, 3], "layers")
        } else {
            ScreenTable { tones, ..ScreenTable::new(found, vec![0, 1, 0, 0], "remarks") }
        };
        Some(Screen {
            scope: scope(self),
            answer: answer(self),
            table,
            checks: to_check(self),
            changes: Vec::new(),
            next: next(self, layout),
        })
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

fn number(count: u64) -> String {
    number_format::count(count)
}

fn policies(count: usize) -> String {
    if count == 1 { "1 policy".to_owned() } else { format!("{count} policies") }
}

fn scope(checks: &PolicyChecks) -> Prose {
    let policies = policies(checks.policies.len());
    Prose::new(match &checks.sessions {
        None => format!("{policies} checked without sessions: only the files"),
        Some(sessions) => format!(
            "{policies} on {}, {} calls, {}; uncompacted requests up to {} tokens",
            plural(sessions.conversations, "conversation"),
            number(sessions.calls as u64),
            plural(sessions.tools.len(), "tool"),
            number(sessions.largest_request)
        ),
    })
}

/// A sentence for each policy with warnings, or one that there are none.
fn answer(checks: &PolicyChecks) -> Vec<Prose> {
    let count = |policy: &PolicyCheck, level: Level| policy.remarks.iter().filter(|remark| remark.level == level).count();
    let warned: Vec<&PolicyCheck> = checks.policies.iter().filter(|policy| count(policy, Level::Warning) > 0).collect();
    let notes = checks.count(Level::Note);
    let notes = if notes == 0 { String::new() } else { format!(" {}, which may be fine.", plural(notes, "note")) };
    if warned.is_empty() {
        return vec![Prose::new(format!("Nothing to warn about.{notes}"))];
    }
    let sentence = |policy: &&PolicyCheck| {
        Prose::default().name(policy.policy.clone()).words(format!(" has {}.", plural(count(policy, Level::Warning), "warning")))
    };
    let mut sentences: Vec<Prose> = warned.iter().take(SENTENCES).map(sentence).collect();
    if warned.len() > SENTENCES {
        sentences.push(Prose::new(format!("So have {} more.", policies(warned.len() - SENTENCES))));
    }
    sentences.extend((!notes.is_empty()).then(|| Prose::new(notes.trim_start())));
    sentences
}

fn remarks(checks: &PolicyChecks) -> (TableModel, Vec<Tone>) {
    let all = || checks.policies.iter().flat_map(|policy| policy.remarks.iter().map(move |remark| (policy, remark)));
    let row = |(policy, remark): (&PolicyCheck, &Remark)| {
        let file = cut_path(&policy.file, LONGEST_NAME);
        let place = remark.line.map_or(file.clone(), |line| format!("{file}:{line}"));
        vec![place, remark.level.name().to_owned(), remark.layer.clone().unwrap_or_default(), remark.message.clone()]
    };
    let mut headers = vec![ColumnHeader::names("where")];
    headers.extend(["level", "layer"].map(ColumnHeader::words));
    headers.push(ColumnHeader::prose("what"));
    let tones = all().map(|(_, remark)| if remark.level == Level::Warning { Tone::Unfit } else { Tone::Plain }).collect();
    let rows = all().map(row).collect();
    (TableModel { title: "Remarks".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }, tones)
}

fn layers(checks: &PolicyChecks) -> TableModel {
    let rows = checks.policies.iter().flat_map(|policy| &policy.layers).map(|layer| {
        let counts = [layer.fired, layer.failed, layer.edits].map(number);
        [layer.policy.clone(), layer.layer.clone()]
            .into_iter()
            .chain(counts)
            .chain([number_format::grouped(layer.tokens_freed as f64, 0)])
    });
    let mut headers = ["policy", "layer"].map(ColumnHeader::names).to_vec();
    headers.extend(["acted", "failed", "edits", "tokens freed"].map(ColumnHeader::numbers));
    let rows = rows.map(Iterator::collect).collect();
    TableModel { title: "Layers".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }
}

fn tools(checks: &PolicyChecks) -> TableModel {
    let mut tools: Vec<(&String, usize)> =
        checks.sessions.iter().flat_map(|sessions| &sessions.tools).map(|(tool, calls)| (tool, *calls)).collect();
    tools.sort_by_key(|(_, calls)| std::cmp::Reverse(*calls));
    let rows = tools.into_iter().map(|(tool, calls)| vec![tool.clone(), number(calls as u64)]).collect();
    let headers = vec![ColumnHeader::names("tool"), ColumnHeader::numbers("calls")];
    TableModel { title: "Tools of the sessions".to_owned(), subject: String::new(), headers, rows, footnotes: Vec::new() }
}

fn to_check(checks: &PolicyChecks) -> Vec<Check> {
    let coverage = checks.sessions.as_ref().map(|sessions| &sessions.coverage);
    let incomplete = coverage.filter(|coverage| !coverage.is_complete());
    incomplete.map(|coverage| Check::new("left-out", format!("only {} replayed", coverage.line_were()))).into_iter().collect()
}

fn next(checks: &PolicyChecks, layout: &Layout) -> Vec<Step> {
    let files: Vec<&str> = checks.policies.iter().take(SENTENCES).map(|policy| policy.file.as_str()).collect();
    if checks.sessions.is_none() {
        let command = format!("recompact policy check {} --on PATH", files.join(" "));
        return vec![Step::new(command, "the same on sessions: tools that they use, layers that act")];
    }
    let replay = layout.invocation.other("replay", &format!("-p {}", files.join(",")));
    vec![
        Step::new(layout.invocation.again("--show layers,tools"), "what each layer did, and the names of the tools"),
        Step::new(replay, "what it saves and what it loses"),
    ]
}
