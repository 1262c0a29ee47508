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
//! Harnesses count differently. With `snap = "forward"` the tail loses the results whose calls are gone, in place of taking the
//! calls in (AutoGen); with `cut = "turn"` as well, it begins with a typed message (Strands Agents). What a message is says
//! `messages` of the policy. A window that is cut back to less than its limit waits for the limit again: give the limit as
//! `threshold` of the meter `messages`, and what stays as `max_messages` (Semantic Kernel).
//!
//! `keep = "dialogue"` keeps the typed messages and the final replies of earlier turns and removes their tool calls and results.

mod gap;
mod prune;

use std::collections::BTreeSet;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cut::{CutRule, KnownRun, Snap};
use super::tail::turns_start;
use super::{Action, LayerInput, LayerTraits, Proposal, Scope, Stability, ThinkingLeft, TurnCount, turn_count};
use crate::engine::context::{Context, ContextMessage, Edit, NewMessage};
use crate::transcript::conversation::{BlockId, BlockKind, Origin, PairId, Role};
use crate::util::template::fill;
use gap::Gap;
use prune::Pruned;

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
    /// Which way the tail moves to such a position.
    pub snap: Snap,
    /// What is removed of the span.
    pub parts: RemovedParts,
    /// What happens to pairs of tool_use and tool_result that a cut separates.
    pub repair: Repair,
    /// User message that replaces the removed messages: `{n}` is their number, `{excess}` the number of messages over
    /// `max_messages`, `{path}` the archive. Without it there is no message.
    pub marker: Option<String>,
    /// Number of newest turns to keep and not to count; `true` is 1.
    #[serde(deserialize_with = "turn_count")]
    #[schemars(with = "TurnCount", extend("x-unit" = "turns"))]
    pub protect_turns: usize,
}

/// What is removed of a span of messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemovedParts {
    /// Everything.
    #[default]
    All,
    /// Tool calls and their results: the texts beside them stay, and so do both halves of a pair of which one is not in the span.
    Tools,
    /// Thinking: all else stays.
    Thinking,
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
            snap: Snap::Back,
            parts: RemovedParts::All,
            repair: Repair::None,
            marker: None,
            protect_turns: 0,
        }
    }
}

/// What a layer remembers between its runs.
#[derive(Debug, Default)]
pub struct DropState {
    gap: Gap,
    pruned: Pruned,
    run: KnownRun,
}

impl Action for Drop {
    type State = DropState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            stability: self.stability(),
            max_messages: self.limits_messages().then_some(self.max_messages),
            writes_markers: true,
            ..LayerTraits::PLAIN
        }
    }

    fn propose(&self, input: &LayerInput, state: &mut DropState) -> Proposal {
        if input.scope != Scope::Request || self.forgets() {
            (state.gap, state.pruned) = Default::default();
        }
        let edits = match self.keep {
            KeepRule::Newest => self.remove_middle(input, state),
            KeepRule::Entered if input.first_new > 0 => vec![Edit::Drop { messages: 0..input.first_new }],
            KeepRule::Entered => Vec::new(),
            KeepRule::Dialogue => remove_tool_work(input),
        };
        Proposal { edits, ..Proposal::default() }
    }

    fn still_holds(&self, context: &Context, state: &DropState) -> bool {
        state.pruned.still_holds(context)
    }

    /// Of a response whose calls were removed, thinking may be all that was left.
    fn thinking_left(&self, left: &ThinkingLeft, state: &mut DropState) -> Option<Vec<Edit>> {
        state.pruned.move_by(left.gone);
        (left.gone.is_empty() || self.parts == RemovedParts::Tools).then(Vec::new)
    }
}

impl Drop {
    /// Returns whether the number of messages alone says when it is due, and falls when it acts.
    fn limits_messages(&self) -> bool {
        self.keep == KeepRule::Newest && self.parts == RemovedParts::All && self.protect_turns == 0
    }

    /// Which tool calls stay depends on where the newest messages begin. With a head, with rules for the cut, or with a number of messages
    /// in front of the newest turns, the copy without the older calls gives another position for that than the whole history.
    fn stability(&self) -> Stability {
        let is_one_count = self.protect_turns == 0 || self.max_messages == 0;
        let counts_from_the_end = self.keep_first == 0 && is_one_count && self.cut == CutRule::Anywhere;
        match self.parts {
            _ if self.forgets() => Stability::Stable,
            RemovedParts::Thinking => Stability::Unstable,
            RemovedParts::Tools if !counts_from_the_end => Stability::Unstable,
            RemovedParts::All | RemovedParts::Tools => Stability::Alone,
        }
    }

    /// Returns whether it decides by the messages that are left, and need not know what it removed before.
    fn forgets(&self) -> bool {
        let takes_whole_spans = self.parts == RemovedParts::All && self.repair == Repair::None;
        self.keep != KeepRule::Newest || takes_whole_spans && self.snap == Snap::Back && self.marker.is_none()
    }

