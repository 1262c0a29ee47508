//! `recompact policy new`: prints a commented policy file.

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;
use recompact::engine::policy::{PURPOSES, purpose};
use recompact::util::text::{did_you_mean, wrap};

use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct New {
    /// What the policy is for, such as clear-old-results; without it, all purposes are listed
    #[arg(hide_possible_values = true, value_parser = suggesting(purposes, StringValueParser::new()))]
    purpose: Option<String>,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, value_name = "FILE", requires = "purpose")]
    out: Option<PathBuf>,
}

fn purposes() -> Vec<&'static str> {
    PURPOSES.iter().map(|purpose| purpose.name).collect()
}

impl New {
    pub fn run(self) -> Result<(), Failure> {
        let Some(name) = &self.purpose else {
            return Ok(output::write(None, list().as_bytes())?);
        };
        let unknown = || Failure::Usage(format!("there is no purpose `{name}`{}", did_you_mean(name, &purposes())));
        let file = purpose(name).ok_or_else(unknown)?.toml.as_bytes();
        match &self.out {
            None => Ok(output::write(None, file)?),
            Some(path) => Ok(output::write_new(path, file)?),
        }
    }
}

fn list() -> String {
    let width = PURPOSES.iter().map(|purpose| purpose.name.len()).max().unwrap_or(0);
    let purposes = PURPOSES.iter().map(|purpose| wrap(&format!("  {:width$}  ", purpose.name), &purpose.about(), 100));
    let list: String = purposes.collect();
    format!(
        "What is the policy for?\n\n{list}\n`recompact policy new PURPOSE --out my-policy.toml` writes a file with comments.\n"
    )
}
