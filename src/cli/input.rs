//! Transcript arguments of the commands: paths, format, strictness, parallelism; and the loop over transcripts.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};
use recompact::analysis::corpus::{
    self, Corpus, FileCorpus, Monitor, Processed, ReadSpec, RunError, Source, format_by_name, in_bytes,
};
use recompact::llm::client::Limits;
use recompact::report::escape;
use recompact::transcript::conversation::Conversation;
use recompact::transcript::format::{self, Format, Reading};
use recompact::transcript::source::{self, Input};
use recompact::util::ValueError;

use crate::cli::error::Failure;
use crate::cli::help::READING;
use crate::cli::interrupt;
use crate::cli::left_out::{end_of, say_skipped};
use crate::cli::monitor::{ReadMonitor, StepMonitor};
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::cli::saved_results;
use crate::cli::session_folders;

/// A single transcript of this size in bytes is read and replayed before a progress bar would help.
const QUICK_BYTES: u64 = 10 << 20;

/// Maximum number of worker threads.
const MAX_THREADS: usize = 256;

/// The heading of options that choose conversations.
const SELECTION: &str = "Which sessions";

#[derive(Args)]
pub struct Transcripts {
    /// File, folder, glob pattern, or - (standard input) [default: where the agents here save sessions, and .transcripts]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Also read the files of this list, one path a line (- is standard input); those that are no transcripts are left out
    #[arg(help_heading = READING, long, value_name = "FILE")]
    paths_from: Option<PathBuf>,
    #[arg(skip)]
    listed: OnceLock<Vec<PathBuf>>,
    /// Read every file in this format instead of detecting it; in folders, leave out files of others
    #[arg(help_heading = READING, long, value_name = "NAME", value_parser = format_by_name)]
    format: Option<&'static Format>,
    /// Branches to read if a conversation was rewound or edited
    #[arg(help_heading = READING, long, value_enum, default_value_t = Branches::Last)]
    branches: Branches,
    /// Fail on unreadable lines; by default they are skipped and listed
    #[arg(help_heading = READING, long)]
    strict: bool,
    /// Largest transcript to read, decompressed, such as 2GB [default: 1 GiB]
    #[arg(help_heading = READING, long, value_name = "SIZE", default_value_t = source::MAX_BYTES, value_parser = bytes, hide_default_value = true)]
    max_file: u64,
    /// Only conversations of this day or later: 2026-10-01, 7d or 2w ago (UTC)
    #[arg(help_heading = SELECTION, long, value_name = "DAY", value_parser = day_before_today)]
    since: Option<String>,
    /// Only conversations of this day or earlier
    #[arg(help_heading = SELECTION, long, value_name = "DAY", value_parser = day_before_today)]
    until: Option<String>,
    /// Only conversations whose working directory contains this text
    #[arg(help_heading = SELECTION, long, value_name = "TEXT")]
    project: Option<String>,
    /// Only conversations with a model whose name contains this text
    #[arg(help_heading = SELECTION, long = "model", value_name = "TEXT")]
    of_model: Option<String>,
    /// Only the newest sessions, by the times of their files
    #[arg(help_heading = SELECTION, long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
    /// Print neither progress nor skipped lines and files
    #[arg(short, long)]
    quiet: bool,
    /// Number of worker threads [default: the number of processors]
    #[arg(help_heading = READING, long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<usize>,
    /// The folder that relative paths start from; empty: the current folder.
    #[arg(skip)]
    base: PathBuf,
    /// Limits of the models that are called during the work.
    #[arg(skip)]
    model_limits: Option<Arc<Limits>>,
    /// Whether pipes, sockets and devices are rejected.
    #[arg(skip)]
    only_files: bool,
    /// Transcripts that are a part of the program, in place of those at paths.
    #[arg(skip)]
    built_in: Vec<Input>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Branches {
    /// The branch that ends last
    Last,
    /// Every branch as a conversation of its own
    All,
}

/// Parses a number of bytes: `2000000`, `200MB`, `2GB`.
fn bytes(written: &str) -> Result<u64, ValueError> {
    in_bytes(&written.parse()?)
}

fn day_before_today(written: &str) -> Result<String, ValueError> {
    corpus::day(written, corpus::today())
}

pub fn at_least_one(number: &str) -> Result<usize, String> {
    number.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a number, at least 1".to_owned())
}

impl Transcripts {
    /// The transcripts of a suite. Relative paths start from its folder, and names of transcripts leave it out.
    pub fn of_suite(
        paths: &[String],
        base: &Path,
        read: &ReadSpec,
        (quiet, jobs): (bool, Option<usize>),
    ) -> Result<Self, Failure> {
        let branches = match read.branches {
            format::Branches::Last => Branches::Last,
            format::Branches::All => Branches::All,
        };
        Ok(Self {
            paths: paths.iter().map(PathBuf::from).collect(),
            paths_from: None,
            listed: OnceLock::new(),
            format: read.known_format()?,
            branches,
            strict: read.strict,
            max_file: read.max_bytes()?,
            since: read.since.clone(),
            until: read.until.clone(),
            project: read.project.clone(),
            of_model: read.model.clone(),
            limit: read.newest,
            quiet,
            jobs,
            base: base.to_owned(),
            model_limits: None,
            only_files: false,
            built_in: Vec::new(),
        })
    }

