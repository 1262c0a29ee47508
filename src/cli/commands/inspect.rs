//! `recompact inspect`: shows what transcripts hold.

use clap::Args;
use recompact::analysis::corpus::{Analysed, FileCorpus, Monitor};
use recompact::analysis::inspect::{Inspection, count_calls_once};
use recompact::analysis::part::inspect_corpus;
use recompact::analysis::spec::StudySpec;
use recompact::analysis::study::TokenCounter;
use recompact::report::inspection::Inspections;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::pricing::PricingArgs;
use crate::cli::cache;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::help::MORE;
use crate::cli::input::Transcripts;

#[derive(Args)]
pub struct Inspect {
    #[command(flatten)]
    transcripts: Transcripts,
    /// Token counter: own (each model's own tokenizer: o200k or cl100k, or calibrated on recorded usage if it is
    /// not public, as Claude's), recorded (calibrated for every model), o200k, cl100k, or an estimate such as chars/4
    /// (see `recompact catalog meters`)
    #[arg(long, value_name = "NAME", default_value = "own")]
    tokenizer: TokenCounter,
    #[command(flatten)]
    pricing: PricingArgs,
    /// Inspect every transcript, also those that an earlier run inspected in the same way; keep nothing for the next one
    #[arg(help_heading = MORE, long)]
    no_cache: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Inspect {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.works_on(self.transcripts.paths());
        self.transcripts.or_sessions_here()?;
        let name_others = |failure| Failure::Usage(format!("{failure}; replay and report have one"));
        self.output.must_show::<Inspections>("inspect").map_err(name_others)?;
        let mut uses = FileUses::default();
        self.pricing.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.check()?;
        let prices = self.pricing.load()?;
        let spec = self.spec();
        let inspect = |corpus: &FileCorpus, monitor: &dyn Monitor| {
            let cached = (!self.no_cache).then(|| cache::open(&prices.record(&spec), self.transcripts.paths())).flatten();
            inspect_corpus(corpus, monitor, (&spec, &prices), cached.as_ref())
        };
        let Analysed { results: per_transcript, coverage, end } =
            self.transcripts.process(&[self.output.out()], inspect)?.analysed()?;
        let mut conversations: Vec<Inspection> = per_transcript.into_iter().flatten().collect();
        count_calls_once(&mut conversations);
        self.output.document("inspect", &Inspections { conversations, coverage })?;
        self.transcripts.end(end)
    }

    fn spec(&self) -> StudySpec {
        let prices = self.pricing.given().map(str::to_owned);
        StudySpec { tokenizer: self.tokenizer, prices, read: self.transcripts.read_spec(), ..StudySpec::default() }
    }
}
