//! Transcripts in files: named, found in folders, matched by patterns, on standard input, or a part of the program.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use rayon::prelude::*;

use super::ancestors::Ancestors;
use super::request_files::{Part, RequestFiles};
use super::sub_agent_files::{self, SubAgentFiles};
use super::{Corpus, ReadSpec, Selection, Unread};
use crate::transcript::conversation::{Conversation, Origin};
use crate::transcript::format::{self, Branches, FORMATS, Format, Level, LoggedRequest, Note, ReadOptions, Reading, Verdict};
use crate::transcript::source::{self, Content, Input, SourceError};
use crate::transcript::{impossible_usage, sent_thinking, silent_drops};
use crate::util::text::plural;
use crate::util::{ValueError, waiting};

/// How many first bytes of a file tell its format: twenty records of most, and the first fields of a document.
const RECOGNISED_BYTES: u64 = 64 << 10;

/// The files at some paths.
pub struct FileCorpus {
    inputs: Vec<Input>,
    sub_agents: SubAgentFiles,
    ancestors: Ancestors,
    errors: Vec<SourceError>,
    format: Option<&'static Format>,
    branches: Branches,
    /// Largest transcript to read, in bytes.
    max_bytes: u64,
    selection: Selection,
    only_files: bool,
    /// Whether older sessions were left out.
    is_newest: bool,
    requests: RequestFiles,
}

impl FileCorpus {
    /// Lists the files at a path: a file, a folder, or a pattern.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self::new(Path::new(""), &[path.into()], &ReadSpec::default()).expect("the default description is valid")
    }

    /// Lists the files at these paths. Relative paths start from `base`, which the names leave out; an empty `base` is the current
    /// folder. Paths at which nothing is found are in [`Corpus::not_found`].
    ///
    /// # Errors
    ///
    /// Fails if the format does not exist, if a day is no day, or if no byte may be read.
    pub fn new(base: &Path, paths: &[PathBuf], read: &ReadSpec) -> Result<Self, ValueError> {
        Self::listed(base, paths, &[], read)
    }

    /// The same with the files and folders of a list, which need not be transcripts.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::new`].
    pub fn listed(base: &Path, paths: &[PathBuf], list: &[PathBuf], read: &ReadSpec) -> Result<Self, ValueError> {
        let (inputs, errors) = source::find_listed(base, paths, list);
        Ok(Self { errors, ..Self::of(inputs, read)? })
    }

    /// The corpus of these transcripts, which are in the order of their names.
    ///
    /// # Errors
    ///
    /// Fails like [`Self::new`].
    pub fn of(mut inputs: Vec<Input>, read: &ReadSpec) -> Result<Self, ValueError> {
        let (format, max_bytes, selection) = (read.known_format()?, read.max_bytes()?, Selection::new(read)?);
        if let Some(limit) = read.newest {
            keep_newest(&mut inputs, limit);
        }
        Ok(Self {
            inputs,
            sub_agents: SubAgentFiles::default(),
            ancestors: Ancestors::default(),
            errors: Vec::new(),
            format,
            branches: read.branches,
            max_bytes,
            selection,
            only_files: false,
            is_newest: read.newest.is_some(),
            requests: RequestFiles::default(),
        })
    }

    /// Rejects pipes, sockets and devices: reading them may never end.
    #[must_use]
    pub fn only_files(self, only_files: bool) -> Self {
        Self { only_files, ..self }
    }

    /// Returns the formats that the beginnings of the files look like, in the order of detection. What can be read only once has none.
    pub fn formats(&self) -> Vec<&'static str> {
        if let Some(format) = self.format {
            return vec![format.name];
        }
        let recognised = |input: &Input| match format::recognise(&input.name, &source::read_head(input, RECOGNISED_BYTES)?) {
            Verdict::Sure(format) | Verdict::Maybe(format) => Some(format.name),
            Verdict::Unread { .. } | Verdict::No => None,
        };
        let of = |input: &Input| input.session().map(|session| session.format).or_else(|| recognised(input));
        let found: HashSet<&str> = self.inputs.par_iter().filter_map(of).collect();
        FORMATS.iter().map(|format| format.name).filter(|name| found.contains(name)).collect()
    }

    /// Returns the files, in the order of their names.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }
}

impl Corpus for FileCorpus {
    fn names(&self) -> Vec<&str> {
        self.inputs.iter().map(|input| input.name.as_str()).collect()
    }

    fn content(&self, at: usize, is_stopped: &dyn Fn() -> bool) -> Result<Content, Unread> {
        let input = &self.inputs[at];
        if self.only_files && input.is_special() {
            return Err(Unread::Failed("a pipe, a socket or a device, not a file; it was not opened".to_owned()));
        }
        let content = if input.may_wait() {
            let (input, limit) = (input.clone(), self.max_bytes);
            waiting::unless_stopped(move || source::read(&input, limit), is_stopped).ok_or(Unread::Stopped)?
        } else {
            source::read(input, self.max_bytes)
        };
        content.map_err(|error| Unread::Failed(error.reason()))
    }

