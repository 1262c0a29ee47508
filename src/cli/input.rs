//! Transcript arguments of the commands: paths, format, strictness, parallelism; and the loop over transcripts.

mod processed;
mod reread;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use rayon::prelude::*;
use recompact::analysis::spec::{ReadSpec, format_by_name, in_bytes};
use recompact::llm::client::Limits;
use recompact::report::escape;
use recompact::results::saved::Coverage;
use recompact::transcript::format::{self, FORMATS, Format, Level, Note, ReadOptions, Reading};
use recompact::util::text::plural;

use crate::cli::error::Failure;
use crate::cli::interrupt;
use crate::cli::output;
use crate::cli::progress::Progress;
use crate::cli::source::{self, Content, Input, hash_of};

use processed::ReadOutcome;
pub use processed::{Analysed, Processed};

/// A single transcript of this size in bytes is read and replayed before a progress bar would help.
const QUICK_BYTES: u64 = 10 << 20;

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
    /// Largest transcript to read, decompressed, such as 2GB [default: 1 GiB]
    #[arg(long, value_name = "SIZE", default_value_t = source::MAX_BYTES, value_parser = bytes, hide_default_value = true)]
    max_file: u64,
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

/// Parses a number of bytes: `2000000`, `200MB`, `2GB`.
fn bytes(written: &str) -> Result<u64, String> {
    in_bytes(&written.parse()?)
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

impl Transcripts {
    /// The transcripts of a suite. Relative paths start from its folder, and names of transcripts leave it out.
    pub fn of_suite(
        paths: &[String],
        base: &Path,
        read: &ReadSpec,
        (quiet, jobs): (bool, Option<usize>),
    ) -> Result<Self, Failure> {
        let format = read.known_format().map_err(Failure::Usage)?;
        let branches = match read.branches {
            format::Branches::Last => Branches::Last,
            format::Branches::All => Branches::All,
        };
        Ok(Self {
            paths: paths.iter().map(PathBuf::from).collect(),
            format,
            branches,
            strict: read.strict,
            max_file: read.max_bytes().map_err(Failure::Usage)?,
            quiet,
            jobs,
            base: base.to_owned(),
            model_limits: None,
            only_files: false,
        })
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
        let size = inputs.iter().map(Input::size).sum();
        let shown = !self.quiet && (inputs.len() > 1 || size > QUICK_BYTES || self.model_limits.is_some());
        let progress = Progress::new(size, shown, self.model_limits.clone());
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
        let mut done = Processed::new(inputs.len(), &errors);
        let mut skipped_lines = Vec::new();
        let mut skipped_files = Vec::new();
        for (input, (outcome, result)) in inputs.iter().zip(outcomes) {
            done.results.extend(result);
            match outcome {
                ReadOutcome::Read(reading) => skipped_lines.extend(lines_skipped(&input.name, &reading)),
                ReadOutcome::Saved => {}
                ReadOutcome::Left => done.left += 1,
                ReadOutcome::Unreadable(why) => done.fail(&input.name, why),
                ReadOutcome::Skipped(why) => {
                    skipped_files.push(format!("{}: {why}", input.name));
                    done.coverage.leave_out(&input.name, why);
                }
            }
        }
        self.print_skipped(&skipped_lines, &skipped_files, &done.coverage);
        if self.strict && !(skipped_lines.is_empty() && skipped_files.is_empty()) {
            let skipped = [(skipped_lines.len(), "line"), (skipped_files.len(), "transcript")].into_iter();
            let skipped: Vec<String> = skipped.filter(|(count, _)| *count > 0).map(|(count, of)| plural(count, of)).collect();
            return Err(done.failed(format!("--strict: {} could not be read", skipped.join(" and "))));
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

    /// Returns how transcripts are read, for the description of a study.
    pub fn read_spec(&self) -> ReadSpec {
        let branches = match self.branches {
            Branches::Last => format::Branches::Last,
            Branches::All => format::Branches::All,
        };
        ReadSpec::new(self.format.map(|format| format.name), branches, self.strict, self.max_file)
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
            return (ReadOutcome::Unreadable("a pipe, a socket or a device, not a file; it was not opened".to_owned()), None);
        }
        let content = match source::read(input, self.max_file) {
            Ok(content) => content,
            Err(error) => return (ReadOutcome::Unreadable(error.reason()), None),
        };
        let source = Source { name: &input.name, bytes: &content.bytes, progress };
        match saved(source) {
            Some(result) => (ReadOutcome::Saved, Some(result)),
            None => self.read(input, &content).process(|reading| work(source, reading)),
        }
    }

    fn read(&self, input: &Input, content: &Content) -> ReadOutcome {
        let bytes = content.bytes.as_slice();
        let failed = |why| failed(input, why);
        if bytes.trim_ascii().is_empty() {
            return failed("the file is empty".to_owned());
        }
        let Some(format) = self.format.or_else(|| format::sniff(bytes)) else {
            return failed(unknown_format(bytes, input.explicit));
        };
        let branches = match self.branches {
            Branches::Last => format::Branches::Last,
            Branches::All => format::Branches::All,
        };
        let mut reading = (format.read)(bytes, &ReadOptions { branches });
        let cut_off = content.cut_off.iter().map(|why| Note { line: None, level: Level::Skipped, what: why.clone() });
        reading.notes.extend(cut_off);
        if reading.conversations.is_empty() {
            let first = reading.notes.first().map(|note| format!(" (line {}: {})", note.line.unwrap_or(1), note.what));
            let first = first.unwrap_or_default();
            failed(format!("no conversation found in it, read as {}{first}", format.name))
        } else {
            ReadOutcome::Read(reading)
        }
    }

    /// Prints skipped lines and files on standard error, and how many transcripts are left.
    fn print_skipped(&self, lines: &[String], files: &[String], coverage: &Coverage) {
        let lines = lines.iter().filter(|_| !self.quiet || self.strict);
        let files = files.iter().filter(|_| !self.quiet || self.strict);
        for line in lines.chain(files) {
            output::say(&escape::terminal(line));
        }
        if !self.quiet && !coverage.is_complete() {
            output::say(&format!("{} were read", coverage.line()));
        }
    }
}

/// A named file must be a transcript; a file found in a folder may be something else.
fn failed(input: &Input, why: String) -> ReadOutcome {
    if input.explicit { ReadOutcome::Unreadable(why) } else { ReadOutcome::Skipped(why) }
}

/// Fails if an output file is also an input.
fn not_written_over(input: &Input, writes: &[Option<&Path>]) -> Result<(), Failure> {
    match writes.iter().flatten().find(|file| input.is_at(file)) {
        Some(file) => Err(Failure::Usage(format!("{}: is read, so it cannot be written too; name another file", file.display()))),
        None => Ok(()),
    }
}

fn lines_skipped(name: &str, reading: &Reading) -> Vec<String> {
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
