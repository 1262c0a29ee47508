//! `drop`: removes whole messages, by default from the middle of the conversation.
//!
//! Other names: snipping, sliding window. It is cheap to decide and harmful to the conversation: removed content is lost, a cut
//! between a tool_use and its tool_result makes a request that the API refuses, and every cut makes the provider write the
//! prompt behind it into its cache again. A window that slides by one message does so at every call.
//!
//! ```toml
//! [[layer]]
//! id = "snip"
//! do = "drop"
//! max_messages = 50               # with more messages than this, the middle is removed
//! keep_first = 3
//! marker = "[snipped {n} messages]"
//! ```
//!
//! `keep = "dialogue"` keeps the typed messages and the final replies of earlier turns and removes their tool calls and results.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Action, LayerInput, LayerTraits, Proposal, Timing};
use crate::engine::context::{Context, ContextMessage, Edit, NewMessage};
use crate::transcript::conversation::{BlockId, BlockKind, Origin, PairId, Role};
use crate::util::template::fill;

/// Settings of `drop`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Drop {
    /// Which messages stay.
    pub keep: KeepRule,
    /// Maximum number of messages: with more, the middle is removed (only with `keep = "newest"`).
    #[schemars(extend("x-unit" = "messages"))]
    pub max_messages: usize,
    /// Number of oldest messages to keep, counted in `max_messages`.
    #[schemars(extend("x-unit" = "messages"))]
    pub keep_first: usize,
    /// Where a cut may be.
    pub cut: CutRule,
    /// What happens to pairs of tool_use and tool_result that a cut separates.
    pub repair: Repair,
    /// User message that replaces the removed messages: `{n}` is their number, `{path}` the archive. Without it there is no message.
    pub marker: Option<String>,
    /// `true`: keep everything since the newest message that the user typed, and do not count it.
    pub protect_turn: bool,
}

/// Which messages stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeepRule {
    /// The newest messages and the `keep_first` oldest, together `max_messages`.
    Newest,
    /// Only the new messages since the last response.
    Entered,
    /// Of earlier turns, the typed messages and the final reply: tool calls and results are removed.
    Dialogue,
}

/// Where a span of messages may begin and end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CutRule {
    /// Anywhere, even between a tool_use and its tool_result.
    Anywhere,
    /// The head keeps the results of its last calls; a tail that begins with results takes in one more message.
    PullBack,
    /// Never between a response and the results that answer it.
    #[default]
    Batch,
    /// Only before a message that the user typed.
    Turn,
}

/// What happens to a pair of tool_use and tool_result that a cut separates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// The remaining half stays, and the API refuses the request.
    #[default]
    None,
    /// The remaining half is removed, too.
    Drop,
}

impl Default for Drop {
    fn default() -> Self {
        Self {
            keep: KeepRule::Newest,
            max_messages: 50,
            keep_first: 1,
            cut: CutRule::Batch,
            repair: Repair::None,
            marker: None,
            protect_turn: false,
        }
    }
}

impl Action for Drop {
    type State = ();

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            timing: Timing::Requests,
            remains: None,
            rewrites_in_place: false,
            keeps_parts: false,
            is_stable: self.marker.is_none(),
            writes_markers: true,
            restores: false,
            repeats_record: false,
            filter: None,
            selects_by_age: false,
            summarizer: None,
            archive_path: None,
            program: None,
        }
    }

    fn propose(&self, input: &LayerInput, _state: &mut ()) -> Proposal {
        let edits = match self.keep {
            KeepRule::Newest => self.remove_middle(input),
            KeepRule::Entered if input.first_new > 0 => vec![Edit::Drop { messages: 0..input.first_new }],
            KeepRule::Entered => Vec::new(),
            KeepRule::Dialogue => remove_tool_work(input),
        };
        Proposal { edits, ..Proposal::default() }
    }
}

impl Drop {
    fn remove_middle(&self, input: &LayerInput) -> Vec<Edit> {
        let counted = if self.protect_turn { turn_start(input.context) } else { input.context.len() };
        if counted <= self.max_messages {
            return Vec::new();
        }
        let tail = counted - self.max_messages.saturating_sub(self.keep_first);
        let (head, tail) = self.cut.adjust_span(input.context, self.keep_first.min(tail), tail);
        if head >= tail {
            return Vec::new();
        }
        // Edits go from back to front, so that each position is still valid: behind the span, the span, before the span.
        let (before, mut edits) = match self.repair {
            Repair::None => (None, Vec::new()),
            Repair::Drop => remove_split_pairs(input.context, head, tail),
        };
        edits.push(Edit::Drop { messages: head..tail });
        if let Some(marker) = &self.marker {
            let values = [("n", &*(tail - head).to_string()), ("path", input.archive_path.unwrap_or_default())];
            edits.push(Edit::Insert { at: head, message: NewMessage::text(Role::User, fill(marker, &values)) });
        }
        edits.extend(before);
        edits
    }
}

