//! `recompact guide`: lists the pages of the guide, prints one, and finds the pages with a word.

use clap::Args;
use recompact::guide::{PAGES, page, search};
use recompact::util::text::{did_you_mean, wrap};

use crate::cli::error::Failure;
use crate::cli::output;

#[derive(Args)]
pub struct Guide {
    /// Page to print, or a text to look for; without it, the list of pages
    page: Option<String>,
}

impl Guide {
    pub fn run(self) -> Result<(), Failure> {
        let text = match &self.page {
            None => list(),
            Some(name) => match page(name) {
                Some(page) => page.text(),
                None => found(name).ok_or_else(|| unknown(name))?,
            },
        };
        Ok(output::write(None, text.as_bytes())?)
    }
}

/// Columns of the lists.
const WIDTH: usize = 100;

fn name_width() -> usize {
    PAGES.iter().map(|page| page.name.len()).max().unwrap_or(0)
}

fn list() -> String {
    let width = name_width();
    let mut part = "";
    let mut list = String::new();
    for page in PAGES {
        if std::mem::replace(&mut part, page.part) != page.part {
            list += &format!("{}{}\n", if list.is_empty() { "" } else { "\n" }, page.part);
        }
        list += &wrap(&format!("  {:width$}  ", page.name), &page.about(), WIDTH);
    }
    list
}

/// Where the guide has a text: its pages, each with the first lines that have it. `None`: nowhere.
fn found(text: &str) -> Option<String> {
    const LINES: usize = 2;
    let width = name_width();
    let pages = search(text);
    let line = |name: &str, line: &str| wrap(&format!("{name:width$}  "), &around(line, text), WIDTH);
    let of_page = |name: &str, lines: &[String]| -> String { lines.iter().take(LINES).map(|found| line(name, found)).collect() };
    let list: String = pages.iter().map(|(page, lines)| of_page(page.name, lines)).collect();
    (!pages.is_empty()).then(|| format!("{list}\nrecompact guide PAGE prints a page\n"))
}

/// The words of a line around those that have a text: a row of a table may be long.
fn around(line: &str, text: &str) -> String {
    const WORDS: usize = 12;
    let wanted = text.to_lowercase();
    let first = wanted.split_whitespace().next().unwrap_or(&wanted);
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|word| word.to_lowercase().contains(first)).unwrap_or(0);
    let (begin, end) = (at.saturating_sub(WORDS), words.len().min(at + WORDS));
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", cut(begin > 0), words[begin..end].join(" "), cut(end < words.len()))
}

fn unknown(name: &str) -> Failure {
    let known: Vec<_> = PAGES.iter().map(|page| page.name).collect();
    Failure::Usage(format!("the guide has no page `{name}`{}", did_you_mean(name, &known)))
}

#[cfg(test)]
mod tests {
    use recompact::guide::PAGES;

    /// Returns the commands of a page's shell blocks, one per line, with continued lines joined.
    fn commands(source: &str) -> Vec<String> {
        let blocks = source.split("\n```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"));
        blocks.flat_map(|block| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// Splits a command into words as a shell does, up to a comment, a pipe or a redirection.
    fn words(command: &str) -> Vec<String> {
        let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
        for c in command.chars() {
            match c {
                '\'' => (quoted, word) = (!quoted, Some(word.unwrap_or_default())),
                '#' | '|' | '>' if !quoted && word.is_none() => return words,
                c if c.is_whitespace() && !quoted => words.extend(word.take()),
                c => word.get_or_insert_default().push(c),
            }
        }
        words.into_iter().chain(word).collect()
    }

    /// Returns the arguments of `recompact` if the command runs it.
    fn arguments(command: &str) -> Option<Vec<String>> {
        let words = words(command);
        let start = words.iter().position(|word| !word.contains('='))?;
        match words[start..].iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["recompact", ..] => Some(words[start..].to_vec()),
            ["cargo", "run", "--release", "--", ..] => Some(words[start + 3..].to_vec()),
            _ => None,
        }
    }

    #[test]
    fn commands_of_the_guide_parse() {
        let mut parsed = 0;
        for page in PAGES {
            for command in commands(page.source) {
                let Some(arguments) = arguments(&command) else { continue };
                if let Err(error) = crate::cli::help::command().try_get_matches_from(arguments) {
                    panic!("{}: {command}\n{error}", page.name);
                }
                parsed += 1;
            }
        }
        assert!(parsed > 40, "{parsed} commands");
    }

    #[test]
    fn words_end_at_a_comment() {
        assert_eq!(words("a --where 'x == 0'  # why"), ["a", "--where", "x == 0"]);
        assert_eq!(arguments("RUST=1 cargo run --release -- guide"), Some(vec!["--".to_owned(), "guide".to_owned()]));
        assert_eq!(arguments("cargo test"), None);
    }
}
