//! Transcript arguments of the commands: paths, format, strictness, parallelism; and the loop over transcripts.

mod reread;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rayon::prelude::*;
use recompact::llm::client::Limits;
use recompact::report::escape;
use recompact::transcript::format::{self, FORMATS, Format, Level, ReadOptions, Reading};
use recompact::util::text::plural;

use crate::cli::error::Failure;
use crate::cli::interrupt;
use crate::cli::progress::Progress;
use crate::cli::source::{self, Input, hash_of};

/// Maximum number of worker threads.
const MAX_THREADS: usize = 256;

#[derive(Args)]
pub struct Transcripts {
    /// File, folder (searched for transcripts), glob pattern, or - (standard input)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read every file in this format instead of detecting it
    #[arg(long, value_name = "NAME", value_parser = format_by_name)]
    format: Option<&'static Format>,
    /// Branches to read if a conversation was rewound or edited
    #[arg(long, value_enum, default_value_t = Branches::Last)]
    branches: Branches,
    /// Fail on unreadable lines; by default they are skipped and listed
    #[arg(long)]
    strict: bool,
    /// Print neither progress nor skipped lines and files
    #[arg(short, long)]
    quiet: bool,
    /// Number of worker threads [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
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
}

#[derive(Clone, Copy, ValueEnum)]
enum Branches {
    /// The branch that ends last
    Last,
    /// Every branch as a conversation of its own
    All,
}

fn format_by_name(name: &str) -> Result<&'static Format, String> {
    format::by_name(name).ok_or_else(|| {
        let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        format!("unknown format (known: {known})")
    })
}

pub fn at_least_one(number: &str) -> Result<usize, String> {
    number.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a number, at least 1".to_owned())
}

/// The transcript that is being processed.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub name: &'a str,
    bytes: &'a [u8],
    pub progress: &'a Progress,
}

impl<'a> Source<'a> {
    /// The bytes of the transcript, decompressed.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Content hash; identifies the transcript when resuming.
    pub fn hash(&self) -> String {
        hash_of(self.bytes)
    }
}

/// The result of processing all transcripts.
pub struct Processed<T> {
    /// Results of the transcripts that were processed, in the order of the paths.
    pub results: Vec<T>,
    /// Number of transcripts found.
    pub transcripts: usize,
    /// Transcripts not started when the user stopped the program.
    pub left: usize,
    /// Errors of the other transcripts.
    errors: Vec<String>,
    /// Files in folders that were skipped because they are not transcripts.
    skipped_files: Vec<String>,
}

impl<T> Processed<T> {
    /// Returns paths and reasons of what was not read.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &str)> {
        self.errors.iter().chain(&self.skipped_files).map(|what| what.split_once(": ").unwrap_or((what, "it was not read")))
    }

    /// Removes results without content, for the reason that `reason` returns. If the user stopped the program, that is
    /// the reason.
    pub fn without(mut self, reason: impl Fn(&T) -> Option<&str>) -> Self {
        let (empty, results): (Vec<T>, Vec<T>) = self.results.into_iter().partition(|result| reason(result).is_some());
        if interrupt::requested() {
            self.left += empty.len();
        } else {
            self.errors.extend(empty.iter().filter_map(reason).map(str::to_owned));
        }
        Self { results, ..self }
    }

    /// Returns the results, or why there are none. Errors of some transcripts are returned for the end of the run.
    pub fn analysed(self) -> Result<(Vec<T>, Result<(), Failure>), Failure> {
        let end = match (self.left, self.errors.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(Failure::Input(self.errors)),
            (left, _) => {
                Err(Failure::Stopped { done: self.transcripts - left, transcripts: self.transcripts, can_resume: false })
            }
        };
        match (self.results.is_empty(), end) {
            (true, Err(failure)) => Err(failure),
            (true, Ok(())) => Err(Failure::Usage("nothing could be analysed: no conversation was found".to_owned())),
            (false, end) => Ok((self.results, end)),
        }
    }
}

