//! Answers that only rewrite messages where they are, as most do. No other message is looked at for them.

use rustc_hash::FxHashMap;

use super::align::{align, stays_in_place};
use super::seen::{Seen, Unit};
use super::target::TargetBlock;
use super::{MessageId, WrittenMessage};
use crate::engine::context::{Context, Edit};

/// Where a unit is in the context.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Index of the unit.
    pub unit: usize,
    /// Index of its message in the context.
    pub message: usize,
    /// Index of its first block in the message.
    pub first_block: usize,
}

/// Returns where the messages are that these replace, in the order of the context; `None` if one of them is not there, is named twice,
/// or does more than to rewrite fields of the blocks of one message.
pub(super) fn places(seen: &Seen, context: &Context, replace: &[WrittenMessage]) -> Option<Vec<(Place, usize)>> {
    let mut named: FxHashMap<MessageId, usize> = FxHashMap::default();
    for (nth, written) in replace.iter().enumerate() {
        let [id] = written.replaces[..] else { return None };
        if named.insert(id, nth).is_some() {
            return None;
        }
    }
    let mut places = Vec::with_capacity(named.len());
    let (mut begun, mut blocks) = (0, 0);
    for (at, unit) in seen.units().iter().enumerate() {
        if !unit.continues {
            (begun, blocks) = (begun + 1, 0);
        }
        if let Some(nth) = named.get(&unit.id) {
            let place = Place { unit: at, message: begun - 1, first_block: blocks };
            if !is_rewritten(unit, place, &replace[*nth], context) {
                return None;
            }
            places.push((place, *nth));
        }
        blocks += unit.blocks.len();
    }
    (places.len() == replace.len()).then_some(places)
}

/// Returns the edits of messages that [`places`] found.
///
/// # Errors
///
/// Fails if one changes what cannot change.
pub(super) fn rewrites(
    seen: &Seen,
    context: &Context,
    places: &[(Place, usize)],
    mut replace: Vec<WrittenMessage>,
) -> Result<Vec<Edit>, String> {
    let mut edits = Vec::new();
    for (place, nth) in places {
        let (unit, written) = (&seen.units()[place.unit], std::mem::take(&mut replace[*nth].blocks));
        let aligned = align(context, &unit.blocks, written);
        let aligned = aligned.map_err(|what| format!("{}: {what}", super::plan::name_of(&replace[*nth])))?;
        for (block, of) in aligned.into_iter().enumerate() {
            let TargetBlock::Old { rewrites, .. } = of else { continue };
            let (message, block) = (place.message, place.first_block + block);
            edits.extend(rewrites.into_iter().map(|(field, value)| Edit::Rewrite { message, block, field, value }));
        }
    }
    Ok(edits)
}

fn is_rewritten(unit: &Unit, place: Place, written: &WrittenMessage, context: &Context) -> bool {
    let old = &context.messages()[place.message];
    let is_whole = unit.blocks.len() == old.blocks.len();
    old.role == written.role
        && (!is_whole || old.is_string_content == written.is_string_content)
        && stays_in_place(context, &unit.blocks, &written.blocks)
}