    /// Returns the edits that remove the middle. The context may lack what the layer removed for earlier requests.
    fn remove_middle(&self, input: &LayerInput, DropState { gap, pruned, run }: &mut DropState) -> Vec<Edit> {
        let context = input.context;
        pruned.look_at(context);
        let counted = gap.in_history(turns_start(context, self.protect_turns));
        if counted <= self.max_messages {
            return Vec::new();
        }
        let planned = counted - self.max_messages.saturating_sub(self.keep_first);
        let planned_here = gap.in_copy(planned);
        let tail = self.cut.adjust_last_tail(self.snap, context, planned_here, run);
        let first = self.keep_first.min(planned);
        let head = gap.head.unwrap_or_else(|| self.cut.adjust_head(context, first..planned_here));
        let span = head..tail.max(head + gap.markers());
        if span.is_empty() {
            return Vec::new();
        }
        match self.parts {
            RemovedParts::All => self.remove_span(input, span, (counted - self.max_messages, gap)),
            RemovedParts::Tools => pruned.prune(context, span),
            RemovedParts::Thinking => remove_thinking(context, span),
        }
    }

    /// Returns the edits that remove a span, and the marker of an earlier one with it. `excess`: messages over the limit.
    fn remove_span(&self, input: &LayerInput, span: Range<usize>, (excess, gap): (usize, &mut Gap)) -> Vec<Edit> {
        let n = span.len() - gap.markers() + gap.inside;
        let values = [("n", &*n.to_string()), ("excess", &excess.to_string()), ("path", input.archive_path.unwrap_or_default())];
        let marker = self.marker.as_ref().map(|marker| fill(marker, &values));
        if span.len() == gap.markers() && marker == gap.marker {
            return Vec::new();
        }
        // Edits go from back to front, so that each position is still valid: behind the span, the span, before the span.
        let (before, mut edits) = match self.repair {
            Repair::None => (None, Vec::new()),
            Repair::Drop => remove_split_pairs(input.context, span.start, span.end),
        };
        gap.inside = n + edits.iter().filter(|edit| edit.removes_message()).count();
        edits.push(Edit::Drop { messages: span.clone() });
        if let Some(marker) = &marker {
            edits.push(Edit::Insert { at: span.start, message: NewMessage::text(Role::User, marker) });
        }
        gap.marker = marker;
        let head_shrinks = usize::from(before.as_ref().is_some_and(Edit::removes_message));
        gap.before += head_shrinks;
        gap.head = Some(span.start - head_shrinks);
        edits.extend(before);
        edits
    }
}

/// Returns the edits that remove the thinking of a span, from back to front.
fn remove_thinking(context: &Context, span: Range<usize>) -> Vec<Edit> {
    let messages = context.with_thinking().iter().rev().copied().filter(|message| span.contains(message));
    let without_thinking = |message: usize| {
        let blocks = context.messages()[message].blocks.iter().copied();
        Edit::Retain { message, keep: blocks.filter(|id| context.block(*id).kind != BlockKind::Thinking).collect() }
    };
    messages.map(without_thinking).collect()
}

/// Returns the edits that remove the remaining halves of split pairs: from the message before the span `head..tail`, and from
/// the messages behind it.
fn remove_split_pairs(context: &Context, head: usize, tail: usize) -> (Option<Edit>, Vec<Edit>) {
    let messages = context.messages();
    let pairs_in = |messages, pair_of| pairs_in(context, messages, pair_of);
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

/// Returns the pairs of the calls, or of the results, in these messages.
fn pairs_in(context: &Context, messages: &[ContextMessage], pair_of: fn(BlockKind) -> Option<PairId>) -> BTreeSet<PairId> {
    messages.iter().flat_map(|message| &message.blocks).filter_map(|id| pair_of(context.block(*id).kind)).collect()
}

fn tool_pair(kind: BlockKind) -> Option<PairId> {
    tool_use_pair(kind).or_else(|| tool_result_pair(kind))
}

fn tool_use_pair(kind: BlockKind) -> Option<PairId> {
    if let BlockKind::ToolUse(pair) = kind { Some(pair) } else { None }
}

fn tool_result_pair(kind: BlockKind) -> Option<PairId> {
    if let BlockKind::ToolResult(pair) = kind { Some(pair) } else { None }
}

/// Returns the edits that reduce every message before the current turn to what a chat history would hold of it. Later messages
/// come first, so that the positions of earlier ones stay valid.
fn remove_tool_work(input: &LayerInput) -> Vec<Edit> {
    let context = input.context;
    let mut final_reply = true;
    let mut edits = Vec::new();
    for (index, message) in context.messages().iter().enumerate().take(turns_start(context, 1)).rev() {
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
