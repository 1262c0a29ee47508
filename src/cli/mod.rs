//! The command line: it parses arguments, calls the library, and prints.
//!
//! May import: the library, as any other crate would. Offers the program: `commands` (one file for each subcommand), `args`
//! (arguments that several subcommands share), `error` (why a command failed, and its exit code), `source` (the one reader of the
//! disk), `output` (the one writer), and `input`, `progress`, `interrupt`, `resume` (the loop over transcripts).

mod args;
mod commands;
mod error;
mod input;
mod interrupt;
mod output;
mod progress;
mod resume;
mod source;

use clap::{Parser, Subcommand};

use commands::{audit, catalog, check, completions, guide, inspect, man, probe, replay, report, sweep};
use error::Failure;

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
