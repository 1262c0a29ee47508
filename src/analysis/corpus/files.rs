//! Transcripts in files: named, found in folders, matched by patterns, on standard input, or a part of the program.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::newest::keep_newest;
use super::other_files::OtherFiles;
use super::request_files::{Part, RequestFiles};
use super::sub_agent_files::SubAgentFiles;
use super::transcript::RECOGNISED_BYTES;
use super::{Corpus, ReadSpec, Selection, Transcript, Unread, unknown};
use crate::transcript::conversation::{Conversation, Origin};
use crate::transcript::format::{
    self, Branches, FORMATS, Format, Joins, Level, LoggedRequest, Note, OtherFile, ReadOptions, Reading, Verdict,
};
use crate::transcript::source::{self, Content, Input, SourceError};
use crate::transcript::{impossible_usage, sent_thinking, silent_drops};
use crate::util::text::plural;
use crate::util::{ValueError, waiting};

/// The files at some paths.
pub struct FileCorpus {
    inputs: Vec<Input>,
    sub_agents: SubAgentFiles,
    others: OtherFiles,
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
            others: OtherFiles::default(),
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

    fn content(&self, at: usize, is_stopped: &dyn Fn() -> bool) -> Result<Transcript, Unread> {
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
        let Content { bytes, cut_off } = content.map_err(|error| Unread::Failed(error.reason()))?;
        let verdict = self.recognised(at, &bytes);
        let others = match verdict {
            Verdict::Sure(format) | Verdict::Maybe(format) => self.read_with(at, format, &bytes)?,
            Verdict::No
                if !input.explicit
                    && let Some(transcript) = self.others.transcript_of(input) =>
            {
                return Err(Unread::Joined(transcript));
            }
            Verdict::Unread { .. } | Verdict::No => Vec::new(),
        };
        Ok(Transcript { bytes, cut_off, verdict, others: others.into() })
    }

    fn parse(&self, at: usize, content: &Transcript) -> Result<Reading, Unread> {
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
    fn parse_as(&self, at: usize, content: &Transcript) -> Result<Reading, Unread> {
        let is_explicit = self.inputs[at].explicit;
        // A named file must be a transcript; a file found in a folder may be something else.
        let failed = |why| Err(if is_explicit { Unread::Failed(why) } else { Unread::Skipped(why) });
        let bytes = content.bytes.as_slice();
        if bytes.trim_ascii().is_empty() {
            return failed("the file is empty".to_owned());
        }
        let (format, is_sure) = match content.verdict {
            Verdict::Sure(format) => (format, true),
            Verdict::Maybe(format) => (format, false),
            Verdict::Unread { kind, why } if is_explicit => return failed(format!("{kind}, {why}")),
            Verdict::Unread { kind, why } => return failed(format!("skipped: {kind}, {why}")),
            Verdict::No => return Err(unknown::why(bytes, is_explicit)),
        };
        let mut reading = match format.joins {
            Joins::Requests if !content.others.is_empty() => self.joined(&content.others, at, bytes),
            _ => {
                let own_files = self.sub_agents.of(self.inputs[at].path());
                let others = Arc::clone(&content.others);
                (format.read)(bytes, &ReadOptions { branches: self.branches, own_files, others })
            }
        };
        impossible_usage::drop_from(&mut reading);
        sent_thinking::add_to(&mut reading);
        silent_drops::add_to(&mut reading);
        let cut_off = content.cut_off.iter().map(|why| Note { line: None, level: Level::Skipped, what: why.clone() });
        reading.notes.extend(cut_off);
        if !is_sure && reading.calls() == 0 {
            return Err(unknown::why(bytes, is_explicit));
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
    /// Recognises a transcript, unless its format is known.
    fn recognised(&self, at: usize, bytes: &[u8]) -> Verdict {
        let input = &self.inputs[at];
        let known = input.session().and_then(|session| format::by_name(session.format)).or(self.format);
        known.map_or_else(|| format::recognise(&input.name, bytes), Verdict::Sure)
    }

    /// Returns the files that a transcript is read with. Fails if it is itself a part of another one.
    fn read_with(&self, at: usize, format: &Format, bytes: &[u8]) -> Result<Vec<OtherFile>, Unread> {
        if let Some(first) = self.sequel_of(at, format) {
            return Err(Unread::Joined(first));
        }
        let read =
            |file: &Input| Some(OtherFile { name: file.name.clone(), bytes: source::read(file, self.max_bytes).ok()?.bytes });
        match self.part(at, format, bytes) {
            Some(Part::Earlier(last)) => Err(Unread::Joined(last)),
            Some(Part::Last(earlier)) => Ok(earlier.iter().filter_map(read).collect()),
            None => Ok(self.others.of(&self.inputs[at], format.joins, bytes, self.max_bytes)),
        }
    }

    /// Returns the name of the file whose session goes on in this one, and which is read. For one that was found it is its folder that says
    /// it, not the list of transcripts.
    fn sequel_of(&self, at: usize, format: &Format) -> Option<String> {
        let input = &self.inputs[at];
        let by_folder = !input.explicit && !self.is_newest;
        let is_there = |name: &str| by_folder || self.inputs.iter().any(|other| other.name == name);
        self.others.before(input, format.joins, self.max_bytes, is_there)
    }

    /// Whether a format was named, and the file is one of another for sure.
    fn is_of_another_format(&self, at: usize, bytes: &[u8]) -> bool {
        let recognised = || format::recognise(&self.inputs[at].name, bytes);
        self.format.is_some_and(|named| matches!(recognised(), Verdict::Sure(format) if format.name != named.name))
    }

    /// Returns the part of a file in a log that has one file for each request; `None` if the file is a whole transcript.
    fn part(&self, at: usize, format: &Format, bytes: &[u8]) -> Option<Part> {
        let is_alone = |input: &Input| input.name == "-" || input.is_special();
        if is_alone(&self.inputs[at]) || !matches!(format.joins, Joins::Requests) {
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
    fn joined(&self, earlier: &[OtherFile], at: usize, bytes: &[u8]) -> Reading {
        let files = earlier.iter().map(|file| (file.name.as_str(), file.bytes.as_slice()));
        let mut reading = format::read_files(&files.chain([(self.inputs[at].name.as_str(), bytes)]).collect::<Vec<_>>());
        let others = plural(earlier.len(), "other file");
        reading
            .notes
            .push(Note::info(1, format!("the earlier requests of this conversation are in {others}; they were read with it")));
        reading
    }
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
