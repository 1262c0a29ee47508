//! Checks the guide: every page is printed, everything that it names exists, and it names everything that exists.

pub mod blocks;
mod commands;
mod measures;
mod questions;
mod surprise;

use std::fs;
use std::path::Path;

use recompact::engine::layer::LAYERS;
use recompact::engine::policy::PRESETS;
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::findings::FINDINGS;
use recompact::guide::{PAGES, Page, page, search};
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
    let ran = run(["guide", "mesures"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("the guide has no page `mesures`; did you mean `measures`? (known: start, "), "{}", ran.stderr);
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
        for command in pattern("recompact guide ([a-z.]+)").captures_iter(from.source) {
            assert!(page(&command[1]).is_some() || !search(&command[1]).is_empty(), "{}: {}", from.name, &command[0]);
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
    let contributing = fs::read_to_string(root.join(".github/CONTRIBUTING.md")).expect("the page for contributors");
    let texts = PAGES.iter().map(|page| (page.name, page.source)).chain([("CONTRIBUTING", &*contributing)]);
    // `src/pool.rs` is the file of invented examples.
    let is_example = |path: &String| path.contains("NAME") || path == "src/pool.rs";
    for (name, text) in texts {
        for path in named.captures_iter(text).map(|named| named[1].to_owned()).filter(|path| !is_example(path)) {
            assert!(root.join(&path).exists(), "{name}: {path}");
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
        text = with_links(&text, page);
        if bless {
            fs::write(&path, text).expect("the page is written");
        } else {
            assert!(text == page.source, "{} has old lists: RECOMPACT_BLESS=1 cargo test --test it guide", page.name);
        }
    }
    assert_eq!(placed, BLOCKS.len(), "every block is on one page");
}

/// Returns a page that ends with a link to the file of each page that it names: GitHub shows these names as links then.
fn with_links(text: &str, page: &Page) -> String {
    let is_link = |line: &str| line.starts_with('[') && line.ends_with(".md");
    let body: String = text.lines().filter(|line| !is_link(line)).flat_map(|line| [line, "\n"]).collect();
    let prose = prose(page);
    let mut named: Vec<String> = pattern(r"\[([a-z]+)\]").captures_iter(&prose).map(|named| named[1].to_owned()).collect();
    named.sort();
    named.dedup();
    let links: String = named.iter().map(|name| format!("[{name}]: {name}.md\n")).collect();
    if links.is_empty() { text.to_owned() } else { format!("{}\n\n{links}", body.trim_end()) }
}

#[test]
fn links_of_the_documentation_of_the_crate_are_all_pages() {
    let links: String = PAGES.iter().map(|page| format!("[{0}]: crate::guide::{0}\n", page.name)).collect();
    assert_eq!(fs::read_to_string(folder().join("links.txt")).expect("the links"), links + "\n");
}

/// The pages to read first lead from one to the next.
#[test]
fn every_page_of_the_way_ends_with_the_next() {
    let way: Vec<&Page> = PAGES.iter().filter(|page| page.part == PAGES[0].part).collect();
    for (page, next) in way.iter().zip(&way[1..]) {
        let text = page.text();
        let last = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
        assert!(last.starts_with(&format!("Next: [{}]", next.name)), "{}: {last}", page.name);
    }
}

/// The transcript that shows how to bring a log of one's own is read whole.
#[test]
fn the_log_of_the_page_on_formats_is_a_transcript() {
    let source = page("formats").expect("the page").source;
    let log = pattern("(?s)```json\n(.*?)```").captures(source).expect("a log")[1].to_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("own.jsonl");
    fs::write(&file, log).expect("the log is written");
    let inspected = run([std::ffi::OsStr::new("inspect"), file.as_os_str(), "-o".as_ref(), "json".as_ref()]).json();
    let row = &inspected["conversations"][0];
    assert_eq!((&row["format"], &row["calls"]), (&"openai-chat".into(), &2.into()), "{inspected}");
    assert_eq!(inspected["notes"].as_array().map_or(0, Vec::len), 0, "{inspected}");
}

/// What the page says of the row that it reads is in the screen above it.
#[test]
fn the_row_that_is_read_line_by_line_is_on_the_screen() {
    let source = page("screen").expect("the page").source;
    let row = source.lines().find(|line| line.starts_with("x lcc-s08-late")).expect("the row");
    let read = source.split("Take the row").nth(1).and_then(|rest| rest.split("The three").next()).expect("a sentence");
    let shares: Vec<_> = pattern(r"[0-9.]+%").find_iter(read).map(|share| share.as_str()).collect();
    assert_eq!(shares.len(), 4, "{read}");
    assert!(shares.iter().all(|share| row.contains(share)), "{row}\n{shares:?}");
}

#[test]
fn a_word_that_is_no_page_finds_the_pages_that_have_it() {
    let found = run(["guide", "kept.stale"]).printed();
    assert!(found.lines().any(|line| line.starts_with("measures ")), "{found}");
    assert!(found.lines().all(|line| line.chars().count() <= 100), "{found}");
    assert!(found.ends_with("recompact guide PAGE prints a page\n"), "{found}");
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
}
