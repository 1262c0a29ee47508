//! Checks the guide: every page is printed, everything that it names exists, and it names everything that exists.

pub mod blocks;
mod questions;
mod surprise;

use std::fs;
use std::path::Path;

use recompact::engine::layer::LAYERS;
use recompact::engine::policy::PRESETS;
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::findings::FINDINGS;
use recompact::guide::{PAGES, Page, page};
use recompact::llm::client::PROTOCOLS;
use recompact::llm::prompt::PROMPTS;
use recompact::metrics::prompt_cache::PROVIDERS;
use recompact::report::REPORTS;
use recompact::tokens::meter::METERS;
use recompact::transcript::format::FORMATS;
use regex::Regex;

use blocks::BLOCKS;

use crate::support::program::run;

/// Words that the pages do not use: each made a sentence of the README hard to read.
const HARD_WORDS: &str = r"(?i)\b(told|tells?|stands?|so many|so much|in sight|nobody|whoever|of which|of whom|held against|hold against|dear|dearer|dearest)\b";

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide")
}

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern")
}

/// Returns the prose of a page: without generated blocks, fenced blocks and code.
fn prose(page: &Page) -> String {
    let mut text = page.source.to_owned();
    for block in BLOCKS {
        if let Some(place) = block.place(&text) {
            text.replace_range(place, "");
        }
    }
    let text = pattern(r"(?s)\n```.*?\n```\n").replace_all(&text, "\n").into_owned();
    pattern(r"`[^`]*`").replace_all(&text, "`").into_owned()
}

#[test]
fn every_file_is_a_page_and_every_page_is_listed_and_printed() {
    let list = run(["guide"]).printed();
    let files = fs::read_dir(folder()).expect("the folder of the guide").map(|file| file.expect("a file").path());
    let pages = files.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    assert_eq!(pages.count(), PAGES.len());
    for page in PAGES {
        let line = list.lines().find(|line| line.split_whitespace().next() == Some(page.name));
        assert!(line.is_some_and(|line| line.len() > page.name.len() + 20), "{}", page.name);
        let printed = run(["guide", page.name]).printed();
        assert_eq!(printed, page.text(), "{}", page.name);
        assert!(!printed.contains("<!--"), "{}", page.name);
    }
    assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
}

#[test]
fn an_unknown_page_names_the_nearest() {
    let ran = run(["guide", "colums"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("the guide has no page `colums`; did you mean `columns`? (known: start, "), "{}", ran.stderr);
}

#[test]
fn every_page_begins_with_a_title_and_a_question() {
    for page in PAGES {
        let title = page.source.lines().next().and_then(|line| line.strip_prefix("# "));
        assert!(title.is_some_and(|title| title.len() < 20), "{}", page.name);
        let about = page.about();
        assert!(about.ends_with('?') && about.matches(['?', '.']).count() == 1, "{}: {about}", page.name);
    }
}

#[test]
fn every_reference_leads_to_a_page() {
    for from in PAGES {
        let prose = prose(from);
        for reference in pattern(r"\[([^\]]*)\]").captures_iter(&prose) {
            assert!(page(&reference[1]).is_some(), "{}: [{}]", from.name, &reference[1]);
        }
        for command in pattern("recompact guide ([a-z]+)").captures_iter(from.source) {
            assert!(page(&command[1]).is_some(), "{}: {}", from.name, &command[0]);
        }
    }
    let reached = |to: &Page| PAGES.iter().any(|from| from.source.contains(&format!("[{}]", to.name)));
    for to in PAGES.iter().filter(|page| page.name != "start") {
        assert!(reached(to), "no page refers to {}", to.name);
    }
}

#[test]
fn every_source_that_a_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named = pattern("`((?:src|tests|fixtures|benches)/[^`]*)`");
    for page in PAGES {
        for path in named.captures_iter(page.source).map(|named| named[1].to_owned()).filter(|path| !path.contains("NAME")) {
            assert!(root.join(&path).exists(), "{}: {path}", page.name);
        }
    }
}

/// Rustdoc would compile a block without a language.
#[test]
fn every_block_has_a_language() {
    for page in PAGES {
        for (at, line) in page.source.lines().filter(|line| line.starts_with("```")).enumerate() {
            let language = line.trim_start_matches('`');
            let expected = if at % 2 == 0 { &["sh", "toml", "text", "json", "yaml", "python", "js", "jq"][..] } else { &[""] };
            assert!(expected.contains(&language), "{}: {line}", page.name);
        }
    }
}

#[test]
fn pages_are_in_plain_words() {
    let hard = pattern(HARD_WORDS);
    for page in PAGES {
        let prose = prose(page);
        let found: Vec<_> = prose.lines().filter(|line| hard.is_match(line)).collect();
        assert!(found.is_empty(), "{}: {found:#?}", page.name);
    }
}

#[test]
fn generated_blocks_are_current() {
    let bless = std::env::var_os("RECOMPACT_BLESS").is_some();
    let mut placed = 0;
    for page in PAGES {
        let path = folder().join(format!("{}.md", page.name));
        let mut text = page.source.to_owned();
        for block in BLOCKS {
            let Some(place) = block.place(&text) else { continue };
            text.replace_range(place, &(block.make)());
            placed += 1;
        }
        if bless {
            fs::write(&path, text).expect("the page is written");
        } else {
            assert!(text == page.source, "{} has old lists: RECOMPACT_BLESS=1 cargo test --test it guide", page.name);
        }
    }
    assert_eq!(placed, BLOCKS.len(), "every block is on one page");
}

#[test]
fn the_guide_names_everything_there_is() {
    let all: String = PAGES.iter().map(|page| page.source).collect();
    let columns = recompact::metrics::metric::columns();
    let names = FORMATS
        .iter()
        .map(|format| format.name)
        .chain(PRESETS.iter().map(|preset| preset.name))
        .chain(LAYERS.iter().map(|kind| kind.name))
        .chain(METERS.iter().map(|meter| meter.name))
        .chain(SUMMARIZERS.iter().map(|kind| kind.name))
        .chain(PROTOCOLS.iter().map(|protocol| protocol.name))
        .chain(PROMPTS.iter().map(|prompt| prompt.name))
        .chain(PROVIDERS.iter().map(|provider| provider.name))
        .chain(FINDINGS.iter().map(|kind| kind.id))
        .chain(REPORTS.iter().map(|report| report.name))
        .chain(columns.iter().map(|column| &*column.id));
    for name in names {
        assert!(all.contains(&format!("`{name}`")), "{name}");
    }
    for report in REPORTS {
        assert!(all.contains(&format!("-o {}", report.name)), "{}", report.name);
    }
}
