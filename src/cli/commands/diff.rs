//! `recompact diff`: what changed between two saved results.

use std::path::PathBuf;

use clap::Args;
use recompact::analysis::changes::{Changes, changes};
use recompact::results::saved::Results;

use crate::cli::args::output::OutputArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::saved_results;

#[derive(Args)]
pub struct Diff {
    /// The earlier results, saved with `-o json`
    #[arg(value_name = "BEFORE.json")]
    before: PathBuf,
    /// The later results
    #[arg(value_name = "AFTER.json")]
    after: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
}

impl Diff {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.must_show::<Changes>("diff")?;
        self.output.works_on(&[self.before.clone(), self.after.clone()]);
        let mut uses = FileUses::default();
        uses.read("BEFORE.json", &self.before);
        uses.read("AFTER.json", &self.after);
        self.output.add_to(&mut uses);
        uses.check()?;
        let [before, after] = [&self.before, &self.after].map(|path| -> Result<Results, Failure> {
            let failed = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
            let results = saved_results::load(path).map_err(failed)?;
            if results.rows.is_empty() { Err(failed("holds no rows to compare".to_owned())) } else { Ok(results) }
        });
        let changes = changes(&before?, &after?);
        if changes.conversations == 0 {
            return Err(Failure::Usage("nothing can be compared: no conversation is in both results".to_owned()));
        }
        self.output.document("diff", &changes)
    }
}
