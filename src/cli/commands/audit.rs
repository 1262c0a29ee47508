//! `recompact audit`: finds what is wrong with saved transcripts and their recorded compactions. It only reads.

mod folder;
mod trees;

use std::path::PathBuf;

use clap::Args;
use recompact::analysis::audit::{Audit as AuditDocument, Replayer, Tree, audit, audit_transcript};
use recompact::analysis::corpus::{Analysed, Source};
use recompact::analysis::study::{Study, TokenCounter};
use recompact::engine::policy::Policy;
use recompact::transcript::format::Reading;

use crate::cli::args::fail_on::FailOn;
use crate::cli::args::output::OutputArgs;
use crate::cli::error::Failure;
use crate::cli::input::Transcripts;

pub use trees::AuditFolders;

#[derive(Args)]
pub struct Audit {
    #[command(flatten)]
    transcripts: Transcripts,
    /// Folder in which to look for the outputs and archives that transcripts name; nothing outside of it is opened
    /// [default: each given folder, and the folder of each given file; its parent if it is named .transcripts]
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    #[command(flatten)]
    fail_on: FailOn,
    /// Token counter: own, recorded, o200k, cl100k, or an estimate such as chars/4 (see `recompact catalog meters`)
    #[arg(long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    #[command(flatten)]
    output: OutputArgs,
}

impl Audit {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.works_on(self.transcripts.paths());
        self.transcripts.or_sessions_here()?;
        self.output.must_show::<AuditDocument>("audit")?;
        let recorded = Policy::recorded();
        let study = Study { counter: self.tokenizer, ..Study::new(vec![recorded.clone()]) };
        let replayer = Replayer { study: &study, recorded: &recorded };
        self.transcripts.only_files();
        let trees = AuditFolders::list(self.root.as_deref(), self.transcripts.paths())?;
        trees.must_not_hold(self.output.out())?;
        let work = |source: Source, reading: &Reading| {
            audit_transcript(replayer, source.name, trees.index_of(source.name), source.bytes, reading)
        };
        let done = self.transcripts.for_each(&[self.output.out()], work)?;
        let Analysed { results: transcripts, coverage, end } = done.analysed()?;
        let folders: Vec<&dyn Tree> = trees.folders().collect();
        let mut audit = self.transcripts.install(|| audit(replayer, transcripts, &folders, trees.notes()))?;
        audit.coverage = coverage;
        self.output.document("audit", &audit)?;
        self.transcripts.end(end)?;
        self.fail_on.check(&audit.findings)
    }
}
