//! `recompact probe`: does a model find what `kept.hit` says is there?

use std::collections::HashSet;

use clap::Args;
use recompact::analysis::probe::{self, Findings, Shown, Spot};
use recompact::analysis::study::{Study, expand_variants};
use recompact::engine::policy::Policy;
use recompact::llm::client::Address;
use recompact::report::probe as report;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::StudyArgs;
use crate::cli::args::summarizers::Plan;
use crate::cli::error::Failure;
use crate::cli::input::{Source, Transcripts, at_least_one};

#[derive(Args)]
// Of what a study takes, these decide nothing here.
#[command(mut_arg("baseline", |arg| arg.hide(true)), mut_arg("max_residual", |arg| arg.hide(true)))]
pub struct Probe {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    studied: StudyArgs,
    /// The model that is asked: openai:MODEL, anthropic:MODEL, command:PROGRAM
    #[arg(long, value_name = "MODEL")]
    model: String,
    /// How many questions are asked at most, of all policies together; each is asked of the policy's request, of the request with
    /// everything in sight, and of no context
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    questions: usize,
    /// Ask only about requests whose messages have at most so many tokens; longer ones are left out, not cut
    #[arg(long, value_name = "TOKENS", default_value_t = 8_000)]
    max_context: u64,
    /// Say how many questions and tokens that would be, and ask nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    present: OutputArgs,
}

impl Probe {
    pub fn run(mut self) -> Result<(), Failure> {
        let name = self.present.report_of("probe", &report::SHOWN_AS)?;
        self.transcripts.must_be_files()?;
        let models = self.studied.writers().models();
        if !self.dry_run {
            self.transcripts.work_with_models(models.limits());
        }
        let (study, asked) = self.study()?;
        let policies: Vec<&Policy> = study.policies[..asked].iter().collect();
        let address = self.address()?;
        let model = (!self.dry_run).then(|| models.shared(&study.prices).model(&address, 1)).transpose()?;
        let plan = probe::Plan { questions: self.questions, max_context: self.max_context, seed: study.seed };
        let draw = |source: Source, reading: &_| probe::sample(&study, &policies, &plan, source.name, reading);
        let done = self.transcripts.for_each(&[self.present.out()], false, draw, draw, |_| None)?;
        let (drawn, end) = done.without(|drawn| drawn.unanswered.as_deref()).analysed()?;
        let too_long = drawn.iter().map(|drawn| drawn.too_long).sum();
        let spots = probe::choose(drawn.into_iter().flat_map(|drawn| drawn.spots).collect(), &plan);
        if spots.is_empty() {
            return Err(nothing_to_ask(too_long, self.max_context));
        }
        let shown = self.show(&study, &policies, &plan, &spots)?;
        let Some(model) = model else {
            let forecast = report::render_forecast(name, &probe::forecast(&shown), &self.present.style());
            self.present.write(&forecast)?;
            return end;
        };
        let questions = shown.iter().map(|shown| shown.spot.questions.len() as u64).sum();
        let progress = self.transcripts.asking(questions, models.limits());
        let answers = self.transcripts.install(|| probe::ask(&model, &shown, &|| progress.asked()))?;
        progress.finish();
        let answers = answers.map_err(|unanswered| Failure::Usage(unanswered.to_string()))?;
        let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
        let findings = Findings::new(model.name(), plan, too_long, &names, &shown, answers);
        self.present.write(&report::render(name, &findings, &self.present.style()))?;
        end
    }

    /// The policies that were asked for, each once for every summarizer, stand first in the study: so many. In a dry run no
    /// summarizer is asked either.
    fn study(&self) -> Result<(Study, usize), Failure> {
        let asked = self.studied.asked(&[])?;
        let mut unasked = self.dry_run.then(Plan::default);
        let study = self.studied.study(asked.clone(), unasked.as_mut())?;
        let asked = expand_variants(asked, &study.writers).len();
        Ok((study, asked))
    }

    fn address(&self) -> Result<Address, Failure> {
        let address = Address::parse(&self.model).unwrap_or_else(|| Err("a model is needed, such as openai:MODEL".to_owned()));
        address.map_err(|what| Failure::Usage(format!("--model {}: {what}", self.model)))
    }

    /// Reads the transcripts again that something is asked of.
    fn show(&self, study: &Study, policies: &[&Policy], plan: &probe::Plan, spots: &[Spot]) -> Result<Vec<Shown>, Failure> {
        let wanted: HashSet<&str> = spots.iter().map(|spot| spot.transcript.as_str()).collect();
        let progress = self.transcripts.replaying(0);
        let show = |source: Source, reading: &mut _| {
            let here: Vec<Spot> = spots.iter().filter(|spot| spot.transcript == source.name).cloned().collect();
            probe::show(study, policies, plan, &here, reading)
        };
        let (shown, left) = self.transcripts.again(&progress, |name| wanted.contains(name), |_| None, show)?;
        match left {
            0 => Ok(shown.into_iter().flatten().collect()),
            left => Err(Failure::Stopped { done: wanted.len() - left, transcripts: wanted.len(), can_go_on: false }),
        }
    }
}

fn nothing_to_ask(too_long: usize, max_context: u64) -> Failure {
    let why = match too_long {
        0 => "no call uses a fact it saw two calls or more before".to_owned(),
        some => format!(
            "{some} requests in which a fact was used again are over {max_context} tokens; --max-context allows longer ones"
        ),
    };
    Failure::Usage(format!("no question could be drawn: {why}"))
}
