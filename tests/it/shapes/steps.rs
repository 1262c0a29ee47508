//! Finds shapes that cost more than in proportion to their size: seconds choose what to look at, steps decide.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rayon::prelude::*;
use recompact::engine::policy::PRESETS;
use recompact::metrics::column::ColumnId;
use recompact::metrics::metric;
use serde_json::json;
use tempfile::TempDir;

use super::{Shape, jsonl, shapes};

/// The last doubling may cost this many times as much as the one before: twice, and a little for sorting and growing tables.
const MOST: f64 = 2.3;
/// Steps are counted if seconds grow more than this. A large input also costs more because it leaves the processor's cache.
const SUSPECT: f64 = 2.15;
/// A doubling that costs less than this is not looked at.
const NEGLIGIBLE_SECONDS: f64 = 0.02;
/// How often seconds are measured at most, because other programs disturb them. The shortest time counts.
const TRIES: usize = 3;
/// The sizes for which seconds are measured, and the smaller ones for which steps are counted, as multiples of a shape's own size.
const TIMED: [usize; 3] = [4, 8, 16];
const COUNTED: [usize; 3] = [2, 4, 8];
/// How often these are doubled before a shape counts as superlinear: a policy that begins to act at some size looks so once.
const DOUBLINGS: usize = 2;

/// The shapes and the run whose output grows with the square of the input: each branch is a conversation with all that came before it.
const SQUARE_OUTPUT: [(&str, &str); 2] =
    [("claude-code: a rewind after every turn", "html"), ("claude-code: records in reverse order", "html")];

/// A shape and a preset that is not run over it. The preset edits the history and single requests, so that a request is made anew after
/// each edit of the history, and thinking leaves this one at every turn.
const MADE_ANEW: (&str, &str) = ("thinking", "--policy=lcc-s06-java");

/// What is run over each shape: a name, and the arguments before the folder. One replay has all presets, because most of a short run
/// goes into starting. RECOMPACT_PRESETS names some to run only these, to find which of them is superlinear.
fn runs() -> Vec<(&'static str, Vec<String>)> {
    let run = |name: &'static str, arguments: &str| (name, words(arguments));
    let mut replay = run("replay", "replay --findings -o json --tokenizer chars/4");
    let only = std::env::var("RECOMPACT_PRESETS").unwrap_or_default();
    for preset in PRESETS.iter().filter(|preset| only.is_empty() || only.split(',').any(|name| preset.name == name)) {
        replay.1.push(format!("--policy={}", preset.name));
    }
    vec![
        replay,
        run("inspect", "inspect --tokenizer chars/4"),
        run("audit", "audit"),
        run("sweep", "sweep -p lcc-s06 --set micro.keep_recent=1,3 --tokenizer chars/4"),
        run("html", "replay -p lcc-s06 --branches all --tokenizer chars/4 -o html"),
        run("probe", "probe --dry-run -p lcc-s06 --tokenizer chars/4 --model openai:m"),
    ]
}

fn words(arguments: &str) -> Vec<String> {
    arguments.split(' ').map(str::to_owned).collect()
}

/// One run over one shape.
struct Case<'a> {
    program: &'a Path,
    shape: &'a Shape,
    name: &'static str,
    arguments: &'a [String],
}

