//! Options for policies that are programs: which may be started, and what they get.

use std::ffi::OsString;
use std::sync::Arc;

use clap::Args;
use recompact::programs::{ProgramSettings, Programs};
use recompact::util::text::{plural, were};

use crate::cli::help::PROGRAMS;
use crate::cli::output;

#[derive(Args)]
pub struct ProgramArgs {
    /// Start the programs that policy files and suites name; a policy typed as NAME=command:PROGRAM needs no permission
    #[arg(help_heading = PROGRAMS, long)]
    allow_programs: bool,
    /// Environment variable to pass on to the programs, which otherwise get only PATH; repeatable
    #[arg(help_heading = PROGRAMS, long, value_name = "NAME", value_parser = variable)]
    env: Vec<(String, OsString)>,
    /// Ask each program everything twice, the second time in a new process, and leave out sessions with other answers
    #[arg(help_heading = PROGRAMS, long)]
    twice: bool,
}

/// The programs of a command, and which of them may be started.
pub struct ProgramAccess {
    pub programs: Arc<Programs>,
    /// Policy files and suites may name programs.
    pub trusts_files: bool,
    /// The names of the policies were typed, and not read in a file.
    pub names_are_typed: bool,
}

fn variable(name: &str) -> Result<(String, OsString), String> {
    let value = std::env::var_os(name).ok_or_else(|| format!("the environment has no variable `{name}`"))?;
    Ok((name.to_owned(), value))
}

impl ProgramArgs {
    /// Access for a command; `names_are_typed`: its policies are named by its arguments.
    pub fn access(&self, names_are_typed: bool) -> ProgramAccess {
        let settings = ProgramSettings { environment: self.env.clone(), twice: self.twice };
        ProgramAccess { programs: Arc::new(Programs::new(settings)), trusts_files: self.allow_programs, names_are_typed }
    }
}

impl ProgramAccess {
    /// Says for each program that was asked everything twice how much of it was answered the same.
    pub fn say_repeated(&self) {
        for (command, repeated) in self.programs.repeated() {
            let [sessions, answers] = [(repeated.sessions, "session"), (repeated.answers, "answer")].map(|(n, of)| plural(n, of));
            let were = were(repeated.answers);
            let command = recompact::report::escape::terminal(&command);
            output::say(&format!("recompact: `{command}` is deterministic in {sessions}: {answers} {were} the same twice"));
        }
    }
}
