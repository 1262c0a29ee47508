//! `recompact man`: prints man pages, generated from the same definitions as `--help`.

use std::path::PathBuf;

use clap::{Args, Command};
use clap_mangen::Man as Page;

use crate::cli::error::Failure;
use crate::cli::help;
use crate::cli::output::{self, OutputError};

#[derive(Args)]
pub struct Man {
    /// Write recompact.1 and one page per subcommand to this folder, which is created if missing
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Man {
    pub fn run(self) -> Result<(), Failure> {
        let mut command = help::command().disable_help_subcommand(true);
        // Gives subcommands the names of their pages: recompact-inspect.
        command.build();
        let all = page(command.clone());
        let Some(folder) = self.out else {
            return Ok(output::write(None, &all.1)?);
        };
        std::fs::create_dir_all(&folder).map_err(|error| OutputError::Unwritable(folder.clone(), error))?;
        for (name, text) in below(&command).into_iter().map(page).chain([all]) {
            output::write(Some(&folder.join(name)), &text)?;
        }
        Ok(())
    }
}

/// Returns the subcommands of a command, with those below them.
fn below(command: &Command) -> Vec<Command> {
    command.get_subcommands().flat_map(|one| [one.clone()].into_iter().chain(below(one))).collect()
}

/// Returns a page's file name and text. It contains no date, so the same program gives the same bytes.
fn page(command: Command) -> (String, Vec<u8>) {
    let page = Page::new(command).source(concat!("recompact ", env!("CARGO_PKG_VERSION"))).manual("recompact");
    let mut written = Vec::new();
    // Writing to memory cannot fail.
    _ = page.render(&mut written);
    (page.get_filename(), written)
}
