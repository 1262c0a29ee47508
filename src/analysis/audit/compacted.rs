//! The recorded compactions of a conversation, with what they lost and the findings about them.

use serde::Serialize;

use crate::analysis::inspect::{CompactionLoss, RecordedCompaction};
use crate::analysis::study::{Study, TokenCounter};
use crate::engine::policy::Policy;
use crate::findings::Finding;
use crate::transcript::conversation::Conversation;

/// A recorded compaction, and what it lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compacted {
    pub conversation: String,
    /// Calls are numbered through all archives of the session. If the record has no tokens before and after the compaction, these are the
    /// tokens of the archive that ends there and of its replacement.
    #[serde(flatten)]
    pub recorded: RecordedCompaction,
    /// `None` if the compaction cleared results without a replacement.
    pub lost: Option<CompactionLoss>,
}

/// A study, with its policy that replays the recorded compactions.
#[derive(Clone, Copy)]
pub struct Replayer<'a> {
    pub study: &'a Study,
    pub recorded: &'a Policy,
}

impl Replayer<'_> {
    /// Returns the findings and the compactions of a conversation.
    pub(super) fn audit_conversation(&self, path: &str, conversation: &Conversation) -> (Vec<Finding>, Vec<Compacted>) {
        let prepared = self.study.prepare(conversation);
        // All findings are about the recorded session, so a policy name would only confuse.
        let without_policy = |finding| Finding { policy: None, ..finding };
        let findings = self.study.detect_findings(path, &prepared, self.recorded).into_iter().map(without_policy).collect();
        let losses = CompactionLoss::all(conversation, &prepared.references);
        let recorded = RecordedCompaction::all(conversation, |block| prepared.tokens(block)).into_iter().zip(losses);
        let compacted = |(recorded, lost)| Compacted { conversation: conversation.name.clone(), recorded, lost };
        (findings, recorded.map(compacted).collect())
    }

    /// Does the same for a session of archives. `compacted_archives` are the archives that end where the compactions were made.
    pub(super) fn audit_archives(
        &self,
        path: &str,
        conversation: &Conversation,
        compacted_archives: &[&Conversation],
    ) -> (Vec<Finding>, Vec<Compacted>) {
        let (findings, mut compactions) = self.audit_conversation(path, conversation);
        for (Compacted { recorded, .. }, archive) in compactions.iter_mut().zip(compacted_archives) {
            recorded.tokens_before = Some(tokens(self.study.counter, archive));
            recorded.tokens_after = Some(recorded.put);
        }
        (findings, compactions)
    }
}

/// Returns the tokens of all messages of a conversation.
fn tokens(counter: TokenCounter, conversation: &Conversation) -> u64 {
    let resolved = counter.resolve(conversation);
    let (meter, sizes) = (resolved.meter, resolved.sizes(conversation, []));
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
    blocks.map(|id| meter.apply(sizes.size(*id, meter.unit))).sum()
}
