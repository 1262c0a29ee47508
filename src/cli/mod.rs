//! The command line: it parses arguments, calls the library, and prints.
//!
//! May import: the library, as any other crate would. Offers the program: `commands` (one file for each subcommand), `args`
//! (arguments that several subcommands share), `cache` (what one run keeps for the next), `captured` (what a command prints, in memory),
//! `error` (why a command failed, and its exit code), `output` (the one writer of the disk), `new_folder` (files named by texts of
//! transcripts), `pager`, `file_uses` (what may not be read and written at once), `resources` (the files and models of a study), `input`,
//! `defaults` (options that the user's files set), `help` (which options `--help` shows), `monitor`, `progress`, `interrupt` (the
//! transcripts, how far a run is, and when it stops), `session_folders` (where sessions are on this machine), `user_files` (where the
//! user's files of this program are), and `resume`, `saved_results`, and `verbose`.

pub(crate) mod args;
mod cache;
mod captured;
pub(crate) mod commands;
pub(crate) mod defaults;
pub(crate) mod error;
mod file_uses;
mod help;
mod input;
mod interrupt;
mod left_out;
mod monitor;
mod new_folder;
pub(crate) mod output;
mod pager;
mod progress;
pub(crate) mod resources;
mod resume;
pub(crate) mod saved_results;
mod session_folders;
mod user_files;
mod verbose;

use std::ffi::OsString;

use clap::{FromArgMatches, Parser, Subcommand};

use commands::{
    audit, catalog, check, completions, convert, demo, diff, export_settings, guide, inspect, man, merge, policy, probe, replay,
    report, show, sweep,
};
use error::Failure;

pub use captured::Captured;
use captured::capture;

/// What a new user may type first.
const FIRST_STEPS: &str = "\
First steps:
  recompact demo                  the first screen, of invented sessions
  recompact                       which policy to ship for the sessions on this machine
  recompact PATH                  the same for the sessions in a folder or a file
  recompact sweep -p claude-code  which of its settings
  recompact audit                 what the recorded compactions lost
  recompact guide start           more first steps, and how recompact.toml sets defaults";

/// Replays recorded agent conversations through context-compaction policies and reports what each one saves, writes to
/// disk and breaks. Without a command: says which policy to ship for the sessions on this machine.
#[derive(Parser)]
#[command(name = "recompact", version, max_term_width = 100, after_help = FIRST_STEPS)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    /// Say on standard error what is read, asked and started, and how long it took
    #[arg(short, long, global = true, display_order = 1000)]
    verbose: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Show what transcripts hold: format, calls, tokens by kind, growth, largest results, recorded compactions
    Inspect(inspect::Inspect),
    /// Replay transcripts through policies and compare: tokens saved, bytes written, facts kept, requests broken
    Replay(Box<replay::Replay>),
    /// Replay invented sessions that are a part of the program, to see the first screen without transcripts of your own
    Demo(demo::Demo),
    /// Search a policy's parameters for the best trade-offs, and recommend a configuration
    Sweep(Box<sweep::Sweep>),
    /// Find what is wrong with saved transcripts and the compactions recorded in them; changes nothing
    Audit(audit::Audit),
    /// Ask a model what it finds in a policy's requests, to test whether kept.hit is right
    Probe(Box<probe::Probe>),
    /// Check suites of policies and transcripts against limits and a committed baseline: a gate for CI
    Check(check::Check),
    /// Render saved results as another report
    Report(report::Report),
    /// Show one request as the model would get it, with what was cleared, moved and summarised beside the original
    Show(Box<show::Show>),
    /// Say what changed between two saved results, by policy and session
    Diff(diff::Diff),
    /// Make one study of parts that many machines replayed; the results are those of the whole study, to the byte
    Merge(merge::Merge),
    /// Write transcripts in another form: Anthropic messages, OpenAI chat messages
    Convert(convert::Convert),
    /// Record what an agent asks models, by a proxy on this machine, as a log that every other command reads
    #[cfg(feature = "models")]
    Record(commands::record::Record),
    /// Begin a policy file, or check one for mistakes
    Policy(policy::Policy),
    /// Write the numbers of a policy as the configuration of Codex, opencode, LangChain, OpenHands, Claude Code and others
    ExportSettings(export_settings::ExportSettings),
    /// List formats, policies, layers, meters, summarizers, prompts, measures, findings, reports, schemas, prices,
    /// providers and adapters, or print a page
    Catalog(catalog::Catalog),
    /// Print the guide: what the numbers mean, how to choose a policy, what was measured; one page per question
    Guide(guide::Guide),
    /// Print shell completions for bash, zsh, fish, powershell or elvish
    Completions(completions::Completions),
    /// Print man pages, generated from the same definitions as --help
    Man(man::Man),
}

/// Runs the program with these arguments, prints an error, and returns the exit code.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    exit_code(defaults::parse(arguments).and_then(Cli::run))
}

/// Runs the program in this process, without the default options of the user's files, and returns what it printed. For commands that
/// only print: what other threads print goes to the terminal.
pub fn run_captured(arguments: impl IntoIterator<Item = OsString>) -> Captured {
    capture(|| exit_code(parse(arguments).and_then(Cli::run)))
}

/// Parses the command line, without the default options of the user's files.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Failure> {
    Ok(Cli::from_arg_matches(&help::command().try_get_matches_from(arguments)?)?)
}

/// Prints why the program failed, and returns its exit code.
fn exit_code(outcome: Result<(), Failure>) -> u8 {
    match outcome {
        Ok(()) => 0,
        Err(Failure::CommandLine(error)) => output::explain(&error),
        Err(failure) => {
            output::say(&format!("recompact: {}", recompact::report::escape::terminal_lines(&failure.to_string())));
            failure.exit_code()
        }
    }
}

impl Cli {
    fn run(self) -> Result<(), Failure> {
        if self.verbose {
            verbose::begin();
        }
        let Some(command) = self.command else {
            // Without a command: which policy to ship for the sessions on this machine.
            return defaults::parse(["recompact".into(), "replay".into()])?.run();
        };
        let outcome = command.run();
        log::info!("done");
        outcome
    }
}

impl Command {
    fn run(self) -> Result<(), Failure> {
        match self {
            Self::Inspect(command) => command.run(),
            Self::Replay(command) => command.run(),
            Self::Demo(command) => command.run(),
            Self::Sweep(command) => command.run(),
            Self::Audit(command) => command.run(),
            Self::Probe(command) => command.run(),
            Self::Check(command) => command.run(),
            Self::Report(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Diff(command) => command.run(),
            Self::Merge(command) => command.run(),
            Self::Convert(command) => command.run(),
            #[cfg(feature = "models")]
            Self::Record(command) => command.run(),
            Self::Policy(command) => command.run(),
            Self::ExportSettings(command) => command.run(),
            Self::Catalog(command) => command.run(),
            Self::Guide(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Man(command) => command.run(),
        }
    }
}
