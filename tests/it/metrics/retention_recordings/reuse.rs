//! What a fact should be: of the words of results that later calls repeat, how many are facts, and what chance finds by shape.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use rayon::prelude::*;
use recompact::facts::extract;
use recompact::transcript::conversation::{Block, BlockKind, Conversation};
use regex::Regex;

use super::FOLDERS;
use crate::support::transcripts::{RECORDINGS, Recorded, repository};

/// Shapes of words and strings, and whether they are facts: always, or for numbers and strings in quotes, near a name.
const SHAPES: [(&str, bool, &str); 29] = [
    ("path with an extension", true, r"(?:^|[\s\x22'`(=])((?:[\w.-]+/)+[\w-]+\.[a-z]{1,5})\b"),
    ("identifier", true, r"\b(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w+|[A-Z][a-z]+[A-Z]\w*)\b"),
    ("hash", true, r"\b[0-9a-f]*(?:[0-9][a-f]|[a-f][0-9])[0-9a-f]{5,38}\b"),
    ("UUID", true, r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"),
    ("two hyphens, 12 characters", true, r"(?:^|[\s\x22'`(])([A-Za-z][A-Za-z0-9]{1,20}(?:-[A-Za-z0-9]{2,20}){2,})"),
    ("a hyphen and a digit", true, r"(?:^|[\s\x22'`(])([a-z]{3,}[0-9]*-[a-z]*[0-9]+)\b"),
    ("code", true, r"\b[A-Z]{1,3}[0-9]{2,4}\b"),
    ("issue", true, r"(?:^|[\s(\x22])(#[0-9]{2,6})\b"),
    ("address", true, r"\b[A-Za-z][\w.+-]*@[A-Za-z0-9][\w.-]+"),
    ("host and port", true, r"\b(?:localhost|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+):[0-9]{2,5}\b"),
    ("three words with dots", true, r"(?:^|[\s\x22'`(])([a-z]{2,}(?:\.[a-z]{2,}){2,})(?:[\s\x22'`),:]|$)"),
    ("line, 20 characters", true, r"(?m)^[ \t]*(\S[^\n]{18,}\S)[ \t]*$"),
    ("line, 12 to 19", true, r"(?m)^[ \t]*(\S[^\n]{10,17}\S)[ \t]*$"),
    ("in single quotes with a space", true, r"(?:^|\W)'([^'\n]{3,40} [^'\n]{4,40})'"),
    ("four digits after a word", true, r"\b([A-Za-z]\w{2,}\W{1,3}[0-9]{4})\b"),
    ("line, 8 to 11", false, r"(?m)^[ \t]*(\S[^\n]{6,9}\S)[ \t]*$"),
    ("one hyphen", false, r"(?:^|[\s\x22'`(])([a-z]{2,}-[a-z]{2,})(?:[\s\x22'`),.:]|$)"),
    ("two words with a slash", false, r"(?:^|[\s\x22'`(=])([A-Za-z]{2,}/[A-Za-z]{3,})(?:[\s\x22'`),]|$)"),
    ("option with a hyphen", false, r"(?:^|\s)(--[a-z]+-[a-z-]+)"),
    ("option of one word", false, r"(?:^|\s)(--[a-z]{3,})(?:[\s=]|$)"),
    ("version alone", false, r"(?:^|[\s\x22'`(])(v?[0-9]+\.[0-9]+\.[0-9]+)(?:[\s\x22'`),]|$)"),
    ("number of three digits", false, r"(?:^|[\s\x22'`(=])([0-9]{3})(?:[\s\x22'`),;]|$)"),
    ("number of four digits", false, r"(?:^|[\s\x22'`(=])([0-9]{4})(?:[\s\x22'`),;]|$)"),
    ("word in quotes", false, r"[\x22'`]([A-Za-z][a-z.-]{2,30})[\x22'`]"),
    ("capital letters", false, r"\b[A-Z]{5,}\b"),
    ("file with a dot before", false, r"(?:^|[\s\x22'`(])(\.[a-z][\w-]{2,})"),
    ("two words with a dot", false, r"(?:^|[\s\x22'`(])([a-z]{3,}\.[a-z]{3,})(?:[\s\x22'`),:]|$)"),
    ("word with a capital", false, r"\b[A-Z][a-z]{5,}\b"),
    ("plain word", false, r"\b[a-z]{6,}\b"),
];

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| SHAPES.iter().map(|(_, _, pattern)| Regex::new(pattern).expect("a pattern")).collect());

/// The shape of plain words between blanks and brackets, whatever their form.
const ANY: usize = SHAPES.len();

/// Calls `each` with every string of a text, by shape.
fn shapes<'t>(text: &'t str, each: &mut dyn FnMut(usize, &'t str)) {
    for (shape, pattern) in PATTERNS.iter().enumerate() {
        for found in pattern.captures_iter(text) {
            each(shape, found.get(1).or(found.get(0)).map_or("", |part| part.as_str()));
        }
    }
    let words = text.split(|c: char| c.is_whitespace() || "\"'`(){}[]<>,;=|".contains(c));
    let words = words.map(|word| word.trim_matches(|c: char| ".:!?*".contains(c))).filter(|word| word.len() >= 4);
    words.filter(|word| word.contains(char::is_alphanumeric)).for_each(|word| each(ANY, word));
}

