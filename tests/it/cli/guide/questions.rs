//! The page of questions: its commands, run as they are printed, give the answers that are printed below them.

use std::fs;
use std::path::Path;
use std::process::Command;

use recompact::guide::page;
use regex::Regex;
use tempfile::TempDir;

use crate::support::program::{self, fixtures, run_command};

/// A question of the page.
struct Question {
    title: String,
    jq: String,
    python: String,
    answer: String,
}

/// Returns the fenced blocks of a part of a page, in a language.
fn blocks(part: &str, language: &str) -> Vec<String> {
    let fenced = Regex::new(&format!("(?s)\n```{language}\n(.*?)```\n")).expect("a pattern");
    fenced.captures_iter(part).map(|block| block[1].to_owned()).collect()
}

fn block(part: &str, language: &str) -> String {
    blocks(part, language).first().unwrap_or_else(|| panic!("no {language} in {part}")).clone()
}

/// The introduction, and the questions.
fn parts() -> (&'static str, Vec<Question>) {
    let page = page("questions").expect("the page").source;
    let (introduction, questions) = page.split_once("\n## ").expect("a question");
    let numbered = questions.split("\n## ").filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let question = |part: &str| Question {
        title: part.lines().next().unwrap_or_default().to_owned(),
        jq: block(part, "sh"),
        python: block(part, "python"),
        answer: block(part, "text"),
    };
    (introduction, numbered.map(question).collect())
}

/// Runs a script, with this program in the search path.
fn printed(folder: &Path, program: &str, script: &str) -> String {
    let recompact = program::path();
    let own = recompact.parent().expect("a folder");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([own.to_owned()].into_iter().chain(std::env::split_paths(&others))).expect("a search path");
    let mut command = Command::new(program);
    command.args(["-c", script]).env("PATH", path).current_dir(folder);
    program::without_own_files(&mut command);
    run_command(command, b"").printed()
}

/// A folder in which the commands of the introduction ran.
fn results(introduction: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for transcripts in ["claude-code", "codex"] {
        for entry in walkdir::WalkDir::new(fixtures().join(transcripts)) {
            let entry = entry.expect("a readable folder");
            let copy = folder.path().join(entry.path().strip_prefix(fixtures()).expect("a fixture"));
            let is_folder = entry.file_type().is_dir();
            if is_folder { fs::create_dir(copy) } else { fs::copy(entry.path(), copy).map(drop) }.expect("a copy");
        }
    }
    assert_eq!(printed(folder.path(), "sh", &block(introduction, "sh")), "");
    folder
}

/// Whether two answers are the same, a number as `jq` writes it and as Python does.
fn is_same(one: &str, other: &str) -> bool {
    let is_same = |(one, other): (&str, &str)| one == other || one.parse::<f64>().is_ok_and(|one| other.parse() == Ok(one));
    let words = |text: &str| text.split(['\t', '\n']).map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (words(one), words(other));
    one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| is_same((one, other)))
}

#[test]
fn the_page_has_questions_with_answers() {
    let questions = parts().1;
    assert_eq!(questions.len(), 2);
    for (at, question) in questions.iter().enumerate() {
        assert!(question.title.starts_with(&format!("{}. ", at + 1)) && question.title.ends_with('?'), "{}", question.title);
        assert!(!question.answer.trim().is_empty(), "{}", question.title);
    }
    assert!(is_same("a\t1\n", "a\t1.0\n") && !is_same("a\t1\n", "a\t2\n") && !is_same("a\n", "a\tb\n"));
}

#[test]
#[ignore = "needs jq"]
fn jq_gives_the_answers_of_the_page() {
    let (introduction, questions) = parts();
    let folder = results(introduction);
    for Question { title, jq, answer, .. } in questions {
        let printed = printed(folder.path(), "sh", &jq);
        assert!(is_same(&printed, &answer), "{title}\n{printed}");
    }
}

#[test]
#[ignore = "needs python3 with pandas: RECOMPACT_PYTHON"]
fn pandas_gives_the_answers_of_the_page() {
    let python = std::env::var("RECOMPACT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let (introduction, questions) = parts();
    let folder = results(introduction);
    let setup = block(introduction, "python");
    for Question { title, python: script, answer, .. } in questions {
        let printed = printed(folder.path(), &python, &format!("{setup}\n{script}"));
        assert!(is_same(&printed, &answer), "{title}\n{printed}");
    }
}
