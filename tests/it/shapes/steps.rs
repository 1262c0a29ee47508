//! Finds shapes that cost more than in proportion to their size: seconds choose what to look at, steps decide.

use std::path::Path;
use std::process::{Command, Output};

use rayon::prelude::*;
use recompact::engine::policy::PRESETS;
use tempfile::TempDir;

use super::{Shape, shapes};

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

/// The shape and the run whose output grows with the square of the input: each branch is a conversation with all that came before it.
const SQUARE_OUTPUT: (&str, &str) = ("claude-code: a rewind after every turn", "html");

/// What is run over each shape: a name, and the arguments before the folder. One replay has all presets, because most of a short run
/// goes into starting; RECOMPACT_PRESET runs one alone, to find which of them is superlinear.
fn runs() -> Vec<(&'static str, Vec<String>)> {
    let run = |name: &'static str, arguments: &str| (name, arguments.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let mut replay = run("replay", "replay --findings -o json --tokenizer chars/4");
    let only = std::env::var("RECOMPACT_PRESET").unwrap_or_default();
    for preset in PRESETS.iter().filter(|preset| only.is_empty() || preset.name == only) {
        replay.1.extend(["-p".to_owned(), preset.name.to_owned()]);
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

/// One run over one shape.
struct Case<'a> {
    program: &'a Path,
    shape: &'static Shape,
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
        if !is_suspect {
            return None;
        }
        let counts = COUNTED.map(|factor| self.steps(factor));
        let [growth, next] = growth(counts.map(|count| count as f64));
        let Self { shape, name, .. } = self;
        (next > MOST * growth).then(|| {
            let [first, second, third] = counts;
            let ratio = next / growth;
            format!(
                "{}: {name}: {least:.2?} s, {first}, {second}, {third} steps: the last doubling cost {ratio:.1} times the one before",
                shape.name
            )
        })
    }

    /// Runs the program over this multiple of the shape's size, under another program.
    fn run(&self, factor: usize, wrapper: &[&str]) -> Output {
        let folder = TempDir::new().expect("a temporary folder");
        self.shape.write(factor * self.shape.size, folder.path());
        let mut command = Command::new(wrapper[0]);
        command.args(&wrapper[1..]).arg(self.program).args(self.arguments);
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

    /// Returns the number of basic blocks that a run executes.
    fn steps(&self, factor: usize) -> u64 {
        let output = self.run(factor, &["valgrind", "--tool=none", "--stats=yes"]);
        let said = String::from_utf8_lossy(&output.stderr);
        let count = said.lines().find_map(|line| line.split_once("scheduler: ")?.1.strip_suffix(" event checks."));
        let count = count.unwrap_or_else(|| panic!("no count in what valgrind said: {said}"));
        count.replace(',', "").parse().expect("a number")
    }
}

/// Returns what each of two doublings cost.
fn growth([first, second, third]: [f64; 3]) -> [f64; 2] {
    [(second - first).max(0.0), third - second]
}

#[test]
#[ignore = "runs for minutes and counts steps with valgrind: RECOMPACT_STEPS is the program, built with --release"]
fn every_shape_is_linear() {
    let program = std::env::var_os("RECOMPACT_STEPS").expect("RECOMPACT_STEPS is the path of the program");
    let program = Path::new(&program);
    let wanted = std::env::var("RECOMPACT_SHAPE").unwrap_or_default();
    let runs = runs();
    let cases =
        shapes().into_iter().flat_map(|shape| runs.iter().map(move |(name, arguments)| Case { program, shape, name, arguments }));
    let cases = cases.filter(|case| (case.shape.name, case.name) != SQUARE_OUTPUT);
    let cases: Vec<Case> = cases.filter(|case| format!("{}: {}", case.shape.name, case.name).contains(&wanted)).collect();
    let superlinear = cases.par_iter().filter_map(Case::superlinear);
    // They are printed as they are found, because the whole takes long.
    let wrong: Vec<String> = superlinear.inspect(|found| eprintln!("{found}")).collect();
    assert!(wrong.is_empty(), "{} of the runs are superlinear:\n{}", wrong.len(), wrong.join("\n"));
}
