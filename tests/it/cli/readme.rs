//! The README: its length, and what in it is made by the program.

use std::fs;
use std::path::{Path, PathBuf};

use anstyle::RgbColor;
use anstyle_svg::{Palette, Term};
use recompact::engine::policy::PRESETS;
use recompact::guide::PAGES;
use recompact::report::{Invocation, Layout, Style, by_name};
use recompact::results::saved::Results;

use super::guide::blocks::Block;
use crate::support::program::{fixtures, run_in};

/// The most lines that a visitor is expected to look through.
const LONGEST: usize = 180;
/// The most bytes of README and guide together.
const MOST_BYTES: usize = 170 << 10;
/// What the README's first command replays, and how.
pub const FOLDER: &str = "fixtures/transcripts/claude-code";
pub const OPTIONS: [&str; 2] = ["--window", "80k"];

const BLOCKS: &[Block] = &[Block { name: "presets", make: presets }];

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

pub fn readme() -> String {
    fs::read_to_string(root().join("README.md")).expect("the README")
}

fn replayed(more: &[&str]) -> String {
    run_in(&root(), [&["replay", FOLDER], &OPTIONS[..], more].concat(), b"").printed()
}

/// How many presets there are, and how many of them were compared with the program itself.
fn presets() -> String {
    let evidence = PRESETS.iter().map(|preset| preset.policy(&[]).unwrap_or_else(|error| panic!("{error}")).evidence);
    let kinds: Vec<String> = evidence.flatten().collect();
    let count = |names: &[&str]| kinds.iter().filter(|kind| names.contains(&kind.as_str())).count();
    let (compared, own) = (count(&["library", "live"]), count(&["ours"]));
    format!(
        "{} presets are built in. {compared} of them send what the program itself sends, request by request, but for quirks that they name;\n\
         {own} are ours; the others follow source, documentation or descriptions by third parties. They replay:\n",
        PRESETS.len()
    )
}

#[test]
fn readme_is_short_and_its_lists_are_current() {
    let mut current = readme();
    for block in BLOCKS {
        let place = block.place(&current).unwrap_or_else(|| panic!("the README has no block {}", block.name));
        current.replace_range(place, &(block.make)());
    }
    assert!(current.lines().count() <= LONGEST, "{} lines", current.lines().count());
    expect_current(&root().join("README.md"), &current);
}

/// A book that grows with every feature is read by no one: what a command prints is not printed in it again.
#[test]
fn readme_and_guide_are_short() {
    let pages: usize = PAGES.iter().map(|page| page.source.len()).sum();
    let bytes = readme().len() + pages;
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

/// The first command is what the pictures show.
#[test]
fn readme_shows_what_its_first_command_prints() {
    let command = format!("cargo run --release -- replay {FOLDER} {}\n", OPTIONS.join(" "));
    assert_eq!(readme().lines().find(|line| line.starts_with("cargo")).map(|line| format!("{line}\n")), Some(command));
}

#[test]
fn pictures_show_the_first_screen() {
    let results = Results::from_json(&replayed(&["-o", "json"])).expect("results");
    let mut layout = Layout::default();
    layout.style = Style { width: 100, color: true };
    layout.invocation = Invocation { command: "replay".to_owned(), paths: FOLDER.to_owned() };
    let text = by_name("table").and_then(|report| report.render(&results, &layout)).expect("a table");
    let screen = format!("$ recompact replay {FOLDER} {}\n{}", OPTIONS.join(" "), String::from_utf8(text).expect("UTF-8"));
    for (theme, term) in [("light", light()), ("dark", dark())] {
        let path = fixtures().with_file_name("pictures").join(format!("replay-{theme}.svg"));
        expect_current(&path, &(term.render_svg(&screen) + "\n"));
    }
}

fn light() -> Term {
    with_colors([0xff, 0xff, 0xff], [0x24, 0x29, 0x2f], [0xc6, 0x28, 0x28], [0x1b, 0x7f, 0x37], [0x6e, 0x77, 0x81])
}

fn dark() -> Term {
    with_colors([0x0d, 0x11, 0x17], [0xc9, 0xd1, 0xd9], [0xff, 0x7b, 0x72], [0x56, 0xd3, 0x64], [0x8b, 0x94, 0x9e])
}

type Rgb = [u8; 3];

/// A terminal with GitHub's colours of a theme: background, text, and what the screen prints in red, green and grey.
fn with_colors(background: Rgb, text: Rgb, red: Rgb, green: Rgb, grey: Rgb) -> Term {
    let rgb = |[r, g, b]: Rgb| RgbColor(r, g, b);
    let mut palette = [rgb(text); 16];
    // The numbers of these colours in ANSI escape codes; a bright one is the same.
    for (number, color) in [(1, red), (2, green), (8, grey), (9, red), (10, green)] {
        palette[number] = rgb(color);
    }
    let palette = Palette(palette);
    Term::new().palette(palette).bg_color(rgb(background).into()).fg_color(rgb(text).into())
}

/// Fails if a file is not as the program makes it today; with RECOMPACT_BLESS, writes it.
fn expect_current(path: &Path, current: &str) {
    if std::env::var_os("RECOMPACT_BLESS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder is made");
        fs::write(path, current).expect("the file is written");
    } else {
        let is_current = fs::read_to_string(path).is_ok_and(|written| written == current);
        assert!(is_current, "{} is old: RECOMPACT_BLESS=1 cargo test --test it readme", path.display());
    }
}
