//! What is in a conversation: counts, tokens by kind, growth, the largest results, recorded compactions and what they lost.

mod loss;
mod meters;

use serde::Serialize;

use crate::analysis::study::TokenCounter;
use crate::facts::references::References;
use crate::metrics::prices::{Bill, Ledger};
use crate::transcript::conversation::{Block, BlockId, Conversation, Kind, Origin, RecordedEdit, Role};
use crate::transcript::format::{Note, Reading};

pub use loss::{CompactionLoss, LostFact, NAMED};
pub use meters::MeterCheck;

/// How many of the largest results are named.
const LARGEST: usize = 10;

/// One conversation, looked into. Tokens are by the counter that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    pub transcript: String,
    pub conversation: String,
    pub format: &'static str,
    pub models: Vec<String>,
    /// Recorded model responses.
    pub calls: usize,
    pub messages: usize,
    /// Records of the file that became part of the conversation.
    pub records: usize,
    /// Typed user messages.
    pub turns: usize,
    pub tool_uses: usize,
    pub tool_results: usize,
    pub tokens: TokensByKind,
    /// Tokens of system prompt and tools.
    pub overhead: u64,
    /// The context window the record names.
    pub window: Option<u64>,
    /// What the provider says it read, over all calls, and wrote. Calls that stood in a conversation of the transcript before
    /// this one are counted there.
    pub recorded_usage: RecordedUsage,
    /// Tokens of every request, as if nothing had been compacted; overhead not included.
    pub growth: Vec<u64>,
    pub largest_results: Vec<LargeResult>,
    /// Results that the harness had already moved to disk.
    pub persisted_outputs: usize,
    pub recorded_compactions: Vec<RecordedCompaction>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compaction_losses: Vec<CompactionLoss>,
    /// What meters estimate, held against the recorded usage.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<MeterCheck>,
    pub notes: Vec<InspectionNote>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TokensByKind {
    pub total: u64,
    /// What people typed.
    pub typed: u64,
    /// What the harness put in: reminders, attachments, environment.
    pub injected: u64,
    pub assistant_text: u64,
    pub thinking: u64,
    pub tool_use: u64,
    pub tool_result: u64,
    pub media: u64,
    pub other: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RecordedUsage {
    /// Calls with a usage.
    pub calls: usize,
    pub input: u64,
    pub cache_read: u64,
    /// What was written to the cache, and the parts of it that were for five minutes and for an hour.
    pub cache_write: u64,
    pub cache_write_5m: u64,
    pub cache_write_1h: u64,
    pub output: u64,
    /// US dollars; `None` where the price of a model is unknown, or nothing was recorded.
    pub usd: Option<f64>,
    /// The largest request.
    pub peak_request: u64,
    /// The same for each model.
    pub by_model: Vec<ModelBill>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelBill {
    pub model: Option<String>,
    #[serde(flatten)]
    pub bill: Bill,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LargeResult {
    pub line: u32,
    pub tool: String,
    pub tool_use_id: String,
    pub tokens: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedCompaction {
    pub line: u32,
    /// `summary`, or `clear` where single results were cleared.
    pub kind: &'static str,
    pub trigger: Option<String>,
    /// The call before which it was made, from 1.
    pub before_call: usize,
    /// As the record says.
    pub tokens_before: Option<u64>,
    pub tokens_after: Option<u64>,
    /// Tokens of the messages it put into the context.
    pub put: u64,
    /// Results it cleared.
    pub cleared: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InspectionNote {
    pub line: Option<u32>,
    pub what: String,
}

impl Inspection {
    /// The conversations of a transcript. `ledger` is new, and says what calls cost.
    pub fn all<'a>(transcript: &str, reading: &'a Reading, counter: TokenCounter, mut ledger: Ledger<'a>) -> Vec<Self> {
        let bills: Vec<_> = reading.conversations.iter().map(|conversation| recorded(conversation, &mut ledger)).collect();
        let of = |(conversation, usage)| Self::new(transcript, conversation, &reading.notes, counter, usage);
        reading.conversations.iter().zip(bills).map(of).collect()
    }

    fn new(
        transcript: &str,
        conversation: &Conversation,
        notes: &[Note],
        counter: TokenCounter,
        recorded_usage: RecordedUsage,
    ) -> Self {
        let counting = counter.of(conversation);
        let (counter, sizes) = (counting.meter, counting.sizes(conversation, []));
        let tokens = |block| counter.apply(sizes.size(block, counter.measure));
        let blocks = || conversation.messages.iter().flat_map(|message| message.blocks.iter().copied());
        let note = |note: &Note| InspectionNote { line: note.line, what: note.what.clone() };
        Self {
            transcript: transcript.to_owned(),
            conversation: conversation.name.clone(),
            format: conversation.format,
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
            recorded_usage,
            growth: growth(conversation, tokens),
            largest_results: largest(conversation, tokens),
            persisted_outputs: blocks().filter(|id| is_persisted_output(conversation.block(*id))).count(),
            recorded_compactions: RecordedCompaction::all(conversation, tokens),
            compaction_losses: losses(conversation, tokens),
            meters: meters::checks(conversation),
            notes: notes.iter().map(note).collect(),
        }
    }
}

impl RecordedCompaction {
    /// Those of a conversation, in their order; `tokens` counts a block.
    pub fn all(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<Self> {
        let put = |edit: &RecordedEdit| edit.messages().iter().flat_map(|m| &m.blocks).map(|id| tokens(*id)).sum();
        let of = |compaction: &crate::transcript::conversation::Compaction| Self {
            line: conversation.place(compaction.line).1,
            kind: if matches!(compaction.edit, RecordedEdit::Fold { .. }) { "summary" } else { "clear" },
            trigger: compaction.trigger.clone(),
            before_call: conversation.calls.partition_point(|call| call.response < compaction.at) + 1,
            tokens_before: compaction.tokens_before,
            tokens_after: compaction.tokens_after,
            put: put(&compaction.edit),
            cleared: if let RecordedEdit::Clear { pairs } = &compaction.edit { pairs.len() } else { 0 },
        };
        conversation.compactions.iter().map(of).collect()
    }
}

impl TokensByKind {
    fn with(mut self, block: &Block, tokens: u64) -> Self {
        self.total += tokens;
        *match (block.kind, block.origin) {
            (Kind::Thinking, _) => &mut self.thinking,
            (Kind::ToolUse(_), _) => &mut self.tool_use,
            (Kind::ToolResult(_), _) => &mut self.tool_result,
            (Kind::Media, _) => &mut self.media,
            (Kind::Other, _) => &mut self.other,
            (Kind::Text, Origin::Agent) => &mut self.assistant_text,
            (Kind::Text, Origin::User) => &mut self.typed,
            (Kind::Text, _) => &mut self.injected,
        } += tokens;
        self
    }
}

/// References are looked for only where a compaction may have lost some.
fn losses(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<CompactionLoss> {
    if conversation.compactions.is_empty() {
        return Vec::new();
    }
    let references = References::new(conversation, tokens);
    references.losses.iter().map(|loss| CompactionLoss::new(conversation, &references, loss)).collect()
}

fn models(conversation: &Conversation) -> Vec<String> {
    let models: std::collections::BTreeSet<_> = conversation.calls.iter().filter_map(|call| call.model.clone()).collect();
    models.into_iter().collect()
}

fn recorded<'a>(conversation: &'a Conversation, ledger: &mut Ledger<'a>) -> RecordedUsage {
    let bills = ledger.bills(conversation);
    let Bill { calls, input, cache_read, cache_write_5m, cache_write_1h, output, usd } = Bill::sum(bills.values());
    let requests = conversation.calls.iter().filter_map(|call| call.usage).map(|usage| usage.request());
    RecordedUsage {
        calls,
        input,
        cache_read,
        cache_write: cache_write_5m + cache_write_1h,
        cache_write_5m,
        cache_write_1h,
        output,
        usd,
        peak_request: requests.max().unwrap_or(0),
        by_model: bills.into_iter().map(|(model, bill)| ModelBill { model: model.map(str::to_owned), bill }).collect(),
    }
}

fn growth(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<u64> {
    let (mut read, mut sum) = (0, 0);
    let before = |call: &crate::transcript::conversation::Call| {
        let blocks = conversation.messages[read..call.response].iter().flat_map(|message| &message.blocks);
        sum += blocks.map(|id| tokens(*id)).sum::<u64>();
        read = call.response;
        sum
    };
    conversation.calls.iter().map(before).collect()
}

fn largest(conversation: &Conversation, tokens: impl Fn(BlockId) -> u64) -> Vec<LargeResult> {
    let user = conversation.messages.iter().filter(|message| message.role == Role::User);
    let results = user.flat_map(|message| &message.blocks).filter_map(|id| match conversation.block(*id) {
        Block { kind: Kind::ToolResult(pair), line, .. } => {
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

/// The tag that learn-claude-code and Claude Code put around what is left of a result on disk.
fn is_persisted_output(block: &Block) -> bool {
    matches!(block.kind, Kind::ToolResult(_)) && block.text().starts_with("<persisted-output>")
}
