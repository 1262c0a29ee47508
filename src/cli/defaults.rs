//! Defaults of options that a user keeps in files.
//!
//! They become defaults in the definition of the command line. So `--help` shows them, clap checks them, and an option that is
//! typed wins.

mod file;

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use recompact::analysis::spec::typed_program;
use recompact::report::escape;
use recompact::util::text::did_you_mean;
use recompact::util::toml_span::FileError;

use super::error::Failure;
use super::{Cli, help, output};
use file::{Entry, entries};

/// Options that a file may set. The others start programs, ask models, write files or choose one thing to look at, so they are typed
/// each time.
const SETTABLE: [&str; 31] = [
    "paths",
    "policy",
    "baseline",
    "set",
    "format",
    "branches",
    "strict",
    "max-file",
    "since",
    "until",
    "project",
    "model",
    "limit",
    "window",
    "overhead",
    "tokenizer",
    "thinking",
    "cache",
    "max-residual",
    "prices",
    "seed",
    "misses",
    "breaks",
    "findings",
    "exact",
    "holdout",
    "columns",
    "sort",
    "width",
    "jobs",
    "quiet",
];

/// A command without defaults from files: the numbers that it writes go into another program, so all of them are typed.
const WITHOUT_DEFAULTS: &str = "export-settings";

/// Parses the command line, with the defaults of the user's files.
///
/// # Errors
///
/// Fails if a file sets what is no option, or a value that the option does not take, and if the command line is wrong or asks for
/// help.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, Failure> {
    let entries = entries()?;
    let command = with_defaults(help::command(), &entries)?;
    let matches = command.clone().try_get_matches_from(with_command(&command, arguments.into_iter().collect()))?;
    say_used(&command, &matches, &entries);
    Ok(Cli::from_arg_matches(&matches)?)
}

/// Completes `recompact PATH` and `recompact --full` to `recompact replay …`, if the first word is a path and no command, or an option of
/// `replay` and none of the program.
fn with_command(command: &Command, mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is_switch = |argument: &&OsString| ["-v", "--verbose"].iter().any(|switch| *argument == switch);
    let at = 1 + arguments.iter().skip(1).take_while(is_switch).count();
    let is_path = |word: &OsString| {
        let text = word.to_string_lossy();
        text == "-" || !text.starts_with('-') && (text.contains(['/', '\\', '*']) || Path::new(word).exists())
    };
    let replay = command.find_subcommand("replay").expect("replay is a command");
    let is_option = |word: &OsString| has_option(replay, word) && !has_option(command, word) && !is_help(word);
    let begins = |word: &OsString| command.find_subcommand(word).is_none() && is_path(word) || is_option(word);
    if arguments.get(at).is_some_and(begins) {
        arguments.insert(at, "replay".into());
    }
    arguments
}

/// Whether a command takes the option that this word begins: `--full`, `--show=misses`, `-p`, `-qp`.
fn has_option(command: &Command, word: &OsString) -> bool {
    let text = word.to_string_lossy();
    let long = text.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or_default());
    let short = text.strip_prefix('-').filter(|_| long.is_none()).and_then(|rest| rest.chars().next());
    command.get_arguments().any(|arg| long.is_some() && arg.get_long() == long || short.is_some() && arg.get_short() == short)
}

/// Whether this asks for the help of the program.
fn is_help(word: &OsString) -> bool {
    ["-h", "--help", "--help-all"].iter().any(|help| word == help)
}

/// Makes each entry the default of its option.
fn with_defaults(mut command: Command, entries: &[Entry]) -> Result<Command, FileError> {
    for entry in entries {
        check_name(&command, entry)?;
    }
    let names = command.get_subcommands().map(|sub| sub.get_name().to_owned());
    let names: Vec<String> = names.filter(|name| name != WITHOUT_DEFAULTS).collect();
    for name in names {
        let Some(sub) = command.find_subcommand(&name) else { continue };
        let defaults: Vec<(Arg, &Entry)> =
            sub.get_arguments().filter_map(|arg| Some((arg.clone(), of(entries, &name, option(arg)?)?))).collect();
        for (arg, entry) in defaults {
            check_values(&arg, entry)?;
            let with_default = |arg: Arg| arg.default_values(&entry.values).required(false);
            command = command.mut_subcommand(&name, |sub| sub.mut_arg(arg.get_id().as_str(), with_default));
        }
    }
    Ok(command)
}

