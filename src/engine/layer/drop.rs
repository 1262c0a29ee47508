//! `drop`: whole messages leave, between those that are kept at both ends.
//!
//! Known as snipping and as the sliding window. Cheap to decide and hard on the conversation: what leaves is gone, a cut
//! between a tool_use and its tool_result makes a request that the API refuses, and every cut makes the provider write the
//! prompt behind it into its cache again. A window that slides by one message does so at every call.
//!
//! ```toml
//! [[layer]]
//! id = "snip"
//! do = "drop"
//! max_messages = 50          # with more messages than this …
//! keep_first = 3             # … the first three and the newest 47 stay
//! cut = "batch"              # never between a call and its results
//! marker = "[snipped {n} messages]"
//! ```

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LayerInput, Proposal};
use crate::engine::context::{Context, ContextMessage, Edit, NewMessage};
use crate::transcript::conversation::{BlockId, Kind, Origin, PairId, Role};
use crate::util::template::fill;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Drop {
    /// What stays.
    pub keep: Keep,
    /// With more messages than this, the middle leaves (`keep = "newest"`).
    pub max_messages: usize,
    /// So many of the oldest stay.
    pub keep_first: usize,
    /// Where a cut may fall.
    pub cut: Cut,
    /// What becomes of pairs it went through.
    pub repair: Repair,
    /// A user message in place of what left: `{n}` messages, archived at `{path}`.
    pub marker: Option<String>,
    /// What was said since the newest typed message stays and is not counted.
    pub protect_turn: bool,
}

/// What stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The newest messages, and `keep_first` of the oldest, `max_messages` in all.
    Newest,
    /// Only what entered since the last response.
    Entered,
    /// Of earlier turns, what was typed and the final reply: the tool work leaves.
    Dialogue,
}

/// Where a span of messages may begin and end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// Anywhere, between a tool_use and its tool_result too.
    Anywhere,
    /// Results at the end of the head stay with it; a tail that begins with results takes in one message more.
    PullBack,
    /// Never between a response and the results that answer it.
    #[default]
    Batch,
    /// A tail begins with a typed message.
    Turn,
}

/// What becomes of the halves of a pair that a cut went through.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// They stay, and the API refuses the request.
    #[default]
    None,
    /// They leave, too.
    Drop,
}

impl Default for Drop {
    fn default() -> Self {
        Self {
            keep: Keep::Newest,
            max_messages: 50,
            keep_first: 1,
            cut: Cut::Batch,
            repair: Repair::None,
            marker: None,
            protect_turn: false,
        }
    }
}

impl Drop {
    pub fn propose(&self, now: &LayerInput) -> Proposal {
        let edits = match self.keep {
            Keep::Newest => self.newest(now),
            Keep::Entered if now.entered > 0 => vec![Edit::Drop { messages: 0..now.entered }],
            Keep::Entered => Vec::new(),
            Keep::Dialogue => dialogue(now),
        };
        Proposal { edits, ..Proposal::default() }
    }

    fn newest(&self, now: &LayerInput) -> Vec<Edit> {
        let counted = if self.protect_turn { turn_start(now.context) } else { now.context.len() };
        if counted <= self.max_messages {
            return Vec::new();
        }
        let tail = counted - self.max_messages.saturating_sub(self.keep_first);
        let (head, tail) = self.cut.apply(now.context, self.keep_first.min(tail), tail);
        if head >= tail {
            return Vec::new();
        }
        // In this order every position holds: behind the span, the span, before it.
        let (before, mut edits) = match self.repair {
            Repair::None => (None, Vec::new()),
            Repair::Drop => halves(now.context, head, tail),
        };
        edits.push(Edit::Drop { messages: head..tail });
        if let Some(marker) = &self.marker {
            let values = [("n", &*(tail - head).to_string()), ("path", now.archive.unwrap_or_default())];
            edits.push(Edit::Insert { at: head, message: NewMessage::plain(Role::User, fill(marker, &values)) });
        }
        edits.extend(before);
        edits
    }
}

impl Cut {
    /// Moves the two ends of a span that is to leave, `head..tail`, to where this cut may fall.
    pub fn apply(self, context: &Context, mut head: usize, tail: usize) -> (usize, usize) {
        if self == Cut::Anywhere {
            return (head, tail);
        }
        if head > 0 && uses_tools(context, &context.messages()[head - 1]) {
            while head < tail && holds_results(context, &context.messages()[head]) {
                head += 1;
            }
        }
        (head, self.tail(context, tail))
    }

