//! Finds shapes that cost more than in proportion to their size: seconds choose what to look at, steps decide.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use recompact::engine::policy::PRESETS;
use recompact::metrics::column::ColumnId;
use recompact::metrics::metric;
use serde_json::json;
use tempfile::TempDir;

use super::{Shape, jsonl, shapes};
use crate::support::program;

/// The last doubling may cost this many times as much as the one before: twice, and a little for sorting and growing tables.
const MOST: f64 = 2.3;
/// The sizes for which seconds are measured, as multiples of a shape's own size: far apart, so that a few per cent do not matter.
const TIMED: [usize; 3] = [2, 8, 32];
/// Steps are counted if the last of these sizes cost this many times as much as the one before: four times, and more because a large
/// input leaves the processor's cache. If a run takes 30 % of its time for what grows with the square, it costs as much.
const SUSPECT: f64 = 5.4;
/// What seconds can tell apart: a size that costs less is not looked at.
const NEGLIGIBLE_SECONDS: f64 = 0.02;
/// A run is ended after 300 seconds of the processor: what needs more is wrong, and would hide all that come after it.
const LIMIT_SECONDS: u32 = 300;
/// How often seconds are measured at most, because other programs disturb them. The shortest time counts.
const TRIES: usize = 3;
/// After this many superlinear runs no more are looked for: what all runs share is superlinear in all of them, and counting takes minutes.
const ENOUGH: usize = 10;
/// The first multiple of a shape's size for which steps are counted.
const FIRST_COUNTED: usize = 4;
/// How often it is doubled before a shape counts as superlinear: a policy that begins to act at some size looks so once.
const DOUBLINGS: usize = 5;

/// The shapes and the run whose output grows with the square of the input: each branch is a conversation with all that came before it.
const SQUARE_OUTPUT: [(&str, &str); 2] =
    [("claude-code: a rewind after every turn", "html"), ("claude-code: records in reverse order", "html")];

/// A preset that edits the history at each turn, and single requests too, and the shapes with many turns that act on it so.
const MADE_ANEW: (&str, [&str; 5]) = (
    "lcc-s06-java",
    [
        "rounds of ten calls",
        "thinking",
        "claude-code: turns with thinking",
        "claude-code: compactions",
        "claude-code: compactions that keep a tail",
    ],
);

/// Presets, each with a setting that makes it keep less: a call costs as much as what is kept, and what these keep grows beyond what can
/// be counted. One sends a window that is new from its beginning, the others keep what was typed.
const SMALLER: [(&str, &str); 3] = [
    ("openai-truncation", "window.keep_recent_tokens=20k"),
    ("openai-compact", "auto.typed.keep=5k"),
    ("codex-cli", "auto.typed.keep=5k"),
];

/// The cases are looked at in this many parts: of each shape and of each run, every tenth case is in one.
const PARTS: usize = 10;

/// The part that is wanted: RECOMPACT_PART, from 0; without it, all are.
fn part() -> Option<usize> {
    let part = std::env::var("RECOMPACT_PART").ok().filter(|part| !part.is_empty());
    part.map(|part| part.parse().expect("RECOMPACT_PART is a number from 0 to 9"))
}

/// What is done with each shape.
struct Run {
    name: &'static str,
    /// The arguments before the folder.
    arguments: Vec<String>,
}

/// Returns every run. Each preset has one of its own: it begins to act at a size of its own, so several in one run would look
/// superlinear over many doublings. RECOMPACT_PRESETS names some to run only these.
fn runs() -> Vec<Run> {
    let run = |name, arguments: &str| Run { name, arguments: words(arguments) };
    let only = std::env::var("RECOMPACT_PRESETS").unwrap_or_default();
    let is_wanted = |name: &str| only.is_empty() || only.split(',').any(|wanted| wanted == name);
    let replay = |name| {
        let smaller = SMALLER.iter().find(|(preset, _)| *preset == name);
        let smaller = smaller.map_or_else(String::new, |(_, setting)| format!(" --set {setting}"));
        run(name, &format!("replay --findings -o json --tokenizer chars/4 --policy={name}{smaller}"))
    };
    let presets = PRESETS.iter().filter(|preset| is_wanted(preset.name)).map(|preset| replay(preset.name));
    let others = [
        run("replay with bounds", "replay --findings -o json --tokenizer chars/4 -p lcc-s06"),
        run("inspect", "inspect --tokenizer chars/4"),
        run("audit", "audit"),
        run("sweep", "sweep -p lcc-s06 --set micro.keep_recent=1,3 --tokenizer chars/4"),
        run("html", "replay -p lcc-s06 --branches all --tokenizer chars/4 -o html"),
        run("probe", "probe --dry-run -p lcc-s06 --tokenizer chars/4 --model openai:m"),
    ];
    presets.chain(others).collect()
}

/// Returns whether a run over a shape takes time with the square, which is known.
fn is_known_square(shape: &str, run: &str) -> bool {
    let (preset, shapes) = MADE_ANEW;
    SQUARE_OUTPUT.contains(&(shape, run)) || (run == preset && shapes.contains(&shape))
}

