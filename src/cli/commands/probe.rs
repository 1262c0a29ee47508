//! `recompact probe`: tests whether a model finds the facts that `kept.hit` counts as in context.

use clap::Args;
use recompact::analysis::corpus::{Analysed, Source};
use recompact::analysis::probe::{self, ProbeResults, Questions};
use recompact::analysis::spec::{Loaded, ModelRequest};
use recompact::engine::policy::Policy;
use recompact::llm::client::Address;
use recompact::report::probe::DryRun;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::{Transcripts, at_least_one};
use crate::cli::resources::CommandResources;

#[derive(Args)]
// These study options have no effect here.
#[command(mut_arg("of_model", |arg| arg.long("session-model")), mut_arg("policies", |arg| arg.required(true)), mut_arg("baseline", |arg| arg.hide(true)), mut_arg("max_residual", |arg| arg.hide(true)))]
pub struct Probe {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    study_args: StudyArgs,
    /// Model to ask: openai:MODEL, anthropic:MODEL, command:PROGRAM
    #[arg(long, value_name = "MODEL")]
    model: String,
    /// Maximum number of questions over all policies; each is asked with the policy's request, with the whole history,
    /// and without context
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    questions: usize,
    /// Maximum tokens of a request's messages; longer requests are left out, not cut
    #[arg(long, value_name = "TOKENS", default_value_t = 8_000)]
    max_context: u64,
    /// Print how many questions and tokens that would be, and ask nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: OutputArgs,
}

impl Probe {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.works_on(self.transcripts.paths());
        self.transcripts.or_sessions_here()?;
        self.output.must_show::<ProbeResults>("probe")?;
        let mut uses = FileUses::default();
        self.study_args.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.check()?;
        self.transcripts.must_be_files()?;
        let models = self.study_args.summarizers().models();
        if !self.dry_run {
            self.transcripts.work_with_models(models.limits());
        }
        let mut spec = self.study_args.spec();
        spec.bounds = false;
        spec.read = self.transcripts.read_spec();
        // In a dry run no summarizer is called either.
        let plan = self.dry_run.then(Default::default);
        let resources = CommandResources { models: Some(models.factory()), plan, ..Default::default() };
        let Loaded { study, policies, .. } = spec.load(&resources)?;
        let policies: Vec<&Policy> = policies.iter().collect();
        let address = self.address()?;
        let params = models.params().into_iter().collect();
        let request = ModelRequest { address: &address, replicate: 1, params: &params, prices: &study.prices };
        let model = (!self.dry_run).then(|| models.factory().model(&request)).transpose().map_err(Failure::Usage)?;
        let plan = probe::Plan { questions: self.questions, max_context: self.max_context, seed: study.seed };
        let sample = |source: Source, reading: &_| probe::sample(&study, &policies, &plan, source.name, reading);
        let done = self.transcripts.for_each(&[self.output.out()], false, sample, sample, |_| None)?;
        let Analysed { results: samples, coverage, end } = done.without(probe::SampledQuestions::unanswered).analysed()?;
        let questions =
            self.transcripts.run(|corpus, monitor| Questions::choose((&study, &policies), &plan, samples, corpus, monitor))?;
        let Some(model) = model else {
            let dry_run = DryRun { forecasts: probe::forecast(&questions.shown), coverage };
            self.output.document("probe", &dry_run)?;
            return Ok(end?);
        };
        let progress = self.transcripts.question_progress(questions.count() as u64, models.limits());
        let answers = self.transcripts.install(|| probe::ask(&model, &questions.shown, &|| progress.question_answered()))?;
        progress.finish();
        let answers = answers.map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let Questions { shown, too_long } = questions;
        let findings = ProbeResults { coverage, ..ProbeResults::new(model.name(), plan, too_long, &names, &shown, answers) };
        self.output.document("probe", &findings)?;
        Ok(end?)
    }

    fn address(&self) -> Result<Address, Failure> {
        let address = Address::parse(&self.model).unwrap_or_else(|| Err("name a model, such as openai:MODEL".to_owned()));
        address.map_err(|what| Failure::Usage(format!("--model {}: {what}", self.model)))
    }
}
