//! Shows what is in a conversation: counts, tokens by kind, growth, the largest results, recorded compactions and what
//! they lost.

mod kept;
mod loss;
mod meters;
mod usage;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::secrets::Secrets;
use crate::analysis::study::TokenCounter;
use crate::facts::references::References;
use crate::metrics::cost::outputs;
use crate::metrics::prices::{CallBill, Prices, call_bills};
use crate::results::saved::Kinship;
use crate::transcript::conversation::{Block, BlockId, BlockKind, Conversation, Identity, Origin, RecordedEdit, Role};
use crate::transcript::format::{Note, Reading};

pub use crate::transcript::format::WITHOUT_TEXTS;

pub use kept::KeptInspection;
pub use loss::{CompactionLoss, LostFact, NAMED};
pub use meters::MeterCheck;
pub use usage::{ModelBill, RecordedUsage, count_calls_once};

/// Number of the largest results that an inspection lists.
const LARGEST: usize = 10;

/// The content of one conversation. Tokens are by the chosen token counter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspection {
    pub transcript: String,
    pub conversation: String,
    pub format: Cow<'static, str>,
    /// Who held it, as the record says.
    pub identity: Identity,
    /// What it is of other sessions.
    #[serde(skip)]
    pub kin: Kinship,
    pub models: Vec<String>,
    /// Recorded model responses.
    pub calls: usize,
    pub messages: usize,
    /// Records of the file that are part of the conversation.
    pub records: usize,
    /// Typed user messages.
    pub turns: usize,
    pub tool_uses: usize,
    pub tool_results: usize,
    pub tokens: TokensByKind,
    /// Tokens of system prompt and tools.
    pub overhead: u64,
    /// Context window in tokens, if the record names it.
    pub window: Option<u64>,
    /// Usage over all calls, as the provider reported it. A call that an earlier conversation also has counts only there.
    pub recorded_usage: RecordedUsage,
    /// Bill of every call.
    #[serde(skip)]
    pub call_bills: Vec<CallBill>,
    /// Tokens of every request, as if nothing had been compacted, without the overhead.
    pub growth: Vec<u64>,
    pub largest_results: Vec<LargeResult>,
    /// Number of results that the harness had moved to disk.
    pub persisted_outputs: usize,
    pub recorded_compactions: Vec<RecordedCompaction>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compaction_losses: Vec<CompactionLoss>,
    /// Estimates of the meters, compared with the recorded usage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<MeterCheck>,
    /// Notes on the transcript, all of them with its first conversation: a file may have thousands of both.
    pub notes: Vec<InspectionNote>,
}

/// Estimated tokens of a conversation by the kind of their block.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensByKind {
    pub total: u64,
    /// Text that people typed.
    pub typed: u64,
    /// Text that the harness inserted: reminders, attachments, environment.
    pub injected: u64,
    pub assistant_text: u64,
    pub thinking: u64,
    pub tool_use: u64,
    pub tool_result: u64,
    pub media: u64,
    pub other: u64,
}

/// One of the largest tool results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LargeResult {
    pub line: u32,
    pub tool: String,
    pub tool_use_id: String,
    pub tokens: u64,
}

/// A compaction of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCompaction {
    pub line: u32,
    /// `summary`, or `clear` if single results were cleared.
    pub kind: Cow<'static, str>,
    pub trigger: Option<String>,
    /// Number of the call before which it was made, from 1.
    pub before_call: usize,
    /// Tokens of the context before it, as recorded.
    pub tokens_before: Option<u64>,
    /// Tokens of the context after it, as recorded.
    pub tokens_after: Option<u64>,
    /// Tokens of the messages that it put into the context.
    pub put: u64,
    /// Number of results that it cleared.
    pub cleared: usize,
}

/// What a reader of a conversation must know about its record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InspectionNote {
    pub line: Option<u32>,
    pub what: String,
}

impl Inspection {
    /// Inspects the conversations of a transcript. `priced_as` is the model that all calls are priced as; without it, each is
    /// priced as its own.
    pub fn all(
        transcript: &str,
        reading: &Reading,
        counter: TokenCounter,
        prices: &Prices,
        priced_as: Option<&str>,
    ) -> Vec<Self> {
        let inspection = |conversation| Self::new(transcript, conversation, counter, prices, priced_as);
        let mut inspections: Vec<Self> = reading.conversations.iter().map(inspection).collect();
        if let Some(first) = inspections.first_mut() {
            first.notes = reading.notes.iter().map(InspectionNote::from).collect();
        }
        count_calls_once(&mut inspections);
        inspections
    }

