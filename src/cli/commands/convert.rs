//! `recompact convert`: writes conversations in the form of another program.

mod destination;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use recompact::analysis::corpus::{Analysed, Source};
use recompact::transcript::format::Reading;
use recompact::transcript::write::{Losses, Lost, TARGETS, Target, by_name};
use recompact::util::text::{are, plural};

use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::Transcripts;
use crate::cli::output;
use destination::Destination;

/// Help of the paths: nothing is converted unless it is named.
const PATHS: &str = "File, folder, glob pattern, or - (standard input)";

/// What a user should know of the output.
const PROMISE: &str = "Read again, the output has the same messages, calls and results; if a form cannot hold some of them, the exit code is 1. What else it \
     has no place for is counted on standard error; with --strict that gives exit code 1, too. Nothing is redacted: keys and passwords of \
     the transcript are in the output.";

#[derive(Args)]
#[command(after_help = PROMISE, mut_arg("paths", |arg| arg.required(true).help(PATHS).long_help(PATHS)))]
pub struct Convert {
    #[command(flatten)]
    transcripts: Transcripts,
    /// The form to write
    #[arg(long, value_name = "FORM", value_parser = targets())]
    to: &'static Target,
    /// The new file to write, or the new folder with a file for each conversation [default: standard output, for one conversation]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

fn targets() -> impl TypedValueParser<Value = &'static Target> {
    let values = TARGETS.iter().map(|target| PossibleValue::new(target.name).help(target.about));
    PossibleValuesParser::new(values).try_map(|name| by_name(&name).ok_or("no such form"))
}

impl Convert {
    pub fn run(mut self) -> Result<(), Failure> {
        self.transcripts.or_session_of_id();
        let mut uses = FileUses::default();
        uses.write("--out", self.out.as_deref());
        uses.check()?;
        let destination = Mutex::new(Destination::new(self.out.as_deref(), self.to.ending));
        let convert = |source: Source, reading: &Reading| {
            let mut losses = Losses::default();
            for conversation in &reading.conversations {
                let converted = self.to.convert(conversation);
                losses.extend(&converted.losses);
                let mut destination = destination.lock().unwrap_or_else(PoisonError::into_inner);
                destination.add(source.name, &conversation.name, converted.text);
            }
            losses
        };
        let Analysed { results, end, .. } = self.transcripts.for_each(&[self.out.as_deref()], convert)?.analysed()?;
        destination.into_inner().unwrap_or_else(PoisonError::into_inner).finish()?;
        let mut losses = Losses::default();
        results.iter().for_each(|other| losses.extend(other));
        self.say(&losses);
        self.transcripts.end(end)?;
        if losses.is_misread() {
            let blocks = plural(losses.count(Lost::Content), "block");
            return Err(Failure::Found(format!("{} cannot hold {blocks} as the model saw them", self.to.name)));
        }
        if self.transcripts.read_spec().strict && !losses.is_empty() {
            return Err(Failure::Found(format!("--strict: {} cannot hold all of it", self.to.name)));
        }
        Ok(())
    }

    /// Names what is not in the output.
    fn say(&self, losses: &Losses) {
        let compactions = losses.count(Lost::Compaction);
        if compactions > 0 {
            let (compactions, are) = (plural(compactions, "recorded compaction"), are(compactions));
            output::say(&format!("{compactions} {are} not in the output: the history is written as it grew"));
        }
        let marked = losses.count(Lost::Marked);
        if marked > 0 {
            let results = plural(marked, "result");
            output::say(&format!(
                "{results} of failed tools got `is_error`, which the agent did not send: the record says it otherwise"
            ));
        }
        let others = losses.phrases();
        if !others.is_empty() {
            output::say(&format!("not in the output, because {} has no place for it: {}", self.to.name, others.join(", ")));
        }
    }
}
