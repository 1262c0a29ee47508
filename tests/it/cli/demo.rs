//! `recompact demo`: the README's first screen without a checkout.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use recompact::text::inflate::inflate;
use tempfile::TempDir;

use super::readme::{FOLDER, OPTIONS, root};
use crate::support::program::{command, files, run_command, run_in};

/// Runs it for a person who has nothing: the home folder and the current one are the same empty folder, and stay empty.
fn demo(options: &[&str]) -> String {
    let empty = TempDir::new().expect("a temporary folder");
    let mut command = command(empty.path());
    command
        .env("HOME", empty.path())
        .env("USERPROFILE", empty.path())
        .env_remove("RECOMPACT_CONFIG")
        .env_remove("RECOMPACT_CACHE");
    command.env_remove("XDG_CONFIG_HOME").env_remove("XDG_CACHE_HOME").arg("demo").args(options);
    let screen = run_command(command, b"").printed();
    assert_eq!(fs::read_dir(empty.path()).expect("our own folder").count(), 0, "something was written");
    screen
}

/// The first command of the README over a copy of its folder that is called as in the program.
fn replayed(options: &[&str]) -> String {
    let copied = TempDir::new().expect("a temporary folder");
    for (path, bytes) in files(&root().join(FOLDER)) {
        let copy = copied.path().join("demo").join(path.strip_prefix(root().join(FOLDER)).expect("a path in it"));
        fs::create_dir_all(copy.parent().expect("a folder")).expect("a folder to write to");
        fs::write(copy, bytes).expect("a folder to write to");
    }
    run_in(copied.path(), [&["replay", "demo"], &OPTIONS[..], options].concat(), b"").printed()
}

#[test]
fn demo_needs_no_file_and_prints_what_the_first_command_of_the_readme_prints() {
    let [screen, of_readme] = [demo(&[]), replayed(&[])];
    let [(above, next), (expected, _)] = [&screen, &of_readme].map(|screen| screen.split_once("\nNext\n").expect("a screen"));
    assert_eq!(above, expected);
    assert!(next.starts_with("  recompact  ") && next.contains("these are invented"), "{next}");
    assert!(demo(&["-o", "json"]) == replayed(&["-o", "json"]), "its results are others");
}

/// Nothing but the program can read these sessions, so its page proposes no command for them, and no path of a checkout.
#[test]
fn page_of_the_demo_proposes_no_command_for_its_sessions() {
    let page = demo(&["-o", "html"]);
    assert!(page.contains("All in <bdi>demo/</bdi>"));
    for path in ["fixtures/", "recompact show"] {
        assert!(!page.contains(path), "{path}");
    }
}

#[test]
fn sessions_of_the_demo_are_those_of_the_repository() {
    let sessions = files(&root().join(FOLDER));
    assert_eq!(sessions.len(), 3);
    for (path, bytes) in sessions {
        let name = Path::new(path.file_name().expect("a file")).with_extension("deflate");
        let packed = root().join("src/cli/commands/demo").join(&name);
        if std::env::var_os("RECOMPACT_BLESS").is_some() {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&bytes).expect("memory");
            fs::write(&packed, encoder.finish().expect("memory")).expect("the file can be written");
        }
        let held = inflate(&fs::read(&packed).expect("the file can be read"));
        assert!(held == bytes, "{} is old: RECOMPACT_BLESS=1 cargo test --test it demo", name.display());
    }
}
