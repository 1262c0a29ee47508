//! What a run keeps for the next one: never a wrong result, and no other file.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use crate::support::program::{self, Ran, fixtures, run_command};

const REPLAY: &[&str] = &["replay", "sessions", "-p", "lcc-s06", "-p", "codex-cli", "-o", "json"];
const INSPECT: &[&str] = &["inspect", "sessions", "-o", "json"];

/// A folder with sessions, and a folder for what runs keep.
struct Folders(TempDir);

impl Folders {
    fn new() -> Self {
        let folders = Self(TempDir::new().expect("a temporary folder"));
        fs::create_dir(folders.session("")).expect("a folder");
        for (name, from) in [("a", "claude-code/repair"), ("b", "claude-code/kept-tail"), ("c", "codex/repair")] {
            fs::copy(fixtures().join(from).with_extension("jsonl"), folders.session(&format!("{name}.jsonl"))).expect("a copy");
        }
        folders
    }

    fn session(&self, name: &str) -> PathBuf {
        self.0.path().join("sessions").join(name)
    }

    fn cache(&self) -> PathBuf {
        self.0.path().join("cache")
    }

    /// The files in the cache.
    fn kept(&self) -> Vec<PathBuf> {
        program::files(&self.cache()).into_iter().map(|(path, _)| path).collect()
    }

    fn only_kept(&self) -> PathBuf {
        let kept = self.kept();
        assert_eq!(kept.len(), 1, "{kept:?}");
        kept[0].clone()
    }

    fn run_with(&self, arguments: &[&str]) -> Ran {
        self.run_in_cache(&self.cache(), arguments)
    }

    fn run_in_cache(&self, cache: &Path, arguments: &[&str]) -> Ran {
        let mut command = program::command(self.0.path());
        command.args(arguments).env("RECOMPACT_CACHE", cache);
        run_command(command, b"")
    }

    /// Runs a command, and checks that its results are those of a run without a cache. Returns how many transcripts it took from it.
    #[track_caller]
    fn taken(&self, command: &[&str]) -> usize {
        let plain = self.run_with(&[command, &["--no-cache"]].concat());
        let ran = self.run_with(&[command, &["-v"]].concat());
        assert_eq!((ran.code, plain.code), (0, 0), "{}", ran.stderr);
        assert_eq!(ran.stdout, plain.stdout);
        let parsed = ran.stderr.lines().filter(|line| line.contains("parsed in")).count();
        fs::read_dir(self.session("")).expect("the folder").count() - parsed
    }
}

/// Unpacks a kept part, changes its text, and packs it again.
fn edit(file: &Path, change: impl Fn(&str) -> String) {
    let mut text = String::new();
    MultiGzDecoder::new(&*fs::read(file).expect("a part")).read_to_string(&mut text).expect("text");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(change(&text).as_bytes()).expect("memory");
    fs::write(file, packed.finish().expect("memory")).expect("a part");
}

#[test]
fn a_second_run_works_only_on_what_changed() {
    for command in [REPLAY, INSPECT] {
        let folders = Folders::new();
        let twice = || [folders.taken(command), folders.taken(command)];
        assert_eq!(twice(), [0, 3]);
        let session = folders.session("b.jsonl");
        let text = fs::read_to_string(&session).expect("a session");
        fs::write(&session, text.replacen("the", "our", 1)).expect("a session");
        assert_eq!(twice(), [2, 3]);
        fs::copy(&session, folders.session("d.jsonl")).expect("a copy");
        assert_eq!(twice(), [3, 4]);
        fs::remove_file(&session).expect("a session");
        assert_eq!(twice(), [3, 3]);
    }
}

/// The rows are taken as they are: a changed one is printed.
#[test]
fn the_rows_of_the_first_run_are_the_results_of_the_second() {
    for (command, field) in [(REPLAY, "\"tokens.peak\":"), (INSPECT, "\"turns\":")] {
        let folders = Folders::new();
        folders.taken(command);
        edit(&folders.only_kept(), |text| text.replace(field, &format!("{field}7")));
        let [plain, cached] = [&["--no-cache"][..], &[]].map(|more| folders.run_with(&[command, more].concat()).printed());
        assert!(cached != plain && cached.len() > plain.len());
    }
}

