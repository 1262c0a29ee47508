//! Sessions of the transcripts: which conversations belong to which session, and which sessions are held out.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::analysis::study::{KnownWindow, SessionSize, TranscriptSize};
use crate::engine::policy::{Policy, SessionsWindow};
#[cfg(test)]
use crate::results::saved::Kinship;
use crate::results::saved::{Families, ResultNote};
use crate::transcript::copies;
use crate::util::text::plural;

use super::SweepError;

/// Minimum sessions on each side of a split: a total over one session says nothing about others.
const MIN_SIDE: usize = 2;

/// Minimum number of sessions for which some are held out by default: three of ten.
const MIN_HELD_OUT_FROM: usize = 10;

/// Number of a session in a [`SessionTable`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub usize);

/// All sessions with calls, numbered in the order of the transcripts. Copies of other transcripts have none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionTable {
    /// By session.
    calls: Vec<u64>,
    /// Transcripts left out as copies, and the transcripts that have their calls.
    copies: Vec<(String, String)>,
    /// By transcript, then by conversation.
    session_of: HashMap<String, HashMap<String, SessionId>>,
    /// Each conversation's window and session.
    windows: Vec<(KnownWindow, SessionId)>,
    /// Whether a recorded agent compacted.
    pub is_compacted: bool,
}

/// Sessions to develop on and sessions held out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// In the order in which halving uses them.
    pub develop: Vec<SessionId>,
    /// Ascending; empty if none are held out.
    pub held_out: Vec<SessionId>,
}

impl SessionTable {
    /// Builds the table from all transcripts, in their order.
    pub fn new(transcripts: &[TranscriptSize]) -> Self {
        let mut table = Self::default();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let is_compacted = |transcript: &TranscriptSize| transcript.conversations.iter().any(|seen| seen.is_compacted);
        let calls = transcripts.iter().map(|one| (one.call_hashes.clone(), is_compacted(one))).collect();
        let originals = copies::originals(calls);
        let counted = transcripts.iter().zip(&originals).filter(|(_, original)| original.is_none());
        let families = Families::new(counted.flat_map(|(transcript, _)| transcript.conversations.iter().map(|seen| &seen.kin)));
        for (TranscriptSize { transcript, conversations, .. }, original) in transcripts.iter().zip(originals) {
            if let Some(original) = original {
                table.copies.push((transcript.clone(), transcripts[original].transcript.clone()));
                continue;
            }
            for SessionSize { conversation, kin, calls, is_compacted, window } in
                conversations.iter().filter(|seen| seen.calls > 0)
            {
                let next = numbers.len();
                let number = *numbers.entry(families.head(kin.session())).or_insert(next);
                if number == next {
                    table.calls.push(0);
                }
                table.calls[number] += calls;
                table.is_compacted |= is_compacted;
                table.windows.push((*window, SessionId(number)));
                table.session_of.entry(transcript.clone()).or_default().insert(conversation.clone(), SessionId(number));
            }
        }
        table
    }

    /// Returns a note for each transcript that was left out as a copy.
    pub fn notes(&self) -> impl Iterator<Item = ResultNote> + '_ {
        self.copies.iter().map(|(copy, original)| ResultNote::of_copy(copy, original))
    }

    /// Returns the context windows of the replays of a policy.
    pub fn windows(&self, policy: &Policy) -> Vec<SessionsWindow> {
        SessionsWindow::count(self.windows.iter().map(|(window, session)| (window.of(policy), *session)))
    }

    /// Returns the number of sessions.
    pub fn sessions(&self) -> usize {
        self.calls.len()
    }

    /// Returns the number of transcripts with calls.
    pub fn transcripts(&self) -> usize {
        self.session_of.len()
    }

    /// Returns the recorded calls of a session.
    pub fn calls(&self, session: SessionId) -> u64 {
        self.calls.get(session.0).copied().unwrap_or(0)
    }

    /// Returns the recorded calls of several sessions together.
    pub fn calls_of<'a>(&self, sessions: impl IntoIterator<Item = &'a SessionId>) -> u64 {
        sessions.into_iter().map(|session| self.calls(*session)).sum()
    }

    /// Returns the session of a conversation; `None` if it has no call.
    pub fn session(&self, transcript: &str, conversation: &str) -> Option<SessionId> {
        self.session_of.get(transcript)?.get(conversation).copied()
    }

    /// Returns whether a transcript contains a conversation of one of these sessions.
    pub fn holds(&self, transcript: &str, is_wanted: impl Fn(SessionId) -> bool) -> bool {
        self.session_of.get(transcript).is_some_and(|sessions| sessions.values().any(|session| is_wanted(*session)))
    }

    /// Returns the share of the sessions that a sweep holds out by default: with few sessions it needs all of them to choose.
    pub fn default_holdout(&self) -> f64 {
        if self.sessions() < MIN_HELD_OUT_FROM { 0.0 } else { 0.3 }
    }

    /// Holds out a random share of the sessions, drawn with the seed.
    pub fn split(&self, held_out: f64, seed: u64) -> Result<Split, SweepError> {
        let all = self.sessions();
        let held_out_of = |of: usize| (held_out * of as f64).round() as usize;
        if !(0.0..1.0).contains(&held_out) {
            return Err(SweepError::Wrong(format!("--holdout {held_out}: write a share of the sessions, such as 0.3")));
        }
        let is_enough = |of: usize| held_out_of(of) >= MIN_SIDE && of - held_out_of(of).min(of) >= MIN_SIDE;
        if held_out > 0.0 && !is_enough(all) {
            // If 10,000 sessions are not enough, the share is too near to 0 or 1.
            let needed = (1..10_000).find(|of| is_enough(*of)).map_or("very many".to_owned(), |needed| needed.to_string());
            return Err(SweepError::Wrong(format!(
                "--holdout {held_out}: the transcripts have {}; {needed} are needed so that each side has {MIN_SIDE}",
                plural(all, "session")
            )));
        }
        let mut sessions: Vec<SessionId> = (0..all).map(SessionId).collect();
        sessions.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut apart: Vec<SessionId> = sessions.drain(..if held_out > 0.0 { held_out_of(all) } else { 0 }).collect();
        apart.sort_unstable();
        Ok(Split { develop: sessions, held_out: apart })
    }
}