    fn new(
        transcript: &str,
        conversation: &Conversation,
        counter: TokenCounter,
        prices: &Prices,
        priced_as: Option<&str>,
    ) -> Self {
        let resolved = counter.resolve(conversation);
        let (counter, sizes) = (resolved.meter, resolved.sizes(conversation, []));
        let tokens = |block| counter.apply(sizes.size(block, counter.unit));
        let blocks = || conversation.messages.iter().flat_map(|message| message.blocks.iter().copied());
        Self {
            transcript: transcript.to_owned(),
            conversation: conversation.name.clone(),
            format: conversation.format.into(),
            identity: conversation.identity.clone(),
            kin: Kinship::new(transcript, conversation),
            models: models(conversation),
            calls: conversation.calls.len(),
            messages: conversation.messages.len(),
            records: conversation.records,
            turns: conversation.messages.iter().filter(|message| conversation.is_typed(message)).count(),
            tool_uses: conversation.tool_uses(),
            tool_results: conversation.tool_results(),
            tokens: blocks().fold(TokensByKind::default(), |sum, id| sum.with(conversation.block(id), tokens(id))),
            overhead: crate::tokens::block_sizes::overhead(conversation, &sizes, counter),
            window: conversation.window,
            recorded_usage: RecordedUsage::without_bills(conversation),
            call_bills: call_bills(conversation, prices, priced_as, &outputs(conversation, &sizes, counter)),
            growth: growth(conversation, tokens),
            largest_results: largest_results(conversation, tokens),
            persisted_outputs: blocks().filter(|id| is_persisted_output(conversation.block(*id))).count(),
            recorded_compactions: RecordedCompaction::all(conversation, tokens),
            compaction_losses: losses(conversation, tokens),
            meters: meters::checks(conversation, &sizes, resolved.calibration.as_ref()),
            notes: Vec::new(),
        }
    }
}

impl From<&Note> for InspectionNote {
    fn from(note: &Note) -> Self {
        Self { line: note.line, what: note.what.clone() }
    }
}

impl RecordedCompaction {
    /// Returns the recorded compactions of a conversation, in order. `tokens` returns the tokens of a block.
    pub fn all(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<Self> {
        let put_tokens = |edit: &RecordedEdit| edit.messages().iter().flat_map(|m| &m.blocks).map(|id| tokens(*id)).sum();
        let recorded = |compaction: &crate::transcript::conversation::Compaction| Self {
            line: conversation.file_and_line(compaction.line).1,
            kind: if matches!(compaction.edit, RecordedEdit::Fold { .. }) { "summary" } else { "clear" }.into(),
            trigger: compaction.trigger.clone(),
            before_call: conversation.calls.partition_point(|call| call.response < compaction.message_index) + 1,
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
            put: put_tokens(&compaction.edit),
            cleared: if let RecordedEdit::Clear { pairs } = &compaction.edit { pairs.len() } else { 0 },
        };
        conversation.compactions.iter().map(recorded).collect()
    }
}

impl TokensByKind {
    fn with(mut self, block: &Block, tokens: u64) -> Self {
        self.total += tokens;
        *match (block.kind, block.origin) {
            (BlockKind::Thinking, _) => &mut self.thinking,
            (BlockKind::ToolUse(_), _) => &mut self.tool_use,
            (BlockKind::ToolResult(_), _) => &mut self.tool_result,
            (BlockKind::Media, _) => &mut self.media,
            (BlockKind::Other, _) => &mut self.other,
            (BlockKind::Text, Origin::Agent) => &mut self.assistant_text,
            (BlockKind::Text, Origin::User) => &mut self.typed,
            // Its text is not in the record.
            (BlockKind::Text, Origin::Placeholder) => &mut self.other,
            (BlockKind::Text, _) => &mut self.injected,
        } += tokens;
        self
    }
}

/// Returns the losses of the recorded compactions. Searches for references only if there are compactions.
fn losses(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<CompactionLoss> {
    if conversation.compactions.is_empty() {
        return Vec::new();
    }
    let references = References::new(conversation, tokens);
    let mut losses: Vec<CompactionLoss> =
        references.losses.iter().map(|loss| CompactionLoss::new(conversation, &references, loss)).collect();
    if losses.iter().any(|loss| !loss.nowhere_facts.is_empty()) {
        let secrets = Secrets::of(conversation);
        losses.iter_mut().flat_map(|loss| &mut loss.nowhere_facts).for_each(|fact| secrets.hide_fact(&mut fact.text));
    }
    losses
}

fn models(conversation: &Conversation) -> Vec<String> {
    let models: std::collections::BTreeSet<_> = conversation.calls.iter().filter_map(|call| call.model.clone()).collect();
    models.into_iter().collect()
}

/// Returns the tokens of the history before each call.
fn growth(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<u64> {
    let (mut read, mut sum) = (0, 0);
    let tokens_before = |call: &crate::transcript::conversation::Call| {
        let blocks = conversation.messages[read..call.response].iter().flat_map(|message| &message.blocks);
        sum += blocks.map(|id| tokens(*id)).sum::<u64>();
        read = call.response;
        sum
    };
    conversation.calls.iter().map(tokens_before).collect()
}

fn largest_results(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<LargeResult> {
    let user = conversation.messages.iter().filter(|message| message.role == Role::User);
    let results = user.flat_map(|message| &message.blocks).filter_map(|id| match conversation.block(*id) {
        Block { kind: BlockKind::ToolResult(pair), line, .. } => {
            let pair = conversation.pair(*pair);
            Some(LargeResult { line: *line, tool: pair.name.clone(), tool_use_id: pair.id.clone(), tokens: tokens(*id) })
        }
        _ => None,
    });
    let mut results: Vec<_> = results.collect();
    results.sort_by_key(|result| std::cmp::Reverse(result.tokens));
    results.truncate(LARGEST);
    results
}

/// Whether a block begins with the tag that learn-claude-code and Claude Code put around what is left of a result on disk.
fn is_persisted_output(block: &Block) -> bool {
    matches!(block.kind, BlockKind::ToolResult(_)) && block.text().starts_with("<persisted-output>")
}
