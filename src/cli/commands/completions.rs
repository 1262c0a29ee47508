//! `recompact completions`: prints shell completions, generated from the same definitions as `--help`.

use clap::Args;
use clap_complete::{Shell, generate};

use crate::cli::error::Failure;
use crate::cli::help;
use crate::cli::output;

#[derive(Args)]
pub struct Completions {
    /// Shell to print completions for; `recompact guide start` says where each shell looks for them
    shell: Shell,
}

impl Completions {
    pub fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        let mut command = help::command();
        let name = command.get_name().to_owned();
        generate(self.shell, &mut command, name, &mut script);
        Ok(output::write(None, &script)?)
    }
}