/// What is known of a conversation whose record names no other one, for tests.
#[cfg(test)]
pub fn alone(transcript: &str, conversation: &str) -> Kinship {
    use crate::transcript::conversation::{ConversationBuilder, Thinking};
    Kinship::new(transcript, &ConversationBuilder::new(conversation, "test", Thinking::All).finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SessionTable {
        let seen = |transcript: &str, names: &[(&str, u64)]| {
            let conversations = names
                .iter()
                .map(|(name, calls)| SessionSize {
                    conversation: (*name).to_owned(),
                    kin: alone(transcript, name),
                    calls: *calls,
                    is_compacted: false,
                    window: KnownWindow::default(),
                })
                .collect();
            TranscriptSize { transcript: transcript.to_owned(), conversations, call_hashes: vec![] }
        };
        let mut transcripts = vec![
            seen("a/s.jsonl", &[("main", 10), ("agent-1", 2)]),
            seen("a/s/subagents/agent-2.jsonl", &[("agent-2", 5)]),
            seen("list.json", &[("17", 1), ("17-trial1", 1), ("18", 4), ("19", 0)]),
        ];
        transcripts.extend((0..7).map(|n| seen(&format!("b/{n}.jsonl"), &[("main", 3)])));
        SessionTable::new(&transcripts)
    }

    #[test]
    fn split_keeps_sub_agents_and_trials_with_their_session() {
        let table = table();
        assert_eq!((table.sessions(), [0, 1, 2].map(|n| table.calls(SessionId(n)))), (10, [17, 2, 4]));
        assert_eq!(table.calls_of(&[SessionId(0), SessionId(2), SessionId(99)]), 21);
        assert_eq!(table.session("a/s/subagents/agent-2.jsonl", "agent-2"), Some(SessionId(0)));
        assert_eq!(table.session("list.json", "17-trial1"), table.session("list.json", "17"));
        assert_eq!(table.session("list.json", "19"), None, "no call, nothing to replay");
        assert!(table.holds("list.json", |session| session.0 == 2) && !table.holds("list.json", |session| session.0 == 0));
    }

    /// Both conversations of one session have the same window, those of another have two.
    #[test]
    fn sessions_are_counted_by_window() {
        let seen = |transcript: &str, windows: &[u64]| {
            let size = |(at, tokens): (usize, &u64)| SessionSize {
                conversation: format!("agent-{at}"),
                kin: alone(transcript, &format!("agent-{at}")),
                calls: 1,
                is_compacted: false,
                window: KnownWindow::new(Some(*tokens), None),
            };
            let conversations = windows.iter().enumerate().map(size).collect();
            TranscriptSize { transcript: transcript.to_owned(), conversations, call_hashes: vec![] }
        };
        let transcripts = [seen("a", &[200_000, 200_000]), seen("b", &[258_400, 200_000]), seen("c", &[258_400])];
        let counted = |tokens, sessions| SessionsWindow { tokens, sessions };
        let of = |policy: &Policy| SessionTable::new(&transcripts).windows(policy);
        assert_eq!(of(&Policy::keep_all()), [counted(200_000, 2), counted(258_400, 2)]);
        // The record counts more than the policy.
        assert_eq!(of(&Policy { window: Some(7), ..Policy::keep_all() }), of(&Policy::keep_all()));
    }

    #[test]
    fn split_has_whole_sessions_and_is_reproducible() {
        let table = table();
        let split = table.split(0.3, 1).expect("ten are enough");
        assert_eq!((split.develop.len(), split.held_out.len()), (7, 3));
        let mut all = [split.develop.clone(), split.held_out.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..10).map(SessionId).collect::<Vec<_>>());
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