fn for_each_shape(block: &Block, each: &mut dyn FnMut(usize, &str)) {
    extract::texts(block, &mut |text| shapes(text, each));
}

/// A string that a call repeats from a result, two or more calls later.
struct Reuse {
    shape: usize,
    text: String,
    /// A fact of the call contains it, or is contained in it.
    is_covered: bool,
}

/// Returns the repeated strings of a conversation, and all strings in it.
fn reuses(conversation: &Conversation) -> (Vec<Reuse>, HashSet<(usize, String)>) {
    struct Seen {
        blocks: usize,
        last: usize,
        in_result: bool,
    }
    let (mut seen, mut uses) = (HashMap::<(usize, String), Seen>::new(), Vec::new());
    let (mut calls, mut blocks) = (0, 0);
    for (at, message) in conversation.messages.iter().enumerate() {
        let is_call = conversation.calls.get(calls).is_some_and(|call| call.response == at);
        let mut new = Vec::new();
        for block in message.blocks.iter().map(|id| conversation.block(*id)) {
            let mut all = HashSet::new();
            for_each_shape(block, &mut |shape, text| _ = all.insert((shape, text.to_owned())));
            if is_call && matches!(block.kind, BlockKind::ToolUse(_)) {
                let mut facts = Vec::new();
                extract::in_block(block, &mut |found| {
                    let is_near = !found.kind.needs_anchor() || !found.anchors.is_empty();
                    facts.extend((found.said && is_near).then(|| found.text.to_owned()));
                });
                let covers = |text: &str| facts.iter().any(|fact| fact.contains(text) || text.contains(fact.as_str()));
                let old =
                    |key: &&(usize, String)| seen.get(*key).is_some_and(|seen| seen.in_result && seen.last + 2 <= calls + 1);
                uses.extend(all.iter().filter(old).map(|key| (key.clone(), covers(&key.1))));
            }
            blocks += 1;
            new.push((all, matches!(block.kind, BlockKind::ToolResult(_))));
        }
        calls += usize::from(is_call);
        for (all, in_result) in new {
            for key in all {
                let seen = seen.entry(key).or_insert(Seen { blocks: 0, last: 0, in_result: false });
                (seen.blocks, seen.last, seen.in_result) = (seen.blocks + 1, calls, seen.in_result || in_result);
            }
        }
    }
    // As rare as a fact must be.
    let most = (blocks / 20).clamp(5, 50);
    uses.retain(|(key, _)| seen[key].blocks <= most);
    let uses = uses.into_iter().map(|((shape, text), is_covered)| Reuse { shape, text, is_covered });
    (uses.collect(), seen.into_keys().collect())
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn facts_cover_what_calls_repeat() {
    let of_folders = |recorded: &&'static Recorded| FOLDERS.contains(&&*recorded.folder);
    let recorded: Vec<_> = RECORDINGS.iter().filter(of_folders).collect();
    let of_one = |recorded: &&'static Recorded| {
        let (mut uses, mut all) = (Vec::new(), HashSet::new());
        for conversation in &recorded.reading.conversations {
            let (more, found) = reuses(conversation);
            uses.extend(more);
            all.extend(found);
        }
        (repository(&recorded.name), uses, all)
    };
    let sessions: Vec<_> = recorded.par_iter().map(of_one).collect();
    // Sessions that have a string, by repository.
    let mut holders = HashMap::<&(usize, String), BTreeMap<&str, usize>>::new();
    for (repository, _, all) in &sessions {
        all.iter().for_each(|key| *holders.entry(key).or_default().entry(*repository).or_default() += 1);
    }
    let sessions_of = |repository: &str| sessions.iter().filter(|session| session.0 == repository).count();
    let mut table = vec![[0.0; 4]; SHAPES.len() + 1];
    let (mut words, mut special) = ([0.0; 2], [0.0; 2]);
    for (repository, uses, _) in &sessions {
        let own = sessions_of(repository);
        for used in uses {
            let held = &holders[&(used.shape, used.text.clone())];
            let [all, at_home] = [held.values().sum::<usize>(), held[repository]];
            let row = &mut table[used.shape];
            row[0] += 1.0;
            row[1] += f64::from(u8::from(used.is_covered));
            row[2] += (all - at_home) as f64 / (sessions.len() - own) as f64;
            row[3] += (at_home - 1) as f64 / (own.max(2) - 1) as f64;
            if used.shape == ANY {
                for sum in [Some(&mut words), (all == at_home).then_some(&mut special)].into_iter().flatten() {
                    sum[0] += 1.0;
                    sum[1] += f64::from(u8::from(used.is_covered));
                }
            }
        }
    }
    println!(
        "{} sessions; uses, share that a fact covers, found in sessions of other repositories and of the same",
        sessions.len()
    );
    for ((name, is_fact, _), [uses, covered, other, same]) in SHAPES.iter().zip(&table) {
        let share = |part: f64| 100.0 * part / uses;
        let mark = if *is_fact { "taken" } else { "refused" };
        println!("{name:30} {mark:8} {uses:6} {:5.1} % {:5.2} % {:5.1} %", share(*covered), share(*other), share(*same));
    }
    let share = |[all, covered]: [f64; 2]| 100.0 * covered / all;
    println!("of {} repeated words, facts cover {:.1} %", words[0], share(words));
    println!("of the {} that no session of another repository has, {:.1} %", special[0], share(special));
    assert!(share(special) >= 70.0);
}