#[test]
fn what_is_not_a_whole_part_of_this_study_is_no_cache() {
    let folders = Folders::new();
    let twice = || [folders.taken(INSPECT), folders.taken(INSPECT)];
    twice();
    let file = folders.only_kept();
    let whole = fs::read(&file).expect("a part");
    for length in [0, 1, 2, 100, whole.len() / 2, whole.len() - 9, whole.len() - 1] {
        fs::write(&file, &whole[..length]).expect("a part");
        assert_eq!(twice(), [0, 3], "{length} bytes");
    }
    for at in [20, whole.len() / 2, whole.len() - 12] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, damaged).expect("a part");
        assert_eq!(twice(), [0, 3], "byte {at}");
    }
    // A row is missing, and another version of the program or of the form wrote it.
    let without_last = |text: &str| text.trim_end().rsplit_once('\n').expect("lines").0.to_owned();
    let of_other_program = |text: &str| text.replacen(env!("CARGO_PKG_VERSION"), "0.0.1", 1);
    let of_other_form = |text: &str| text.replacen("\"recompact_part\":", "\"recompact_part\":9", 1);
    let of_other_study = |text: &str| text.replacen("\"tokenizer\":\"own\"", "\"tokenizer\":\"o200k\"", 1);
    for change in [&without_last as &dyn Fn(&str) -> String, &of_other_program, &of_other_form, &of_other_study] {
        edit(&file, change);
        assert_eq!(twice(), [0, 3]);
    }
    // What it holds is of another command.
    folders.taken(REPLAY);
    let other = folders.kept().into_iter().find(|path| *path != file).expect("a second part");
    fs::copy(other, &file).expect("a part");
    assert_eq!(twice(), [0, 3]);
}

#[test]
fn another_study_or_other_paths_have_a_cache_of_their_own() {
    let folders = Folders::new();
    folders.taken(REPLAY);
    for more in [&["--set", "micro.keep_recent_results=1"][..], &["--window", "100k"], &["--findings"], &["--limit", "2"]] {
        let before = folders.kept().len();
        let [first, second] = [(); 2].map(|()| folders.run_with(&[REPLAY, more].concat()).stdout);
        let plain = folders.run_with(&[REPLAY, more, &["--no-cache"]].concat()).stdout;
        assert!(first == plain && second == plain, "{more:?}");
        assert_eq!(folders.kept().len(), before + 1, "{more:?}");
    }
    let elsewhere = folders.run_with(&["replay", "sessions/a.jsonl", "-p", "lcc-s06", "-p", "codex-cli", "-o", "json"]);
    assert_eq!((elsewhere.code, folders.kept().len()), (0, 6));
}

#[test]
fn a_user_may_keep_nothing() {
    let folders = Folders::new();
    folders.run_with(&[REPLAY, &["--no-cache"]].concat()).printed();
    folders.run_in_cache(Path::new(""), REPLAY).printed();
    assert!(!folders.cache().exists());
}

/// What was skipped is said again, and `--strict` fails again.
#[test]
fn a_second_run_says_what_the_first_one_said() {
    let folders = Folders::new();
    let session = folders.session("a.jsonl");
    let text = fs::read_to_string(&session).expect("a session");
    fs::write(&session, format!("{text}{{broken\n")).expect("a session");
    for (more, code) in [(&[][..], 0), (&["--strict"], 1)] {
        let [first, second] = [(); 2].map(|()| folders.run_with(&[REPLAY, more].concat()));
        assert!(first.stderr.contains("a.jsonl:"), "{}", first.stderr);
        assert_eq!((first.code != 0, &first.stdout, &first.stderr), (code != 0, &second.stdout, &second.stderr));
    }
}

#[test]
fn where_nothing_can_be_written_the_results_are_the_same_and_a_note_says_so() {
    let folders = Folders::new();
    let file = folders.session("a.jsonl");
    let ran = folders.run_in_cache(&file.join("cache"), REPLAY);
    assert_eq!((ran.code, &ran.stdout), (0, &folders.run_with(&[REPLAY, &["--no-cache"]].concat()).stdout));
    assert!(ran.stderr.contains("cannot be kept for the next one") && ran.stderr.contains("--no-cache"), "{}", ran.stderr);
}

#[test]
fn runs_at_the_same_time_do_not_harm_each_other() {
    let folders = Folders::new();
    let plain = folders.run_with(&[REPLAY, &["--no-cache"]].concat()).printed();
    std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| folders.run_with(REPLAY).printed())).collect();
        assert!(runs.into_iter().all(|run| run.join().expect("no panic") == plain));
    });
    folders.only_kept();
    assert_eq!(folders.taken(REPLAY), 3);
}

/// Their answers may be others the next time.
#[test]
fn what_programs_and_models_answer_is_not_kept() {
    const LEAVES_ALL: &str = r#"mine=command:sh -c 'while read -r line; do case $line in
        *\"type\":\"start\"*) call=0; echo "{\"protocol\":1,\"shape\":\"openai\"}" ;;
        *) call=$((call+1)); echo "{\"call\":$call,\"replace\":[]}" ;;
        esac; done'"#;
    let folders = Folders::new();
    let summarized = ["-p", "lcc-s08", "--set", "auto.threshold=2k", "--summarizer", "command:cat"];
    for answering in [&["-p", LEAVES_ALL][..], &summarized] {
        folders.run_with(&[&["replay", "sessions", "-o", "json"], answering].concat()).printed();
        assert!(!folders.cache().exists(), "{answering:?}");
    }
    // Without the model, they are kept.
    folders.run_with(&[&["replay", "sessions", "-o", "json"], &summarized[..4]].concat()).printed();
    folders.only_kept();
}
