//! Checks programs as summarizers: those that answer, and those that fail.
#![cfg(unix)]

use std::thread;
use std::time::{Duration, Instant};

use recompact::llm::client::{AskError, Question};

use super::{Asks, KEY, question};

fn ask(command: &str, question: &Question) -> Result<String, AskError> {
    ask_within(Duration::from_secs(60), command, question)
}

fn ask_within(timeout: Duration, command: &str, question: &Question) -> Result<String, AskError> {
    let asks = Asks { written: format!("command:{command}"), timeout, retries: 0, ..Asks::default() };
    asks.model().expect("a model").ask(question).map(|answer| answer.text)
}

#[test]
fn command_gets_the_prompt_on_stdin_and_answers_on_stdout() {
    let asked = |command: &str| ask(command, &question(1));
    assert_eq!(asked("cat").as_deref(), Ok("Be brief.\n\nWhat is 1?"));
    assert_eq!(asked("tr a-z A-Z | head -c 8").as_deref(), Ok("BE BRIEF"), "a shell reads it");
    assert_eq!(asked("printf %s \"$RECOMPACT_MAX_TOKENS\"").as_deref(), Ok("100"));
    assert_eq!(asked("printf 'a\\377b'").as_deref(), Ok("a\u{fffd}b"));
    assert_eq!(asked("true").as_deref(), Ok(""), "what an empty summary is, the layer says");
    assert_eq!(asked(&format!("echo the key is {KEY}")).as_deref(), Ok("the key is [key]\n"));
    let alone = Question { system: String::new(), ..question(1) };
    assert_eq!(ask("cat", &alone).as_deref(), Ok("What is 1?"));
    // The text of a transcript is data: no shell interprets it.
    let hostile = Question { user: "$(echo boo) `echo boo`; echo boo\n'\"".to_owned(), ..alone };
    assert_eq!(ask("cat", &hostile).as_ref(), Ok(&hostile.user));
}

#[test]
fn command_pipes_do_not_deadlock() {
    let long = Question { system: String::new(), user: "word ".repeat(200_000), max_tokens: 100, continuation: None };
    assert_eq!(ask("cat", &long).map(|text| text.len()), Ok(long.user.len()));
    assert_eq!(ask("echo unread", &long).as_deref(), Ok("unread\n"), "a program need not read the prompt");
    assert_eq!(ask("exec <&-; echo closed", &long).as_deref(), Ok("closed\n"));
    let noisy = "head -c 1000000 /dev/zero >&2; cat > /dev/null; echo done";
    assert_eq!(ask(noisy, &long).as_deref(), Ok("done\n"));
}

#[test]
fn command_failures_quote_the_last_line_of_stderr() {
    let cases = [
        ("echo one >&2; echo two >&2; echo >&2; exit 3", "it failed (exit status: 3): two"),
        ("exit 1", "it failed (exit status: 1): it wrote no error message"),
        ("kill -TERM $$", "it failed (signal: 15"),
        ("recompact-has-no-such-program", "it cannot be started: "),
        ("yes", "its answer is longer than 32 MiB"),
    ];
    for (command, words) in cases {
        let said = ask(command, &question(1)).unwrap_err().to_string();
        assert!(said.starts_with(&format!("command:{command}: `{command}`: ")) && said.contains(words), "{command}: {said}");
    }
    let said = ask(&format!("echo bad {KEY} >&2; exit 1"), &question(1)).unwrap_err().to_string();
    assert!(said.contains("bad [key]"), "{said}");
    let too_long = ask("echo 'Error: prompt is too long: 9 > 8' >&2; exit 1", &question(1));
    assert_eq!(too_long, Err(AskError::TooLong("Error: prompt is too long: 9 > 8".to_owned())));
}

/// The last command leaves a process behind that waits for the file `go` and then writes the file `trace`.
#[test]
fn command_timeout_kills_process_group() {
    let folder = tempfile::tempdir().expect("a folder");
    let [go, trace] = ["go", "trace"].map(|name| folder.path().join(name));
    let waits = format!("while [ ! -e '{}' ]; do sleep 0.02; done; touch '{}'", go.display(), trace.display());
    let late = format!("({waits}) & sleep 90");
    thread::scope(|scope| {
        for command in ["sleep 90", "cat | sleep 90 | cat", "exec >&-; sleep 90", &late] {
            scope.spawn(move || {
                let began = Instant::now();
                let said = ask_within(Duration::from_millis(500), command, &question(1)).unwrap_err().to_string();
                assert!(said.contains("no answer within 0.5 s; --timeout allows more"), "{command}: {said}");
                assert!(began.elapsed() < Duration::from_secs(60), "{command}: {:?}", began.elapsed());
            });
        }
    });
    std::fs::write(go, "").expect("a folder to write to");
    for _ in 0..20 {
        thread::sleep(Duration::from_millis(20));
        assert!(!trace.exists(), "a process of the command goes on");
    }
}
