//! `recompact report`: renders saved results as another report; for a cassette, shows what its answers took.

use std::path::PathBuf;

use clap::Args;
use recompact::llm::client::Cassette;
use recompact::results::saved::{Results, cassette_spending};

use crate::cli::args::output::{OutputArgs, PolicyColumns};
use crate::cli::args::pricing::PricingArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::saved_results;

#[derive(Args)]
pub struct Report {
    /// Results saved with `-o json` (- is standard input), or the folder of a cassette, to see what its answers took
    #[arg(value_name = "RESULTS.json|DIR")]
    file: PathBuf,
    #[command(flatten)]
    pricing: PricingArgs,
    #[command(flatten)]
    columns: PolicyColumns,
    #[command(flatten)]
    output: OutputArgs,
}

impl Report {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.with_columns(&self.columns);
        self.output.works_on(std::slice::from_ref(&self.file));
        self.output.must_show::<Results>("report")?;
        let mut uses = FileUses::default();
        uses.read("RESULTS.json", &self.file);
        self.pricing.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.check()?;
        let failed = |why: String| Failure::Usage(format!("{}: {why}", self.file.display()));
        if self.file.is_dir() {
            return self.cassette();
        }
        let results = saved_results::load(&self.file).map_err(failed)?;
        if results.rows.is_empty() && results.unfinished.is_some() {
            return Err(failed(
                "a stopped sweep has nothing to report yet; `recompact sweep … --resume` continues it".to_owned(),
            ));
        }
        self.output.needs_findings(!results.checked_findings.is_empty())?;
        self.output.document("report", &results)
    }

    /// Reports the tokens and the cost of the answers in a cassette.
    fn cassette(&self) -> Result<(), Failure> {
        let failed = |why: String| Failure::Usage(format!("{}: {why}", self.file.display()));
        let entries = Cassette::entries(&self.file).map_err(|error| Failure::Usage(error.to_string()))?;
        if entries.is_empty() {
            return Err(failed("holds no answers; name a file of saved results, or the folder that --cassette wrote".to_owned()));
        }
        self.output.needs_findings(false)?;
        let prices = self.pricing.load()?.prices;
        self.output.document("report", &Results { spending: cassette_spending(&entries, &prices), ..Results::of_this_program() })
    }
}
