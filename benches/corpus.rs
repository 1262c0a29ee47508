//! How a study grows with the number of its transcripts: `cargo bench --bench corpus -- 1000 2000` writes this many invented sessions, which
//! differ in ids and texts, and replays them as a whole, as a part in a file, and from that file. Each step is a process of its own, for
//! its peak of memory. The results from the file must be those of the whole.

#[path = "written/claude_code.rs"]
mod claude_code;
mod trace;

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use recompact::analysis::corpus::{FileCorpus, NoMonitor, ReadSpec};
use recompact::analysis::part::{Part, Unasked};
use recompact::analysis::spec::{Files, StudySpec};
use recompact::results::saved::Results;
use recompact::util::spill::Spill;
use trace::Trace;
use xxhash_rust::xxh3::Xxh3;

const POLICIES: [&str; 2] = ["lcc-s08", "claude-code"];
/// Sizes without an argument.
const SIZES: [usize; 4] = [500, 1_000, 2_000, 4_000];
/// Sessions of one project, which share files. A session has some 100 kB.
const SESSIONS_OF_PROJECT: usize = 14;
const MESSAGES_OF_PROJECT: usize = 400;
/// The first argument of a process that makes one step.
const STEP: &str = "--step";
/// The first argument of a process that only writes the sessions: `--write FOLDER 1000`.
const WRITE: &str = "--write";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match args.as_slice() {
        [flag, step, folder] if flag == STEP => make_step(step, Path::new(folder)),
        [flag, folder, size] if flag == WRITE => {
            write_sessions(Path::new(folder), size.parse().expect("a number of transcripts"));
        }
        sizes => {
            let sizes: Vec<usize> = sizes.iter().map(|size| size.parse().expect("a number of transcripts")).collect();
            let header = ["transcripts", "MB", "whole", "peak", "part", "peak", "size", "end", "peak"];
            println!("{}", header.map(|title| format!("{title:>11}")).concat());
            for size in if sizes.is_empty() { SIZES.to_vec() } else { sizes } {
                println!("{}", row(size));
            }
        }
    }
}

/// Writes the sessions and measures the steps.
fn row(size: usize) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = folder.path().join("sessions");
    let bytes = write_sessions(&sessions, size);
    let [whole, part, end] = ["whole", "part", "end"].map(|step| {
        let program = std::env::current_exe().expect("this program");
        let output = Command::new(program).args([STEP, step]).arg(folder.path()).output().expect("a process");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8(output.stdout).expect("text");
        let [seconds, peak, said] = said.split_whitespace().collect::<Vec<_>>().try_into().expect("three words");
        (format!("{seconds:>9} s{peak:>8} MB"), said.to_owned())
    });
    assert_eq!(whole.1, end.1, "a study from a part is the whole study");
    format!("{size:>11}{:>11}{}{}{:>8} MB{}", bytes / 1_000_000, whole.0, part.0, part.1, end.0)
}

/// Makes a step, and prints its seconds of processor time, its peak of memory in MB, and the hash of its results or the size of its part in MB.
fn make_step(step: &str, folder: &Path) {
    let file = folder.join("part");
    let spec = POLICIES.iter().fold(StudySpec::default(), |spec, policy| spec.policy(*policy));
    let said = match step {
        "end" => {
            let loaded = spec.load(&Unasked).expect("a study");
            let part = Part::read(File::open(file).expect("the part"), &Spill::default()).expect("a part");
            hash_of(&loaded.results(loaded.merged(part).expect("the same study")).expect("results").0)
        }
        step => {
            let loaded = spec.load(&Files::default()).expect("a study");
            let corpus = FileCorpus::listed(folder, &[folder.join("sessions")], &[], &ReadSpec::default()).expect("a corpus");
            if step == "whole" {
                hash_of(&loaded.run(&corpus, &NoMonitor).expect("results"))
            } else {
                let part = loaded.part(loaded.outcomes(&corpus, &NoMonitor, None)).expect("nothing stopped it");
                part.write(File::create(&file).expect("a file")).expect("room");
                (fs::metadata(&file).expect("the part").len() / 1_000_000).to_string()
            }
        }
    };
    println!("{} {} {said}", processor_seconds(), peak());
}

/// The processor time of this process so far, on Linux.
fn processor_seconds() -> String {
    /// Clock ticks of a second: `getconf CLK_TCK`.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name of the program, which is in parentheses, user and system time are the 12th and the 13th field.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: Option<f64> = fields.map(|field| field.parse::<f64>().ok()).sum();
    ticks.filter(|ticks| *ticks > 0.0).map_or_else(|| "?".to_owned(), |ticks| format!("{:.1}", ticks / TICKS))
}

/// The most memory of this process so far in MB, on Linux.
fn peak() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.map_or_else(|| "?".to_owned(), |kilobytes| (kilobytes / 1_000).to_string())
}

fn hash_of(results: &Results) -> String {
    struct Hashing(Xxh3);

    impl Write for Hashing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let mut hashing = Hashing(Xxh3::new());
    serde_json::to_writer(&mut hashing, results).expect("results are JSON");
    format!("{:x}", hashing.0.finish())
}

/// Writes this number of sessions, a folder for each project. Returns their bytes.
fn write_sessions(folder: &Path, sessions: usize) -> usize {
    let project = |number: usize| {
        let path: PathBuf = folder.join(format!("project-{number:06}"));
        fs::create_dir_all(&path).expect("a folder");
        let mut responses = Trace::new(number as u64, MESSAGES_OF_PROJECT).responses;
        let of_session = responses.len() / SESSIONS_OF_PROJECT;
        let first = number * SESSIONS_OF_PROJECT;
        let mut bytes = 0;
        for session in first..sessions.min(first + SESSIONS_OF_PROJECT) {
            let mut responses: Vec<_> = responses.drain(..of_session).collect();
            responses[0].request.get_or_insert_with(|| format!("Go on with part {session}."));
            let text = claude_code::write(&Trace { responses }, session);
            fs::write(path.join(format!("{session}.jsonl")), &text).expect("room");
            bytes += text.len();
        }
        bytes
    };
    (0..sessions.div_ceil(SESSIONS_OF_PROJECT)).into_par_iter().map(project).sum()
}
