//! The program: parses the command line, runs the command, prints an error, returns the exit code.

#![forbid(unsafe_code)]

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            cli::output::say(&format!("recompact: {}", recompact::report::escape::terminal_lines(&failure.to_string())));
            ExitCode::from(failure.exit_code())
        }
    }
}
