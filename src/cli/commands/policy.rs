//! `recompact policy`: begins a policy file, checks one, and writes an old one anew.

mod check;
mod convert;
mod new;

use clap::{Args, Subcommand};

use crate::cli::error::Failure;

#[derive(Args)]
pub struct Policy {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Subcommand)]
enum PolicyCommand {
    /// Print a commented policy file for a purpose; without one, list the purposes
    New(new::New),
    /// Check policies for mistakes: tools that the sessions do not use, layers that never act
    ///
    /// Exit code: 0 if there is nothing to warn about, 1 if there are warnings, 2 if a file is wrong. `recompact check` is something
    /// else: it compares results with limits and a baseline.
    Check(Box<check::Check>),
    /// Print a policy file with the present names of its settings; comments and all else stay
    Convert(convert::Convert),
}

impl Policy {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            PolicyCommand::New(command) => command.run(),
            PolicyCommand::Check(command) => command.run(),
            PolicyCommand::Convert(command) => command.run(),
        }
    }
}
