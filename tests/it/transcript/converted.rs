//! Conversations in other forms: what is written is read again, and is the same for a model.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use rayon::prelude::*;
use recompact::transcript::conversation::Conversation;
use recompact::transcript::format::{self, ReadOptions, Reading};
use recompact::transcript::write::{Converted, Losses, Lost, TARGETS, Target};

use crate::support::program::fixtures;
use crate::support::transcripts::{RECORDINGS, files};

/// What no form may lose of any transcript.
const NEVER: [Lost; 4] = [Lost::Content, Lost::Model, Lost::Usage, Lost::ErrorFlag];

fn read(bytes: &[u8]) -> Reading {
    format::sniff(bytes).map(|found| (found.read)(bytes, &ReadOptions::default())).unwrap_or_default()
}

/// The conversations of the fixtures, with their file.
fn conversations() -> Vec<(String, Conversation)> {
    let all = files(&fixtures(), "").into_iter().flat_map(|path| {
        let name = path.strip_prefix(fixtures()).expect("below it").to_string_lossy().replace('\\', "/");
        read(&fs::read(&path).expect("a file")).conversations.into_iter().map(move |one| (name.clone(), one))
    });
    all.collect()
}

/// Returns what a second conversion of the same conversation writes.
fn converted_again(target: &Target, first: &Converted) -> String {
    let named = format::by_name(target.name).filter(|_| first.losses.count(Lost::Sign) > 0);
    let found = named.or_else(|| format::sniff(first.text.as_bytes())).expect("a format");
    let reading = (found.read)(first.text.as_bytes(), &ReadOptions::default());
    reading.conversations.iter().map(|one| target.convert(one).text).collect()
}

#[test]
fn what_is_written_is_the_same_for_a_model() {
    let mut table = String::new();
    for target in TARGETS {
        for (file, conversation) in conversations() {
            let (first, second) = (target.convert(&conversation), target.convert(&conversation));
            assert_eq!(first, second, "{file} as {}", target.name);
            let awkward = file.starts_with("awkward/");
            for lost in NEVER.into_iter().filter(|_| !awkward) {
                assert_eq!(first.losses.count(lost), 0, "{file} as {}: {lost:?}", target.name);
            }
            if !first.losses.is_misread() {
                assert_eq!(converted_again(target, &first), first.text, "{file} as {}", target.name);
            }
            let _ = writeln!(table, "{} {file} {}: {}", target.name, conversation.name, first.losses.phrases().join("; "));
        }
    }
    insta::assert_snapshot!("losses", table);
}

/// Returns whether there is a result without its call, as in a piece of a session. No request of the chat API has one.
fn has_orphans(conversation: &Conversation) -> bool {
    conversation.pairs.iter().any(|pair| pair.tool_use.is_none())
}

#[test]
#[ignore = "needs recordings"]
fn recordings_are_the_same_for_a_model_in_every_form() {
    let mut wrong = Vec::new();
    for target in TARGETS {
        let convert = |conversation: &'static Conversation| target.convert(conversation).losses;
        let all: Vec<(&str, &Conversation)> = RECORDINGS
            .iter()
            .flat_map(|recorded| recorded.reading.conversations.iter().map(|one| (recorded.name.as_str(), one)))
            .collect();
        let losses: Vec<Losses> = all.par_iter().map(|(_, conversation)| convert(conversation)).collect();
        let mut sum = Losses::default();
        losses.iter().for_each(|losses| sum.extend(losses));
        println!("{}: {} conversations; {}", target.name, all.len(), sum.phrases().join("; "));
        let lost = all.iter().zip(&losses).filter(|(_, losses)| NEVER.iter().any(|lost| losses.count(*lost) > 0));
        let lost = lost.filter(|((_, conversation), _)| !has_orphans(conversation));
        let by_file: BTreeMap<&str, Vec<String>> = lost.map(|((file, _), losses)| (*file, losses.phrases())).collect();
        wrong.extend(by_file.into_iter().map(|(file, phrases)| format!("{} {file}: {}", target.name, phrases.join("; "))));
    }
    assert!(wrong.is_empty(), "{} of them differ:\n{}", wrong.len(), wrong.join("\n"));
}
