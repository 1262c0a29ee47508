//! Shows long output through a pager, as git does.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

/// Options of `less`: keep colours, leave if all fits on one screen, and do not clear the screen.
const LESS: &str = "FRX";

/// Shows bytes in the pager of the user. Returns false if there is none, so that the caller prints them.
pub fn show(bytes: &[u8]) -> bool {
    let pager = env::var("PAGER").unwrap_or_else(|_| "less".to_owned());
    let mut words = pager.split_whitespace();
    let Some(program) = words.next().filter(|program| *program != "cat") else { return false };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    let Ok(mut child) = command.spawn() else { return false };
    // The user may leave the pager before it has read everything.
    if let Some(mut stdin) = child.stdin.take() {
        let _ = stdin.write_all(bytes);
    }
    child.wait().is_ok()
}
