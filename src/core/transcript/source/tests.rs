//! Folders, patterns, links and compressed files.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::read::read_within;
use super::*;

/// Creates a folder with these files; each holds its own name.
fn folder(files: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("in the folder")).expect("a folder in it");
        fs::write(path, file).expect("a file in it");
    }
    folder
}

/// Returns what is found below a folder, without the folder's own name.
fn find_in(folder: &TempDir, paths: &[&str]) -> (Vec<(String, bool)>, Vec<String>) {
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder.path().join(path)).collect();
    let within = |text: String| text.replace(&format!("{}/", display_path(folder.path())), "");
    let (inputs, errors) = find(Path::new(""), &paths);
    let inputs = inputs.into_iter().map(|input| (within(input.name), input.explicit));
    (inputs.collect(), errors.iter().map(|error| within(error.to_string())).collect())
}

fn names(folder: &TempDir, paths: &[&str]) -> Vec<String> {
    let (inputs, errors) = find_in(folder, paths);
    assert_eq!(errors, Vec::<String>::new());
    inputs.into_iter().map(|(name, _)| name).collect()
}

fn zipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).expect("written to memory");
    encoder.finish().expect("written to memory")
}

#[test]
fn folder_is_searched_in_name_order() {
    let folder = folder(&[
        "runs/b.jsonl",
        "runs/a.JSON",
        "runs/c.traj.gz",
        "runs/.transcripts/t.jsonl",
        "runs/notes.md",
        "runs/jsonl",
        "runs/node_modules/x/package.json",
        "runs/target/y.json",
        "runs/.git/z.json",
    ]);
    assert_eq!(names(&folder, &["runs"]), ["runs/.transcripts/t.jsonl", "runs/a.JSON", "runs/b.jsonl", "runs/c.traj.gz"]);
    assert_eq!(names(&folder, &["runs/target"]), ["runs/target/y.json"], "a folder named by itself is not skipped");
}

#[test]
fn named_file_is_read_once_whatever_its_extension() {
    let folder = folder(&["log.txt", "a.jsonl"]);
    let (inputs, _) = find_in(&folder, &["log.txt", "a.jsonl", ".", "./log.txt"]);
    assert_eq!(inputs, [("a.jsonl".to_owned(), true), ("log.txt".to_owned(), true)]);
}

#[test]
fn glob_patterns_match_as_in_a_shell() {
    let folder = folder(&["2/x.txt", "1/x.txt", "1/y.jsonl", "[odd].txt"]);
    assert_eq!(names(&folder, &["*/x.txt"]), ["1/x.txt", "2/x.txt"]);
    assert_eq!(names(&folder, &["[1]"]), ["1/y.jsonl"], "a folder that matches is searched");
    assert_eq!(names(&folder, &["[odd].txt"]), ["[odd].txt"], "a path that exists is no pattern");
}