    /// Runs work on every transcript, several at a time, as [`Self::process`] does.
    pub fn for_each<T: Send>(
        &self,
        writes: &[Option<&Path>],
        work: impl Fn(Source, &Reading) -> T + Sync + Send,
    ) -> Result<Processed<T>, Failure> {
        self.process(writes, |corpus, monitor| corpus::for_each(corpus, monitor, work))
    }

    /// Runs work that reads the transcripts once, on the thread pool; shows its progress and prints what was skipped. Fails if a
    /// transcript is among the files to be written.
    pub fn process<T: Send>(
        &self,
        writes: &[Option<&Path>],
        work: impl FnOnce(&FileCorpus, &dyn Monitor) -> Processed<T> + Send,
    ) -> Result<Processed<T>, Failure> {
        self.checked(self.read_once(writes, work)?)
    }

    /// Prints what was skipped. With `--strict` it is a failure.
    pub fn checked<T>(&self, processed: Processed<T>) -> Result<Processed<T>, Failure> {
        say_skipped(&processed, (self.quiet, self.strict));
        Ok(if self.strict { processed.strict()? } else { processed })
    }

    /// Runs work that reads the transcripts once, on the thread pool, and shows its progress. Fails if a transcript is among the files to
    /// be written.
    pub fn read_once<T: Send>(
        &self,
        writes: &[Option<&Path>],
        work: impl FnOnce(&FileCorpus, &dyn Monitor) -> T + Send,
    ) -> Result<T, Failure> {
        let corpus = self.corpus()?;
        not_written_over(&corpus, writes)?;
        interrupt::listen(self.quiet);
        let size = corpus.inputs().iter().map(Input::size).sum();
        let shown = !self.quiet && (corpus.inputs().len() > 1 || size > QUICK_BYTES || self.model_limits.is_some());
        let progress = Progress::new(size, shown, self.model_limits.clone());
        let monitor = ReadMonitor { corpus: &corpus, progress: &progress };
        let done = self.install(|| work(&corpus, &monitor))?;
        progress.finish_reading();
        Ok(done)
    }

    /// Runs work that reads the transcripts as often as it needs, on the thread pool. Problems with them were reported before.
    pub fn run<T: Send, E: Into<Failure> + Send>(
        &self,
        work: impl FnOnce(&FileCorpus, &dyn Monitor) -> Result<T, E> + Send,
    ) -> Result<T, Failure> {
        let (corpus, monitor) = (self.corpus()?, StepMonitor::new(!self.quiet));
        let result = self.install(|| work(&corpus, &monitor))?;
        monitor.finish();
        result.map_err(Into::into)
    }

    /// Reads the only transcript and runs work on its conversations.
    ///
    /// # Errors
    ///
    /// Fails if there is not exactly one transcript, or if it cannot be read.
    pub fn one<T>(&self, work: impl FnOnce(&str, &[Conversation]) -> T) -> Result<T, Failure> {
        let corpus = self.corpus()?;
        if let Some((path, why)) = corpus.not_found().first() {
            return Err(Failure::Usage(format!("{path}: {why}")));
        }
        let names = corpus.names();
        let [name] = names[..] else {
            return Err(Failure::Usage(format!("name one transcript; {} are here", names.len())));
        };
        Ok(work(name, &corpus.read(0)?.conversations))
    }

    /// Lists the transcripts.
    ///
    /// # Errors
    ///
    /// Fails if the options name no known format or no day.
    pub fn corpus(&self) -> Result<FileCorpus, Failure> {
        let read = self.read_spec();
        let corpus = match &self.built_in[..] {
            [] => FileCorpus::listed(&self.base, &self.paths, self.listed()?, &read),
            inputs => FileCorpus::of(inputs.to_vec(), &read),
        };
        Ok(corpus?.only_files(self.only_files))
    }

