//! What the tool calls of a conversation read and wrote: by which handles a lost result can be fetched again, and whether its source
//! was written since.

use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::facts::extract::{self, FactKind};
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation};
use crate::transcript::tool_access::{self, Effect};
use crate::util::csr::Rows;

use super::FactId;
use super::vocabulary::Vocabulary;

/// The files, pages and commands that the tool calls of a conversation read and wrote.
#[derive(Default)]
pub(super) struct Accesses {
    /// Pairs of a block and the path, URL or command by which it can be fetched again.
    pub handles: Vec<(u32, FactId)>,
    /// Pairs of a file and the call that wrote it.
    pub writes: Vec<(u32, u32)>,
    /// The commands that only read, by the block of their tool_use. Their ids follow those of all facts.
    pub commands: FxHashMap<BlockId, FactId>,
    /// Calls that changed files or may have done so, ascending.
    pub changes: Vec<u32>,
    /// The tool_use blocks of programs and commands that neither only read nor are known to write a file.
    pub scripts: FxHashSet<BlockId>,
}

/// The calls that wrote each file, and those that wrote anything.
#[derive(Debug, Clone)]
pub(super) struct Writes {
    by_file: Rows<u32>,
    /// The first fact that is a command.
    first_command: FactId,
    changes: Rows<u32>,
}

impl Writes {
    pub fn new(facts: usize, by_file: &[(u32, u32)], first_command: FactId, changes: &[u32]) -> Self {
        let changes: Vec<_> = changes.iter().map(|call| (0, *call)).collect();
        Self { by_file: Rows::new(facts, by_file), first_command, changes: Rows::new(1, &changes) }
    }

    /// Whether a call in a range wrote a file. Of a command: whether one changed anything.
    pub fn has_in(&self, handle: FactId, calls: Range<u32>) -> bool {
        if self.is_command(handle) { self.changes.has_in(0, calls) } else { self.by_file.has_in(handle as usize, calls) }
    }

    pub fn is_command(&self, handle: FactId) -> bool {
        handle >= self.first_command
    }
}

impl Accesses {
    /// Finds what the tool calls read and wrote, and adds the names to the vocabulary.
    pub fn new(conversation: &Conversation, vocabulary: &mut Vocabulary) -> Self {
        let mut accesses = Self::default();
        let mut commands = Vec::new();
        for (call, response) in (0..).zip(conversation.calls.iter().map(|call| &conversation.messages[call.response])) {
            for id in &response.blocks {
                let block = conversation.block(*id);
                let (BlockKind::ToolUse(pair), Some(input)) = (block.kind, block.field("input")) else { continue };
                let pair = conversation.pair(pair);
                let access = tool_access::access_of(&pair.name, input);
                for path in &access.writes {
                    extract::in_name(path, &mut |fact_match| {
                        let file = vocabulary.intern(&fact_match);
                        accesses.writes.push((file, call));
                        accesses.handles.push((id.0, file));
                    });
                }
                let effect = tool_access::effect_of(&pair.name, input, &access);
                if effect == Effect::Changes {
                    accesses.changes.push(call);
                }
                if effect == Effect::Changes && access.writes.is_empty() && tool_access::runs_program(&pair.name) {
                    accesses.scripts.insert(*id);
                }
                // The error message of a tool is not the content of the file.
                let Some(result) = pair.tool_result else { continue };
                if effect == Effect::Reads {
                    commands.push((*id, result));
                }
                if conversation.block(result).is_error() {
                    continue;
                }
                for path in &access.reads {
                    extract::in_name(path, &mut |fact_match| accesses.handles.push((result.0, vocabulary.intern(&fact_match))));
                }
            }
        }
        accesses.add_namesakes(vocabulary);
        accesses.writes.sort_unstable();
        accesses.writes.dedup();
        accesses.changes.dedup();
        for (used, result) in commands {
            let command = vocabulary.intern_command(conversation.block(used));
            accesses.commands.insert(used, command);
            accesses.handles.push((result.0, command));
        }
        accesses
    }

    /// Adds writes for other spellings of a file: after `cd src/net`, `pool.rs` is `src/net/pool.rs`. A write to a bare name counts
    /// for every path that ends with it, and a write to a path counts for its bare name.
    fn add_namesakes(&mut self, vocabulary: &Vocabulary) {
        let mut by_name = FxHashMap::<&str, Vec<FactId>>::default();
        let named: BTreeSet<_> = self.handles.iter().map(|(_, fact)| *fact).collect();
        let name = |fact: FactId| vocabulary.facts[fact as usize].text.rsplit('/').next().unwrap_or_default();
        let kind = |fact: FactId| vocabulary.facts[fact as usize].kind;
        let is_name_and_path =
            |one, other| matches!((kind(one), kind(other)), (FactKind::File, FactKind::Path) | (FactKind::Path, FactKind::File));
        named.into_iter().for_each(|fact| by_name.entry(name(fact)).or_default().push(fact));
        let namesake_writes = |(file, call): &(FactId, u32)| {
            let (file, call) = (*file, *call);
            let namesakes = by_name.get(name(file)).into_iter().flatten().copied();
            namesakes.filter(|other| is_name_and_path(file, *other)).map(|other| (other, call)).collect::<Vec<_>>()
        };
        let additional: Vec<_> = self.writes.iter().flat_map(namesake_writes).collect();
        self.writes.extend(additional);
    }
}

/// Returns the key of a command. It is no key of a fact in a text, and the same call made twice has one.
pub(super) fn command_key(block: &Block) -> u64 {
    let input = block.field("input").map(ToString::to_string).unwrap_or_default();
    xxh3_64_with_seed(input.as_bytes(), COMMAND_SEED)
}

/// The seed of commands' keys; the kinds of facts have the smaller ones.
const COMMAND_SEED: u64 = 1 << 8;
