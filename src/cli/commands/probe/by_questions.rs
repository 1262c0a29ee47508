//! The probe by questions.

use recompact::analysis::corpus::{Analysed, Source};
use recompact::analysis::probe::{self, Plan, ProbeResults, Questions, SampledQuestions};
use recompact::analysis::study::Study;
use recompact::engine::policy::Policy;
use recompact::llm::client::Model;
use recompact::report::probe::DryRun;

use super::Probe;
use crate::cli::error::Failure;

impl Probe {
    /// Asks the questions, or says what would be asked if there is no model.
    pub(super) fn by_questions(
        &self,
        (study, policies): (&Study, &[&Policy]),
        plan: Plan,
        model: Option<&Model>,
    ) -> Result<(), Failure> {
        let sample = |source: Source, reading: &_| probe::sample(study, policies, &plan, source.name, reading);
        let done = self.transcripts.for_each(&[self.output.out()], sample)?;
        let Analysed { results: samples, coverage, end } = done.without(SampledQuestions::unanswered).analysed()?;
        let questions =
            self.transcripts.run(|corpus, monitor| Questions::choose((study, policies), &plan, samples, corpus, monitor))?;
        let Some(model) = model else {
            let dry_run = DryRun { forecasts: probe::forecast(&questions.shown), coverage };
            self.output.document("probe", &dry_run)?;
            return Ok(end?);
        };
        let limits = self.study_args.summarizers().models().limits();
        let progress = self.transcripts.question_progress(questions.count() as u64, limits);
        let answers = self.transcripts.install(|| probe::ask(model, &questions.shown, &|| progress.question_answered()))?;
        progress.finish();
        let answers = answers.map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let Questions { shown, too_long } = questions;
        let findings = ProbeResults { coverage, ..ProbeResults::new(model.name(), plan, too_long, &names, &shown, answers) };
        self.output.document("probe", &findings)?;
        Ok(end?)
    }
}
