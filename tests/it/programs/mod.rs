//! Policies as programs: what they may do, what happens when they fail, and that they do the same as a layer.

mod conversions;
mod equal;
mod exact_texts;
mod hostile;
mod in_place;
mod permission;
mod shape;

use std::path::Path;
use std::process::{Command, Stdio};

/// Returns whether a program is installed; says that a test is skipped if it is not.
fn is_installed(program: &str) -> bool {
    let ran = Command::new(program).arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = ran.is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("skipped: `{program}` is not installed");
    }
    is_there
}

/// Writes a file for a test and returns its path as a word of a command.
fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("our own folder");
    path.display().to_string()
}