/// The name of an argument in a file; `None` if a file cannot set it.
fn option(arg: &Arg) -> Option<&str> {
    let name = arg.get_long().unwrap_or(arg.get_id().as_str());
    SETTABLE.contains(&name).then_some(name)
}

/// The entry that counts for an option of a command: the first one, because entries are ordered by weight.
fn of<'e>(entries: &'e [Entry], command: &str, option: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| entry.option == option && entry.command.as_deref().is_none_or(|of| of == command))
}

fn check_name(command: &Command, entry: &Entry) -> Result<(), FileError> {
    let wrong = |what: String| Err(entry.error(what));
    let commands: Vec<&Command> = match &entry.command {
        None => command.get_subcommands().collect(),
        Some(name) if name == WITHOUT_DEFAULTS => return wrong(format!("the options of `{name}` have to be typed each time")),
        Some(name) => {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let Some(sub) = command.find_subcommand(name) else {
                return wrong(format!("there is no command `{name}`{}", did_you_mean(name, &names)));
            };
            vec![sub]
        }
    };
    let arguments = || commands.iter().flat_map(|sub| sub.get_arguments());
    if arguments().any(|arg| option(arg) == Some(&entry.option)) {
        return Ok(());
    }
    if arguments().any(|arg| arg.get_long() == Some(&entry.option)) {
        return wrong(format!(
            "`{}` has to be typed each time: no file sets options that start programs, ask models or write files",
            entry.option
        ));
    }
    let (of, known) = match &entry.command {
        None => (String::new(), SETTABLE.to_vec()),
        Some(name) => (format!(" of `{name}`"), arguments().filter_map(option).collect()),
    };
    wrong(format!("there is no option `{}`{of}{}", entry.option, did_you_mean(&entry.option, &known)))
}

/// Parses the values as if they were typed.
fn check_values(arg: &Arg, entry: &Entry) -> Result<(), FileError> {
    let wrong = |what: &str| Err(entry.error(format!("`{}`: {what}", entry.option)));
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue);
    match &entry.values[..] {
        [value] if is_switch && !["true", "false"].contains(&value.as_str()) => return wrong("write true or false"),
        [_] => {}
        _ if matches!(arg.get_action(), ArgAction::Append) => {}
        _ => return wrong("write one value"),
    }
    if ["policy", "baseline"].contains(&entry.option.as_str()) && entry.values.iter().any(|value| typed_program(value).is_some())
    {
        return wrong("a policy that is a program has to be typed each time: no file starts programs");
    }
    for value in entry.values.iter().filter(|_| !is_switch) {
        let alone = Command::new("recompact").no_binary_name(true).arg(arg.clone().required(false));
        let typed = arg.get_long().map_or_else(|| value.clone(), |long| format!("--{long}={value}"));
        if let Err(error) = alone.try_get_matches_from([typed]) {
            let message = error.to_string();
            let first = message.split("\n\n").next().unwrap_or_default();
            return wrong(first.trim_start_matches("error: "));
        }
    }
    Ok(())
}

/// Says on standard error which defaults are used, because they change the results.
fn say_used(command: &Command, matches: &ArgMatches, entries: &[Entry]) {
    let Some((name, of_sub)) = matches.subcommand() else { return };
    if matches!(of_sub.try_get_one::<bool>("quiet"), Ok(Some(true))) {
        return;
    }
    let arguments = command.find_subcommand(name).into_iter().flat_map(Command::get_arguments);
    let used: Vec<&Entry> = arguments
        .filter(|arg| of_sub.value_source(arg.get_id().as_str()) == Some(ValueSource::DefaultValue))
        .filter_map(|arg| of(entries, name, option(arg)?))
        .collect();
    let mut origins: Vec<&str> = used.iter().map(|entry| entry.origin.as_str()).collect();
    origins.dedup();
    for origin in origins {
        let of_origin = used.iter().filter(|entry| entry.origin == origin);
        let written: Vec<String> = of_origin.map(|entry| format!("{} = {}", entry.option, entry.values.join(", "))).collect();
        output::say(&escape::terminal(&format!("defaults of {origin}: {}", written.join("; "))));
    }
}
