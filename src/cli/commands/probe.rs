//! `recompact probe`: checks with a model what `kept.hit` says about facts, by questions about them or by the model's surprise.

use clap::{Args, ValueEnum};
use recompact::analysis::corpus::{Analysed, Source};
use recompact::analysis::probe::questions::Questions;
use recompact::analysis::probe::surprise::Surprise;
use recompact::analysis::probe::{self, About, Cases, Plan, SampledUses, Scorer};
use recompact::analysis::spec::{Loaded, ModelRequest};
use recompact::analysis::study::Study;
use recompact::engine::policy::Policy;
use recompact::llm::client::{Address, Model, Purpose};
use recompact::report::Document;
use recompact::report::probe::DryRun;
use recompact::util::ValueError;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::{Transcripts, at_least_one};
use crate::cli::resources::{CommandResources, ProgramUse};

#[derive(Args)]
// These study options have no effect here.
#[command(mut_arg("of_model", |arg| arg.long("session-model")), mut_arg("policies", |arg| arg.required(true)), mut_arg("baseline", |arg| arg.hide(true)), mut_arg("max_residual", |arg| arg.hide(true)))]
pub struct Probe {
    #[command(flatten)]
    study_args: StudyArgs,
    /// How the model is asked
    #[arg(long, value_enum, default_value_t)]
    by: By,
    /// Model to ask; by questions: openai:MODEL, anthropic:MODEL, command:PROGRAM; by surprise: llama-server:MODEL,
    /// completions:MODEL
    #[arg(long, value_name = "MODEL")]
    model: String,
    /// Maximum number of questions (or uses of facts) over all policies; each is asked with the policy's request, with the
    /// whole history, and as a control
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    questions: usize,
    /// Maximum tokens of a request's messages [default: 8000, and longer requests are left out; by surprise 1000, and
    /// requests are trimmed to the newest messages and the block that held the fact]
    #[arg(long, value_name = "TOKENS", hide_default_value = true)]
    max_context: Option<u64>,
    /// Print how many questions and tokens that would be, and ask nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    transcripts: Transcripts,
}

/// How a model is asked about a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum By {
    /// Which word is left out of this line? The answer is right or wrong
    #[default]
    Questions,
    /// How probable is the recorded response where it names the fact? The loss is in bits
    Surprise,
}

impl Probe {
    pub fn run(self) -> Result<(), Failure> {
        match self.by {
            By::Questions => self.run_by::<Questions>(),
            By::Surprise => self.run_by::<Surprise>(),
        }
    }

    fn run_by<S: Scorer<Results: Document>>(mut self) -> Result<(), Failure> {
        self.output.works_on(self.transcripts.paths());
        self.transcripts.or_sessions_here()?;
        self.output.must_show::<S::Results>("probe")?;
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
        let programs = ProgramUse::Started(self.study_args.programs());
        let resources = CommandResources { models: Some(models.factory()), plan, programs, ..Default::default() };
        let Loaded { study, policies, .. } = spec.load(&resources)?;
        let policies: Vec<&Policy> = policies.iter().collect();
        let address = self.address(S::PURPOSE)?;
        let params = models.params().into_iter().collect();
        let request = ModelRequest { address: &address, replicate: 1, params: &params, prices: &study.prices };
        let model = (!self.dry_run).then(|| models.factory().model(&request)).transpose().map_err(Failure::Usage)?;
        let max_context = self.max_context.unwrap_or(S::MAX_CONTEXT);
        let plan = Plan { questions: self.questions, max_context, seed: study.seed };
        self.ask::<S>((&study, &policies), plan, model.as_ref())
    }

    /// Asks the model, or says what would be asked if there is none.
    fn ask<S: Scorer<Results: Document>>(
        &self,
        (study, policies): (&Study, &[&Policy]),
        plan: Plan,
        model: Option<&Model>,
    ) -> Result<(), Failure> {
        let sample = |source: Source, reading: &_| probe::sample::<S>(study, policies, &plan, source.name, reading);
        let done = self.transcripts.for_each(&[self.output.out()], sample)?;
        let Analysed { results: samples, coverage, end } = done.without(SampledUses::unanswered).analysed()?;
        let Cases { cases, left_out } =
            self.transcripts.run(|corpus, monitor| Cases::<S>::choose((study, policies), &plan, samples, corpus, monitor))?;
        let Some(model) = model else {
            let forecasts = probe::forecast(&cases).map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
            self.output.document("probe", &DryRun { forecasts, coverage })?;
            return self.transcripts.end(end);
        };
        let limits = self.study_args.summarizers().models().limits();
        let progress = self.transcripts.question_progress(cases.len() as u64, limits);
        let scored = self.transcripts.install(|| probe::ask(model, &cases, &|| progress.question_answered()))?;
        progress.finish();
        let scored = scored.map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let about = About { coverage, ..About::new(model.name(), plan) };
        self.output.document("probe", &S::results(about, left_out, &names, scored))?;
        self.transcripts.end(end)
    }

    fn address(&self, purpose: Purpose) -> Result<Address, Failure> {
        let unknown = || Err(ValueError::new(format!("name a model, such as {}", purpose.forms())));
        let address = Address::parse_for(&self.model, purpose).unwrap_or_else(unknown);
        address.map_err(|what| Failure::Usage(format!("--model {}: {what}", self.model)))
    }
}
