//! What the user typed, and the first context, beside a summary.

use std::ops::Range;

use super::Summarize;
use crate::engine::context::{Context, Edit, NewBlock, NewMessage};
use crate::engine::layer::LayerInput;
use crate::transcript::conversation::{BlockId, BlockKind, Origin, Role};
use crate::util::template::fill;
use crate::util::text::{clip, head, tail};

/// A typed message that stays in front of a summary.
pub(super) struct KeptUser {
    pub message: usize,
    /// The texts that the user typed.
    keep: Vec<BlockId>,
    /// What the only one of them becomes, if it does not fit.
    cut: Option<String>,
}

impl KeptUser {
    /// Returns the edits that leave only what stays.
    pub fn edits(&self, context: &Context) -> Vec<Edit> {
        let Self { message, keep, cut } = self;
        let mut edits = Vec::new();
        if keep.len() < context.messages()[*message].blocks.len() {
            edits.push(Edit::Retain { message: *message, keep: keep.clone() });
        }
        if let Some(text) = cut {
            edits.push(Edit::Rewrite { message: *message, block: 0, field: "text", value: text.as_str().into() });
        }
        edits
    }
}

impl Summarize {
    /// Returns the messages of a span that `typed.keep` keeps, oldest first.
    pub(super) fn kept_users(&self, input: &LayerInput, span: Range<usize>) -> Vec<KeptUser> {
        let Some(limit) = &self.typed.keep else { return Vec::new() };
        let (context, meter) = (input.context, input.meter);
        let is_typed = |id: &BlockId| {
            let block = context.block(*id);
            block.origin == Origin::User && block.kind == BlockKind::Text
        };
        let mut kept = Vec::new();
        let mut room = limit.resolve(input.limits);
        for message in span.rev() {
            let keep: Vec<_> = context.messages()[message].blocks.iter().copied().filter(is_typed).collect();
            if keep.is_empty() {
                continue;
            }
            let size = meter.apply(keep.iter().map(|id| context.block_size(*id, meter.unit)).sum());
            if size > room {
                kept.extend(self.cut_user(input, message, &keep, room));
                break;
            }
            room -= size;
            kept.push(KeptUser { message, keep, cut: None });
        }
        kept.reverse();
        kept
    }

    /// Returns a typed message cut in its middle to what there is room for; `None` if it goes.
    fn cut_user(&self, input: &LayerInput, message: usize, typed: &[BlockId], room: u64) -> Option<KeptUser> {
        let marker = self.typed.marker.as_deref().filter(|_| room > 0)?;
        let size = |text: &str| input.meter.apply(input.meter.unit.text(text));
        // Messages with several texts are rare. Of those the last text is cut, and the others go.
        let last = *typed.last()?;
        let text = input.context.block(last).text();
        let chars = clip(&text, room, &size).chars().count();
        let (begin, end) = (head(&text, chars / 2), tail(&text, chars - chars / 2));
        let middle = text.get(begin.len()..text.len().saturating_sub(end.len())).unwrap_or_default();
        let cut = format!("{begin}{}{end}", fill(marker, &[("n", &size(middle).to_string())]));
        Some(KeptUser { message, keep: vec![last], cut: Some(cut).filter(|_| !middle.is_empty()) })
    }
}

/// Returns a message with what the harness wrote before the first response.
pub(super) fn first_context(input: &LayerInput) -> Option<NewMessage> {
    let conversation = input.context.conversation();
    let before = conversation.calls.first().map_or(0, |call| call.response);
    let all = conversation.messages[..before].iter().flat_map(|message| &message.blocks);
    let injected = all.copied().filter(|id| conversation.block(*id).origin == Origin::Injected);
    let blocks: Vec<_> = injected.map(NewBlock::Existing).collect();
    (!blocks.is_empty()).then_some(NewMessage { role: Role::User, is_string_content: false, blocks })
}