#[test]
fn every_missing_path_is_reported() {
    let folder = folder(&["runs/Run7.jsonl", "empty/readme.md"]);
    let (inputs, errors) = find_in(&folder, &["runs/run7", "runs/zzz", "no/such", "empty", "*.xyz", "a[", "runs"]);
    assert_eq!(inputs, [("runs/Run7.jsonl".to_owned(), false)]);
    assert_eq!(
        errors,
        [
            "*.xyz: no file matches (`*` matches any part of a name, `**` any folders)",
            "a[: not a valid pattern: Pattern syntax error near position 1: invalid range pattern",
            "empty: no transcripts (*.jsonl, *.json, *.traj, also with .gz or .zst; *.db) found in this folder",
            "no/such: no such file or folder; its folder no cannot be opened either",
            "runs/run7: no such file or folder; did you mean runs/Run7.jsonl?",
            "runs/zzz: no such file or folder; give a file, a folder, a pattern in quotes ('runs/*.jsonl') or -",
        ]
        .map(|error| error.replace("position 1", &format!("position {}", display_path(folder.path()).len() + 2)))
    );
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_a_folder() {
    let folder = folder(&["in/a.jsonl", "out/b.jsonl", "links/readme.md"]);
    std::os::unix::fs::symlink("../out", folder.path().join("links/way")).expect("a link");
    let empty = "links: no transcripts (*.jsonl, *.json, *.traj, also with .gz or .zst; *.db) found in this folder; links in it are not \
                 followed: name them or their targets";
    assert_eq!(find_in(&folder, &["links"]).1, [empty]);
    std::os::unix::fs::symlink("../out", folder.path().join("in/way")).expect("a link");
    std::os::unix::fs::symlink("../out/b.jsonl", folder.path().join("in/b.jsonl")).expect("a link");
    let (inputs, errors) = find_in(&folder, &["in"]);
    assert_eq!(inputs, [("in/a.jsonl".to_owned(), false)]);
    let not_followed = "in/b.jsonl: a link out of the searched folders, which is not followed; name it or its target to read it";
    assert_eq!(errors, [not_followed]);
    assert_eq!(find_in(&folder, &["in", "out"]).1, [""; 0], "what it leads to is found without it");
    assert_eq!(names(&folder, &["in/way", "in/b.jsonl"]), ["in/b.jsonl"], "what is named is followed, and read once");
}

#[test]
fn names_are_the_same_however_a_path_is_written() {
    assert_eq!(display_path(Path::new("./runs//a.jsonl")), "runs/a.jsonl");
    assert_eq!(display_path(Path::new("../a.jsonl")), "../a.jsonl");
    assert_eq!(display_path(Path::new(".")), ".");
}

#[test]
fn gzip_is_read_by_name_and_by_its_first_bytes() {
    let read = |name: &str, bytes: &[u8]| {
        read_within(name, bytes, bytes.len() as u64, 100).map(|content| content.bytes).map_err(|e| e.to_string())
    };
    let twice = [zipped("one\n"), zipped("two\n")].concat();
    assert_eq!(read("a.jsonl", b"plain"), Ok(b"plain".to_vec()));
    assert_eq!(read("a.jsonl", b""), Ok(vec![]));
    assert_eq!(read("a.jsonl", b"\x1f"), Ok(b"\x1f".to_vec()));
    assert_eq!(read("a.jsonl", &twice), Ok(b"one\ntwo\n".to_vec()));
    assert_eq!(
        read("a.gz", b"{\"role\": \"user\"}"),
        Err("a.gz: cannot be decompressed: invalid gzip header (is the .gz file complete?)".to_owned())
    );
    assert!(read("a.gz", &twice[..5]).is_err_and(|error| error.starts_with("a.gz: cannot be decompressed")));
}

#[test]
fn damaged_gzip_is_read_as_far_as_possible() {
    let whole = zipped(&"a line of text\n".repeat(1_000));
    let cut = read_within("a.gz", &whole[..whole.len() - 12], 0, 1 << 20).expect("its beginning can be decompressed");
    assert!(cut.bytes.starts_with(b"a line of text\na line"), "{}", cut.bytes.len());
    assert!(cut.cut_off.is_some_and(|why| why.starts_with("the compressed file is cut off or damaged (")));
    assert_eq!(read_within("a.gz", &whole[..], 0, 1 << 20).expect("a whole file").cut_off, None);
}

#[test]
fn decompression_limit_is_enforced() {
    let read =
        |bytes: &[u8]| read_within("a.jsonl", bytes, 0, 1_000).map(|content| content.bytes).map_err(|error| error.to_string());
    assert_eq!(read(&zipped(&"0".repeat(1_000))).map(|bytes| bytes.len()), Ok(1_000));
    assert_eq!(
        read(&zipped(&"0".repeat(1_001))),
        Err("a.jsonl: larger than 1000 bytes when decompressed; --max-file allows more".to_owned())
    );
    assert_eq!(read(&[b'0'; 1_001]), Err("a.jsonl: larger than 1000 bytes; --max-file allows more".to_owned()));
}

#[test]
fn file_is_read_only_on_demand() {
    let folder = folder(&["a.jsonl"]);
    let (inputs, _) = find(Path::new(""), &[folder.path().join("a.jsonl")]);
    assert_eq!(read(&inputs[0], MAX_BYTES).expect("a file").bytes, b"a.jsonl");
    fs::remove_file(folder.path().join("a.jsonl")).expect("it was there");
    assert!(read(&inputs[0], MAX_BYTES).is_err_and(|error| error.reason() == "no such file or folder"));
}

#[test]
fn input_names_are_relative_to_the_common_folder() {
    let folder = folder(&["su[i]te/own.jsonl", "runs/a.jsonl", "runs/deep/b.jsonl", "runs/deep/c.json"]);
    let base = folder.path().join("su[i]te");
    let names = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let (inputs, errors) = find(&base, &paths);
        assert!(errors.is_empty(), "{errors:?}");
        inputs.into_iter().map(|input| input.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&["own.jsonl", "../runs/a.jsonl"]), ["../runs/a.jsonl", "own.jsonl"]);
    assert_eq!(names(&["../runs/**/*.jsonl", "*.jsonl"]), ["../runs/a.jsonl", "../runs/deep/b.jsonl", "own.jsonl"]);
    assert_eq!(names(&["../runs/deep"]), ["../runs/deep/b.jsonl", "../runs/deep/c.json"]);
}

