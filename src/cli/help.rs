//! What `--help` shows: the options that most people need. `--help-all` shows all of them, in groups.

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::Cli;

// Each option names its heading: `next_help_heading` would also apply to every option that follows.

/// Which files are read, and how.
pub const READING: &str = "Reading";
/// How tokens are counted and requests are priced.
pub const COUNTING: &str = "Counting and pricing";
/// Models that write summaries or answer questions.
pub const MODELS: &str = "Models";
/// Policies that are programs.
pub const PROGRAMS: &str = "Programs";
/// What a study writes and computes beside its results.
pub const MORE: &str = "More";

/// The groups of options that only `--help-all` shows.
const RARE: [&str; 5] = [READING, COUNTING, MODELS, PROGRAMS, MORE];

/// The command line with both kinds of help.
pub fn command() -> Command {
    Cli::command().mut_subcommands(with_both)
}

fn with_both(command: Command) -> Command {
    let command = command.mut_subcommands(with_both);
    let is_rare = |arg: &Arg| arg.get_help_heading().is_some_and(|heading| RARE.contains(&heading));
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).display_order(1000);
    let command = command.disable_help_flag(true);
    if !command.get_arguments().any(is_rare) {
        return command.arg(help.help("Print this help"));
    }
    let help_all = Arg::new("help-all").long("help-all").action(ArgAction::HelpLong).display_order(1000);
    command
        .mut_args(|arg| if is_rare(&arg) { arg.hide_short_help(true) } else { arg })
        .args([help.help("Print this help"), help_all.help("Print all options, with what each takes")])
}
