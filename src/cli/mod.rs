//! The subcommands, a file each: their arguments and their `run`.

mod audit;
mod catalog;
mod check;
mod completions;
mod contexts;
mod fail_on;
mod guide;
mod input;
mod inspect;
mod interrupt;
mod man;
mod materialize;
mod models;
mod output;
mod present;
mod priced;
mod probe;
mod progress;
mod replay;
mod report;
mod resume;
mod source;
mod studied;
mod sweep;
mod writers;

use clap::{Parser, Subcommand};

/// Replays recorded agent conversations through context-compaction policies and says what each one saves, writes to disk
/// and breaks.
#[derive(Parser)]
#[command(name = "recompact", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What is in the transcripts: format, calls, tokens by kind, growth, largest results, recorded compactions
    Inspect(inspect::Inspect),
    /// Transcripts × policies → one comparison: tokens saved, bytes written, information kept, requests broken
    Replay(Box<replay::Replay>),
    /// A policy's parameters → many configurations → the best trade-offs, and which of them to ship
    Sweep(Box<sweep::Sweep>),
    /// What is wrong with saved transcripts and the compactions recorded in them; changes nothing
    Audit(audit::Audit),
    /// Asks a model what it finds in a policy's requests: does kept.hit tell the truth?
    Probe(Box<probe::Probe>),
    /// Suites of policies and transcripts against limits and a committed baseline: a gate for CI
    Check(check::Check),
    /// Saved results → another report
    Report(report::Report),
    /// Formats, policies, layers, meters, summarizers, prompts, measures, findings, reports, prices and providers, with their pages
    Catalog(catalog::Catalog),
    /// The guide: what the numbers mean, how to choose a policy, what was measured; one page a question
    Guide(guide::Guide),
    /// Shell completions: bash, zsh, fish, powershell or elvish, to standard output
    Completions(completions::Completions),
    /// Man pages, from the same definition as --help
    Man(man::Man),
}

impl Cli {
    pub fn run(self) -> Result<(), Failure> {
        match self.command {
            Command::Inspect(command) => command.run(),
            Command::Replay(command) => command.run(),
            Command::Sweep(command) => command.run(),
            Command::Audit(command) => command.run(),
            Command::Probe(command) => command.run(),
            Command::Check(command) => command.run(),
            Command::Report(command) => command.run(),
            Command::Catalog(command) => command.run(),
            Command::Guide(command) => command.run(),
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
        }
    }
}

/// Why a command failed: wrong use, unreadable input, or nothing could be analysed; or somebody stopped it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    /// Some input could not be used; what could be was reported.
    #[error("{}", .0.join("\nrecompact: "))]
    Input(Vec<String>),
    /// Everything was analysed and reported, and what was found is as bad as the caller said it must not be.
    #[error("{0}")]
    Found(String),
    /// What was finished was reported.
    #[error("stopped: {done} of {transcripts} transcripts are done{}", if *.can_go_on { "; --resume goes on" } else { "" })]
    Stopped { done: usize, transcripts: usize, can_go_on: bool },
    #[error(transparent)]
    File(#[from] recompact::util::toml_span::FileError),
    #[error(transparent)]
    Sweep(#[from] recompact::analysis::sweep::SweepError),
    #[error(transparent)]
    Output(#[from] crate::cli::output::OutputError),
}

impl Failure {
    /// A stopped study of which all was saved.
    fn that_can_go_on(self, is_saved: bool) -> Self {
        match self {
            Failure::Stopped { done, transcripts, .. } => Failure::Stopped { done, transcripts, can_go_on: is_saved },
            other => other,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Found(_) => 1,
            Failure::Stopped { .. } => interrupt::INTERRUPTED,
            _ => 2,
        }
    }
}
