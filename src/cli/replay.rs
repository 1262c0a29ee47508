//! `recompact replay`: transcripts × policies → one comparison.

use std::path::PathBuf;

use clap::Args;
use recompact::analysis::study::{Observers, Study, with_bounds, written_by};
use recompact::engine::policy::{Policy, Setting, preset};
use recompact::engine::replay::Observer;
use recompact::results::saved::Results;
use recompact::transcript::conversation::Conversation;

use super::Failure;
use super::contexts::Contexts;
use super::fail_on::FailOn;
use super::input::Transcripts;
use super::materialize::Materialize;
use super::present::Present;
use super::progress::calls_of;
use super::resume::{ONE_ROUND, POLICIES, Question, Resumed, Worked, of_policies, unfinished};
use super::studied::Studied;
use super::writers::Plan;

/// The policy whose summaries are the recorded ones: it stands beside those that models write.
const RECORDED: &str = "recorded";

#[derive(Args)]
pub struct Replay {
    #[command(flatten)]
    transcripts: Transcripts,
    #[command(flatten)]
    studied: Studied,
    /// Change one value of the policies by its layer's id: --set micro.keep_recent=5
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUE")]
    settings: Vec<Setting>,
    /// How many of the worst hard misses to name for each policy asked for: facts the agent used again that were gone for good
    #[arg(long, value_name = "N", default_value_t = 3)]
    misses: usize,
    /// How many of the dearest breaks of the cached prefix to name for each policy
    #[arg(long, value_name = "N", default_value_t = 3)]
    breaks: usize,
    /// Also say what is wrong: broken pairs, thrash, broken prefixes and the like (see `recompact catalog findings`)
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    fail_on: FailOn,
    /// Also find the upper bound of what could have been kept, by linear programming: slow on long sessions. The solver is not
    /// built in unless the program is built with `cargo install --path . --features exact`
    #[arg(long)]
    exact: bool,
    /// Write the exact request of every call there, one JSON object a line
    #[arg(long, value_name = "FILE")]
    contexts: Option<PathBuf>,
    /// Really write what the policies would persist and archive: into this folder, which must be new or empty
    #[arg(long, value_name = "DIR")]
    materialize: Option<PathBuf>,
    /// Ask no model: say how many calls would be made, and what they would cost at most
    #[arg(long, conflicts_with_all = ["contexts", "materialize", "resume"])]
    dry_run: bool,
    /// Go on with a study that was stopped by Ctrl-C: its results, saved with -o json
    #[arg(long, value_name = "RESULTS.json", conflicts_with_all = ["contexts", "materialize"])]
    resume: Option<PathBuf>,
    #[command(flatten)]
    present: Present,
}

