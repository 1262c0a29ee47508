//! The folder in which the program keeps the results of a run for the next one.

use std::env;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use recompact::analysis::part::CachedPart;
use recompact::results::saved::StudyRecord;

/// The variable that names the folder; nothing is kept if it is empty.
const VARIABLE: &str = "RECOMPACT_CACHE";

/// Opens what an earlier run of a study over these paths kept; `None` if nothing is to be kept.
pub fn open(study: &StudyRecord, paths: &[PathBuf]) -> Option<CachedPart> {
    let about = format!("{:?} {:?} {paths:?}", this_program()?, env::current_dir().ok()?);
    Some(CachedPart::open(&folder()?, study, &about))
}

/// Returns the folder, beside those of other programs; `None` if the system names no place for it.
fn folder() -> Option<PathBuf> {
    let named = |variable: &str| env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    if env::var_os(VARIABLE).is_some() {
        return named(VARIABLE);
    }
    let of_system = || match env::consts::OS {
        "windows" => named("LOCALAPPDATA"),
        "macos" => Some(env::home_dir()?.join("Library/Caches")),
        _ => Some(env::home_dir()?.join(".cache")),
    };
    Some(named("XDG_CACHE_HOME").filter(|path| path.is_absolute()).or_else(of_system)?.join("recompact"))
}

/// Returns the path, the size and the time of the program's file: a build of the same version may count otherwise. `None` if this is a
/// part of another program, such as Python.
fn this_program() -> Option<(PathBuf, u64, u128)> {
    let file = env::current_exe().ok().filter(|file| file.file_stem().is_some_and(|name| name == env!("CARGO_PKG_NAME")))?;
    let metadata = Path::metadata(&file).ok()?;
    let modified = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some((file, metadata.len(), modified.as_nanos()))
}
