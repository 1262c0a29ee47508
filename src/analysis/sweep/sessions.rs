//! Sessions of the transcripts: which conversations belong to which session, and which sessions are held out.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::results::saved::Session;
use crate::util::text::plural;

use super::SweepError;

/// Minimum sessions on each side of a split: a total over one session says nothing about others.
const MIN_SIDE: usize = 2;

/// Size of one conversation, from a first pass over the transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSize {
    pub conversation: String,
    /// Recorded calls that have a request; a conversation without any cannot be replayed.
    pub calls: u64,
}

/// All sessions with calls, numbered in the order of the transcripts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionTable {
    calls: Vec<u64>,
    /// By transcript, then by conversation.
    session_of: HashMap<String, HashMap<String, usize>>,
}

/// Sessions to develop on and sessions held out, by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// In the order in which halving uses them.
    pub develop: Vec<usize>,
    /// Ascending; empty if none are held out.
    pub held_out: Vec<usize>,
}

impl SessionTable {
    /// Builds the table from all transcripts, in their order.
    pub fn new(transcripts: &[(String, Vec<SessionSize>)]) -> Self {
        let mut table = Self::default();
        let mut numbers: HashMap<Session, usize> = HashMap::new();
        for (transcript, seen) in transcripts {
            for SessionSize { conversation, calls } in seen.iter().filter(|seen| seen.calls > 0) {
                let next = numbers.len();
                let number = *numbers.entry(Session::new(transcript, conversation)).or_insert(next);
                if number == next {
                    table.calls.push(0);
                }
                table.calls[number] += calls;
                table.session_of.entry(transcript.clone()).or_default().insert(conversation.clone(), number);
            }
        }
        table
    }

    pub fn sessions(&self) -> usize {
        self.calls.len()
    }

    /// Returns the number of transcripts with calls.
    pub fn transcripts(&self) -> usize {
        self.session_of.len()
    }

    /// Returns the recorded calls of a session.
    pub fn calls(&self, session: usize) -> u64 {
        self.calls.get(session).copied().unwrap_or(0)
    }

    /// Returns the session of a conversation; `None` if it has no call.
    pub fn session(&self, transcript: &str, conversation: &str) -> Option<usize> {
        self.session_of.get(transcript)?.get(conversation).copied()
    }

    /// Returns whether a transcript contains a conversation of one of these sessions.
    pub fn holds(&self, transcript: &str, is_wanted: impl Fn(usize) -> bool) -> bool {
        self.session_of.get(transcript).is_some_and(|sessions| sessions.values().any(|session| is_wanted(*session)))
    }

    /// Holds out a random share of the sessions, drawn with the seed.
    pub fn split(&self, held_out: f64, seed: u64) -> Result<Split, SweepError> {
        let all = self.sessions();
        let held_out_of = |of: usize| (held_out * of as f64).round() as usize;
        let is_enough = |of: usize| held_out_of(of) >= MIN_SIDE && of - held_out_of(of).min(of) >= MIN_SIDE;
        if held_out > 0.0 && !is_enough(all) {
            // If 10,000 sessions are not enough, the share is too near to 0 or 1.
            let needed = (1..10_000).find(|of| is_enough(*of)).map_or("very many".to_owned(), |needed| needed.to_string());
            return Err(SweepError::Wrong(format!(
                "--holdout {held_out}: the transcripts have {}; {needed} are needed so that each side has {MIN_SIDE}",
                plural(all, "session")
            )));
        }
        let mut sessions: Vec<usize> = (0..all).collect();
        sessions.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut apart: Vec<usize> = sessions.drain(..if held_out > 0.0 { held_out_of(all) } else { 0 }).collect();
        apart.sort_unstable();
        Ok(Split { develop: sessions, held_out: apart })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SessionTable {
        let seen = |names: &[(&str, u64)]| -> Vec<SessionSize> {
            names.iter().map(|(name, calls)| SessionSize { conversation: (*name).to_owned(), calls: *calls }).collect()
        };
        let mut transcripts = vec![
            ("a/s.jsonl".to_owned(), seen(&[("main", 10), ("agent-1", 2)])),
            ("a/s/subagents/agent-2.jsonl".to_owned(), seen(&[("agent-2", 5)])),
            ("list.json".to_owned(), seen(&[("17", 1), ("17-trial1", 1), ("18", 4), ("19", 0)])),
        ];
        transcripts.extend((0..7).map(|n| (format!("b/{n}.jsonl"), seen(&[("main", 3)]))));
        SessionTable::new(&transcripts)
    }

    #[test]
    fn split_keeps_sub_agents_and_trials_with_their_session() {
        let table = table();
        assert_eq!((table.sessions(), table.calls(0), table.calls(1), table.calls(2)), (10, 17, 2, 4));
        assert_eq!(table.session("a/s/subagents/agent-2.jsonl", "agent-2"), Some(0));
        assert_eq!(table.session("list.json", "17-trial1"), table.session("list.json", "17"));
        assert_eq!(table.session("list.json", "19"), None, "no call, nothing to replay");
        assert!(table.holds("list.json", |session| session == 2) && !table.holds("list.json", |session| session == 0));
    }

    #[test]
    fn split_has_whole_sessions_and_is_reproducible() {
        let table = table();
        let split = table.split(0.3, 1).expect("ten are enough");
        assert_eq!((split.develop.len(), split.held_out.len()), (7, 3));
        let mut all = [split.develop.clone(), split.held_out.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert_eq!(split, table.split(0.3, 1).expect("the same"));
        assert!((2..20).any(|seed| table.split(0.3, seed).expect("as many").held_out != split.held_out));
        assert!(table.split(0.0, 1).expect("none").held_out.is_empty());
    }

    #[test]
    fn split_of_too_few_sessions_says_how_many_are_needed() {
        let error = |held_out: f64| table().split(held_out, 1).expect_err("too few").to_string();
        let said = "--holdout 0.1: the transcripts have 10 sessions; 15 are needed so that each side has 2";
        assert_eq!(error(0.1), said);
        assert!(error(0.9).contains("; 16 are needed"));
    }
}