    /// Moves the beginning of a tail that stays to where this cut may fall.
    pub fn tail(self, context: &Context, mut tail: usize) -> usize {
        let sent = |at: usize| context.messages().get(at);
        let splits = |at: usize| {
            let after = sent(at).is_some_and(|sent| holds_results(context, sent));
            at > 0 && after && (self != Cut::PullBack || uses_tools(context, &context.messages()[at - 1]))
        };
        match self {
            Cut::Anywhere => {}
            Cut::PullBack => tail -= usize::from(splits(tail)),
            Cut::Batch => {
                while splits(tail) {
                    tail -= 1;
                }
            }
            Cut::Turn => {
                while tail > 0 && sent(tail).is_some_and(|sent| !sent.typed) || splits(tail) {
                    tail -= 1;
                }
            }
        }
        tail
    }
}

/// The edits that take the halves of split pairs out: of the message before the span `head..tail`, and of those behind it.
fn halves(context: &Context, head: usize, tail: usize) -> (Option<Edit>, Vec<Edit>) {
    let messages = context.messages();
    let pairs_of = |messages: &[ContextMessage], of: fn(Kind) -> Option<PairId>| -> BTreeSet<PairId> {
        messages.iter().flat_map(|sent| &sent.blocks).filter_map(|id| of(context.block(*id).kind)).collect()
    };
    let without = |message: usize, of: fn(Kind) -> Option<PairId>, partners: &BTreeSet<PairId>| {
        let stays = |id: &BlockId| of(context.block(*id).kind).is_none_or(|pair| partners.contains(&pair));
        let keep: Vec<_> = messages[message].blocks.iter().copied().filter(stays).collect();
        (keep.len() < messages[message].blocks.len()).then_some(Edit::Retain { message, keep })
    };
    let kept_uses = pairs_of(&messages[tail..], used);
    let behind = (tail..messages.len()).take_while(|at| messages[*at].role == Role::User);
    let behind: Vec<_> = behind.filter_map(|at| without(at, answered, &kept_uses)).collect();
    let before = head.checked_sub(1).and_then(|at| without(at, used, &pairs_of(&messages[..head], answered)));
    (before, behind.into_iter().rev().collect())
}

fn used(kind: Kind) -> Option<PairId> {
    if let Kind::ToolUse(pair) = kind { Some(pair) } else { None }
}

fn answered(kind: Kind) -> Option<PairId> {
    if let Kind::ToolResult(pair) = kind { Some(pair) } else { None }
}

fn holds_results(context: &Context, sent: &ContextMessage) -> bool {
    sent.role == Role::User && sent.blocks.iter().any(|id| matches!(context.block(*id).kind, Kind::ToolResult(_)))
}

fn uses_tools(context: &Context, sent: &ContextMessage) -> bool {
    sent.role == Role::Assistant && sent.blocks.iter().any(|id| matches!(context.block(*id).kind, Kind::ToolUse(_)))
}

/// Where the present turn begins: at the newest typed message, or at the response it answers as well.
pub(super) fn turn_start(context: &Context) -> usize {
    Cut::Turn.tail(context, context.newest_typed().unwrap_or(0))
}

/// Thins every message before the present turn to what a chat history would hold of it; later messages first, so that the
/// positions of the earlier ones hold.
fn dialogue(now: &LayerInput) -> Vec<Edit> {
    let context = now.context;
    let mut final_reply = true;
    let mut edits = Vec::new();
    for (message, sent) in context.messages().iter().enumerate().take(turn_start(context)).rev() {
        let stays = |origin: Origin, kind: Kind| match sent.role {
            Role::User => matches!(origin, Origin::User | Origin::Compaction),
            Role::Assistant => final_reply && kind == Kind::Text,
        };
        let blocks = sent.blocks.iter().copied();
        let keep: Vec<_> = blocks.filter(|id| stays(context.block(*id).origin, context.block(*id).kind)).collect();
        match sent.role {
            Role::User if sent.typed => final_reply = true,
            Role::Assistant if !keep.is_empty() => final_reply = false,
            _ => {}
        }
        if keep.len() < sent.blocks.len() {
            edits.push(Edit::Retain { message, keep });
        }
    }
    edits
}
