//! `recompact replay`: replays transcripts through policies and compares them.

mod contexts;
mod materialize;

use std::path::{Path, PathBuf};

use clap::{Args, Command, FromArgMatches};
use recompact::analysis::ReplayHooks;
use recompact::analysis::missed::missed_requests;
use recompact::analysis::resume::EarlierResults;
use recompact::analysis::spec::{Loaded, StudySpec};
use recompact::analysis::study::{Observers, TranscriptResult};
use recompact::analysis::usual::usual_policies;
use recompact::engine::policy::{Policy, Setting};
use recompact::engine::replay::Observer;
use recompact::results::saved::Results;
use recompact::transcript::conversation::Conversation;
use recompact::transcript::source::Input;

use crate::cli::args::fail_on::FailOn;
use crate::cli::args::output::{OutputArgs, PolicyColumns};
use crate::cli::args::settings::setting;
use crate::cli::args::study::{StudyArgs, checked};
use crate::cli::cache;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::help::{MODELS, MORE};
use crate::cli::input::Transcripts;
use crate::cli::output;
use crate::cli::resources::{CommandResources, ProgramUse};
use crate::cli::resume;
use contexts::ContextsFile;
use materialize::Materialize;

#[derive(Args)]
pub struct Replay {
    #[command(flatten)]
    study_args: StudyArgs,
    /// Change a value of the policies by layer id: --set micro.keep_recent_results=5
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUE", hide_possible_values = true,
        value_parser = setting(checked::<Setting>))]
    settings: Vec<String>,
    /// Show facts that were lost for good and used again: the worst N of each policy
    #[arg(long, value_name = "N")]
    misses: Option<usize>,
    /// Show cache invalidations: the N of each policy that cost most
    #[arg(long, value_name = "N")]
    breaks: Option<usize>,
    /// Also report what is wrong (see `recompact catalog findings`)
    #[arg(long)]
    findings: bool,
    #[command(flatten)]
    fail_on: FailOn,
    /// Show the keys, tokens and passwords that `audit` finds; without it, [secret] is in their place
    #[arg(help_heading = MORE, long)]
    show_secrets: bool,
    /// Also compute the upper bound of facts that could have been kept, by linear programming, and an oracle that keeps single
    /// lines: slow on long sessions
    #[arg(help_heading = MORE, long)]
    exact: bool,
    /// Write the exact request of every call to this file, one JSON object per line
    #[arg(help_heading = MORE, long, value_name = "FILE")]
    contexts: Option<PathBuf>,
    /// Write the files that the policies would persist and archive into this folder, which must be new or empty
    #[arg(help_heading = MORE, long, value_name = "DIR")]
    materialize: Option<PathBuf>,
    /// Call no model; print how many calls would be made and what they would cost at most
    #[arg(help_heading = MODELS, long, conflicts_with_all = ["contexts", "materialize", "resume"])]
    dry_run: bool,
    /// Write what these transcripts give to this file, for `recompact merge`: a part of a study on many machines
    #[arg(help_heading = MORE, long, value_name = "FILE",
        conflicts_with_all = ["contexts", "materialize", "dry_run", "resume", "output", "out", "fail_on", "limit"])]
    part: Option<PathBuf>,
    /// Continue a study that was stopped by Ctrl-C, from its results saved with -o json
    #[arg(help_heading = MORE, long, value_name = "RESULTS.json", conflicts_with_all = ["contexts", "materialize"])]
    resume: Option<PathBuf>,
    /// Replay every transcript, also those that an earlier run replayed in the same way; keep nothing for the next one
    #[arg(help_heading = MORE, long)]
    no_cache: bool,
    #[command(flatten)]
    columns: PolicyColumns,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    transcripts: Transcripts,
    /// The command that was typed.
    #[arg(skip = "replay")]
    command: &'static str,
}

impl Replay {
    /// A replay of transcripts that are a part of the program, for another command. The user's files set no default of it.
    pub fn of_built_in(command: &'static str, options: &[&str], inputs: Vec<Input>, output: OutputArgs) -> Result<Self, Failure> {
        let words = [command].into_iter().chain(options.iter().copied());
        let matches = Self::augment_args(Command::new(command)).try_get_matches_from(words)?;
        let mut replay = Self { command, output, no_cache: true, ..Self::from_arg_matches(&matches)? };
        replay.transcripts.take_built_in(inputs);
        Ok(replay)
    }

