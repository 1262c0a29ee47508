//! What recorded compactions lost: the one place where a record shows how an agent went on without what was taken away.

use serde::Serialize;

use crate::facts::references::{Loss, Nowhere, Provenance, References};
use crate::transcript::conversation::Conversation;

/// One recorded compaction, by what the agent did after it and before the next.
///
/// The facts from before it that the agent went on to use are the needed ones; each counts once, by where its first use could
/// have had it from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CompactionLoss {
    pub line: u32,
    /// The call before which it was made, from 1.
    pub before_call: usize,
    pub needed: usize,
    /// The provider alone can read the summary: what only it held counts as `nowhere`.
    pub encrypted: bool,
    /// From what the compaction put in place: its summary.
    pub in_summary: usize,
    /// From a tool's result after it.
    pub fetched_again: usize,
    /// From what the agent itself said after it.
    pub own_words: usize,
    /// From the user, after it.
    pub user: usize,
    /// From no text that the agent could see.
    pub nowhere: usize,
    /// Tokens of the results that brought needed facts back.
    pub refetched_tokens: u64,
    /// Tokens of all tool results after it and before the next.
    pub result_tokens: u64,
    /// Tokens that reading the cheapest recoverable sources again was predicted to cost.
    pub predicted_tokens: u64,
    /// Of the needed facts that no visible text held the heaviest, at most [`NAMED`], the heaviest first.
    pub nowhere_facts: Vec<LostFact>,
}

/// How many facts are named for each compaction.
pub const NAMED: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LostFact {
    pub kind: &'static str,
    pub text: String,
    /// The line of the use.
    pub line: u32,
    /// The file of the use, where the conversation was read from several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl CompactionLoss {
    /// What the references of a conversation tell of each of its recorded compactions; nothing of those that cleared results.
    pub fn all(conversation: &Conversation, references: &References) -> Vec<Option<Self>> {
        let of = |at: usize| references.losses.iter().find(|loss| loss.compaction == at);
        (0..conversation.compactions.len()).map(|at| of(at).map(|loss| Self::new(conversation, references, loss))).collect()
    }

    /// What the references of a conversation tell of one of its recorded compactions.
    pub(super) fn new(conversation: &Conversation, references: &References, loss: &Loss) -> Self {
        let had_from = |provenance: Provenance| loss.had_from[provenance as usize];
        let lost = |nowhere: &Nowhere| {
            let fact = &references.facts[nowhere.fact as usize];
            let response = conversation.calls[nowhere.call as usize].response;
            let (path, line) = conversation.place(conversation.messages[response].line);
            LostFact { kind: fact.kind.name(), text: fact.text.clone(), line, path: path.map(str::to_owned) }
        };
        let compaction = &conversation.compactions[loss.compaction];
        Self {
            line: conversation.place(compaction.line).1,
            before_call: loss.after as usize + 1,
            needed: loss.needed,
            encrypted: compaction.edit.is_encrypted(conversation),
            in_summary: had_from(Provenance::Summary),
            fetched_again: had_from(Provenance::Tool),
            own_words: had_from(Provenance::Own),
            user: had_from(Provenance::User),
            nowhere: loss.nowhere.len(),
            refetched_tokens: loss.refetched_tokens,
            result_tokens: loss.result_tokens,
            predicted_tokens: loss.predicted_tokens,
            nowhere_facts: loss.heaviest_nowhere(references).into_iter().take(NAMED).map(lost).collect(),
        }
    }
}
