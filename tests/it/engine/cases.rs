//! Tests as text: `fixtures/cases/<layer>.md`. With `RECOMPACT_BLESS=1` the expected blocks are written anew.

use std::path::{Path, PathBuf};

use recompact::engine::context::{Cause, Context};
use recompact::engine::journal::{EventKind, FaultTally, File, Journal, RecordedSummary, Request, Summary};
use recompact::engine::layer::FileKind;
use recompact::engine::layer::LAYERS;
use recompact::engine::policy::{PRESETS, Policy, Setting, preset};
use recompact::engine::replay::{NoObserver, Observer};
use recompact::engine::summarizer::{self, NameCounts};
use recompact::findings::FINDINGS;
use recompact::transcript::conversation::{Conversation, Thinking};
use recompact::transcript::silent_drops;

use crate::findings::page;
use crate::metrics::retention_page;
use crate::support::notation::{self, shown};
use crate::support::transcripts;
use crate::support::trial::Trial;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases")
}

#[test]
fn fixture_cases_give_their_expected_output() {
    let bless = std::env::var_os("RECOMPACT_BLESS").is_some();
    let mut wrong = Vec::new();
    for path in transcripts::files(&folder(), ".md") {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a case file");
        let mut blessed = text.clone();
        for case in cases(&text) {
            let given = case.run(&stem).unwrap_or_else(|what| panic!("{}: {}: {what}", path.display(), case.name));
            if given != case.expected {
                let at = case.expected.as_ptr() as usize - text.as_ptr() as usize;
                let moved = blessed.len() as isize - text.len() as isize;
                let at = at.checked_add_signed(moved).expect("a place in the file");
                blessed.replace_range(at..at + case.expected.len(), &given);
                let name = path.file_name().unwrap_or_default().display();
                wrong.push(format!("{name}, {}\n--- expected\n{}--- given\n{given}", case.name, case.expected));
            }
        }
        if bless {
            std::fs::write(&path, blessed).expect("the case file is written");
        }
    }
    assert!(bless || wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_layer_kind_has_cases() {
    for kind in LAYERS {
        let text = std::fs::read_to_string(folder().join(format!("{}.md", kind.name))).expect(kind.name);
        let acts = cases(&text).iter().any(|case| case.policy.contains(&format!("do = \"{}\"", kind.name)));
        assert!(acts, "no case of {} has such a layer", kind.name);
    }
}

/// Every kind of finding has a case in which it fires, and a twin in which it is silent.
#[test]
fn every_finding_kind_has_a_case_and_a_clean_twin() {
    for kind in FINDINGS.iter().filter(|kind| kind.detect.is_some()) {
        let text = std::fs::read_to_string(folder().join(format!("findings/{}.md", kind.id))).expect(kind.id);
        let (silent, loud): (Vec<_>, Vec<_>) = cases(&text).into_iter().partition(|case| case.expected == "nothing\n");
        assert!(!silent.is_empty() && !loud.is_empty(), "{}", kind.id);
        assert!(loud.iter().all(|case| case.findings && !case.expected.is_empty()), "{}", kind.id);
    }
}

#[test]
fn every_preset_replays_a_small_conversation() {
    let conversation = notation::parse(SMALL).expect("a conversation");
    for preset in PRESETS {
        let case = Case { name: preset.name, policy: preset.name, preset: true, ..Case::default() };
        let trial = case.trial(&[]).unwrap_or_else(|what| panic!("{}: {what}", preset.name));
        let journal = trial.replay(&conversation, &mut NoObserver);
        assert_eq!(journal.requests.len(), conversation.calls.len(), "{}", preset.name);
        assert!(journal.requests.iter().all(|request| request.messages > 0), "{}", preset.name);
    }
}

const SMALL: &str = "
user: Fix the bug
assistant: (thinking: where?) I look [bash#1 ls] [Read#2 path=a.rs]
result#1: {x*60000}
  result#2 list: {y*150} | z
  note: Be quick
assistant: [bash#3 make]
result#3 error: {e*30001}
user: Go on
assistant: [compact#4 focus=the bug]
result#4: Compressing...
assistant: Done
";

/// A case of a file.
#[derive(Default)]
struct Case<'t> {
    name: &'t str,
    /// Layers in TOML, or the name of a preset and one `--set` per line.
    policy: &'t str,
    preset: bool,
    /// One `KEY: VALUE` per line.
    setup: &'t str,
    /// What a program writes, one line for each line that it reads.
    answers: &'t str,
    conversation: &'t str,
    expected: &'t str,
    /// The expected block has the outcomes of uses of earlier facts, not requests.
    kept: bool,
    /// The expected block has the findings that the file is named after.
    findings: bool,
}

/// A case with a policy of its own, to be replayed with other settings.
pub struct Base {
    case: Case<'static>,
    policy: Policy,
    conversation: Conversation,
}

/// Returns the cases of the layers whose policies are files.
pub fn bases() -> Vec<Base> {
    let paths = transcripts::files(&folder(), ".md");
    let texts = paths.iter().filter(|path| LAYERS.iter().any(|kind| path.file_stem().is_some_and(|stem| stem == kind.name)));
    let base = |case: Case<'static>| {
        let (trial, conversation) = (case.trial(&[]).expect(case.name), notation::parse(case.conversation).expect(case.name));
        Base { case, policy: trial.policy, conversation }
    };
    let of = |path: &PathBuf| cases(String::leak(std::fs::read_to_string(path).expect("a case file")));
    texts.flat_map(of).filter(|case| !case.preset && case.answers.is_empty()).map(base).collect()
}

impl Base {
    /// Returns the ids of its layers of a kind.
    pub fn layers_of(&self, kind: &str) -> impl Iterator<Item = &str> {
        self.policy.layers.iter().filter(move |layer| layer.spec.name() == kind).map(|layer| layer.id.as_str())
    }

    /// Replays it with other settings; returns all that it sent and wrote.
    pub fn outcome(&self, settings: &[String]) -> Result<String, String> {
        let settings = settings.iter().map(|setting| setting.parse()).collect::<Result<Vec<_>, _>>()?;
        Ok(self.case.trial(&settings)?.outcome(&self.conversation))
    }
}

/// A heading begins a case; fenced blocks are its parts.
fn cases(text: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = lines_with_places(text);
    while let Some((_, line)) = lines.next() {
        if let Some(name) = line.strip_prefix("## ") {
            cases.push(Case { name, ..Case::default() });
        }
        let (Some(kind), Some(case)) = (line.strip_prefix("```"), cases.last_mut()) else { continue };
        let Some((start, first)) = lines.next() else { break };
        let end = if first == "```" { Some(start) } else { lines.find(|(_, line)| *line == "```").map(|(at, _)| at) };
        let block = &text[start..end.unwrap_or(text.len())];
        match kind {
            "toml" => case.policy = block,
            "preset" => (case.policy, case.preset) = (block, true),
            "setup" => case.setup = block,
            "answers" => case.answers = block,
            "conversation" => case.conversation = block,
            "expected" => case.expected = block,
            "kept" => (case.expected, case.kept) = (block, true),
            "findings" => (case.expected, case.findings) = (block, true),
            other => panic!("{}: a block of kind `{other}`", case.name),
        }
    }
    cases
}

fn lines_with_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().map(|line| (line.as_ptr() as usize - text.as_ptr() as usize, line))
}

impl Case<'_> {
    fn trial(&self, settings: &[Setting]) -> Result<Trial, String> {
        let policy = match self.preset {
            true => {
                let mut lines = self.policy.lines();
                let settings = lines.clone().skip(1).map(str::parse).collect::<Result<Vec<_>, _>>()?;
                preset(lines.next().unwrap_or_default()).ok_or("no such preset")?.policy(&settings)
            }
            false => Policy::parse(&format!("name = \"case\"\n{}{}", self.policy, self.program()?), self.name, settings),
        };
        let mut trial = Trial::new(policy.map_err(|error| error.to_string())?);
        for line in self.setup.lines() {
            let (key, value) = line.split_once(": ").ok_or_else(|| format!("`{line}` is not KEY: VALUE"))?;
            let number = || value.parse().map_err(|_| format!("`{line}` wants a number"));
            match key {
                "summarizer" => trial.summarizer = summarizer::by_name(value)?,
                "window" => trial.window = number()?,
                "overhead" => trial.overhead = number()?,
                "thinking" => {
                    let all = [("turn", Thinking::Turn), ("all", Thinking::All), ("none", Thinking::None)];
                    trial.thinking = all.iter().find(|(name, _)| *name == value).map(|(_, thinking)| *thinking);
                }
                _ => return Err(format!("no setting `{key}`")),
            }
        }
        Ok(trial)
    }

    /// Returns the setting of a program that writes the answers of the case; nothing if it has none.
    fn program(&self) -> Result<String, String> {
        if self.answers.is_empty() {
            return Ok(String::new());
        }
        if self.answers.contains('\'') {
            return Err("an answer cannot hold an apostrophe: the shell would end its text there".to_owned());
        }
        // The answers are an argument; descriptor 3 is what the program reads.
        let script = "exec 3<&0; printf %s \"$0\" | while read -r answer; do read -r _ <&3; printf \"%s\\n\" \"$answer\"; done";
        Ok(format!("command = {}\n", toml::Value::from(format!("sh -c '{script}' '{}'", self.answers))))
    }

    fn run(&self, file: &str) -> Result<String, String> {
        let trial = self.trial(&[])?;
        let mut conversation = notation::parse(self.conversation)?;
        silent_drops::add_to_conversation(&mut conversation);
        if self.kept {
            return Ok(retention_page::of(&conversation, &trial));
        }
        if self.findings {
            return Ok(page::of(&conversation, &trial, file));
        }
        let mut page = Page {
            wanted: self.wanted(conversation.calls.len()),
            policy: &trial.policy,
            text: String::new(),
            files: Vec::new(),
            faults: FaultTally::default(),
        };
        let journal = trial.replay(&conversation, &mut page);
        page.events(&journal);
        Ok(page.text)
    }

    /// Returns the calls whose requests are shown: those in the expected block, else the last one.
    fn wanted(&self, calls: usize) -> Vec<usize> {
        let heads = self.expected.lines().filter_map(|line| line.strip_prefix("call ")?.split_once(':')?.0.parse().ok());
        let wanted: Vec<usize> = heads.collect();
        if wanted.is_empty() { vec![calls] } else { wanted }
    }
}

/// Writes the requests of a replay as text.
struct Page<'a> {
    wanted: Vec<usize>,
    policy: &'a Policy,
    text: String,
    /// Contents of the files, in the order of the journal.
    files: Vec<String>,
    faults: FaultTally,
}

