//! `recompact probe`: tests whether a model finds the facts that `kept.hit` counts as in context.

use std::collections::HashSet;

use clap::Args;
use recompact::analysis::probe::{self, ProbeResults, Shown, Spot};
use recompact::analysis::spec::{Loaded, ModelRequest};
use recompact::analysis::study::Study;
use recompact::engine::policy::Policy;
use recompact::llm::client::Address;
use recompact::report::probe as report;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::{Analysed, Source, Transcripts, at_least_one};
use crate::cli::resources::CommandResources;

#[derive(Args)]
// These study options have no effect here.
#[command(mut_arg("baseline", |arg| arg.hide(true)), mut_arg("max_residual", |arg| arg.hide(true)))]
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
        let name = self.output.supported_report("probe", &report::REPORT_NAMES)?;
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
        let too_long = samples.iter().map(|sample| sample.too_long).sum();
        let spots = probe::choose(samples.into_iter().flat_map(|sample| sample.spots).collect(), &plan);
        if spots.is_empty() {
            return Err(nothing_to_ask(too_long, self.max_context));
        }
        let shown = self.show(&study, &policies, &plan, &spots)?;
        let Some(model) = model else {
            let forecast = report::render_forecast(name, &probe::forecast(&shown), &coverage, &self.output.style());
            self.output.write(&forecast)?;
            return end;
        };
        let questions = shown.iter().map(|shown| shown.spot.questions.len() as u64).sum();
        let progress = self.transcripts.question_progress(questions, models.limits());
        let answers = self.transcripts.install(|| probe::ask(&model, &shown, &|| progress.question_answered()))?;
        progress.finish();
        let answers = answers.map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let findings = ProbeResults { coverage, ..ProbeResults::new(model.name(), plan, too_long, &names, &shown, answers) };
        self.output.write(&report::render(name, &findings, &self.output.style()))?;
        end
    }

    fn address(&self) -> Result<Address, Failure> {
        let address = Address::parse(&self.model).unwrap_or_else(|| Err("name a model, such as openai:MODEL".to_owned()));
        address.map_err(|what| Failure::Usage(format!("--model {}: {what}", self.model)))
    }

    /// Reads the transcripts with chosen questions again, to render their requests.
    fn show(&self, study: &Study, policies: &[&Policy], plan: &probe::Plan, spots: &[Spot]) -> Result<Vec<Shown>, Failure> {
        let wanted: HashSet<&str> = spots.iter().map(|spot| spot.transcript.as_str()).collect();
        let progress = self.transcripts.replay_progress(0);
        let show = |source: Source, reading: &mut _| {
            let in_transcript: Vec<Spot> = spots.iter().filter(|spot| spot.transcript == source.name).cloned().collect();
            probe::show(study, policies, plan, &in_transcript, reading)
        };
        let (shown, left) = self.transcripts.read_again(&progress, |name| wanted.contains(name), |_| None, show)?;
        match left {
            0 => Ok(shown.into_iter().flatten().collect()),
            left => Err(Failure::Stopped { done: wanted.len() - left, transcripts: wanted.len(), can_resume: false }),
        }
    }
}

fn nothing_to_ask(too_long: usize, max_context: u64) -> Failure {
    let why = match too_long {
        0 => "no call uses a fact last seen two or more calls before".to_owned(),
        some => format!(
            "{some} requests in which a fact was used again are over {max_context} tokens; --max-context allows longer ones"
        ),
    };
    Failure::Usage(format!("no question could be drawn: {why}"))
}