/// The result of reading one transcript.
enum ReadOutcome {
    Read(Reading),
    /// Its result was saved by an earlier run.
    Saved,
    /// Not started, because the user stopped the program.
    Left,
    /// The user named this file, so failing to read it is an error.
    Unreadable(String),
    /// Found in a folder: it may not be a transcript at all.
    Skipped(String),
}

impl Transcripts {
    /// Sets the folder that relative paths start from. Names of transcripts leave it out.
    pub fn within(self, base: &Path) -> Self {
        Self { base: base.to_owned(), ..self }
    }

    /// Reads every transcript and runs work on it: `parallel` on several at a time, or `ordered` one after another if
    /// `in_order` is set. `saved` returns the result of an earlier run, if there is one. Fails if a transcript is among
    /// the files to be written.
    pub fn for_each<T: Send>(
        &self,
        writes: &[Option<&Path>],
        in_order: bool,
        mut ordered: impl FnMut(Source, &Reading) -> T,
        parallel: impl Fn(Source, &Reading) -> T + Sync,
        saved: impl Fn(Source) -> Option<T> + Sync,
    ) -> Result<Processed<T>, Failure> {
        let (inputs, errors) = source::find(&self.base, &self.paths);
        inputs.iter().try_for_each(|input| not_written_over(input, writes))?;
        interrupt::listen(self.quiet);
        let shown = !self.quiet && (inputs.len() > 1 || self.model_limits.is_some());
        let progress = Progress::new(inputs.iter().map(Input::size).sum(), shown, self.model_limits.clone());
        let process = |input: &Input, work: &mut dyn FnMut(Source, &mut Reading) -> T| {
            let done = self.process(input, &progress, work, &saved);
            progress.bytes_read(input.size());
            done
        };
        let outcomes: Vec<(ReadOutcome, Option<T>)> = if in_order {
            inputs.iter().map(|input| process(input, &mut |source, reading| ordered(source, reading))).collect()
        } else {
            let work = |input: &Input| process(input, &mut |source, reading| parallel(source, reading));
            self.install(|| inputs.par_iter().map(work).collect())?
        };
        progress.finish();
        let errors = errors.iter().map(ToString::to_string).collect();
        let mut done = Processed { results: Vec::new(), transcripts: inputs.len(), left: 0, errors, skipped_files: Vec::new() };
        let mut skipped = Vec::new();
        for (input, (outcome, result)) in inputs.iter().zip(outcomes) {
            done.results.extend(result);
            match outcome {
                ReadOutcome::Read(reading) => skipped.extend(skipped_lines(&input.name, &reading)),
                ReadOutcome::Saved => {}
                ReadOutcome::Left => done.left += 1,
                ReadOutcome::Unreadable(why) => done.errors.push(why),
                ReadOutcome::Skipped(why) => done.skipped_files.push(why),
            }
        }
        self.print_skipped(&skipped, &done.skipped_files);
        if self.strict && !skipped.is_empty() {
            done.errors.push(format!("--strict: {} could not be read", plural(skipped.len(), "line")));
            return Err(Failure::Input(done.errors));
        }
        Ok(done)
    }

    /// Rejects pipes, sockets and devices: reading them may never end.
    pub fn only_files(&mut self) {
        self.only_files = true;
    }