impl Case<'_> {
    /// Returns what is wrong with this case.
    fn superlinear(&self) -> Option<String> {
        let mut least = [f64::INFINITY; 3];
        let is_suspect = (0..TRIES).all(|_| {
            least = std::array::from_fn(|at| least[at].min(self.seconds(TIMED[at])));
            let [growth, next] = growth(least);
            next > NEGLIGIBLE_SECONDS && next > SUSPECT * growth
        });
        if is_suspect { self.superlinear_steps(least) } else { None }
    }

    /// Returns what is wrong with the counts of steps. `seconds` are for the message.
    fn superlinear_steps(&self, seconds: [f64; 3]) -> Option<String> {
        let mut counts = COUNTED.map(|factor| self.steps(factor)).to_vec();
        loop {
            let [.., first, second, third] = counts[..] else { return None };
            let [growth, next] = growth([first, second, third].map(|count| count as f64));
            if next <= MOST * growth {
                return None;
            }
            if counts.len() == COUNTED.len() + DOUBLINGS {
                if let Some(alone) = self.presets_alone() {
                    return alone.iter().find_map(|arguments| Case { arguments, ..*self }.superlinear_steps(seconds));
                }
                let Self { shape, name, arguments, .. } = self;
                let name = arguments.iter().find(|argument| is_preset(argument)).map_or(*name, String::as_str);
                let ratio = next / growth;
                return Some(format!(
                    "{}: {name}: {seconds:.2?} s, {counts:?} steps: the last doubling cost {ratio:.1} times the one before",
                    shape.name
                ));
            }
            counts.push(self.steps(COUNTED[0] << counts.len()));
        }
    }

    /// Returns the arguments of runs with one preset each, if there are several. Each preset begins to act at a size of its own, and
    /// together they look superlinear over many doublings.
    fn presets_alone(&self) -> Option<Vec<Vec<String>>> {
        let (presets, others): (Vec<_>, Vec<_>) = self.arguments.iter().cloned().partition(|argument| is_preset(argument));
        let alone = presets.iter().map(|preset| others.iter().chain([preset]).cloned().collect());
        (presets.len() > 1).then(|| alone.collect())
    }

    /// Runs the program over this multiple of the shape's size, under another program.
    fn run(&self, factor: usize, wrapper: &[&str]) -> Output {
        let folder = TempDir::new().expect("a temporary folder");
        self.shape.write(factor * self.shape.size, folder.path());
        let mut command = Command::new(wrapper[0]);
        let arguments = self.arguments.iter().filter(|argument| (self.shape.name, argument.as_str()) != MADE_ANEW);
        command.args(&wrapper[1..]).arg(self.program).args(arguments);
        command.args(["--jobs", "1", "--quiet", "--"]).arg(folder.path()).env("RUST_BACKTRACE", "0");
        command.output().expect("a program to run")
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

    /// Returns the number of basic blocks that a run executes.
    fn steps(&self, factor: usize) -> u64 {
        let output = self.run(factor, &["valgrind", "--tool=none", "--stats=yes"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let count = said.lines().find_map(|line| line.split_once("scheduler: ")?.1.strip_suffix(" event checks."));
        let count = count.unwrap_or_else(|| panic!("no count in what valgrind said: {said}"));
        count.replace(',', "").parse().expect("a number")
    }
}

fn is_preset(argument: &str) -> bool {
    argument.starts_with("--policy=")
}

/// Returns what each of two doublings cost.
fn growth([first, second, third]: [f64; 3]) -> [f64; 2] {
    [(second - first).max(0.0), third - second]
}

fn program() -> PathBuf {
    std::env::var_os("RECOMPACT_STEPS").expect("RECOMPACT_STEPS is the path of the program, built with --release").into()
}

/// Returns the steps that a doubling of a shape costs.
fn steps_of_doubling(shape: &Shape, arguments: &str) -> f64 {
    let arguments = words(arguments);
    let case = Case { program: &program(), shape, name: "", arguments: &arguments };
    (case.steps(2) - case.steps(1)) as f64
}

#[test]
#[ignore = "counts steps with valgrind"]
fn replays_of_many_sessions_cost_little_more_than_reading_them() {
    let sessions =
        Shape { size: 2_000, ..*shapes().into_iter().find(|shape| shape.name == "folder: sessions").expect("a shape") };
    let inspect = steps_of_doubling(&sessions, "inspect --tokenizer chars/4");
    let replay = steps_of_doubling(&sessions, "replay -p lcc-s06 --tokenizer chars/4");
    assert!(replay < 3.0 * inspect, "{inspect} steps for inspect, {replay} for replay");
}

#[test]
#[ignore = "measures the heap with valgrind"]
fn a_session_takes_at_most_4_kilobytes_beyond_its_rows() {
    /// The policy, the two bounds that every study has, and the clairvoyant.
    const ROWS: usize = 4;
    let size = 1_000;
    let sessions = Shape { size, ..*shapes().into_iter().find(|shape| shape.name == "folder: sessions").expect("a shape") };
    let arguments = words("replay -p lcc-s06 --tokenizer chars/4");
    let case = Case { program: &program(), shape: &sessions, name: "", arguments: &arguments };
    let session = (case.heap(2) - case.heap(1)) as usize / size;
    let row = metric::columns().len() * size_of::<(ColumnId, Option<f64>)>();
    assert!(session < ROWS * row + 4_096, "{session} bytes a session, {row} a row");
}

#[test]
#[ignore = "counts steps with valgrind"]
fn audits_of_text_beyond_ascii_take_as_long_as_of_ascii() {
    const ASCII: Shape = Shape { name: "ASCII", size: 1_000, files: |n| folder_with(&"groesse and laenge of a key ".repeat(n)) };
    const OTHER: Shape = Shape { name: "other", size: 1_000, files: |n| folder_with(&"größe and länge of a key ".repeat(n)) };
    let [ascii, other] = [&ASCII, &OTHER].map(|shape| steps_of_doubling(shape, "audit"));
    assert!(other < 2.0 * ascii, "{ascii} steps for ASCII, {other} for other text");
}

fn folder_with(text: &str) -> Vec<(String, String)> {
    let lines = [json!({"role": "user", "content": text}), json!({"role": "assistant", "content": "Done."})];
    vec![("session.jsonl".to_owned(), jsonl(lines))]
}

#[test]
#[ignore = "runs for minutes and counts steps with valgrind: RECOMPACT_STEPS is the program, built with --release"]
fn every_shape_is_linear() {
    let program = &program();
    let wanted = std::env::var("RECOMPACT_SHAPE").unwrap_or_default();
    let runs = runs();
    // A run that refuses its command line would be linear.
    for (name, arguments) in &runs {
        let output = Case { program, shape: shapes()[0], name, arguments }.run(1, &["env"]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.starts_with("error:"), "{name}: {said}");
    }
    let cases =
        shapes().into_iter().flat_map(|shape| runs.iter().map(move |(name, arguments)| Case { program, shape, name, arguments }));
    let cases = cases.filter(|case| !SQUARE_OUTPUT.contains(&(case.shape.name, case.name)));
    let cases: Vec<Case> = cases.filter(|case| format!("{}: {}", case.shape.name, case.name).contains(&wanted)).collect();
    let superlinear = cases.par_iter().filter_map(Case::superlinear);
    // They are printed as they are found, because the whole takes long.
    let wrong: Vec<String> = superlinear.inspect(|found| eprintln!("{found}")).collect();
    assert!(wrong.is_empty(), "{} of the runs are superlinear:\n{}", wrong.len(), wrong.join("\n"));
}
