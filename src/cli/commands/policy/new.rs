//! `recompact policy new`: prints a commented policy file, or writes a program that is a policy.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, StringValueParser};
use recompact::engine::policy::{PROPOSALS, PURPOSES, Purpose, purpose};
use recompact::programs::{TEMPLATES, Template};
use recompact::report::escape;
use recompact::transcript::source::display_path;
use recompact::util::text::{did_you_mean, shell_word, wrap};

use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::output::{self, OutputError};

/// The purpose that is code of one's own.
const PROGRAM: &str = "program";
/// What it is for, as the other files say it in their first comment.
const ABOUT_PROGRAM: &str = "A program of your own decides what each request holds: --lang python, node or sh.";

#[derive(Args)]
pub struct New {
    /// What the policy is for, such as clear-old-results, or program; without it, all purposes are listed
    #[arg(hide_possible_values = true, value_parser = suggesting(purposes, StringValueParser::new()))]
    purpose: Option<String>,
    /// Language of the program, for the purpose program
    #[arg(long, value_name = "LANGUAGE", requires = "purpose",
        value_parser = PossibleValuesParser::new(TEMPLATES.iter().map(|template| template.language)))]
    lang: Option<String>,
    /// Write to this file instead of standard output; an existing file is not replaced. For a program: my-policy.toml writes the
    /// program beside it, too
    #[arg(long, value_name = "FILE", requires = "purpose")]
    out: Option<PathBuf>,
}

fn purposes() -> Vec<&'static str> {
    PURPOSES.iter().chain(PROPOSALS).map(|purpose| purpose.name).chain([PROGRAM]).collect()
}

impl New {
    pub fn run(self) -> Result<(), Failure> {
        let Some(name) = &self.purpose else {
            return Ok(output::write(None, list().as_bytes())?);
        };
        if name == PROGRAM {
            return self.program();
        }
        let unknown = || Failure::Usage(format!("there is no purpose `{name}`{}", did_you_mean(name, &purposes())));
        let file = purpose(name).ok_or_else(unknown)?.toml.as_bytes();
        if self.lang.is_some() {
            return Err(Failure::Usage(format!("`{name}` is a policy file without a program: leave out --lang")));
        }
        match &self.out {
            None => Ok(output::write(None, file)?),
            Some(path) => {
                output::write_new(path, file)?;
                let path = display_path(path);
                let next = format!("recompact replay SESSIONS -p {}", shell_word(&path));
                output::say(&escape::terminal(&format!("{path} was written; {next}")));
                Ok(())
            }
        }
    }

    /// Prints a program; with `--out` writes it and the policy file that names it.
    fn program(&self) -> Result<(), Failure> {
        let template = TEMPLATES.iter().find(|template| self.lang.as_deref() == Some(template.language));
        let languages = TEMPLATES.iter().map(|template| template.language).collect::<Vec<_>>().join(", ");
        let template =
            template.ok_or_else(|| Failure::Usage(format!("in which language is the program? Add --lang ({languages})")))?;
        match &self.out {
            None => Ok(output::write(None, template.source.as_bytes())?),
            Some(out) => write_program(template, out),
        }
    }
}

/// Writes both files, or none if one of them is there.
fn write_program(template: &Template, out: &Path) -> Result<(), Failure> {
    let (program, policy) = (out.with_extension(template.extension), out.with_extension("toml"));
    if let Some(path) = [&program, &policy].into_iter().find(|path| path.exists()) {
        return Err(OutputError::Exists(path.clone()).into());
    }
    let name = out.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    output::write_new(&program, template.source.as_bytes())?;
    output::write_new(&policy, template.policy(&name, &display_path(&program)).as_bytes())?;
    let [program, policy] = [program, policy].map(|path| display_path(&path));
    let next = format!("recompact replay SESSIONS -p {} --allow-programs", shell_word(&policy));
    output::say(&escape::terminal(&format!("{program} and {policy} were written; {next}")));
    Ok(())
}

fn list() -> String {
    let width = PURPOSES.iter().chain(PROPOSALS).map(|purpose| purpose.name.len()).max().unwrap_or(0);
    let line = |name: &str, about: &str| wrap(&format!("  {name:width$}  "), about, 100);
    let lines = |files: &[Purpose]| -> String { files.iter().map(|file| line(file.name, &file.about())).collect() };
    let (purposes, proposals, program) = (lines(PURPOSES), lines(PROPOSALS), line(PROGRAM, ABOUT_PROGRAM));
    format!(
        "What is the policy for?\n\n{purposes}{program}\nWhat people propose, in a few lines each:\n\n{proposals}\n\
         `recompact policy new NAME --out my-policy.toml` writes the file.\n"
    )
}
