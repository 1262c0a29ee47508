//! Answers that were paid for once: a folder, one readable file an entry.
//!
//! A file is named by the [key](super::key) of its question and holds all of it, so that a person can see what was asked. It is
//! written beside its place and linked into it when it is whole: a reader sees all of an entry or none of it, and of two writers
//! the first one's answer stays.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::key::key;
use super::{Answer, Question, Trouble, Usage};

/// What a cassette is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Mode {
    /// Answers that are on it are taken from it; the others are asked for, and kept
    #[default]
    Auto,
    /// Answers are taken from it; one that is not on it is an error, and no model is asked
    Replay,
    /// Everything is asked anew, and replaces what is on it
    Record,
}

/// A folder of answers, or none: then they are forgotten at the end of the run.
#[derive(Debug, Clone, Default)]
pub struct Cassette {
    folder: Option<PathBuf>,
    mode: Mode,
}

/// One question and what came of it, as it is saved. Texts are lists of lines.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Protocol and model: `openai:gpt-5.5`.
    pub model: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub params: Map<String, Value>,
    /// Which of several answers to the same question; the first is 1.
    pub replicate: u32,
    pub max_tokens: u64,
    /// When it was asked, in UTC.
    pub asked: String,
    #[serde(flatten)]
    pub outcome: Outcome,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<String>,
    pub user: Vec<String>,
}

/// What a model made of a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Outcome {
    Answered {
        seconds: f64,
        usage: Usage,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cut_off: bool,
        answer: Vec<String>,
    },
    /// Why it refused it for its length.
    Refused { too_long: String },
}

/// Why a cassette cannot be used; paths are as they were given.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    #[error("{0}: {1}")]
    Io(PathBuf, io::Error),
    #[error("{0}: is no entry of a cassette ({1}); delete it, and its question is asked again")]
    Broken(PathBuf, String),
}

impl Entry {
    pub(super) fn new(model: &str, params: &Map<String, Value>, replicate: u32, question: &Question, outcome: Outcome) -> Self {
        Self {
            model: model.to_owned(),
            params: params.clone(),
            replicate,
            max_tokens: question.max_tokens,
            asked: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            outcome,
            system: lines(&question.system),
            user: lines(&question.user),
        }
    }

    fn key(&self) -> String {
        let question = Question { system: self.system.join("\n"), user: self.user.join("\n"), max_tokens: self.max_tokens };
        key(&self.model, &self.params, self.replicate, &question)
    }
}

impl Outcome {
    pub(super) fn of(answered: &Result<Answer, String>) -> Self {
        match answered {
            Ok(Answer { text, cut_off, usage, seconds }) => {
                Self::Answered { seconds: *seconds, usage: *usage, cut_off: *cut_off, answer: lines(text) }
            }
            Err(too_long) => Self::Refused { too_long: too_long.clone() },
        }
    }

    /// Tokens and seconds it took; of a refusal none.
    pub fn paid(&self) -> (Usage, f64) {
        match self {
            Self::Answered { usage, seconds, .. } => (*usage, *seconds),
            Self::Refused { .. } => (Usage::default(), 0.0),
        }
    }

    /// The answer, or why it was refused.
    pub fn answer(self) -> Result<Answer, Trouble> {
        match self {
            Self::Answered { seconds, usage, cut_off, answer } => Ok(Answer { text: answer.join("\n"), cut_off, usage, seconds }),
            Self::Refused { too_long } => Err(Trouble::TooLong(too_long)),
        }
    }
}

/// The lines of a text, none where it is empty; joined again they are the text.
fn lines(text: &str) -> Vec<String> {
    if text.is_empty() { Vec::new() } else { text.split('\n').map(str::to_owned).collect() }
}

impl Cassette {
    /// The folder is made when something is recorded.
    pub fn new(folder: Option<PathBuf>, mode: Mode) -> Self {
        Self { folder, mode }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Where it is kept; none: nowhere.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The entry with this key.
    pub fn get(&self, key: &str) -> Result<Option<Entry>, CassetteError> {
        let Some(path) = self.path(key) else { return Ok(None) };
        match fs::read(&path) {
            Ok(bytes) => entry(&path, &bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(CassetteError::Io(path, error)),
        }
    }

    /// Keeps an entry. Where another writer was faster, what it wrote stays and is given back.
    pub fn put(&self, key: &str, entry: Entry) -> Result<Entry, CassetteError> {
        let (Some(folder), Some(path)) = (&self.folder, self.path(key)) else { return Ok(entry) };
        let failed = |error| CassetteError::Io(path.clone(), error);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut file = tempfile::Builder::new().prefix(".recompact-").tempfile_in(folder).map_err(failed)?;
        let mut json = serde_json::to_vec_pretty(&entry).map_err(|error| failed(error.into()))?;
        json.push(b'\n');
        file.write_all(&json).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        if self.mode == Mode::Record {
            file.persist(&path).map_err(|error| failed(error.error))?;
            return Ok(entry);
        }
        match file.persist_noclobber(&path) {
            Ok(_) => Ok(entry),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(self.get(key)?.unwrap_or(entry)),
            Err(error) => Err(failed(error.error)),
        }
    }

    /// Everything that is on a cassette, in the order of the keys.
    pub fn entries(folder: &Path) -> Result<Vec<Entry>, CassetteError> {
        let failed = |error| CassetteError::Io(folder.to_owned(), error);
        let mut paths = Vec::new();
        for file in fs::read_dir(folder).map_err(failed)? {
            let path = file.map_err(failed)?.path();
            paths.extend(Some(path).filter(|path| path.extension().is_some_and(|extension| extension == "json")));
        }
        paths.sort();
        paths.iter().map(|path| entry(path, &fs::read(path).map_err(|e| CassetteError::Io(path.clone(), e))?)).collect()
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.json")))
    }
}

/// Reads an entry. Its question must be the one that its name stands for.
fn entry(path: &Path, bytes: &[u8]) -> Result<Entry, CassetteError> {
    let broken = |what: String| CassetteError::Broken(path.to_owned(), what);
    let entry: Entry = serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
    match path.file_stem().and_then(|name| name.to_str()) == Some(&*entry.key()) {
        true => Ok(entry),
        false => Err(broken("its question is not the one that its name stands for".to_owned())),
    }
}
