//! The commands that the README and the pages print: each is one that the program takes, with options that it has.

use std::collections::BTreeSet;

use recompact::guide::PAGES;

use super::pattern;
use crate::cli::readme::readme;
use crate::support::program::run;

/// Options of other programs that pages name.
const OF_OTHERS: [&str; 1] = ["--no-verify"];

/// The README and the pages, each with its name.
fn texts() -> Vec<(String, String)> {
    let pages = PAGES.iter().map(|page| (page.name.to_owned(), page.source.to_owned()));
    pages.chain([("README".to_owned(), readme())]).collect()
}

/// The commands of the fenced blocks for a shell: their words, up to a pipe, a redirection or a comment.
fn commands(text: &str) -> Vec<Vec<String>> {
    let blocks = pattern(r"(?s)\n```sh\n(.*?)\n```");
    let joined = blocks.captures_iter(text).map(|block| block[1].replace("\\\n", " ")).collect::<Vec<_>>().join("\n");
    let lines = joined.lines().map(str::trim_start).filter(|line| line.starts_with("recompact "));
    lines.map(words).collect()
}

/// Splits a line as a shell would, as far as the pages need it.
fn words(line: &str) -> Vec<String> {
    let word = pattern(r#"'[^']*'|"[^"]*"|[^\s'"]+"#);
    let mut words: Vec<String> = Vec::new();
    let mut end = 0;
    for part in word.find_iter(line) {
        if part.start() > end && ["#", "|", ">", "<", ";", "&&", "||", "2>", "--"].iter().any(|sign| part.as_str() == *sign) {
            break;
        }
        let text = part.as_str().trim_matches(['\'', '"']);
        match words.last_mut() {
            // `micro.keep=1,'8'` is one word.
            Some(last) if part.start() == end && end > 0 => last.push_str(text),
            _ => words.push(text.to_owned()),
        }
        end = part.end();
    }
    words
}

#[test]
fn every_command_of_the_pages_is_one_that_the_program_takes() {
    let mut count = 0;
    for (name, text) in texts() {
        for command in commands(&text) {
            let mut arguments = command[1..].to_vec();
            if arguments.first().is_some_and(|first| first.starts_with('-') || first.contains(['/', '.', '~'])) {
                arguments.insert(0, "replay".to_owned());
            }
            // A wrong option is an error before the help is printed.
            let ran = run(arguments.iter().map(String::as_str).chain(["--help"]));
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name}: {command:?}");
            count += 1;
        }
    }
    assert!(count > 80, "{count} commands were found");
}

#[test]
fn every_option_that_a_page_names_is_one_of_the_program() {
    let completions = run(["completions", "fish"]).printed();
    let long = pattern(r" -l ([a-z-]+)");
    let known: BTreeSet<&str> = long.captures_iter(&completions).filter_map(|option| Some(option.get(1)?.as_str())).collect();
    assert!(known.len() > 60, "{known:?}");
    let code = pattern(r"`(--[a-z][a-z-]+)[^`]*`");
    for (name, text) in texts() {
        let named = code.captures_iter(&text).filter_map(|option| Some(option.get(1)?.as_str()));
        let unknown: Vec<&str> = named.filter(|option| !OF_OTHERS.contains(option) && !known.contains(&option[2..])).collect();
        assert!(unknown.is_empty(), "{name}: {unknown:?}");
    }
}
