//! `recompact inspect`: what is in the transcripts.

use clap::Args;
use recompact::analysis::inspect::Inspection;
use recompact::analysis::study::TokenCounter;
use recompact::metrics::prices::Ledger;
use recompact::report::inspection;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::pricing::PricingArgs;
use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts};

#[derive(Args)]
pub struct Inspect {
    #[command(flatten)]
    transcripts: Transcripts,
    /// What counts tokens: own (each model's: calibrated on recorded usage where its tokenizer is not public, as Claude's, else
    /// o200k), recorded (calibrated whatever the model), o200k, cl100k, or an estimate such as chars/4 (see `recompact catalog
    /// meters`)
    #[arg(long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    #[command(flatten)]
    priced: PricingArgs,
    #[command(flatten)]
    present: OutputArgs,
}

impl Inspect {
    pub fn run(self) -> Result<(), Failure> {
        let others = |failure| Failure::Usage(format!("{failure}; replay and report have one"));
        let report = self.present.report_of("inspect", &inspection::SHOWN_AS).map_err(others)?;
        let (prices, priced_as) = self.priced.load()?;
        let look = |source: Source, reading: &recompact::transcript::format::Reading| {
            let ledger = Ledger::new(&prices, priced_as.as_deref());
            Inspection::all(source.name, reading, self.tokenizer, ledger)
        };
        let (parts, end) = self.transcripts.for_each(&[self.present.out()], false, look, look, |_| None)?.analysed()?;
        let inspections: Vec<Inspection> = parts.into_iter().flatten().collect();
        self.present.write(&inspection::render(report, &inspections, &self.present.style()))?;
        end
    }
}