    fn parse(&self, at: usize, content: &Content) -> Result<Reading, Unread> {
        let began = Instant::now();
        let parsed = self.parse_as(at, content);
        let (name, bytes, seconds) = (&self.inputs[at].name, content.bytes.len(), began.elapsed().as_secs_f64());
        match &parsed {
            Ok(reading) => {
                let conversations = plural(reading.conversations.len(), "conversation");
                log::info!("read {name}: {bytes} bytes, {conversations}, parsed in {seconds:.3} s");
            }
            Err(why) => log::info!("left out {name}: {bytes} bytes, {why}"),
        }
        parsed
    }

    fn reread(&self, name: &str) -> Option<Reading> {
        let at = self.inputs.iter().position(|input| input.name == name && !input.is_special())?;
        self.read(at).ok()
    }

    fn not_found(&self) -> Vec<(String, String)> {
        self.errors.iter().map(|error| (error.path().to_owned(), error.reason())).collect()
    }
}

impl FileCorpus {
    /// Returns the conversations in the bytes of a transcript, in the named format or in the one that it looks like.
    fn parse_as(&self, at: usize, content: &Content) -> Result<Reading, Unread> {
        let is_explicit = self.inputs[at].explicit;
        // A named file must be a transcript; a file found in a folder may be something else.
        let failed = |why| Err(if is_explicit { Unread::Failed(why) } else { Unread::Skipped(why) });
        let bytes = content.bytes.as_slice();
        if bytes.trim_ascii().is_empty() {
            return failed("the file is empty".to_owned());
        }
        let stored = self.inputs[at].session().and_then(|session| format::by_name(session.format));
        let known = stored.or(self.format);
        let (format, is_sure) = match known.map_or_else(|| format::recognise(&self.inputs[at].name, bytes), Verdict::Sure) {
            Verdict::Sure(format) => (format, true),
            Verdict::Maybe(format) => (format, false),
            Verdict::Unread { kind, why } if is_explicit => return failed(format!("{kind}, {why}")),
            Verdict::Unread { kind, why } => return failed(format!("skipped: {kind}, {why}")),
            Verdict::No => return Err(self.unknown_format(at, bytes)),
        };
        let mut reading = match self.part(at, format, bytes) {
            Some(Part::Earlier(last)) => return Err(Unread::Joined(last)),
            Some(Part::Last(earlier)) => self.joined(&earlier, at, bytes),
            None => {
                let own_files = self.sub_agents.of(self.inputs[at].path());
                let parent = |bytes: &[u8]| format.parent(bytes);
                let ancestors = self.ancestors.of(&self.inputs[at], parent, bytes, self.max_bytes);
                (format.read)(bytes, &ReadOptions { branches: self.branches, own_files, ancestors })
            }
        };
        impossible_usage::drop_from(&mut reading);
        sent_thinking::add_to(&mut reading);
        silent_drops::add_to(&mut reading);
        let cut_off = content.cut_off.iter().map(|why| Note { line: None, level: Level::Skipped, what: why.clone() });
        reading.notes.extend(cut_off);
        if !is_sure && reading.calls() == 0 {
            return Err(self.unknown_format(at, bytes));
        }
        if !is_read(&reading) {
            if !is_explicit && self.is_of_another_format(at, bytes) {
                return Err(Unread::Unwanted);
            }
            let first = reading.notes.first().map(|note| format!(" (line {}: {})", note.line.unwrap_or(1), note.what));
            let first = first.unwrap_or_default();
            return failed(format!("no conversation found in it, read as {}{first}", format.name));
        }
        reading.conversations.retain(|conversation| self.selection.takes(conversation));
        if reading.conversations.is_empty() { Err(Unread::Unwanted) } else { Ok(reading) }
    }
}

impl FileCorpus {
    /// Why a file is not read that no format knows.
    fn unknown_format(&self, at: usize, bytes: &[u8]) -> Unread {
        match self.inputs[at].explicit {
            true => Unread::Failed(unknown_format(bytes)),
            false if is_utf_16(bytes) => Unread::Skipped(UTF_16.to_owned()),
            false if begins_with_json(bytes) => Unread::Foreign(UNKNOWN_FORMAT.to_owned()),
            false => Unread::Skipped(UNKNOWN_FORMAT.to_owned()),
        }
    }

    /// Whether a format was named, and the file is one of another for sure.
    fn is_of_another_format(&self, at: usize, bytes: &[u8]) -> bool {
        let recognised = || format::recognise(&self.inputs[at].name, bytes);
        self.format.is_some_and(|named| matches!(recognised(), Verdict::Sure(format) if format.name != named.name))
    }

