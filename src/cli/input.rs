//! Transcripts as the commands take them: paths, format, strictness, and how many at a time.

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

const MOST_THREADS: usize = 256;

#[derive(Args)]
pub struct Transcripts {
    /// A file, a folder (searched for transcripts), a glob, or - (standard input)
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read every file in this format instead of recognising it
    #[arg(long, value_name = "NAME", value_parser = format_by_name)]
    format: Option<&'static Format>,
    /// Which branches to read where a conversation was rewound or edited
    #[arg(long, value_enum, default_value_t = Branches::Last)]
    branches: Branches,
    /// Take a line that cannot be read as an error; without it, the line is skipped and named
    #[arg(long)]
    strict: bool,
    /// Print neither progress nor what was skipped
    #[arg(short, long)]
    quiet: bool,
    /// How many threads work [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    jobs: Option<usize>,
    /// Where relative paths start from; empty: the current folder.
    #[arg(skip)]
    base: PathBuf,
    /// The limits of the models that are asked meanwhile.
    #[arg(skip)]
    asked: Option<Arc<Limits>>,
    /// Pipes and the like are not read.
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
        format!("there is no such format (known: {known})")
    })
}

pub fn at_least_one(number: &str) -> Result<usize, String> {
    number.parse().ok().filter(|number| *number > 0).ok_or_else(|| "a number from 1 on is needed".to_owned())
}

/// A transcript that is being worked on.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub name: &'a str,
    bytes: &'a [u8],
    pub progress: &'a Progress,
}

impl<'a> Source<'a> {
    /// What it was read from, decompressed.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Of its bytes, to know it again.
    pub fn hash(&self) -> String {
        hash_of(self.bytes)
    }
}

/// What became of the transcripts.
pub struct Processed<T> {
    /// Of those that were read, in the order of the paths.
    pub parts: Vec<T>,
    /// All that were found.
    pub transcripts: usize,
    /// Those that were not begun when somebody stopped the program.
    pub left: usize,
    /// What went wrong with the others.
    errors: Vec<String>,
    /// Files found in folders that are no transcripts.
    passed_over: Vec<String>,
}

impl<T> Processed<T> {
    /// What was not read, and why: paths and reasons.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, &str)> {
        self.errors.iter().chain(&self.passed_over).map(|what| what.split_once(": ").unwrap_or((what, "it was not read")))
    }

    /// Leaves out the parts that tell nothing, for the reason they give. If somebody stopped the program, that is why.
    pub fn without(mut self, reason: impl Fn(&T) -> Option<&str>) -> Self {
        let (empty, told): (Vec<T>, Vec<T>) = self.parts.into_iter().partition(|part| reason(part).is_some());
        match interrupt::requested() {
            true => self.left += empty.len(),
            false => self.errors.extend(empty.iter().filter_map(reason).map(str::to_owned)),
        }
        Self { parts: told, ..self }
    }

    /// The parts, or why there are none. What went wrong with some is given back for the end of the run.
    pub fn analysed(self) -> Result<(Vec<T>, Result<(), Failure>), Failure> {
        let end = match (self.left, self.errors.is_empty()) {
            (0, true) => Ok(()),
            (0, false) => Err(Failure::Input(self.errors)),
            (left, _) => Err(Failure::Stopped { done: self.transcripts - left, transcripts: self.transcripts, can_go_on: false }),
        };
        match (self.parts.is_empty(), end) {
            (true, Err(failure)) => Err(failure),
            (true, Ok(())) => Err(Failure::Usage("nothing could be analysed: no conversation was found".to_owned())),
            (false, end) => Ok((self.parts, end)),
        }
    }
}

/// One transcript's reading, or why there is none.
enum Outcome {
    Read(Reading),
    /// It was worked on before.
    Finished,
    /// Somebody stopped the program.
    Left,
    /// Named by itself: the user meant it to be read.
    Unreadable(String),
    /// Found in a folder: it may well be something else.
    PassedOver(String),
}

impl Transcripts {
    /// The same, with relative paths that start from another folder; the names of transcripts leave it out.
    pub fn within(self, base: &Path) -> Self {
        Self { base: base.to_owned(), ..self }
    }

    /// Reads every transcript and does some work on it: several at a time, or one after another if the work must be in order.
    /// None of them may be among the files that will be written.
    pub fn for_each<T: Send>(
        &self,
        writes: &[Option<&Path>],
        in_order: bool,
        mut ordered: impl FnMut(Source, &Reading) -> T,
        parallel: impl Fn(Source, &Reading) -> T + Sync,
        finished: impl Fn(Source) -> Option<T> + Sync,
    ) -> Result<Processed<T>, Failure> {
        let (inputs, errors) = source::find(&self.base, &self.paths);
        inputs.iter().try_for_each(|input| not_written_over(input, writes))?;
        interrupt::listen(self.quiet);
        let shown = !self.quiet && (inputs.len() > 1 || self.asked.is_some());
        let progress = Progress::new(inputs.iter().map(Input::size).sum(), shown, self.asked.clone());
        let step = |input: &Input, work: &mut dyn FnMut(Source, &mut Reading) -> T| {
            let done = self.step(input, &progress, work, &finished);
            progress.read(input.size());
            done
        };
        let outcomes: Vec<(Outcome, Option<T>)> = if in_order {
            inputs.iter().map(|input| step(input, &mut |source, reading| ordered(source, reading))).collect()
        } else {
            let work = |input: &Input| step(input, &mut |source, reading| parallel(source, reading));
            self.install(|| inputs.par_iter().map(work).collect())?
        };
        progress.finish();
        let errors = errors.iter().map(ToString::to_string).collect();
        let mut done = Processed { parts: Vec::new(), transcripts: inputs.len(), left: 0, errors, passed_over: Vec::new() };
        let mut skipped = Vec::new();
        for (input, (outcome, part)) in inputs.iter().zip(outcomes) {
            done.parts.extend(part);
            match outcome {
                Outcome::Read(reading) => skipped.extend(skipped_lines(&input.name, &reading)),
                Outcome::Finished => {}
                Outcome::Left => done.left += 1,
                Outcome::Unreadable(why) => done.errors.push(why),
                Outcome::PassedOver(why) => done.passed_over.push(why),
            }
        }
        self.say_left_out(&skipped, &done.passed_over);
        if self.strict && !skipped.is_empty() {
            done.errors.push(format!("--strict: {} could not be read", plural(skipped.len(), "line")));
            return Err(Failure::Input(done.errors));
        }
        Ok(done)
    }

