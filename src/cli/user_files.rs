//! The places of a user's files, beside those of other programs.

use std::env;
use std::path::PathBuf;

/// A file or a folder of this program.
pub struct UserFile {
    /// The variable that names it; there is none if it is empty.
    pub variable: &'static str,
    /// The variables that name the folder of all programs: where freedesktop.org's rules hold, and on Windows.
    pub parents: [&'static str; 2],
    /// That folder without a variable, in the home folder: on Linux and on macOS.
    pub in_home: [&'static str; 2],
    /// The path in that folder.
    pub path: &'static str,
}

impl UserFile {
    /// Returns its path; `None` if there is to be none, or if the system names no place for it.
    pub fn find(&self) -> Option<PathBuf> {
        if env::var_os(self.variable).is_some() {
            return named_path(self.variable);
        }
        let [everywhere, windows] = self.parents;
        let [linux, macos] = self.in_home;
        let of_system = || match env::consts::OS {
            "windows" => named_path(windows),
            "macos" => Some(env::home_dir()?.join(macos)),
            _ => Some(env::home_dir()?.join(linux)),
        };
        let absolute = named_path(everywhere).filter(|path| path.is_absolute());
        Some(absolute.or_else(of_system)?.join(self.path))
    }
}

/// Returns the path that a variable names, unless it is empty.
pub fn named_path(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}