    /// Returns the part of a file in a log that has one file for each request; `None` if the file is a whole transcript.
    fn part(&self, at: usize, format: &Format, bytes: &[u8]) -> Option<Part> {
        let is_alone = |input: &Input| input.name == "-" || input.is_special();
        if is_alone(&self.inputs[at]) || !format.has_logs() {
            return None;
        }
        LoggedRequest::new(bytes)?;
        let request = |other: &Input| {
            let content = if is_alone(other) { None } else { source::read(other, self.max_bytes).ok() };
            LoggedRequest::new(&content?.bytes)
        };
        self.requests.part(&self.inputs[at], || self.files_beside(at), request)
    }

    /// Returns the files among which those of one conversation are. For one that was found it is its folder that says it, not the list of
    /// transcripts: the conversation is the same whichever of its files a task has.
    fn files_beside(&self, at: usize) -> Vec<Input> {
        match &self.inputs[at] {
            input if input.explicit || self.is_newest => self.inputs.clone(),
            input => input.beside(),
        }
    }

    /// Reads the requests of a conversation.
    fn joined(&self, earlier: &[Input], at: usize, bytes: &[u8]) -> Reading {
        let contents: Vec<(&str, Content)> =
            earlier.iter().filter_map(|file| Some((file.name.as_str(), source::read(file, self.max_bytes).ok()?))).collect();
        let files = contents.iter().map(|(name, content)| (*name, content.bytes.as_slice()));
        let mut reading = format::read_files(&files.chain([(self.inputs[at].name.as_str(), bytes)]).collect::<Vec<_>>());
        let others = plural(contents.len(), "other file");
        reading
            .notes
            .push(Note::info(1, format!("the earlier requests of this conversation are in {others}; they were read with it")));
        reading
    }
}

/// Keeps the sessions that were changed last. The files of a session and of its sub-agents stay together.
fn keep_newest(inputs: &mut Vec<Input>, sessions: usize) {
    let mut newest: BTreeMap<String, SystemTime> = BTreeMap::new();
    for input in &*inputs {
        let changed = newest.entry(session(input)).or_insert(SystemTime::UNIX_EPOCH);
        *changed = input.changed().max(*changed);
    }
    let mut order: Vec<(Reverse<SystemTime>, String)> =
        newest.into_iter().map(|(session, time)| (Reverse(time), session)).collect();
    order.sort();
    let kept: BTreeSet<String> = order.into_iter().take(sessions).map(|(_, session)| session).collect();
    inputs.retain(|input| kept.contains(&session(input)));
}

/// The session of a file. The files of sub-agents are in a folder named after their session; in a store, they name it.
fn session(input: &Input) -> String {
    if let Some(session) = input.session() {
        return format!("{}#{}", input.path().display(), session.family);
    }
    let name = input.name.split_once("/subagents/").map_or(input.name.as_str(), |(session, _)| session);
    sub_agent_files::stem(name).to_owned()
}

/// Whether a reading has a conversation. If every message was skipped, only text of the harness is left, and that is none.
fn is_read(reading: &Reading) -> bool {
    let is_skipped = reading.notes.iter().any(|note| note.level == Level::Skipped);
    let is_said = |conversation: &Conversation| {
        let mut blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
        blocks.any(|id| matches!(conversation.block(*id).origin, Origin::User | Origin::Agent | Origin::Tool))
    };
    reading.conversations.iter().any(|conversation| !is_skipped || is_said(conversation))
}

/// Largest file that is read in every format to find one that reads it.
const TRIED: usize = 50 << 20;

/// What is said of a file in a folder that no format knows.
const UNKNOWN_FORMAT: &str = "skipped, not a transcript in a known format";

/// What is said of a file in UTF-16, which editors on Windows write.
const UTF_16: &str = "text in UTF-16; save it as UTF-8";

/// Whether a file begins with the mark of UTF-16, in either order of bytes.
fn is_utf_16(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff])
}

/// Whether the first value is whole JSON that says something: then the file is no damaged transcript, but something else.
fn begins_with_json(bytes: &[u8]) -> bool {
    let bytes = bytes.trim_ascii_start();
    let says_something = match bytes {
        [b'{' | b'[', rest @ ..] => !matches!(rest.trim_ascii_start(), [] | [b'}' | b']', ..]),
        _ => false,
    };
    let first = || serde_json::Deserializer::from_slice(bytes).into_iter::<serde::de::IgnoredAny>().next();
    says_something && matches!(first(), Some(Ok(_)))
}

/// What is said of a named file that no format knows.
fn unknown_format(bytes: &[u8]) -> String {
    if is_utf_16(bytes) {
        return UTF_16.to_owned();
    }
    let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let binary = if bytes[..bytes.len().min(8_000)].contains(&0) { "a binary file, " } else { "" };
    let reads = if bytes.len() > TRIED { None } else { format::readable_as(bytes).next() };
    let offer = reads.map(|format| format!("; --format {} reads it anyway", format.name)).unwrap_or_default();
    format!("{binary}not a transcript in a known format ({known}){offer}")
}