fn words(arguments: &str) -> Vec<String> {
    arguments.split(' ').map(str::to_owned).collect()
}

/// A shape with the folders that were written of it, by size.
struct Inputs {
    shape: Shape,
    folders: RefCell<BTreeMap<usize, TempDir>>,
}

impl Inputs {
    fn new(shape: Shape) -> Self {
        Self { shape, folders: RefCell::default() }
    }

    /// Returns a folder with this multiple of the shape's size.
    fn folder(&self, factor: usize) -> PathBuf {
        let mut folders = self.folders.borrow_mut();
        let folder = folders.entry(factor).or_insert_with(|| {
            let folder = TempDir::new().expect("a temporary folder");
            self.shape.write(factor * self.shape.size, folder.path());
            folder
        });
        folder.path().to_owned()
    }
}

/// One run over one shape.
struct Case<'a> {
    program: &'a Path,
    inputs: &'a Inputs,
    arguments: &'a [String],
}

impl Case<'_> {
    /// Returns what is wrong with this case, if seconds arouse suspicion and steps confirm it.
    fn superlinear(&self) -> Option<String> {
        let mut least = [f64::INFINITY; 3];
        let is_suspect = (0..TRIES).all(|_| {
            least = std::array::from_fn(|at| least[at].min(self.seconds(TIMED[at])));
            let [growth, next] = growth(least);
            next > SUSPECT * growth.max(NEGLIGIBLE_SECONDS)
        });
        let why = is_suspect.then(|| self.superlinear_steps())??;
        Some(format!("{least:.2?} s, {why}"))
    }

    /// Returns the counts and by how much the last doubling cost more than the one before, if it cost too much.
    fn superlinear_steps(&self) -> Option<String> {
        let (mut counts, mut ratio) = (Vec::new(), 0.0);
        for doublings in 0..=DOUBLINGS {
            let Some(count) = self.counted_steps(FIRST_COUNTED << doublings) else {
                return Some(format!("{counts:?} steps, and {LIMIT_SECONDS} s were not enough for the next size"));
            };
            counts.push(count);
            let [.., first, second, third] = counts[..] else { continue };
            let [growth, next] = growth([first, second, third].map(|count| count as f64));
            if next <= MOST * growth {
                return None;
            }
            ratio = next / growth;
        }
        Some(format!("{counts:?} steps: the last doubling cost {ratio:.1} times the one before"))
    }

    /// Runs the program over this multiple of the shape's size, under another program.
    fn run(&self, factor: usize, wrapper: &[&str]) -> Output {
        let mut command = Command::new("bash");
        let limited = format!(r#"ulimit -t {LIMIT_SECONDS}; exec "$@""#);
        command.args(["-c", &limited, "bash"]).args(wrapper).arg(self.program).args(self.arguments);
        command.args(["--jobs", "1", "--quiet", "--"]).arg(self.inputs.folder(factor));
        program::without_own_files(&mut command).output().expect("a program to run")
    }

    /// Returns the processor time of a run in seconds.
    fn seconds(&self, factor: usize) -> f64 {
        let script = r#""$@" >/dev/null 2>&1; times"#;
        let output = self.run(factor, &["bash", "-c", script, "bash"]);
        let said = String::from_utf8_lossy(&output.stdout);
        // The last line has the user and the system time of the children, such as `0m1.250s 0m0.031s`.
        let times = said.lines().last().unwrap_or_default().split_whitespace();
        let seconds = times.map(|time| {
            let (minutes, seconds) = time.strip_suffix('s')?.split_once('m')?;
            Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
        });
        seconds.sum::<Option<f64>>().unwrap_or_else(|| panic!("no times in what bash said: {said}"))
    }

    /// Returns the largest number of bytes that a run has on the heap at one time.
    fn heap(&self, factor: usize) -> u64 {
        let folder = TempDir::new().expect("a temporary folder");
        let file = folder.path().join("heap");
        let to_file = format!("--massif-out-file={}", file.display());
        self.run(factor, &["valgrind", "--tool=massif", &to_file]);
        let written = std::fs::read_to_string(file).expect("what massif writes");
        let sizes = written.lines().filter_map(|line| line.strip_prefix("mem_heap_B=")?.parse().ok());
        sizes.max().expect("the size of the heap")
    }

    fn steps(&self, factor: usize) -> u64 {
        self.counted_steps(factor).expect("a run within the limit")
    }

    /// Returns the number of basic blocks that a run executes; `None` if it was ended.
    fn counted_steps(&self, factor: usize) -> Option<u64> {
        let output = self.run(factor, &["valgrind", "--tool=none", "--stats=yes"]);
        output.status.code()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let count = said.lines().find_map(|line| line.split_once("scheduler: ")?.1.strip_suffix(" event checks."));
        let count = count.unwrap_or_else(|| panic!("no count in what valgrind said: {said}"));
        Some(count.replace(',', "").parse().expect("a number"))
    }
}

