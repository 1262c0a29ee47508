//! The cassette: a folder of recorded answers, one readable JSON file per entry.
//!
//! The file name is the [key](super::key) of the question. The file contains the whole question, so that people can see what
//! was asked. Entries are written to a temporary file and then linked under their name, so readers never see a partial entry.
//! If two writers record the same question, the first answer stays.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tempfile::NamedTempFile;

use super::key::question_key;
use super::{Answer, Question, Usage};

/// Limit of the size of an entry in bytes: a conversation of a million tokens with its answer has about 5 MB.
const MAX_ENTRY_BYTES: u64 = 16 << 20;

/// How a cassette is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum CassetteMode {
    /// Use recorded answers; ask the model for the others and record them
    #[default]
    Auto,
    /// Use recorded answers only; a missing answer is an error
    Replay,
    /// Ask the model every question again and replace the recorded answers
    Record,
}

/// A folder of recorded answers. Without a folder, nothing is recorded.
#[derive(Debug, Clone, Default)]
pub struct Cassette {
    folder: Option<PathBuf>,
    mode: CassetteMode,
}

/// One question and its outcome, as saved. Texts are lists of lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CassetteEntry {
    /// Protocol and model: `openai:gpt-5.5`.
    pub model: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// Number of this answer among several to the same question; the first is 1.
    pub replicate: u32,
    pub max_tokens: u64,
    /// When the question was asked, in UTC.
    pub asked: String,
    #[serde(default)]
    pub seconds: f64,
    #[serde(default)]
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// The answer; `None` if the question was too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Vec<String>>,
    /// Log-probabilities of the tokens of the continuation; empty if the question has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logprobs: Vec<f64>,
    /// The model's message if it rejected the question as too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub too_long: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    pub user: Vec<String>,
    /// The text that was asked about; `None` if an answer was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuation: Option<Vec<String>>,
}

/// A model's answer, or its message if it rejected the question as too long.
pub type Outcome = Result<Answer, String>;

/// Why a cassette cannot be used. Paths are as the user gave them.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    #[error("{0}: not a valid cassette entry ({1}); delete it, and its question is asked again")]
    Broken(PathBuf, EntryError),
}

/// Why a text is no entry of a cassette.
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    #[error("{0}")]
    NotJson(serde_json::Error),
    #[error("neither `answer` nor `too_long`")]
    NoOutcome,
    #[error("only one of `continuation` and `logprobs`")]
    HalfScored,
    #[error("its question does not match its file name")]
    OtherKey,
}

impl CassetteEntry {
    pub(super) fn new(model: &str, params: &Map<String, Value>, replicate: u32, question: &Question, outcome: &Outcome) -> Self {
        let answer = outcome.as_ref().ok();
        Self {
            model: model.to_owned(),
            params: params.clone(),
            replicate,
            max_tokens: question.max_tokens,
            asked: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            seconds: answer.map_or(0.0, |answer| answer.seconds),
            usage: answer.map_or(Usage::default(), |answer| answer.usage),
            cut_off: answer.is_some_and(|answer| answer.cut_off),
            answer: answer.map(|answer| lines(&answer.text)),
            logprobs: answer.map(|answer| answer.logprobs.clone()).unwrap_or_default(),
            too_long: outcome.as_ref().err().cloned(),
            system: lines(&question.system),
            user: lines(&question.user),
            continuation: question.continuation.as_deref().map(lines),
        }
    }

    /// Parses an entry. Its `key` is the name of its file.
    ///
    /// # Errors
    ///
    /// Fails if it is no JSON of this shape, has no answer, or belongs to another question.
    pub fn parse(json: &[u8], key: &str) -> Result<Self, EntryError> {
        let entry: Self = serde_json::from_slice(json).map_err(EntryError::NotJson)?;
        if entry.outcome().is_none() {
            Err(EntryError::NoOutcome)
        } else if entry.answer.is_some() && entry.continuation.is_none() != entry.logprobs.is_empty() {
            Err(EntryError::HalfScored)
        } else if entry.key() != key {
            Err(EntryError::OtherKey)
        } else {
            Ok(entry)
        }
    }

