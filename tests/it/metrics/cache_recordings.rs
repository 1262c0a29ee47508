//! Measures the caches of recorded sessions: how long a prefix lived, and whether it was read after an edit.

use std::collections::BTreeMap;

use recompact::engine::context::{Cause, Change, ChangeKind};
use recompact::engine::replay::NoObserver;
use recompact::metrics::cost::Tariff;
use recompact::metrics::prices::Prices;
use recompact::transcript::conversation::{Conversation, MINUTE};

use crate::support::transcripts::{files, folders, read};
use crate::support::trial::{Trial, preset_with};

/// How often the prefix of the previous request was read, and how often not.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Seen {
    read: usize,
    missed: usize,
}

impl Seen {
    fn add(&mut self, read: bool) {
        *(if read { &mut self.read } else { &mut self.missed }) += 1;
    }
}

#[derive(Debug, Default)]
struct Caches {
    /// Pauses without an edit: up to the lifetime that was paid for, in its last minute, and longer ones.
    within: Seen,
    last_minute: Seen,
    beyond: Seen,
    /// Turns at whose start thinking was dropped, by model.
    thinking_left: BTreeMap<String, Seen>,
    /// Requests before which results in the middle were cleared. A prefix was read if the read is above the lowest of the session.
    cleared: Seen,
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_caches_live_as_long_as_was_paid_for() {
    let Caches { within, last_minute, beyond, thinking_left, cleared } = caches("claude-code");
    let thinking_left = sum(thinking_left.values());
    assert!(within.missed * 50 < within.read && last_minute.missed * 5 < last_minute.read, "prefixes died early");
    assert!(beyond.read * 10 < beyond.missed, "prefixes lived on");
    assert!(thinking_left.missed * 5 < thinking_left.read, "thinking that leaves breaks the prefix");
    assert_eq!(cleared.read, 0, "an end of a request was found in mid-conversation");
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_openai_caches_read_past_thinking() {
    let seen = caches("codex").thinking_left;
    let Seen { read, missed } = sum(seen.values());
    assert!(missed * 2 < read, "thinking that leaves breaks the prefix");
}

fn caches(format: &str) -> Caches {
    let mut caches = Caches::default();
    for path in folders(format).iter().flat_map(|folder| files(folder, ".jsonl")) {
        for conversation in &read(&path, format).conversations {
            caches.look_at(conversation);
        }
    }
    println!("{format}: {caches:#?}");
    caches
}

fn sum<'a>(all: impl Iterator<Item = &'a Seen>) -> Seen {
    all.fold(Seen::default(), |sum, seen| Seen { read: sum.read + seen.read, missed: sum.missed + seen.missed })
}

impl Caches {
    fn look_at(&mut self, conversation: &Conversation) {
        let journal = Trial::new(preset_with("recorded", &[])).replay(conversation, &mut NoObserver);
        let tariff = Tariff::new(conversation, &Prices::built_in(), None);
        let Some(terms) = tariff.terms().first() else { return };
        let lifetime = (terms.provider.lifetime(terms.long) * MINUTE as f64) as i64;
        let usages = conversation.calls.iter().filter_map(|call| call.usage);
        let least = usages.skip(1).map(|usage| usage.cache_read).filter(|read| *read > 0).min().unwrap_or_default();
        for pair in journal.requests.windows(2) {
            let (before, call) = (&conversation.calls[pair[0].call], &conversation.calls[pair[1].call]);
            let (Some(had), Some(has)) = (before.usage, call.usage) else { continue };
            let idle = conversation.requested_at(pair[1].call).zip(before.time).map(|(asked, answered)| asked - answered);
            let (Some(idle), true) = (idle, had.request() > 0 && has.request() > 0 && before.model == call.model) else {
                continue;
            };
            let read = has.cache_read * 10 > had.request() * 8;
            let changes = &pair[1].changes;
            let clears = |change: &Change| change.kind == ChangeKind::Rewrite && change.cause == Cause::Layer(0);
            match changes.iter().any(|change| change.cause != Cause::Record) {
                true if changes.iter().all(clears) && idle <= lifetime => self.cleared.add(has.cache_read > least + least / 10),
                true => {}
                false if idle > lifetime => self.beyond.add(read),
                false => {
                    self.within.add(read);
                    if idle > lifetime - MINUTE {
                        self.last_minute.add(read);
                    }
                    if !changes.is_empty() {
                        self.thinking_left.entry(before.model.clone().unwrap_or_default()).or_default().add(read);
                    }
                }
            }
        }
    }
}
