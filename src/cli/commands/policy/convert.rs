//! `recompact policy convert`: prints a policy file with the present names of its settings.

use std::path::PathBuf;

use clap::Args;
use recompact::engine::policy::{NewName, convert};
use recompact::report::escape;
use recompact::transcript::source::display_path;
use recompact::util::text::plural;

use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct Convert {
    /// The policy file; it is not changed
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Convert {
    pub fn run(self) -> Result<(), Failure> {
        let path = display_path(&self.file);
        let text = std::fs::read_to_string(&self.file).map_err(|error| Failure::Usage(format!("{path}: {error}")))?;
        let converted = convert(&text, &path)?;
        match &self.out {
            None => output::write(None, converted.toml.as_bytes())?,
            Some(out) => output::write_new(out, converted.toml.as_bytes())?,
        }
        output::say(&escape::terminal_lines(&said(&path, &converted.names)));
        Ok(())
    }
}

/// Returns what changed, a line for each name.
fn said(path: &str, names: &[NewName]) -> String {
    if names.is_empty() {
        return format!("{path}: all names are the present ones");
    }
    let line = |name: &NewName| format!("\n{path}:{}: `{}` is now `{}`", name.line, name.old, name.new);
    plural(names.len(), "new name") + &names.iter().map(line).collect::<String>()
}