    /// Returns the outcome; `None` if the entry has neither an answer nor a `too_long` message.
    pub fn outcome(&self) -> Option<Outcome> {
        match (&self.answer, &self.too_long) {
            (Some(answer), _) => {
                let Self { cut_off, usage, seconds, .. } = *self;
                Some(Ok(Answer { text: answer.join("\n"), logprobs: self.logprobs.clone(), cut_off, usage, seconds }))
            }
            (None, Some(too_long)) => Some(Err(too_long.clone())),
            (None, None) => None,
        }
    }

    /// Returns the key of its question, which is the name of its file.
    pub fn key(&self) -> String {
        let question = Question {
            system: self.system.join("\n"),
            user: self.user.join("\n"),
            max_tokens: self.max_tokens,
            continuation: self.continuation.as_ref().map(|lines| lines.join("\n")),
        };
        question_key(&self.model, &self.params, self.replicate, &question)
    }
}

/// Splits a text into lines; an empty text has none. Joining them with `\n` gives the text again.
fn lines(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { text.split('\n').map(str::to_owned).collect() }
}

impl Cassette {
    /// Creates a cassette. The folder is created when the first answer is recorded.
    pub fn new(folder: Option<PathBuf>, mode: CassetteMode) -> Self {
        Self { folder, mode }
    }

    /// Returns whether it records, replays, or does both.
    pub fn mode(&self) -> CassetteMode {
        self.mode
    }

    /// Returns the folder of the recorded answers; `None` if none are kept.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns the recorded outcome of the question with this key.
    pub fn get(&self, key: &str) -> Result<Option<Outcome>, CassetteError> {
        let Some(path) = self.path(key) else { return Ok(None) };
        match read_entry(&path) {
            Ok(bytes) => Ok(parse_entry(&path, &bytes)?.outcome()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CassetteError::Io(path, error)),
        }
    }

    /// Fails if no answer can be saved. Called before a question is asked, because an answer costs money.
    pub fn check_writable(&self) -> Result<(), CassetteError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        fs::create_dir_all(folder)
            .and_then(|()| temporary_file(folder))
            .map_err(|error| CassetteError::Io(folder.clone(), error))?;
        Ok(())
    }

    /// Saves an entry and returns the outcome of its question. If another writer was faster, its outcome is kept and returned.
    pub fn put(&self, key: &str, entry: &CassetteEntry) -> Result<Option<Outcome>, CassetteError> {
        let (Some(folder), Some(path)) = (&self.folder, self.path(key)) else { return Ok(entry.outcome()) };
        let failed = |error| CassetteError::Io(path.clone(), error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = temporary_file(folder).map_err(failed)?;
        let mut json = serde_json::to_vec_pretty(entry).map_err(|error| failed(error.into()))?;
        json.push(b'\n');
        file.write_all(&json).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        if self.mode == CassetteMode::Record {
            file.persist(&path).map_err(|error| failed(error.error))?;
            return Ok(entry.outcome());
        }
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(entry.outcome()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => self.get(key),
            Err(error) => Err(failed(error.error)),
        }
    }

    /// Reads all entries of a cassette, sorted by key.
    pub fn entries(folder: &Path) -> Result<Vec<CassetteEntry>, CassetteError> {
        let failed = |error| CassetteError::Io(folder.to_owned(), error);
        let mut paths = Vec::new();
        for file in fs::read_dir(folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            paths.extend(Some(path).filter(|path| path.extension().is_some_and(|extension| extension == "json")));
        }
        paths.sort();
        paths.iter().map(|path| parse_entry(path, &read_entry(path).map_err(|e| CassetteError::Io(path.clone(), e))?)).collect()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.json")))
    }
}

fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".recompact-").tempfile_in(folder)
}

/// Reads the file of an entry. Anything else, such as a pipe or a device behind a link, is not opened: it may never end.
fn read_entry(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    if metadata.len() > MAX_ENTRY_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("larger than {} MiB", MAX_ENTRY_BYTES >> 20)));
    }
    fs::read(path)
}