fn packed(text: &str) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn zstandard_is_read_by_its_first_bytes_frame_by_frame() {
    let read =
        |name: &str, bytes: &[u8]| read_within(name, bytes, 0, 100).map(|content| content.bytes).map_err(|e| e.to_string());
    let skipped = [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    let both = [packed("one\n"), skipped, packed("two\n")].concat();
    assert_eq!(read("a.jsonl", &both), Ok(b"one\ntwo\n".to_vec()));
    assert_eq!(read("a.zst", b""), Ok(vec![]));
    assert!(read("a.zst", b"{}\n").is_err_and(|error| error.ends_with("(is the .zst file complete?)")));
    assert!(read("a.zst", &both[..6]).is_err_and(|error| error.starts_with("a.zst: cannot be decompressed: ")));
    let large = packed(&"0".repeat(101));
    assert_eq!(read("a.zst", &large), Err("a.zst: larger than 100 bytes when decompressed; --max-file allows more".to_owned()));
}

#[test]
fn a_damaged_frame_leaves_what_is_before_it() {
    let cut = [packed("one\n"), packed("two\n")[..9].to_vec()].concat();
    let content = read_within("a.zst", &cut[..], 0, 100).expect("the first frame");
    assert_eq!(content.bytes, b"one\n");
    assert!(content.cut_off.is_some_and(|why| why.starts_with("the compressed file is cut off or damaged (")));
}

/// A frame of one block whose header promises 2⁶³ bytes.
#[test]
fn a_frame_that_lies_about_its_size_takes_no_memory() {
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0xe0][..], &(1_u64 << 63).to_le_bytes(), &[0x21, 0, 0], b"abcd"].concat();
    assert!(read_within("a.zst", &frame[..], 0, 100).is_err());
}

#[test]
fn a_rollout_and_its_compressed_form_are_one_transcript() {
    let folder = folder(&["in/a.jsonl", "in/a.jsonl.zst", "in/b.jsonl.ZST", "in/c.txt.zst"]);
    assert_eq!(names(&folder, &["in"]), ["in/a.jsonl", "in/b.jsonl.ZST"]);
    assert_eq!(names(&folder, &["in/*"]), ["in/a.jsonl", "in/b.jsonl.ZST", "in/c.txt.zst"]);
    assert_eq!(names(&folder, &["in/a.jsonl.zst"]), ["in/a.jsonl.zst"]);
}

#[test]
fn of_a_database_that_no_reader_takes_only_the_beginning_is_read() {
    let mut database = b"SQLite format 3\0".to_vec();
    database.resize(3 << 20, 7);
    let content = read_within("state.vscdb", database.as_slice(), database.len() as u64, 1 << 30).expect("a beginning");
    assert_eq!(content.bytes.len(), 256 << 10);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (file, bytes) in [("crush.db", &database[..]), ("Thumbs.db", b"D0CF11E0"), ("opencode.db-wal", &database)] {
        fs::write(folder.path().join(file), bytes).expect("a file");
    }
    // The bundled SQLite finds out that the first one is damaged.
    let (inputs, errors) = find_in(&folder, &[""]);
    assert_eq!(inputs.len() + errors.len(), 1, "{inputs:?} {errors:?}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_store_stands_for_its_sessions() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a/opencode.db");
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let sql = rusqlite::Connection::open(&path).expect("a database");
    let tables = "CREATE TABLE session (id text, parent_id text, time_updated integer); CREATE TABLE message (id text, session_id text, \
                  time_created integer, data text); CREATE TABLE part (id text, message_id text, session_id text, data text); \
                  CREATE INDEX m ON message (session_id); CREATE INDEX p ON part (message_id);";
    sql.execute_batch(tables).expect("tables");
    let empty = find_in(&folder, &["a"]).1;
    assert_eq!(empty, ["a/opencode.db: no session in this database"]);
    sql.execute_batch("INSERT INTO session VALUES ('ses_2', 'ses_1', 5000), ('ses_1', NULL, 7000), ('ses#3', NULL, 0)")
        .expect("rows");
    let all = ["a/opencode.db#ses#3", "a/opencode.db#ses_1", "a/opencode.db#ses_1/subagents/ses_2"];
    assert_eq!(names(&folder, &["a"]), all);
    assert_eq!(names(&folder, &["a/opencode.db", "a/*.db", "a/opencode.db#ses_1"]), all, "each once");
    assert_eq!(names(&folder, &["a/opencode.db#ses#3"]), all[..1]);
    assert_eq!(names(&folder, &["a/opencode.db#ses_2"]), all[2..]);
    assert_eq!(names(&folder, &[all[2]]), all[2..]);
    assert_eq!(names(&folder, &["a/opencode.db", "a/opencode.db#ses_2"]), all, "each once");
    assert_eq!(find_in(&folder, &["a/opencode.db#ses_9"]).1, ["a/opencode.db: no session `ses_9` in this database"]);
    let inputs = find(folder.path(), &["a".into()]).0;
    let session = |at: usize| (inputs[at].session().map(|session| session.family.as_str()), inputs[at].changed());
    assert_eq!(session(2), (Some("ses_1"), std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(5)));
    assert!(inputs[1].is_at(&path) && inputs[1].path() == path);
    // Its stamp is the hash of its own rows.
    let hash = |at: usize| hash_of(&read(&inputs[at], 1_000).expect("a session").bytes);
    let before = [hash(1), hash(2)];
    sql.execute("INSERT INTO message VALUES ('msg_1', 'ses_2', 1, '{}')", ()).expect("a row");
    assert!(before[0] == hash(1) && before[1] != hash(2));
}
