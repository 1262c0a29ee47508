//! The losses of recorded compactions: only these show how an agent continued without what was removed.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::facts::references::{Loss, Nowhere, Provenance, References};
use crate::transcript::conversation::Conversation;

/// The loss of one recorded compaction, by what the agent did after it and before the next.
///
/// A fact from before the compaction is needed if the agent used it afterwards. Each needed fact counts once, under the source that its first
/// use could have had it from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionLoss {
    pub line: u32,
    /// Number of the call before which it was made, from 1.
    pub before_call: usize,
    /// Number of needed facts.
    pub needed: usize,
    /// Whether only the provider can read the summary. Facts that only this summary held count as `nowhere`.
    pub encrypted: bool,
    /// Needed facts from the summary that the compaction put in place.
    pub in_summary: usize,
    /// Needed facts from a tool result after the compaction.
    pub fetched_again: usize,
    /// Needed facts from the agent's own text after the compaction.
    pub own_words: usize,
    /// Needed facts from the user, after the compaction.
    pub user: usize,
    /// Needed facts from no text that the agent could see.
    pub nowhere: usize,
    /// Tokens of the results that brought needed facts back.
    pub refetched_tokens: u64,
    /// Tokens of all tool results between this compaction and the next.
    pub result_tokens: u64,
    /// Predicted tokens to read the cheapest recoverable sources again.
    pub predicted_tokens: u64,
    /// The heaviest needed facts that no visible text held, at most [`NAMED`], the heaviest first.
    pub nowhere_facts: Vec<LostFact>,
}

/// Maximum number of facts that a loss names.
pub const NAMED: usize = 10;

/// A fact that the agent used after a recorded compaction had removed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostFact {
    pub kind: Cow<'static, str>,
    pub text: String,
    /// Line of the use.
    pub line: u32,
    /// File of the use, if the conversation was read from several files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl CompactionLoss {
    /// Returns the loss of each recorded compaction; `None` for compactions that cleared results.
    pub fn all(conversation: &Conversation, references: &References) -> Vec<Option<Self>> {
        let loss_of = |at: usize| references.losses.iter().find(|loss| loss.compaction == at);
        (0..conversation.compactions.len()).map(|at| loss_of(at).map(|loss| Self::new(conversation, references, loss))).collect()
    }

    /// Creates the loss of one recorded compaction.
    pub(super) fn new(conversation: &Conversation, references: &References, loss: &Loss) -> Self {
        let had_from = |provenance: Provenance| loss.had_from[provenance as usize];
        let lost_fact = |nowhere: &Nowhere| {
            let fact = &references.facts[nowhere.fact as usize];
            let response = conversation.calls[nowhere.call as usize].response;
            let (path, line) = conversation.file_and_line(conversation.messages[response].line);
            LostFact { kind: fact.kind.name().into(), text: fact.text.clone(), line, path: path.map(str::to_owned) }
        };
        let compaction = &conversation.compactions[loss.compaction];
        Self {
            line: conversation.file_and_line(compaction.line).1,
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
            nowhere_facts: loss.heaviest_nowhere(references).into_iter().take(NAMED).map(lost_fact).collect(),
        }
    }
}
