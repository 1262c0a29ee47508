//! Sessions of stores as inputs: `opencode.db` means all of its sessions, and `opencode.db#ses_1` one. The session of a folder has the name
//! of its main file.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Input, InputCollector, SourceErrorKind, display_path};
use crate::transcript::format::FORMATS;
use crate::transcript::format::store::{StoreFiles, StoredSession, of_folder};

/// How a SQLite database begins (<https://www.sqlite.org/fileformat.html>, 1.3).
pub const DATABASE: &[u8] = b"SQLite format 3\0";

/// Separates the path of a store from the id of a session.
const SEPARATOR: char = '#';

/// Whether a file is a database, by its first bytes. Nothing is read from a pipe.
pub fn is_database(path: &Path) -> bool {
    let mut head = Vec::new();
    let file = fs::metadata(path).ok().filter(fs::Metadata::is_file).and_then(|_| File::open(path).ok());
    file.is_some_and(|file| file.take(DATABASE.len() as u64).read_to_end(&mut head).is_ok()) && head == DATABASE
}

/// Returns the sessions of a store, or only the one with this id; `None` if a file is no store.
fn sessions(path: &Path, id: Option<&str>) -> Result<Option<Vec<StoredSession>>, SourceErrorKind> {
    if let Some(store) = path.file_name().and_then(of_folder) {
        return (store.sessions)(path, id).map_err(SourceErrorKind::Store);
    }
    if !is_database(path) {
        return Ok(None);
    }
    let stores = FORMATS.iter().filter_map(|format| format.store.as_ref());
    for store in stores.filter(|store| store.files == StoreFiles::Databases) {
        if let Some(sessions) = (store.sessions)(path, id).map_err(SourceErrorKind::Store)? {
            return Ok(Some(sessions));
        }
    }
    Ok(None)
}

/// Between the head of a family and a session that its agents started, in the name of the latter: as in the paths of Claude Code, so that
/// all of a family count as one piece of work.
const SUBAGENTS: &str = "/subagents/";

/// Splits the path of a store and a session, and returns the id of the session.
pub fn split(path: &Path) -> Option<(PathBuf, &str)> {
    let text = path.to_str()?;
    let ends = text.match_indices(SEPARATOR).map(|(at, _)| (PathBuf::from(&text[..at]), &text[at + SEPARATOR.len_utf8()..]));
    let (file, session) = ends.into_iter().find(|(file, _)| is_database(file))?;
    Some((file, session.rsplit_once(SUBAGENTS).map_or(session, |(_, id)| id)))
}

impl InputCollector {
    /// Adds a file: the sessions in it, if it is a store.
    pub(super) fn add_file(&mut self, path: PathBuf, explicit: bool) {
        match sessions(&path, None) {
            Ok(None) => self.push(path, explicit),
            Ok(Some(sessions)) if sessions.is_empty() => {
                self.errors.push(SourceErrorKind::NoSession(String::new()).at(display_path(&path)));
            }
            Ok(Some(sessions)) => sessions.into_iter().for_each(|session| self.push_session(&path, session, explicit)),
            Err(error) => self.errors.push(error.at(display_path(&path))),
        }
    }

    /// Adds one session of a store.
    pub(super) fn add_session(&mut self, path: &Path, id: &str) {
        match sessions(path, Some(id)).map(Option::unwrap_or_default) {
            Ok(found) if found.is_empty() => {
                self.errors.push(SourceErrorKind::NoSession(format!(" `{id}`")).at(display_path(path)));
            }
            Ok(found) => found.into_iter().for_each(|session| self.push_session(path, session, true)),
            Err(error) => self.errors.push(error.at(display_path(path))),
        }
    }

    fn push_session(&mut self, path: &Path, session: StoredSession, explicit: bool) {
        let end = if session.id.is_empty() { String::new() } else { format!("{SEPARATOR}{}", session.id) };
        let mut input = Input::new(&self.base, path.to_owned(), explicit);
        input.name += &match &session {
            StoredSession { id, family, .. } if id != family => format!("{SEPARATOR}{family}{SUBAGENTS}{id}"),
            _ => end.clone(),
        };
        input.session = Some(session);
        let mut key = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).into_os_string();
        key.push(end);
        self.push_as(key.into(), input);
    }
}
