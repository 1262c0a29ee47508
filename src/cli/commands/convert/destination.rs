//! Where converted conversations go: one to a file or to standard output, several to a new folder.

use std::path::{Path, PathBuf};

use crate::cli::error::Failure;
use crate::cli::new_folder::{NewFolder, path_part};
use crate::cli::output;

/// Takes conversations as they come. The first one waits, because only the second shows that a folder is needed.
pub struct Destination<'a> {
    out: Option<&'a Path>,
    ending: &'static str,
    state: State,
}

enum State {
    Nothing,
    One(PathBuf, String),
    Folder(NewFolder),
    Failed(Failure),
}

impl<'a> Destination<'a> {
    /// `out` is what `--out` names, `ending` that of the files of a folder.
    pub fn new(out: Option<&'a Path>, ending: &'static str) -> Self {
        Self { out, ending, state: State::Nothing }
    }

    /// Takes the text of a conversation. An error is kept for the end.
    pub fn add(&mut self, transcript: &str, conversation: &str, text: String) {
        let file = format!("{}.{}", path_part(conversation), self.ending);
        let path: PathBuf = [path_part(transcript), file].iter().collect();
        self.state = match std::mem::replace(&mut self.state, State::Nothing) {
            State::Nothing => State::One(path, text),
            State::One(first_path, first) => self.folder([(first_path, first), (path, text)]).unwrap_or_else(State::Failed),
            State::Folder(folder) => self.write_to(folder, [(path, text)]).unwrap_or_else(State::Failed),
            failed @ State::Failed(_) => failed,
        };
    }

    /// Writes what waits.
    ///
    /// # Errors
    ///
    /// Fails if something could not be written.
    pub fn finish(mut self) -> Result<(), Failure> {
        match (std::mem::replace(&mut self.state, State::Nothing), self.out) {
            (State::Failed(failure), _) => Err(failure),
            (State::One(path, text), Some(out)) if out.is_dir() => self.folder([(path, text)]).map(drop),
            (State::One(_, text), Some(out)) => Ok(output::write_new(out, text.as_bytes())?),
            (State::One(_, text), None) => Ok(output::write(None, text.as_bytes())?),
            (State::Nothing | State::Folder(_), _) => Ok(()),
        }
    }

    /// Opens the folder for these files.
    fn folder<const N: usize>(&self, files: [(PathBuf, String); N]) -> Result<State, Failure> {
        let Some(out) = self.out else {
            let message = "several conversations were found: name a new folder for them with --out FOLDER";
            return Err(Failure::Usage(message.to_owned()));
        };
        self.write_to(NewFolder::create("--out", out)?, files)
    }

    fn write_to<const N: usize>(&self, mut folder: NewFolder, files: [(PathBuf, String); N]) -> Result<State, Failure> {
        for (path, text) in files {
            let path = folder.unique(path);
            let failed = |error| Failure::Usage(format!("--out {}: {}: {error}", self.shown(), path.display()));
            folder.write(&path, &text).map_err(failed)?;
        }
        Ok(State::Folder(folder))
    }

    fn shown(&self) -> String {
        self.out.map_or_else(String::new, |out| out.display().to_string())
    }
}
