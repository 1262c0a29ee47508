//! The instructions of twelve runs of the released program, against those that are written down: what makes the program slower is seen
//! with the commit that does it, on a busy machine too.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::shapes;
use super::steps::program;
use crate::support::program::{fixtures, without_own_files};

/// How far a count may be from the written one, as a share. Tables with random seeds make a difference of 0.1 %.
const TOLERANCE: f64 = 0.03;

/// The runs, each with its arguments. `SESSION` is a long session, `LETTER` a long run of one letter.
const RUNS: [(&str, &str); 12] = [
    ("start", "--help"),
    ("inspect, all formats", "inspect ."),
    ("inspect, a run of one letter", "inspect LETTER --tokenizer o200k"),
    ("audit", "audit . -o json"),
    ("replay without compaction", "replay . -p keep-all -o json"),
    ("replay of what is replayed by default", "replay claude-code codex -o json"),
    ("replay with findings", "replay claude-code -p lcc-s08 --findings -o json"),
    ("replay with summaries", "replay codex -p gemini-cli -o json"),
    ("replay of a long session", "replay SESSION -p lcc-s06 -o json"),
    ("replay of single requests", "replay SESSION -p spring-ai -o json"),
    ("sweep", "sweep claude-code -p lcc-s08 --set auto.threshold=20k..60k:10k --set micro.keep_recent=1..3 -o json"),
    ("page", "replay claude-code -o html"),
];

/// What is written down.
#[derive(Serialize, Deserialize)]
struct Baseline {
    /// The compiler, as it names itself: another one makes another program.
    compiler: String,
    instructions: BTreeMap<String, u64>,
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/instructions.toml")
}

fn compiler() -> String {
    let said = Command::new("rustc").arg("--version").output().expect("the compiler");
    String::from_utf8_lossy(&said.stdout).trim().to_owned()
}

/// Returns the instructions of one run, on one thread.
fn instructions(arguments: &str, inputs: &TempDir) -> u64 {
    let place = |word: &str| match word {
        "SESSION" | "LETTER" => inputs.path().join(word).display().to_string(),
        word => word.to_owned(),
    };
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(program()).args(arguments.split(' ').map(place));
    if arguments.contains(' ') {
        command.args(["--jobs", "1", "--quiet"]);
    }
    let output = without_own_files(&mut command).current_dir(fixtures()).output().expect("valgrind");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {said}");
    let count = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("no count in what valgrind said: {said}"))
}

/// Writes the inputs that are no fixtures.
fn inputs() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, shape, size) in [("SESSION", "claude-code: a session", 600), ("LETTER", "one letter", 400_000)] {
        let found = shapes().into_iter().find(|known| known.name == shape);
        found.unwrap_or_else(|| panic!("no shape {shape:?}")).write(size, &folder.path().join(name));
    }
    folder
}

#[test]
#[ignore = "counts instructions with valgrind"]
fn the_program_takes_the_instructions_that_are_written_down() {
    let inputs = inputs();
    let counted: BTreeMap<String, u64> =
        RUNS.iter().map(|(name, arguments)| ((*name).to_owned(), instructions(arguments, &inputs))).collect();
    if std::env::var_os("RECOMPACT_BLESS").is_some() {
        let baseline = Baseline { compiler: compiler(), instructions: counted };
        let head = "# Instructions of the released program, by callgrind. RECOMPACT_BLESS=1 writes them.\n";
        std::fs::write(file(), format!("{head}{}", toml::to_string(&baseline).expect("TOML"))).expect("a file to write");
        return;
    }
    let written: Baseline = toml::from_str(&std::fs::read_to_string(file()).expect("the baseline")).expect("the baseline");
    assert!(counted.keys().eq(written.instructions.keys()), "the baseline has other runs");
    let mut wrong = Vec::new();
    for (name, count) in &counted {
        let known = written.instructions[name];
        let share = *count as f64 / known as f64;
        println!("{name:<40} {known:>14} {count:>14} {share:>7.3}");
        if (share - 1.0).abs() > TOLERANCE {
            wrong.push(format!("{name}: {known} instructions are written down, and it takes {count}, {share:.3} of them"));
        }
    }
    if compiler() != written.compiler {
        println!("not judged: {} made the program, and the baseline is of {}", compiler(), written.compiler);
        return;
    }
    let what = "find out why; if it is meant, RECOMPACT_BLESS=1 writes the baseline";
    assert!(wrong.is_empty(), "{}\n{what}", wrong.join("\n"));
}
