//! The size of a transcript, from a first pass over all: what a sweep draws sessions by.

use serde::{Deserialize, Serialize};

use super::{KnownWindow, Study};
use crate::results::saved::Kinship;
use crate::transcript::conversation::Conversation;
use crate::transcript::copies;

/// Size of one conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSize {
    pub conversation: String,
    pub kin: Kinship,
    /// Recorded calls that have a request; a conversation without any cannot be replayed.
    pub calls: u64,
    /// Whether the recorded agent compacted.
    pub is_compacted: bool,
    pub window: KnownWindow,
}

/// Size of one transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TranscriptSize {
    pub transcript: String,
    pub conversations: Vec<SessionSize>,
    /// Hashes of its calls, which find copies.
    pub call_hashes: Vec<u64>,
}

impl TranscriptSize {
    /// Measures a transcript by the calls of its conversations.
    pub fn new(study: &Study, transcript: &str, conversations: &[Conversation]) -> Self {
        let size = |conversation: &Conversation| SessionSize {
            conversation: conversation.name.clone(),
            kin: Kinship::new(transcript, conversation),
            calls: conversation.requests() as u64,
            is_compacted: !conversation.compactions.is_empty(),
            window: study.known_window(conversation),
        };
        Self {
            transcript: transcript.to_owned(),
            conversations: conversations.iter().map(size).collect(),
            call_hashes: copies::call_hashes(conversations),
        }
    }
}