/// Leaves out the middle of longer requests.
const MOST_MESSAGES: usize = 12;
const SHOWN_AT_EACH_END: usize = 5;
/// Leaves out the text of longer files.
const LONGEST_FILE: usize = 300;

impl Observer for Page<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        self.faults.advance(request);
        if !self.wanted.contains(&(request.call + 1)) {
            return;
        }
        let estimate = self.policy.meter.map(|_| format!(", estimate {}", request.estimate)).unwrap_or_default();
        let window = match (request.overflowed, request.failed) {
            (_, true) => ", over the window",
            (true, false) => ", was over the window",
            _ => "",
        };
        let (call, messages, tokens) = (request.call + 1, request.messages, request.tokens);
        self.line(format!("call {call}: {messages} messages, {tokens} characters{estimate}{window}"));
        let all = context.messages();
        let left_out = if all.len() > MOST_MESSAGES { SHOWN_AT_EACH_END..all.len() - SHOWN_AT_EACH_END } else { 0..0 };
        for (index, sent) in all.iter().enumerate() {
            match left_out.contains(&index) {
                true if index == left_out.start => self.line(format!("… {} messages", left_out.len())),
                true => {}
                false => self.line(notation::message(context, sent)),
            }
        }
        for fault in self.faults.faults().to_vec() {
            let block = context.block(fault.block);
            let id = ["id", "tool_use_id"].iter().find_map(|key| block.wire().get(key)?.as_str()).map(|id| format!(" #{id}"));
            let cause = self.cause(fault.cause);
            let (name, id, message) = (fault.kind.name(), id.unwrap_or_default(), fault.message + 1);
            self.line(format!("fault: {name}{id} in message {message}, by {cause}"));
        }
        self.line(String::new());
    }

    fn file(&mut self, _: &File, text: &str) {
        self.files.push(text.to_owned());
    }

    fn wants_archives(&self) -> bool {
        true
    }
}