    /// The paths as given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The part of a fingerprint that decides how transcripts are read.
    pub fn fingerprint(&self) -> [(String, String); 2] {
        let format = self.format.map_or("any", |format| format.name);
        let branches = if matches!(self.branches, Branches::All) { "all" } else { "last" };
        [("--format", format), ("--branches", branches)].map(|(option, value)| (option.to_owned(), value.to_owned()))
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

    /// Reads one transcript and runs the work on it, unless it has a saved result.
    fn process<T>(
        &self,
        input: &Input,
        progress: &Progress,
        work: &mut dyn FnMut(Source, &mut Reading) -> T,
        saved: &dyn Fn(Source) -> Option<T>,
    ) -> (ReadOutcome, Option<T>) {
        if interrupt::requested() {
            return (ReadOutcome::Left, None);
        }
        if self.only_files && input.is_special() {
            return (failed(input, format!("{}: a pipe, a socket or a device, not a file; it was not opened", input.name)), None);
        }
        let bytes = match source::read(input) {
            Ok(bytes) => bytes,
            Err(error) => return (failed(input, error.to_string()), None),
        };
        let source = Source { name: &input.name, bytes: &bytes, progress };
        match saved(source) {
            Some(result) => (ReadOutcome::Saved, Some(result)),
            None => self.read(input, &bytes).process(|reading| work(source, reading)),
        }
    }

    fn read(&self, input: &Input, bytes: &[u8]) -> ReadOutcome {
        let failed = |why| failed(input, why);
        if bytes.trim_ascii().is_empty() {
            return failed(format!("{}: the file is empty", input.name));
        }
        let Some(format) = self.format.or_else(|| format::sniff(bytes)) else {
            return failed(format!("{}: {}", input.name, unknown_format(bytes, input.explicit)));
        };
        let branches = match self.branches {
            Branches::Last => format::Branches::Last,
            Branches::All => format::Branches::All,
        };
        let reading = (format.read)(bytes, &ReadOptions { branches });
        if reading.conversations.is_empty() {
            let first = reading.notes.first().map(|note| format!(" (line {}: {})", note.line.unwrap_or(1), note.what));
            let first = first.unwrap_or_default();
            failed(format!("{}: no conversation found in it, read as {}{first}", input.name, format.name))
        } else {
            ReadOutcome::Read(reading)
        }
    }

    /// Prints skipped lines and files on standard error.
    fn print_skipped(&self, skipped: &[String], skipped_files: &[String]) {
        let skipped = skipped.iter().filter(|_| !self.quiet || self.strict);
        let skipped_files = skipped_files.iter().filter(|_| !self.quiet);
        for line in skipped.chain(skipped_files) {
            eprintln!("{}", escape::terminal(line));
        }
    }
}

/// A named file must be readable; a file found in a folder may be something else.
fn failed(input: &Input, why: String) -> ReadOutcome {
    if input.explicit { ReadOutcome::Unreadable(why) } else { ReadOutcome::Skipped(why) }
}

/// Fails if an output file is also an input.
pub fn not_written_over(input: &Input, writes: &[Option<&Path>]) -> Result<(), Failure> {
    match writes.iter().flatten().find(|file| input.is_at(file)) {
        Some(file) => Err(Failure::Usage(format!("{}: is read, so it cannot be written too; name another file", file.display()))),
        None => Ok(()),
    }
}

impl ReadOutcome {
    /// Runs the work on a reading and drops its conversations; only its notes are needed afterwards.
    fn process<T>(self, work: impl FnOnce(&mut Reading) -> T) -> (Self, Option<T>) {
        match self {
            ReadOutcome::Read(mut reading) => {
                let result = work(&mut reading);
                (ReadOutcome::Read(Reading { conversations: Vec::new(), ..reading }), Some(result))
            }
            other => (other, None),
        }
    }
}

fn skipped_lines(name: &str, reading: &Reading) -> Vec<String> {
    let skipped = reading.notes.iter().filter(|note| note.level == Level::Skipped);
    skipped.map(|note| format!("{name}:{}: {}", note.line.unwrap_or(1), note.what)).collect()
}

fn unknown_format(bytes: &[u8], explicit: bool) -> String {
    if !explicit {
        return "skipped, not a transcript in a known format".to_owned();
    }
    let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let binary = if bytes[..bytes.len().min(8_000)].contains(&0) { "a binary file, " } else { "" };
    format!("{binary}not a transcript in a known format ({known}); --format NAME reads it anyway")
}