/// Returns what each of two doublings cost.
fn growth([first, second, third]: [f64; 3]) -> [f64; 2] {
    [(second - first).max(0.0), third - second]
}

/// The released program.
pub(super) fn program() -> PathBuf {
    assert!(
        std::env::var_os("RECOMPACT_PROGRAM").is_some(),
        "RECOMPACT_PROGRAM is the path of the program, built with --release"
    );
    program::path()
}

/// Returns the steps that a doubling of a shape costs.
fn steps_of_doubling(shape: Shape, arguments: &str) -> f64 {
    let case = Case { program: &program(), inputs: &Inputs::new(shape), arguments: &words(arguments) };
    (case.steps(2) - case.steps(1)) as f64
}

#[test]
#[ignore = "counts steps with valgrind"]
fn replays_of_many_sessions_cost_a_few_times_their_reading() {
    let sessions =
        Shape { size: 2_000, ..*shapes().into_iter().find(|shape| shape.name == "folder: sessions").expect("a shape") };
    let inspect = steps_of_doubling(sessions, "inspect --tokenizer chars/4");
    let replay = steps_of_doubling(sessions, "replay -p lcc-s06 --tokenizer chars/4");
    // Resamples are no part of it: from 1,000 sessions on they cost the same.
    assert!(replay < 6.0 * inspect, "{inspect} steps for inspect, {replay} for replay");
}

#[test]
#[ignore = "measures the heap with valgrind"]
fn a_session_takes_at_most_4_kilobytes_beyond_its_rows() {
    /// The policy, the recorded session, the clairvoyants of both, and the two bounds that every study has.
    const ROWS: usize = 6;
    let size = 1_000;
    let sessions = Shape { size, ..*shapes().into_iter().find(|shape| shape.name == "folder: sessions").expect("a shape") };
    let (inputs, arguments) = (Inputs::new(sessions), words("replay -p lcc-s06 --tokenizer chars/4"));
    let case = Case { program: &program(), inputs: &inputs, arguments: &arguments };
    let session = (case.heap(2) - case.heap(1)) as usize / size;
    let row = metric::columns().len() * size_of::<(ColumnId, Option<f64>)>();
    assert!(session < ROWS * row + 4_096, "{session} bytes a session, {row} a row");
}

#[test]
#[ignore = "counts steps with valgrind"]
fn audits_of_text_beyond_ascii_take_as_long_as_of_ascii() {
    const ASCII: Shape = Shape { name: "ASCII", size: 1_000, files: |n| folder_with(&"groesse and laenge of a key ".repeat(n)) };
    const OTHER: Shape = Shape { name: "other", size: 1_000, files: |n| folder_with(&"größe and länge of a key ".repeat(n)) };
    let [ascii, other] = [ASCII, OTHER].map(|shape| steps_of_doubling(shape, "audit"));
    assert!(other < 2.0 * ascii, "{ascii} steps for ASCII, {other} for other text");
}

fn folder_with(text: &str) -> Vec<(String, String)> {
    let lines = [json!({"role": "user", "content": text}), json!({"role": "assistant", "content": "Done."})];
    vec![("session.jsonl".to_owned(), jsonl(lines))]
}

#[test]
#[ignore = "runs for minutes and counts steps with valgrind: RECOMPACT_PROGRAM is the program, built with --release"]
fn every_shape_is_linear() {
    let program = &program();
    let wanted = std::env::var("RECOMPACT_SHAPE").unwrap_or_default();
    let runs = runs();
    // A run that refuses its command line would be linear.
    let first = Inputs::new(*shapes()[0]);
    for Run { name, arguments } in &runs {
        let output = Case { program, inputs: &first, arguments }.run(1, &["env"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.starts_with("error:"), "{name}: {said}");
    }
    let found_so_far = AtomicUsize::new(0);
    let part = part();
    let superlinear = shapes().into_par_iter().enumerate().flat_map_iter(|(at, shape)| {
        let inputs = Inputs::new(*shape);
        let is_of_part = |run: usize| part.is_none_or(|part| (at + run) % PARTS == part);
        let is_wanted = |&(run_at, run): &(usize, &Run)| {
            let is_named = format!("{}: {}", shape.name, run.name).contains(&wanted);
            is_of_part(run_at) && is_named && !is_known_square(shape.name, run.name)
        };
        let is_enough = |_: &(usize, &Run)| found_so_far.load(Ordering::Relaxed) < ENOUGH;
        let found = runs.iter().enumerate().filter(is_wanted).take_while(is_enough).filter_map(|(_, Run { name, arguments })| {
            let why = Case { program, inputs: &inputs, arguments }.superlinear()?;
            Some(format!("{}: {name}: {why}", shape.name))
        });
        // They are printed as they are found, because the whole takes long.
        let report = |found: &String| {
            found_so_far.fetch_add(1, Ordering::Relaxed);
            eprintln!("{found}");
        };
        found.inspect(report).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = superlinear.collect();
    assert!(wrong.is_empty(), "{} of the runs are superlinear:\n{}", wrong.len(), wrong.join("\n"));
}