impl Page<'_> {
    fn line(&mut self, line: String) {
        self.text.push_str(&line);
        self.text.push('\n');
    }

    fn cause(&self, cause: Cause) -> &str {
        match cause {
            Cause::Record => "the record",
            Cause::Layer(index) => &self.policy.layers[index].id,
        }
    }

    fn events(&mut self, journal: &Journal) {
        for event in &journal.events {
            let what = match &event.kind {
                EventKind::Fired { edits: 1, before, after } => format!("1 edit, {before} -> {after} characters"),
                EventKind::Fired { edits, before, after } => format!("{edits} edits, {before} -> {after} characters"),
                EventKind::Wrote => "wrote the transcript".to_owned(),
                EventKind::Failed { why } => format!("failed, {why}"),
                EventKind::Skipped { why } => format!("skipped, {why}"),
            };
            self.line(format!("{}, {}: {what}", at(event.call), self.cause(Cause::Layer(event.layer)).to_owned()));
        }
        for (file, text) in journal.files.iter().zip(std::mem::take(&mut self.files)) {
            let kind = match file.kind {
                FileKind::Persisted => "result",
                FileKind::Archive => "transcript",
            };
            let again = if file.again { " again" } else { "" };
            let (path, bytes, text) = (&file.path, file.bytes, shown(&text));
            let text = if text.chars().count() <= LONGEST_FILE { format!(": {text}") } else { String::new() };
            self.line(format!("{}, {kind} to {path}{again}, {bytes} bytes{text}", at(file.call)));
        }
        for Summary { call, layer, attempt, .. } in &journal.summaries {
            let out = if attempt.failed { "no answer".to_owned() } else { format!("{} out", attempt.tokens_out) };
            let layer = self.cause(Cause::Layer(*layer)).to_owned();
            let names = said(attempt.names);
            self.line(format!("{}, {layer} asked for a summary: {} in, {out}{names}", at(*call), attempt.tokens_in));
        }
        for RecordedSummary { call, layer, restored, .. } in &journal.recorded {
            let layer = self.cause(Cause::Layer(*layer)).to_owned();
            let (tokens, names) = (restored.tokens, said(restored.names));
            self.line(format!("{}, {layer} put back a summary: {tokens} long{names}", at(*call)));
        }
        if let Some(missing) = &journal.unanswered {
            self.line(format!("{}, the session ended: {}", at(missing.call), missing.why));
        }
        if self.text.ends_with("\n\n") {
            self.text.pop();
        }
    }
}

/// Number of names in a summary, if it has any.
fn said(NameCounts { facts, false_facts }: NameCounts) -> String {
    if facts > 0 { format!(", {false_facts} of {facts} names false") } else { String::new() }
}

fn at(call: usize) -> String {
    format!("before call {}", call + 1)
}