/// Parses an entry. The file name must be the key of its question.
fn parse_entry(path: &Path, bytes: &[u8]) -> Result<CassetteEntry, CassetteError> {
    let key = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    CassetteEntry::parse(bytes, key).map_err(|what| CassetteError::Broken(path.to_owned(), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USAGE: Usage = Usage { input: 7, cache_read: 0, cache_write: 2, output: 3 };

    fn question(user: &str) -> Question {
        Question { system: "Be brief.\nBe right.".to_owned(), user: user.to_owned(), max_tokens: 9, continuation: None }
    }

    fn answered(text: &str) -> Outcome {
        Ok(Answer { text: text.to_owned(), logprobs: Vec::new(), cut_off: true, usage: USAGE, seconds: 1.5 })
    }

    fn put(cassette: &Cassette, user: &str, outcome: &Outcome) -> (String, Option<Outcome>) {
        let params = Map::from_iter([("temperature".to_owned(), Value::from(0.5))]);
        let key = question_key("openai:m", &params, 1, &question(user));
        let entry = CassetteEntry::new("openai:m", &params, 1, &question(user), outcome);
        let put = cassette.put(&key, &entry).expect("a folder to write to");
        (key, put)
    }

    #[test]
    fn cassette_returns_what_was_put() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cassette = Cassette::new(Some(folder.path().join("new")), CassetteMode::Auto);
        let texts = ["", "one line", "two\nlines\n", "\u{1b}[31m \"quoted\" \\n\r\n\u{0}", "é 💾"];
        for text in texts {
            let (key, put) = put(&cassette, text, &answered(text));
            assert_eq!(put, Some(answered(text)));
            assert_eq!(cassette.get(&key).expect("an entry"), Some(answered(text)), "{text:?}");
        }
        let (key, _) = put(&cassette, "long", &Err("9 tokens are too many".to_owned()));
        assert_eq!(cassette.get(&key).expect("an entry"), Some(Err("9 tokens are too many".to_owned())));
        let entries = Cassette::entries(&folder.path().join("new")).expect("entries");
        assert_eq!(entries.len(), texts.len() + 1);
        assert_eq!(entries.iter().map(|entry| entry.usage.input).sum::<u64>(), 7 * texts.len() as u64);
    }

    #[test]
    fn first_cassette_writer_wins_unless_recording() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let with = |mode| Cassette::new(Some(folder.path().to_owned()), mode);
        put(&with(CassetteMode::Auto), "q", &answered("first"));
        let (key, second) = put(&with(CassetteMode::Auto), "q", &answered("second"));
        assert_eq!(second, Some(answered("first")));
        put(&with(CassetteMode::Record), "q", &answered("third"));
        assert_eq!(with(CassetteMode::Auto).get(&key).expect("an entry"), Some(answered("third")));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn broken_cassette_entry_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let cassette = Cassette::new(Some(folder.path().to_owned()), CassetteMode::Auto);
        let (key, _) = put(&cassette, "q", &answered("a"));
        let path = folder.path().join(format!("{key}.json"));
        let whole = fs::read_to_string(&path).expect("an entry");
        let cases = [
            (whole[..whole.len() / 2].to_owned(), "EOF while parsing"),
            (whole.replace("\"q\"", "\"another\""), "its question does not match its file name"),
            (whole.replace("\"answer\"", "\"answers\""), "neither `answer` nor `too_long`"),
            (String::new(), "EOF while parsing"),
        ];
        for (text, why) in cases {
            fs::write(&path, text).expect("a folder to write to");
            let error = cassette.get(&key).expect_err(why).to_string();
            assert!(error.contains(&key) && error.contains(why) && error.contains("delete it"), "{error}");
        }
    }

    #[test]
    fn concurrent_writers_leave_complete_cassette_entries() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let long = "x".repeat(100_000);
        std::thread::scope(|threads| {
            for writer in 0..8 {
                let (folder, long) = (folder.path().to_owned(), &long);
                threads.spawn(move || {
                    let cassette = Cassette::new(Some(folder), CassetteMode::Auto);
                    for number in 0..20 {
                        let (key, put) = put(&cassette, &number.to_string(), &answered(&format!("{writer}{long}")));
                        assert_eq!(put, cassette.get(&key).expect("a whole entry"));
                    }
                });
            }
        });
        assert_eq!(Cassette::entries(folder.path()).expect("whole entries").len(), 20);
    }
}
