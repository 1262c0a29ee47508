//! `recompact demo`: the first screen for a person who has no transcript at hand, of invented sessions that are a part of the program.

use clap::Args;
use recompact::transcript::source::Input;

use super::replay::Replay;
use crate::cli::args::output::OutputArgs;
use crate::cli::error::Failure;

/// What their folder is called. It is no path of this machine or of a checkout: no command can read it.
const FOLDER: &str = "demo";

/// The sessions, deflated. A test compares them with those of the repository, and writes them.
const SESSIONS: [(&str, &[u8]); 3] = [
    ("kept-tail.jsonl", include_bytes!("demo/kept-tail.deflate")),
    ("repair/subagents/agent-afc7507.jsonl", include_bytes!("demo/agent-afc7507.deflate")),
    ("repair.jsonl", include_bytes!("demo/repair.deflate")),
];

/// At the usual window of 200,000 tokens, most policies would have nothing to do.
const OPTIONS: [&str; 2] = ["--window", "80k"];

#[derive(Args)]
pub struct Demo {
    #[command(flatten)]
    output: OutputArgs,
}

impl Demo {
    pub fn run(self) -> Result<(), Failure> {
        let sessions = SESSIONS.map(|(name, deflated)| Input::built_in(format!("{FOLDER}/{name}"), deflated));
        Replay::of_built_in("demo", &OPTIONS, sessions.into(), self.output)?.run()
    }
}
