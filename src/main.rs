//! The program: runs the command line, and returns its exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(recompact::cli::run(std::env::args_os()))
}