impl CutRule {
    /// Moves both ends of the span to remove, `head..tail`, to positions that this rule allows.
    pub fn adjust_span(self, context: &Context, mut head: usize, tail: usize) -> (usize, usize) {
        if self == CutRule::Anywhere {
            return (head, tail);
        }
        if head > 0 && uses_tools(context, &context.messages()[head - 1]) {
            while head < tail && holds_results(context, &context.messages()[head]) {
                head += 1;
            }
        }
        (head, self.adjust_tail(context, tail))
    }

    /// Moves the start of the tail that stays to a position that this rule allows.
    pub fn adjust_tail(self, context: &Context, mut tail: usize) -> usize {
        let message_at = |at: usize| context.messages().get(at);
        let splits_batch = |at: usize| {
            let begins_with_results = message_at(at).is_some_and(|message| holds_results(context, message));
            at > 0 && begins_with_results && (self != CutRule::PullBack || uses_tools(context, &context.messages()[at - 1]))
        };
        match self {
            CutRule::Anywhere => {}
            CutRule::PullBack => tail -= usize::from(splits_batch(tail)),
            CutRule::Batch => {
                while splits_batch(tail) {
                    tail -= 1;
                }
            }
            CutRule::Turn => {
                while tail > 0 && message_at(tail).is_some_and(|message| !message.typed) || splits_batch(tail) {
                    tail -= 1;
                }
            }
        }
        tail
    }
}

/// Returns the edits that remove the remaining halves of split pairs: from the message before the span `head..tail`, and from
/// the messages behind it.
fn remove_split_pairs(context: &Context, head: usize, tail: usize) -> (Option<Edit>, Vec<Edit>) {
    let messages = context.messages();
    let pairs_in = |messages: &[ContextMessage], pair_of: fn(BlockKind) -> Option<PairId>| -> BTreeSet<PairId> {
        messages.iter().flat_map(|message| &message.blocks).filter_map(|id| pair_of(context.block(*id).kind)).collect()
    };
    let without_halves = |message: usize, pair_of: fn(BlockKind) -> Option<PairId>, partners: &BTreeSet<PairId>| {
        let stays = |id: &BlockId| pair_of(context.block(*id).kind).is_none_or(|pair| partners.contains(&pair));
        let keep: Vec<_> = messages[message].blocks.iter().copied().filter(stays).collect();
        (keep.len() < messages[message].blocks.len()).then_some(Edit::Retain { message, keep })
    };
    let kept_uses = pairs_in(&messages[tail..], tool_use_pair);
    let behind = (tail..messages.len()).take_while(|at| messages[*at].role == Role::User);
    let behind: Vec<_> = behind.filter_map(|at| without_halves(at, tool_result_pair, &kept_uses)).collect();
    let before =
        head.checked_sub(1).and_then(|at| without_halves(at, tool_use_pair, &pairs_in(&messages[..head], tool_result_pair)));
    (before, behind.into_iter().rev().collect())
}

fn tool_use_pair(kind: BlockKind) -> Option<PairId> {
    if let BlockKind::ToolUse(pair) = kind { Some(pair) } else { None }
}

fn tool_result_pair(kind: BlockKind) -> Option<PairId> {
    if let BlockKind::ToolResult(pair) = kind { Some(pair) } else { None }
}

fn holds_results(context: &Context, message: &ContextMessage) -> bool {
    message.role == Role::User && message.blocks.iter().any(|id| matches!(context.block(*id).kind, BlockKind::ToolResult(_)))
}

fn uses_tools(context: &Context, message: &ContextMessage) -> bool {
    message.role == Role::Assistant && message.blocks.iter().any(|id| matches!(context.block(*id).kind, BlockKind::ToolUse(_)))
}

/// Returns where the current turn begins: at the newest typed message, or earlier if that message also holds tool results.
pub(super) fn turn_start(context: &Context) -> usize {
    CutRule::Turn.adjust_tail(context, context.newest_typed().unwrap_or(0))
}

/// Returns the edits that reduce every message before the current turn to what a chat history would hold of it. Later messages
/// come first, so that the positions of earlier ones stay valid.
fn remove_tool_work(input: &LayerInput) -> Vec<Edit> {
    let context = input.context;
    let mut final_reply = true;
    let mut edits = Vec::new();
    for (index, message) in context.messages().iter().enumerate().take(turn_start(context)).rev() {
        let stays = |origin: Origin, kind: BlockKind| match message.role {
            Role::User => matches!(origin, Origin::User | Origin::Compaction),
            Role::Assistant => final_reply && kind == BlockKind::Text,
        };
        let blocks = message.blocks.iter().copied();
        let keep: Vec<_> = blocks.filter(|id| stays(context.block(*id).origin, context.block(*id).kind)).collect();
        match message.role {
            Role::User if message.typed => final_reply = true,
            Role::Assistant if !keep.is_empty() => final_reply = false,
            _ => {}
        }
        if keep.len() < message.blocks.len() {
            edits.push(Edit::Retain { message: index, keep });
        }
    }
    edits
}
