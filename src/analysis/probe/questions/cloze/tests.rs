use super::*;
use crate::facts::references::References;
use crate::transcript::conversation::Conversation;
use crate::transcript::format::{ReadOptions, by_name};

/// Returns the fact of a conversation in which the user says `line`, and the agent uses `fact` three calls later.
fn used_fact(line: &str, fact: &str) -> Option<Fact> {
    let text = |text: &str| serde_json::json!([{"type": "text", "text": text}]);
    let mut lines = vec![serde_json::json!({"role": "user", "content": line})];
    for answer in ["Well.", "So.", "Now.", fact] {
        lines.push(serde_json::json!({"role": "assistant", "content": text(answer)}));
        lines.push(serde_json::json!({"role": "user", "content": "Go on."}));
    }
    let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let reading = (by_name("messages")?.read)(file.as_bytes(), &ReadOptions::default());
    let conversation: &Conversation = reading.conversations.first()?;
    let references = References::new(conversation, |_| 0);
    let facts: Vec<_> = references.uses.iter().map(|used| &references.facts[used.fact as usize]).collect();
    // The whole line is also a fact.
    facts.into_iter().find(|known| fact.ends_with(&known.text)).cloned()
}

fn cloze(line: &str, fact: &str) -> Option<(String, String)> {
    let fact = used_fact(line, fact).unwrap_or_else(|| panic!("no use of {fact}"));
    Cloze::candidates(line, &fact).next().map(|cloze| (cloze.line, cloze.answer))
}

#[test]
fn cloze_line_has_one_blank_that_cannot_be_guessed() {
    let cases = [
        ("    the pool keeps max_idle_sockets of them", "max_idle_sockets", "the pool keeps ____ of them", "max_idle_sockets"),
        ("error in /srv/app/src/net/pool.rs:12: too few", "net/pool.rs", "error in ____:12: too few", "/srv/app/src/net/pool.rs"),
        ("+++ b/src/net/pool.rs changed by hand", "net/pool.rs", "+++ ____ changed by hand", "b/src/net/pool.rs"),
        ("fixed by commit 9f3c21ab in spring", "9f3c21ab", "fixed by commit ____ in spring", "9f3c21ab"),
        (
            "see https://docs.rs/pool/1.2 for details",
            "https://docs.rs/pool/1.2",
            "see ____ for details",
            "https://docs.rs/pool/1.2",
        ),
        ("\tif err := CheckLimits(w); err != nil {", "CheckLimits", "if err := ____(w); err != nil {", ""),
        ("limit_bytes grew to 48213 overnight", "limit_bytes 48213", "limit_bytes grew to ____ overnight", "48213"),
    ];
    for (line, fact, shown, answer) in cases {
        match answer {
            // `err` and `nil` are too short to find a line by.
            "" => assert_eq!(cloze(line, fact), None, "{line}"),
            answer => assert_eq!(cloze(line, fact), Some((shown.to_owned(), answer.to_owned())), "{line}"),
        }
    }
}

#[test]
fn cloze_skips_lines_that_reveal_or_lack_the_answer() {
    let cases = [
        ("max_idle_sockets = self.max_idle_sockets + 1", "max_idle_sockets", "it stands there twice"),
        ("// CheckLimits checks the limits of a pool", "CheckLimits", "the comment says its name"),
        ("the socket_pool of sockets and pools", "socket_pool", "all of its parts are there"),
        ("/srv/app/src/net/pool.rs", "net/pool.rs", "a path and nothing else"),
        ("a, b: net/pool.rs", "net/pool.rs", "no word to find it by"),
        ("the \u{1b}[31mpool\u{1b}[0m keeps max_idle_sockets there", "max_idle_sockets", "a terminal's colours"),
        ("fill the ____ with max_idle_sockets now", "max_idle_sockets", "another blank"),
    ];
    for (line, fact, why) in cases {
        assert_eq!(cloze(line, fact), None, "{why}");
    }
}

#[test]
fn long_cloze_lines_are_cut_around_the_blank() {
    let line = format!("{}the pool keeps max_idle_sockets of them {}", "before ".repeat(100), "behind ".repeat(100));
    let (shown, _) = cloze(&line, "max_idle_sockets").expect("a question");
    assert!(shown.contains("the pool keeps ____ of them") && shown.starts_with('…') && shown.ends_with('…'), "{shown}");
    assert!(shown.chars().count() <= SHOWN + 2, "{shown}");
}

fn new_cloze(line: &str, answer: &str) -> Cloze {
    Cloze { line: line.to_owned(), answer: answer.to_owned() }
}

#[test]
fn cloze_with_two_possible_answers_is_skipped() {
    let cases = [
        ("type ____ struct {", "type Pool struct {\ntype Limit struct {", vec!["Pool", "Limit"]),
        ("…keeps ____ of them", "it keeps max_idle of them\nkeeps\nkeeps two words of them", vec!["max_idle"]),
        ("____ is the limit", "  a_b is the limit\nwhat is the limit", vec!["a_b", "what"]),
        ("the limit is ____", "the limit is 48213  \nthe limit is near", vec!["48213", "near"]),
        ("type ____ struct {", "nothing of it", vec![]),
    ];
    for (line, text, expected) in cases {
        assert_eq!(new_cloze(line, "").fills(text).collect::<Vec<_>>(), expected, "{line}");
    }
    assert!(new_cloze("type ____ struct {", "Pool").is_ambiguous_in("type Limit struct {"));
    assert!(!new_cloze("type ____ struct {", "Pool").is_ambiguous_in("type Pool struct {"));
    assert!(new_cloze("type ____ struct {", "Pool").is_in("pub type Pool struct {"));
}

#[test]
fn cloze_answer_must_equal_the_fact() {
    let (id, path) = (FactKind::Identifier, FactKind::Path);
    let cases = [
        (id, "max_idle", "max_idle", true),
        (id, "max_idle", "`max_idle`.", true),
        (id, "max_idle", "\n \"max_idle\"\nIt stands in line 3.", true),
        (id, "max_idle", "**max_idle**", true),
        (id, "max_idle", "MAX_IDLE", false),
        (id, "max_idle", "max_idle_sockets", false),
        (id, "max_idle", "It is max_idle", false),
        (id, "max_idle", "UNKNOWN", false),
        (id, "max_idle", "", false),
        (path, "/srv/src/net/pool.rs", "/srv/src/net/pool.rs", true),
        (path, "/srv/src/net/pool.rs", "net/pool.rs", true),
        (path, "/srv/src/net/pool.rs", "./src/net/pool.rs", true),
        (path, "/srv/src/net/pool.rs", "pool.rs", false),
        (path, "/srv/src/net/pool.rs", "other/pool.rs", false),
    ];
    for (kind, fact, answer, right) in cases {
        let canonical = if kind == path { "net/pool.rs" } else { fact };
        assert_eq!(new_cloze("", fact).is_answered_by(answer, kind, canonical), right, "{answer}");
    }
}

#[test]
fn cloze_line_must_not_hold_part_of_the_answer() {
    let cases = [
        ("HandleTurnEnd", "at the turn of the end", false),
        ("HandleTurnEnd", "it can handle a turn", true),
        ("stash_d.go", "stash it", true),
        ("session/phase.go", "after the phase", false),
        ("9f3c21ab", "the commit 9f3c21a of it", true),
        ("48213", "a number of 5 digits", false),
    ];
    for (answer, rest, given) in cases {
        assert_eq!(is_given_away(answer, rest), given, "{answer}: {rest}");
    }
}