    /// Reads files and nothing else: a pipe may never end.
    pub fn only_files(&mut self) {
        self.only_files = true;
    }

    /// As they were given.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// How they are read, for a study that is gone on with.
    pub fn question(&self) -> [(String, String); 2] {
        let format = self.format.map_or("any", |format| format.name);
        let branches = if matches!(self.branches, Branches::All) { "all" } else { "last" };
        [("--format", format), ("--branches", branches)].map(|(option, value)| (option.to_owned(), value.to_owned()))
    }

    /// Models are asked for the work, within these limits. Where nobody said how many threads there are, there are as many as may ask
    /// at a time: those that wait leave the processors to others.
    pub fn work_with_models(&mut self, limits: Arc<Limits>) {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs = self.jobs.or(Some(limits.concurrency.max(processors)));
        self.asked = Some(limits);
    }

    fn pool(&self) -> Result<rayon::ThreadPool, Failure> {
        // More threads than this would only wait for each other. 0 is rayon's word for as many as there are processors.
        let threads = self.jobs.map_or(0, |jobs| jobs.min(MOST_THREADS));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| Failure::Usage(format!("no threads could be started: {error}")))
    }

    /// Reads one transcript and does the work on it, unless that was done before.
    fn step<T>(
        &self,
        input: &Input,
        progress: &Progress,
        work: &mut dyn FnMut(Source, &mut Reading) -> T,
        finished: &dyn Fn(Source) -> Option<T>,
    ) -> (Outcome, Option<T>) {
        if interrupt::requested() {
            return (Outcome::Left, None);
        }
        if self.only_files && input.is_special() {
            return (failed(input, format!("{}: a pipe, a socket or a device, not a file; it was not opened", input.name)), None);
        }
        let bytes = match source::read(input) {
            Ok(bytes) => bytes,
            Err(error) => return (failed(input, error.to_string()), None),
        };
        let source = Source { name: &input.name, bytes: &bytes, progress };
        match finished(source) {
            Some(part) => (Outcome::Finished, Some(part)),
            None => self.read(input, &bytes).worked(|reading| work(source, reading)),
        }
    }

    fn read(&self, input: &Input, bytes: &[u8]) -> Outcome {
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
        match reading.conversations.is_empty() {
            false => Outcome::Read(reading),
            true => {
                let first = reading.notes.first().map(|note| format!(" (line {}: {})", note.line.unwrap_or(1), note.what));
                let first = first.unwrap_or_default();
                failed(format!("{}: no conversation found in it, read as {}{first}", input.name, format.name))
            }
        }
    }

    /// Says on standard error which lines and files were left out.
    fn say_left_out(&self, skipped: &[String], passed_over: &[String]) {
        let skipped = skipped.iter().filter(|_| !self.quiet || self.strict);
        let passed_over = passed_over.iter().filter(|_| !self.quiet);
        for line in skipped.chain(passed_over) {
            eprintln!("{}", escape::terminal(line));
        }
    }
}

/// A file that was named must be readable; one found in a folder may be something else.
fn failed(input: &Input, why: String) -> Outcome {
    if input.explicit { Outcome::Unreadable(why) } else { Outcome::PassedOver(why) }
}

/// Nothing that was given to be read is changed, whatever the command line says.
pub fn not_written_over(input: &Input, writes: &[Option<&Path>]) -> Result<(), Failure> {
    match writes.iter().flatten().find(|file| input.is_at(file)) {
        Some(file) => Err(Failure::Usage(format!("{}: is read, so it cannot be written too; name another file", file.display()))),
        None => Ok(()),
    }
}

impl Outcome {
    /// Does the work on a reading, and keeps what is left to report of it: its conversations are not held any longer.
    fn worked<T>(self, work: impl FnOnce(&mut Reading) -> T) -> (Self, Option<T>) {
        match self {
            Outcome::Read(mut reading) => {
                let part = work(&mut reading);
                (Outcome::Read(Reading { conversations: Vec::new(), ..reading }), Some(part))
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
        return "passed over, not a transcript in a format this program knows".to_owned();
    }
    let known = FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
    let looks = if bytes[..bytes.len().min(8_000)].contains(&0) { "a binary file, " } else { "" };
    format!("{looks}not a transcript in a format this program knows ({known}); --format NAME reads it as one all the same")
}
