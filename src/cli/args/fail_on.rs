//! From which level on findings are a failure.

use clap::Args;
use recompact::findings::{Finding, Level};
use recompact::util::text::plural;

use crate::cli::error::Failure;

#[derive(Args)]
pub struct FailOn {
    /// Exit with 1 where something of this level or a worse one was found: error, warning or note
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    fail_on: Option<Level>,
}

fn level(name: &str) -> Result<Level, String> {
    let known = || Level::ALL.map(Level::name).join(", ");
    Level::ALL
        .into_iter()
        .find(|level| level.name() == name)
        .ok_or_else(|| format!("there is no such level (known: {})", known()))
}

impl FailOn {
    /// Whether anybody asked.
    pub fn is_given(&self) -> bool {
        self.fail_on.is_some()
    }

    /// Fails where one of the findings is as bad as that.
    pub fn check<'a>(&self, findings: impl IntoIterator<Item = &'a Finding>) -> Result<(), Failure> {
        let Some(least) = self.fail_on else { return Ok(()) };
        let bad: Vec<_> = findings.into_iter().filter(|finding| finding.level <= least).collect();
        let of = |level: Level| (bad.iter().filter(|finding| finding.level == level).count(), level.name());
        let counts = Level::ALL.map(of).into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, name)| plural(count, name)).collect();
        if counts.is_empty() { Ok(()) } else { Err(Failure::Found(format!("{} found", counts.join(", ")))) }
    }
}
