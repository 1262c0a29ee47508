//! `recompact audit`: what is wrong with saved transcripts and the compactions recorded in them. It only reads.

mod folder;
mod trees;

use std::path::PathBuf;

use clap::Args;
use recompact::analysis::audit::{Replayer, Tree, audit, audit_transcript};
use recompact::analysis::study::{Study, TokenCounter};
use recompact::engine::policy::preset;
use recompact::report::audit::{render, shown_as};
use recompact::results::saved::ResultNote;
use recompact::transcript::format::Reading;

use crate::cli::args::fail_on::FailOn;
use crate::cli::args::output::OutputArgs;
use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts};

use trees::Trees;

#[derive(Args)]
pub struct Audit {
    #[command(flatten)]
    transcripts: Transcripts,
    /// The folder in which the outputs and archives that transcripts name are looked for; nothing outside of it is opened [default:
    /// each folder given, the folder of each file given, or the one around it where that is named .transcripts]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    #[command(flatten)]
    fail_on: FailOn,
    /// What counts tokens: own, recorded, o200k, cl100k, or an estimate such as chars/4 (see `recompact catalog meters`)
    #[arg(long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    #[command(flatten)]
    present: OutputArgs,
}

/// The policy that does what the record did.
const RECORDED: &str = "recorded";

impl Audit {
    pub fn run(mut self) -> Result<(), Failure> {
        let report = self.present.report_of("audit", &shown_as())?;
        let recorded = preset(RECORDED).map(|recorded| recorded.policy(&[])).transpose()?;
        let Some(recorded) = recorded else { return Err(Failure::Usage(format!("there is no policy {RECORDED}"))) };
        let study = Study { counter: self.tokenizer, ..Study::new(vec![recorded.clone()]) };
        let replayer = Replayer { study: &study, recorded: &recorded };
        self.transcripts.only_files();
        let trees = Trees::list(self.root.as_deref(), self.transcripts.paths())?;
        trees.must_not_hold(self.present.out())?;
        let work = |source: Source, reading: &Reading| {
            audit_transcript(replayer, source.name, trees.of(source.name), source.bytes(), reading)
        };
        let done = self.transcripts.for_each(&[self.present.out()], false, work, work, |_| None)?;
        let mut notes = trees.notes();
        notes.extend(done.left_out().map(|(path, what)| ResultNote { path: path.to_owned(), line: None, what: what.to_owned() }));
        let (looks, end) = done.analysed()?;
        let folders: Vec<&dyn Tree> = trees.folders().collect();
        let audit = self.transcripts.install(|| audit(replayer, looks, &folders, notes))?;
        self.present.write(&render(report, &audit, &self.present.style()))?;
        end?;
        self.fail_on.check(&audit.findings)
    }
}
