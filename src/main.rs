//! The program: parses the command line, runs the command, prints an error, returns the exit code.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::defaults::parse(std::env::args_os()).and_then(cli::Cli::run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            cli::output::say(&format!("recompact: {}", recompact::report::escape::terminal_lines(&failure.to_string())));
            ExitCode::from(failure.exit_code())
        }
    }
}
