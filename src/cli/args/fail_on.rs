//! `--fail-on`: the level of findings that makes a command fail.

use clap::Args;
use recompact::findings::{Finding, Level};
use recompact::util::text::plural;

use crate::cli::error::Failure;

#[derive(Args)]
pub struct FailOn {
    /// Exit with 1 if there is a finding of this level or worse: error, warning or note
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    fail_on: Option<Level>,
}

fn level(name: &str) -> Result<Level, String> {
    let known = || Level::ALL.map(Level::name).join(", ");
    Level::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| format!("unknown level (known: {})", known()))
}

impl FailOn {
    /// Whether `--fail-on` was given.
    pub fn is_given(&self) -> bool {
        self.fail_on.is_some()
    }

    /// Fails if a finding has the given level or a worse one.
    pub fn check<'a>(&self, findings: impl IntoIterator<Item = &'a Finding>) -> Result<(), Failure> {
        let Some(level) = self.fail_on else { return Ok(()) };
        let failing: Vec<_> = findings.into_iter().filter(|finding| finding.level <= level).collect();
        let count = |level: Level| (failing.iter().filter(|finding| finding.level == level).count(), level.name());
        let counts = Level::ALL.map(count).into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, name)| plural(count, name)).collect();
        if counts.is_empty() { Ok(()) } else { Err(Failure::Found(format!("{} found", counts.join(", ")))) }
    }
}
