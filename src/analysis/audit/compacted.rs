//! What a record tells of its own compactions, and what is wrong with them.

use serde::Serialize;

use crate::analysis::inspect::{CompactionLoss, RecordedCompaction};
use crate::analysis::study::{Study, TokenCounter};
use crate::engine::policy::Policy;
use crate::findings::Finding;
use crate::transcript::conversation::Conversation;

/// A compaction of the record, and what became of what it took away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compacted {
    pub conversation: String,
    /// Its calls are counted through all archives of its session. Where the record tells no tokens before and after it, they are those
    /// of the archive that ends there and of what took its place.
    #[serde(flatten)]
    pub recorded: RecordedCompaction,
    /// None where results were cleared, and nothing took their place.
    pub lost: Option<CompactionLoss>,
}

/// A study, and the policy in it that does what the record did.
#[derive(Clone, Copy)]
pub struct Replayer<'a> {
    pub study: &'a Study,
    pub recorded: &'a Policy,
}

impl Replayer<'_> {
    /// The findings and the compactions of a conversation.
    pub(super) fn look(&self, path: &str, conversation: &Conversation) -> (Vec<Finding>, Vec<Compacted>) {
        let prepared = self.study.prepare(conversation);
        // Here all is about the record.
        let nameless = |finding| Finding { policy: None, ..finding };
        let findings = self.study.look(path, &prepared, self.recorded).into_iter().map(nameless).collect();
        let losses = CompactionLoss::all(conversation, &prepared.references);
        let all = RecordedCompaction::all(conversation, |block| prepared.tokens(block)).into_iter().zip(losses);
        let one = |(recorded, lost)| Compacted { conversation: conversation.name.clone(), recorded, lost };
        (findings, all.map(one).collect())
    }

    /// The same for archives, by the sizes of those that end where the compactions were made.
    pub(super) fn look_at_archives(
        &self,
        path: &str,
        conversation: &Conversation,
        folded: &[&Conversation],
    ) -> (Vec<Finding>, Vec<Compacted>) {
        let (findings, mut compactions) = self.look(path, conversation);
        for (Compacted { recorded, .. }, folded) in compactions.iter_mut().zip(folded) {
            recorded.tokens_before = Some(tokens(self.study.counter, folded));
            recorded.tokens_after = Some(recorded.put);
        }
        (findings, compactions)
    }
}

/// The tokens of all messages of a conversation.
fn tokens(counter: TokenCounter, conversation: &Conversation) -> u64 {
    let counting = counter.of(conversation);
    let (meter, sizes) = (counting.meter, counting.sizes(conversation, []));
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
    blocks.map(|id| meter.apply(sizes.size(*id, meter.measure))).sum()
}