    pub fn run(mut self) -> Result<(), Failure> {
        self.output.with_columns(&self.columns);
        self.output.works_on(self.transcripts.paths());
        self.transcripts.or_sessions_here()?;
        self.output.must_show::<Results>(self.command)?;
        self.file_uses().check()?;
        self.findings |= self.output.shows_findings();
        self.output.needs_findings(self.findings)?;
        self.show_what_is_asked_for();
        if self.fail_on.is_given() && !self.findings {
            return Err(Failure::Usage("--fail-on needs findings: add --findings".to_owned()));
        }
        if let Some(limits) = self.study_args.summarizers().limits() {
            self.transcripts.work_with_models(limits);
        }
        let spec = self.spec()?;
        let plan = self.dry_run.then(Default::default);
        let models = Some(self.study_args.summarizers().models().factory());
        let programs = ProgramUse::Started(self.study_args.programs());
        let resources = CommandResources { models, plan, programs, ..Default::default() };
        let loaded = spec.load(&resources)?;
        if let Some(file) = self.part.as_deref() {
            return self.write_part(&loaded, file);
        }
        let resumed = self.resume.as_deref().map(|path| resume::load(path, &loaded.record)).transpose()?;
        let mut sinks = ReplaySinks {
            policies: loaded.policies.iter().map(|policy| policy.name.clone()).collect(),
            contexts: self.contexts.as_deref().map(ContextsFile::create).transpose()?,
            files: self.materialize.as_deref().map(Materialize::create).transpose()?,
        };
        let is_watched = sinks.contexts.is_some() || sinks.files.is_some();
        let is_cached = !self.no_cache && resumed.is_none() && !is_watched && loaded.is_repeatable();
        let writes = [self.output.out(), self.contexts.as_deref()];
        let replayed = self.transcripts.process(&writes, |corpus, monitor| {
            let cached = is_cached.then(|| cache::open(&loaded.record, self.transcripts.paths())).flatten();
            let cached = cached.as_ref().map(|cached| cached as &dyn EarlierResults);
            let earlier = resumed.as_ref().map(|resumed| resumed as _).or(cached);
            let observers = is_watched.then_some::<&mut (dyn Observers + Send)>(&mut sinks);
            loaded.replay(corpus, monitor, ReplayHooks { earlier, observers })
        })?;
        if let Some(plan) = resources.plan {
            self.transcripts.end(replayed.without(|checkpoint| checkpoint.result.unanswered()).analysed()?.end)?;
            return self.output.write(plan.borrow().page(&loaded.study.prices).as_bytes());
        }
        let (mut results, end) = self.transcripts.install(|| loaded.results(replayed))??;
        if results.rows.is_empty() {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        if results.unfinished.is_none() {
            sinks.finish()?;
        }
        // A model would be asked again, and saved results are loaded without transcripts.
        if self.output.is_page() && spec.summarizer.is_empty() {
            results.requests = missed_requests(&loaded.study, &results, &self.transcripts.corpus()?);
        }
        self.output.document(self.command, &results)?;
        if self.output.shows_findings() && results.findings.is_empty() {
            output::say("no findings: none of the known mistakes is in these replays");
        }
        resources.say_repeated();
        self.transcripts.end(end).map_err(|failure| failure.with_resume_hint(self.output.is_loadable()))?;
        self.fail_on.check(&results.findings)
    }

    /// Writes the part of the study that these transcripts give.
    fn write_part(&self, loaded: &Loaded, file: &Path) -> Result<(), Failure> {
        let outcomes = self.transcripts.read_once(&[Some(file)], |corpus, monitor| loaded.outcomes(corpus, monitor, None))?;
        self.transcripts.checked(outcomes.summary())?;
        let part = loaded.part(outcomes)?;
        Ok(output::write_by(Some(file), |to| part.write(to))?)
    }

    /// Shows the section of each option that asks for something which the screen does not show.
    fn show_what_is_asked_for(&mut self) {
        let asked = [
            (self.exact, "policies"),
            (self.misses.is_some(), "misses"),
            (self.breaks.is_some(), "cache"),
            (self.findings, "findings"),
        ];
        asked.into_iter().filter(|(is_asked, _)| *is_asked).for_each(|(_, section)| self.output.also_shows(section));
    }

    fn file_uses(&self) -> FileUses {
        let mut uses = FileUses::default();
        self.study_args.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.write("--contexts", self.contexts.as_deref());
        uses.write("--materialize", self.materialize.as_deref());
        uses.write("--part", self.part.as_deref());
        uses
    }

    fn spec(&self) -> Result<StudySpec, Failure> {
        let mut spec = self.study_args.spec();
        if self.study_args.names_no_policy() && self.part.is_some() {
            let why = "what is replayed by default depends on all transcripts, so a part needs --policy";
            return Err(Failure::Usage(why.to_owned()));
        }
        if self.study_args.names_no_policy() {
            spec.policies = usual_policies(self.transcripts.corpus()?.formats()).into_iter().map(Into::into).collect();
        }
        spec.set.clone_from(&self.settings);
        spec.misses = self.misses.unwrap_or(spec.misses);
        spec.breaks = self.breaks.unwrap_or(spec.breaks);
        spec.findings = self.findings;
        spec.show_secrets = self.show_secrets;
        spec.exact = self.exact;
        spec.read = self.transcripts.read_spec();
        Ok(spec)
    }
}

/// Observers that write requests and files, for the given policies but not for the bounds.
struct ReplaySinks {
    policies: Vec<String>,
    contexts: Option<ContextsFile>,
    files: Option<Materialize>,
}

impl Observers for ReplaySinks {
    fn observe<'a>(
        &'a mut self,
        transcript: &'a str,
        conversation: &'a Conversation,
        policy: &'a Policy,
    ) -> Box<dyn Observer + 'a> {
        if !self.policies.contains(&policy.name) {
            return Box::new(recompact::engine::replay::NoObserver);
        }
        let contexts = self.contexts.as_mut().map(|contexts| contexts.writer(transcript, conversation, policy));
        let files = self.files.as_mut().map(|files| files.writer(transcript, conversation, policy));
        Box::new(ContextsAndFiles { contexts, files })
    }

    fn transcript_done(&mut self, result: &TranscriptResult) {
        if let Some(contexts) = &mut self.contexts {
            contexts.session_done(result.unanswered().is_none());
        }
    }
}

impl ReplaySinks {
    fn finish(self) -> Result<(), Failure> {
        self.contexts.map_or(Ok(()), ContextsFile::finish)?;
        self.files.map_or(Ok(()), Materialize::finish)
    }
}

struct ContextsAndFiles<A, B> {
    contexts: Option<A>,
    files: Option<B>,
}

impl<A: Observer, B: Observer> Observer for ContextsAndFiles<A, B> {
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
