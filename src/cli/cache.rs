//! The folder in which the program keeps the results of a run for the next one.

use std::env;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use recompact::analysis::part::CachedPart;
use recompact::results::saved::StudyRecord;

use crate::cli::user_files::UserFile;

const FOLDER: UserFile = UserFile {
    variable: "RECOMPACT_CACHE",
    parents: ["XDG_CACHE_HOME", "LOCALAPPDATA"],
    in_home: [".cache", "Library/Caches"],
    path: "recompact",
};

/// Opens what an earlier run of a study over these paths kept; `None` if nothing is to be kept.
pub fn open(study: &StudyRecord, paths: &[PathBuf]) -> Option<CachedPart> {
    let about = format!("{:?} {:?} {paths:?}", this_program()?, env::current_dir().ok()?);
    Some(CachedPart::open(&FOLDER.find()?, study, &about))
}

/// Returns the path, the size and the time of the program's file: a build of the same version may count otherwise. `None` if this is a
/// part of another program, such as Python.
fn this_program() -> Option<(PathBuf, u64, u128)> {
    let file = env::current_exe().ok().filter(|file| file.file_stem().is_some_and(|name| name == env!("CARGO_PKG_NAME")))?;
    let metadata = Path::metadata(&file).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((file, metadata.len(), modified.as_nanos()))
}
