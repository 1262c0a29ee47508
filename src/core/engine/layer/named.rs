//! Which files the newer messages name, for `keep_named`.

use std::path::Path;

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::dedupe::path_asked_for;
use super::result_filter::Candidate;
use crate::engine::context::{Context, ContextMessage};
use crate::transcript::conversation::{BlockId, BlockKind};

/// The words of the messages that were read, each with the last message that has it.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// Number of messages that were read.
    read: usize,
    moves: u32,
    /// Index of the last message with a word, by the hash of the word.
    last: FxHashMap<u64, usize>,
}

impl Named {
    /// Reads the new messages: texts, and inputs of calls. Results are left out, because a list of files names each of them.
    pub fn read(&mut self, context: &Context) {
        if self.moves != context.moves() {
            *self = Self { moves: context.moves(), ..Self::default() };
        }
        for (index, message) in context.messages().iter().enumerate().skip(self.read) {
            self.read_message(context, index, message);
        }
        self.read = context.len();
    }

    fn read_message(&mut self, context: &Context, index: usize, message: &ContextMessage) {
        let says = |id: &&BlockId| matches!(context.block(**id).kind, BlockKind::Text | BlockKind::ToolUse(_));
        for id in message.blocks.iter().filter(says) {
            for word in words(&context.block(*id).text()) {
                self.last.insert(xxh3_64(word.as_bytes()), index);
            }
        }
    }

    /// Returns whether a message behind a result has the name of the file that the result shows.
    pub fn is_named(&self, context: &Context, result: &Candidate) -> bool {
        let path = path_asked_for(context, result.pair);
        let name = path.and_then(|path| Path::new(path).file_name()?.to_str());
        let last = name.and_then(|name| self.last.get(&xxh3_64(name.as_bytes())));
        last.is_some_and(|message| *message > result.position.message)
    }
}

/// Returns the words of a text that may be names of files, without the dots that end a sentence.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_in_name = |char: char| char.is_alphanumeric() || "._-".contains(char);
    text.split(move |char| !is_in_name(char)).map(|word| word.trim_end_matches('.')).filter(|word| !word.is_empty())
}
