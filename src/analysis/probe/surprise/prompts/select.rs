//! Chooses the parts of a request that both prompts show.

use std::collections::{BTreeMap, HashMap};

use super::{Writer, holders};
use crate::analysis::probe::surprise::excerpt::{Part, excerpt, find, tokens};
use crate::transcript::conversation::{BlockId, BlockKind, Origin};

/// Parts of the request without compaction that both prompts show: by position, the block, the part of its text and its tokens.
pub(super) type Selection = BTreeMap<usize, (BlockId, Part, u64)>;

/// Parts of `--max-context`, in percent. The rest, 2 %, is for the lines that name speakers.
pub(super) mod percent {
    pub const SYSTEM: u64 = 5;
    pub const TASK: u64 = 7;
    pub const HOLDER: u64 = 22;
    pub const HOLDER_CALL: u64 = 6;
    pub const OTHER: u64 = 22;
    pub const NEWEST: u64 = 24;
    pub const RESPONSE: u64 = 12;
}

/// Tokens of the line that names the speaker of a block.
const SPEAKER: u64 = 6;
/// Maximum distance, in blocks, of the other block from the one that held the fact.
const NEAR: usize = 60;

impl Writer<'_> {
    /// Chooses what both prompts show, and the other block among it.
    pub(super) fn select(
        &self,
        fact: &str,
        blocks: &[BlockId],
        position: &HashMap<BlockId, usize>,
        sent: &[(Option<usize>, BlockId)],
    ) -> Option<(Selection, Option<usize>)> {
        let (conversation, references) = (self.prepared.conversation, &self.prepared.references);
        let text = |at: usize| conversation.block(blocks[at]).text();
        let has_fact = |at: &usize| find(&text(*at), fact).is_some();
        let keeps_fact = |at: &usize| {
            let kept = sent.iter().find(|(recorded, _)| recorded == &Some(*at));
            kept.is_some_and(|(_, id)| find(&self.context.block(*id).text(), fact).is_some())
        };
        let used = &references.uses[self.used.index as usize];
        let held: Vec<usize> = holders(references, used).filter_map(|id| position.get(&id).copied()).filter(has_fact).collect();
        let holder = held.iter().copied().find(keeps_fact).or(held.first().copied())?;
        let mut selection = self.newest(blocks);
        let excerpt_tokens = tokens(&excerpt(&text(holder), Part::AroundFact, fact, self.share(percent::HOLDER)));
        selection.insert(holder, (blocks[holder], Part::AroundFact, self.share(percent::HOLDER)));
        if let BlockKind::ToolResult(pair) = conversation.block(blocks[holder]).kind
            && let Some(call) = conversation.pair(pair).tool_use.and_then(|id| position.get(&id).copied())
        {
            selection.entry(call).or_insert((blocks[call], Part::Beginning, self.share(percent::HOLDER_CALL)));
        }
        if let Some(task) = blocks.iter().position(|id| conversation.block(*id).origin == Origin::User) {
            selection.entry(task).or_insert((blocks[task], Part::Beginning, self.share(percent::TASK)));
        }
        let is_other = |at: &usize| {
            !selection.contains_key(at)
                && matches!(conversation.block(blocks[*at]).kind, BlockKind::ToolResult(_) | BlockKind::Text)
                && tokens(&excerpt(&text(*at), Part::Beginning, fact, excerpt_tokens)) * 2 >= excerpt_tokens
                && !has_fact(at)
        };
        let by_distance = (1..=NEAR).flat_map(|by| [holder.checked_sub(by), holder.checked_add(by)]);
        let other = by_distance.flatten().filter(|at| *at < blocks.len()).find(is_other);
        let most = excerpt_tokens.min(self.share(percent::OTHER));
        selection.extend(other.map(|at| (at, (blocks[at], Part::Beginning, most))));
        Some((selection, other))
    }

    /// Selects the newest blocks.
    fn newest(&self, blocks: &[BlockId]) -> Selection {
        let mut selection = Selection::new();
        let mut left = self.share(percent::NEWEST);
        for (at, id) in blocks.iter().enumerate().rev() {
            if left <= SPEAKER {
                break;
            }
            let room = left - SPEAKER;
            selection.insert(at, (*id, Part::End, room));
            let text = self.prepared.conversation.block(*id).text();
            left = room - tokens(&excerpt(&text, Part::End, "", room)).min(room);
        }
        selection
    }
}
