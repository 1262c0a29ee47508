//! Counts the steps of the program over each shape.

use std::path::Path;
use std::process::Command;

use rayon::prelude::*;
use recompact::engine::policy::PRESETS;
use tempfile::TempDir;

use super::{Shape, shapes};

/// A doubling may cost this many times as much: twice, and a little for sorting and for maps that outgrow a cache.
const MOST: f64 = 2.3;
/// Fewer steps are not looked at: they are what a first allocation or a growing table costs.
const NEGLIGIBLE: u64 = 20_000;
/// How often a size is doubled before a shape counts as superlinear. A policy that begins to act at some size looks so once.
const DOUBLINGS: u32 = 2;

/// What is run over each shape: a name, and the arguments before the folder. One replay has all presets, because most of its time goes
/// into starting under valgrind; RECOMPACT_PRESET runs one alone, to find which of them is superlinear.
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

/// Returns the number of basic blocks that a run executes.
fn steps(program: &Path, arguments: &[String], folder: &Path) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=none", "--stats=yes"]).arg(program).args(arguments);
    command.args(["--jobs", "1", "--quiet", "--"]).arg(folder).env("RUST_BACKTRACE", "0");
    let output = command.output().expect("valgrind");
    let said = String::from_utf8_lossy(&output.stderr);
    let count = said.lines().find_map(|line| line.split_once("scheduler: ")?.1.strip_suffix(" event checks."));
    let count = count.unwrap_or_else(|| panic!("no count in what valgrind said: {said}"));
    count.replace(',', "").parse().expect("a number")
}

/// Returns what is wrong with a run over a shape.
fn superlinear(program: &Path, shape: &Shape, (name, arguments): &(&str, Vec<String>)) -> Option<String> {
    let count = |size: usize| {
        let folder = TempDir::new().expect("a temporary folder");
        shape.write(size, folder.path());
        steps(program, arguments, folder.path())
    };
    let mut counts = [1, 2, 4].map(|factor| count(factor * shape.size));
    for doubling in 0..=DOUBLINGS {
        let [first, second, third] = counts;
        let (growth, next) = (second.saturating_sub(first).max(NEGLIGIBLE), third.saturating_sub(second));
        if next as f64 <= MOST * growth as f64 {
            return None;
        }
        if doubling < DOUBLINGS {
            counts = [second, third, count((8 << doubling) * shape.size)];
        }
    }
    let [first, second, third] = counts;
    let ratio = (third - second) as f64 / second.saturating_sub(first).max(1) as f64;
    Some(format!(
        "{}: {name}: {first}, {second}, {third} steps: the last doubling cost {ratio:.1} times the one before",
        shape.name
    ))
}

#[test]
#[ignore = "counts steps with valgrind: RECOMPACT_STEPS is the program to count, built with --release"]
fn every_shape_is_linear() {
    let program = std::env::var_os("RECOMPACT_STEPS").expect("RECOMPACT_STEPS is the path of the program");
    let wanted = std::env::var("RECOMPACT_SHAPE").unwrap_or_default();
    let runs = runs();
    let cases: Vec<_> = shapes().into_iter().flat_map(|shape| runs.iter().map(move |run| (shape, run))).collect();
    let wanted = cases.into_par_iter().filter(|(shape, (run, _))| format!("{}: {run}", shape.name).contains(&wanted));
    let superlinear = wanted.filter_map(|(shape, run)| superlinear(Path::new(&program), shape, run));
    // They are printed as they are found, because the whole takes long.
    let wrong: Vec<String> = superlinear.inspect(|found| eprintln!("{found}")).collect();
    assert!(wrong.is_empty(), "{} of the runs are superlinear:\n{}", wrong.len(), wrong.join("\n"));
}
