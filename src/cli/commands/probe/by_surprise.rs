//! The probe by surprise.

use recompact::analysis::corpus::{Analysed, Source};
use recompact::analysis::probe::Plan;
use recompact::analysis::study::Study;
use recompact::analysis::surprise::{self, SampledUses, SurpriseResults, Uses};
use recompact::engine::policy::Policy;
use recompact::llm::client::Model;
use recompact::report::surprise::DryRun;

use super::Probe;
use crate::cli::error::Failure;

impl Probe {
    /// Asks for the log-probabilities, or says what would be asked if there is no model.
    pub(super) fn by_surprise(
        &self,
        (study, policies): (&Study, &[&Policy]),
        plan: Plan,
        model: Option<&Model>,
    ) -> Result<(), Failure> {
        let sample = |source: Source, reading: &_| surprise::sample(study, policies, &plan, source.name, reading);
        let done = self.transcripts.for_each(&[self.output.out()], sample)?;
        let Analysed { results: samples, coverage, end } = done.without(SampledUses::unanswered).analysed()?;
        let uses = self.transcripts.run(|corpus, monitor| Uses::choose((study, policies), &plan, samples, corpus, monitor))?;
        let Some(model) = model else {
            let dry_run = DryRun { forecasts: surprise::forecast(&uses.prompts), coverage };
            self.output.document("probe", &dry_run)?;
            return Ok(end?);
        };
        let limits = self.study_args.summarizers().models().limits();
        let progress = self.transcripts.question_progress(uses.prompts.len() as u64, limits);
        let scored = self.transcripts.install(|| surprise::ask(model, &uses.prompts, &|| progress.question_answered()))?;
        progress.finish();
        let scored = scored.map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let results = SurpriseResults { coverage, ..SurpriseResults::new(model.name(), plan, uses.unaskable, &names, scored) };
        self.output.document("probe", &results)?;
        Ok(end?)
    }
}