    /// Returns the paths of the list. It is read once: it may be standard input.
    fn listed(&self) -> Result<&[PathBuf], Failure> {
        let Some(file) = self.paths_from.as_deref().filter(|_| self.listed.get().is_none()) else {
            return Ok(self.listed.get().map_or(&[], Vec::as_slice));
        };
        let failed = |why: String| Failure::Usage(format!("--paths-from {}: {why}", file.display()));
        let text = saved_results::text(file, "paths").map_err(failed)?;
        Ok(self.listed.get_or_init(|| text.lines().filter(|line| !line.is_empty()).map(PathBuf::from).collect()))
    }

    /// If no path was named, takes the folders in which harnesses save their sessions, and says so.
    ///
    /// # Errors
    ///
    /// Fails if there is no such folder.
    pub fn or_sessions_here(&mut self) -> Result<(), Failure> {
        if self.paths.is_empty() && self.paths_from.is_none() && self.built_in.is_empty() {
            self.paths = session_folders::find()?;
            if !self.quiet {
                let folders: Vec<String> = self.paths.iter().map(|folder| session_folders::shown(folder)).collect();
                output::say(&format!("no path was named: reading {}", escape::terminal(&folders.join(", "))));
            }
        }
        Ok(())
    }

    /// Takes the file of a session for its id, if the only path is none and one session here has the id in the name of its file.
    pub fn or_session_of_id(&mut self) {
        if let [id] = &mut self.paths[..]
            && !id.exists()
            && let Some(file) = id.to_str().and_then(session_folders::session)
        {
            *id = file;
        }
    }

    /// Fails if a path can be read only once.
    pub fn must_be_files(&self) -> Result<(), Failure> {
        if self.paths.iter().any(|path| source::is_stdin(path)) {
            let message = "standard input can be read only once, but this command reads transcripts several times: name a file";
            return Err(Failure::Usage(message.to_owned()));
        }
        Ok(())
    }

    /// Runs work on the thread pool with the requested number of threads.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, Failure> {
        Ok(self.pool()?.install(work))
    }

    /// Returns a progress bar over questions to a model.
    pub fn question_progress(&self, questions: u64, model_limits: Arc<Limits>) -> Progress {
        Progress::of_questions(questions, !self.quiet, model_limits)
    }

    /// Rejects pipes, sockets and devices: reading them may never end.
    pub fn only_files(&mut self) {
        self.only_files = true;
    }

    /// Takes transcripts that are a part of the program.
    pub fn take_built_in(&mut self, inputs: Vec<Input>) {
        self.built_in = inputs;
    }

    /// The paths as given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns how transcripts are read, for the description of a study.
    pub fn read_spec(&self) -> ReadSpec {
        let branches = match self.branches {
            Branches::Last => format::Branches::Last,
            Branches::All => format::Branches::All,
        };
        let mut read = ReadSpec::new(self.format.map(|format| format.name), branches, self.strict, self.max_file);
        read.since.clone_from(&self.since);
        read.until.clone_from(&self.until);
        read.project.clone_from(&self.project);
        read.model.clone_from(&self.of_model);
        read.newest = self.limit;
        read
    }

    /// Sets the limits of model calls. Unless `--jobs` was given, there are at least as many threads as parallel calls,
    /// because a thread that waits for a model needs no processor.
    pub fn work_with_models(&mut self, limits: Arc<Limits>) {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs = self.jobs.or(Some(limits.concurrency.max(processors)));
        self.model_limits = Some(limits);
    }

    fn pool(&self) -> Result<rayon::ThreadPool, Failure> {
        // More threads would only wait for each other. For rayon, 0 means the number of processors.
        let threads = self.jobs.map_or(0, |jobs| jobs.min(MAX_THREADS));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| Failure::Usage(format!("no threads could be started: {error}")))
    }

    /// Returns how a run ends in which some transcripts could not be analysed and others were: that is success, and each of those left
    /// out is named on standard error. With `--strict` it is a failure.
    pub fn end(&self, end: Result<(), RunError>) -> Result<(), Failure> {
        end_of(end, self.strict)
    }
}

/// Fails if an output file is also a transcript. Results of an earlier run in a folder that is read are none.
fn not_written_over(corpus: &FileCorpus, writes: &[Option<&Path>]) -> Result<(), Failure> {
    for (at, input) in corpus.inputs().iter().enumerate() {
        let Some(file) = writes.iter().flatten().find(|file| input.is_at(file)) else { continue };
        if input.explicit || corpus.read(at).is_ok() {
            return Err(Failure::Usage(format!("{}: is read, so it cannot be written too; name another file", file.display())));
        }
    }
    Ok(())
}