impl Replay {
    pub fn run(mut self) -> Result<(), Failure> {
        self.present.needs_findings(self.findings)?;
        if self.fail_on.is_given() && !self.findings {
            return Err(Failure::Usage("--fail-on goes by what is found: add --findings".to_owned()));
        }
        if self.exact && !cfg!(feature = "exact") {
            let build = "cargo install --path . --features exact";
            return Err(Failure::Usage(format!("this recompact was built without the solver that --exact needs; build it with `{build}`")));
        }
        if let Some(limits) = self.studied.writers().limits() {
            self.transcripts.work_with_models(limits);
        }
        let mut plan = self.dry_run.then(Plan::default);
        let study = self.study(plan.as_mut())?;
        let question = self.question(&study);
        let resumed = self.resume.as_deref().map(|path| Resumed::load(path, &question)).transpose()?;
        let asked =
            written_by(self.studied.asked(&self.settings)?, &study.writers).into_iter().map(|policy| policy.name).collect();
        let contexts = self.contexts.as_deref().map(Contexts::create).transpose()?;
        let files = self.materialize.as_deref().map(Materialize::create).transpose()?;
        let in_order = contexts.is_some() || files.is_some();
        let mut witnesses = Witnesses { asked, contexts, files };
        let done = self.transcripts.for_each(
            &[self.present.out(), self.contexts.as_deref()],
            in_order,
            |source, reading| Worked::new(source, ONE_ROUND, study.transcript(source.name, reading, Some(&mut witnesses))),
            |source, reading| {
                let part = study.transcript(source.name, reading, None);
                source.progress.replayed(calls_of(reading) * study.policies.len() as u64);
                Worked::new(source, ONE_ROUND, part)
            },
            |source| resumed.as_ref()?.part(source, ONE_ROUND),
        )?;
        let done = done.without(|worked| worked.part.unanswered());
        if let Some(plan) = plan {
            done.analysed()?.1?;
            return self.present.write(plan.page(&study.prices).as_bytes());
        }
        let (left, transcripts) = (done.left, done.transcripts);
        let (worked, end) = done.analysed()?;
        let unfinished = (left > 0).then(|| unfinished(&worked, transcripts, question)).transpose()?;
        let parts = worked.into_iter().map(|worked| worked.part).collect();
        let results = self.transcripts.install(|| study.results(parts))?;
        let results = Results { unfinished, ..results };
        if results.rows.is_empty() {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        if results.unfinished.is_none() {
            witnesses.finish()?;
        }
        self.present.results(&results)?;
        end.map_err(|failure| failure.that_can_go_on(self.present.saves()))?;
        self.fail_on.check(&results.findings)
    }

    fn study(&self, plan: Option<&mut Plan>) -> Result<Study, Failure> {
        let mut asked = self.studied.asked(&self.settings)?;
        if self.studied.writers().compares() && !asked.iter().any(|policy| policy.name == RECORDED) {
            asked.extend(preset(RECORDED).map(|recorded| recorded.policy(&[])).transpose()?);
        }
        let study = self.studied.study(with_bounds(asked), plan)?;
        Ok(Study { misses: self.misses, exact: self.exact, breaks: self.breaks, findings: self.findings, ..study })
    }

    /// Whatever decides the results, so that a stopped study goes on with nothing else.
    fn question(&self, study: &Study) -> Question {
        let options = [
            (POLICIES, of_policies(&study.policies)),
            ("--misses", self.misses.to_string()),
            ("--breaks", self.breaks.to_string()),
            ("--exact", self.exact.to_string()),
            ("--findings", self.findings.to_string()),
        ];
        let own = options.into_iter().map(|(option, value)| (option.to_owned(), value));
        own.chain(self.studied.question()).chain(self.transcripts.question()).collect()
    }
}

/// Those who look on: at the policies that were asked for, not at the bounds.
struct Witnesses {
    asked: Vec<String>,
    contexts: Option<Contexts>,
    files: Option<Materialize>,
}

impl Observers for Witnesses {
    fn observe<'a>(
        &'a mut self,
        transcript: &'a str,
        conversation: &'a Conversation,
        policy: &'a Policy,
    ) -> Box<dyn Observer + 'a> {
        if !self.asked.contains(&policy.name) {
            return Box::new(recompact::engine::replay::NoObserver);
        }
        let contexts = self.contexts.as_mut().map(|contexts| contexts.of(transcript, conversation, policy));
        let files = self.files.as_mut().map(|files| files.of(transcript, conversation, policy));
        Box::new(Both { contexts, files })
    }
}

impl Witnesses {
    fn finish(self) -> Result<(), Failure> {
        self.contexts.map_or(Ok(()), Contexts::finish)?;
        self.files.map_or(Ok(()), Materialize::finish)
    }
}

struct Both<A, B> {
    contexts: Option<A>,
    files: Option<B>,
}

impl<A: Observer, B: Observer> Observer for Both<A, B> {
    fn request(&mut self, request: &recompact::engine::journal::Request, context: &recompact::engine::context::Context) {
        if let Some(contexts) = &mut self.contexts {
            contexts.request(request, context);
        }
    }

    fn file(&mut self, file: &recompact::engine::journal::File, text: &str) {
        if let Some(files) = &mut self.files {
            files.file(file, text);
        }
    }

    fn wants_archives(&self) -> bool {
        self.files.is_some()
    }
}
