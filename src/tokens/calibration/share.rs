//! Gives what entered for a call the tokens by which the recorded request grew.

use super::deltas::{Delta, blocks, compactions, messages};
use crate::tokens::block_sizes::{Sizes, overhead};
use crate::tokens::meter::{Meter, Rates, scaled};
use crate::transcript::conversation::{BlockId, Conversation, Kind, RecordedEdit};

/// A block has at most so many times the tokens that its characters tell. What is left over is what the harness added unseen.
const MOST: u64 = 2;

/// The size of every block of a conversation in ten-thousandths of a token.
///
/// What entered for a call shares the recorded tokens in proportion to what the rates tell; the response before, which frames
/// and reminders come with, has what is left over. So a history that nothing edits has the recorded
/// usage. Where the record does not tell what tokens were for, the rates stand.
pub fn apportion(conversation: &Conversation, rates: Rates, deltas: &[Delta]) -> Vec<u64> {
    let meter = Meter::fitted(rates);
    let raw = Sizes::new(conversation, [meter.measure]);
    let overhead = overhead(conversation, &raw, meter);
    let ids = (0..conversation.blocks.len()).map(|index| BlockId(index as u32));
    let mut shares =
        Shares { sizes: ids.map(|id| raw.size(id, meter.measure)).collect(), is_fixed: vec![false; conversation.blocks.len()] };
    let responses = conversation.calls.iter().map(|call| &conversation.messages[call.response].blocks);
    for bearer in responses.filter_map(|blocks| bearer(conversation, blocks)) {
        shares.sizes[bearer.index()] += rates.call();
    }
    let mut deltas = deltas.iter().peekable();
    for call in 0..conversation.calls.len() {
        if let Some(delta) = deltas.next_if(|delta| delta.call == call) {
            shares.share(conversation, blocks(conversation, messages(conversation, call)).collect(), scaled(delta.tokens));
        } else if let Some(present) = after_fold(conversation, call)
            && let Some(usage) = conversation.calls[call].usage
        {
            shares.share(conversation, present, scaled(usage.request().saturating_sub(overhead)));
        }
    }
    shares.sizes
}

/// The blocks of a request right after the whole history was replaced: what came in its place, and what entered since.
fn after_fold(conversation: &Conversation, call: usize) -> Option<Vec<BlockId>> {
    let last = compactions(conversation, call).last()?;
    let RecordedEdit::Fold { into } = &last.edit else { return None };
    let since = conversation.messages.get(last.at..conversation.calls[call].response)?;
    Some(blocks(conversation, into).chain(blocks(conversation, since)).collect())
}

/// The block that has what belongs to no text: the first that does not leave with the thinking.
fn bearer(conversation: &Conversation, blocks: &[BlockId]) -> Option<BlockId> {
    let stays = |id: &&BlockId| conversation.block(**id).kind != Kind::Thinking;
    blocks.iter().find(stays).or(blocks.first()).copied()
}

struct Shares {
    sizes: Vec<u64>,
    /// Whose size the record told.
    is_fixed: Vec<bool>,
}

impl Shares {
    /// Lets blocks have so many together: those that have their size keep it, the others share the rest.
    fn share(&mut self, conversation: &Conversation, blocks: Vec<BlockId>, together: u64) {
        let (fixed, free): (Vec<BlockId>, Vec<BlockId>) = blocks.into_iter().partition(|id| self.is_fixed[id.index()]);
        let sum = |blocks: &[BlockId]| blocks.iter().map(|id| self.sizes[id.index()]).sum::<u64>();
        let (rest, told) = (together.saturating_sub(sum(&fixed)), sum(&free));
        let Some(bearer) = bearer(conversation, &free).filter(|_| rest > 0) else { return };
        let given = rest.min(told * MOST);
        let mut left = rest;
        for id in &free {
            let size = &mut self.sizes[id.index()];
            *size = (u128::from(*size) * u128::from(given)).checked_div(u128::from(told)).unwrap_or(0) as u64;
            left -= *size;
            self.is_fixed[id.index()] = true;
        }
        self.sizes[bearer.index()] += left;
    }
}
