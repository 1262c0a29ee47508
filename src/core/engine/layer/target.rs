//! Edits until the context is small enough. `clear` and `persist` share this rule (`down_to`).

use super::LayerInput;
use crate::engine::context::{Context, Edit};
use crate::tokens::meter::{Meter, SizeUnit};

/// A size that the context is brought down to, by the policy's meter.
pub(super) struct Target {
    size: u64,
    /// Size of all messages before the edits, in the unit of the meter.
    total: u64,
    /// What the edits have freed of it; negative if they added.
    freed: i64,
}

impl Target {
    pub fn new(input: &LayerInput, size: u64) -> Self {
        Self { size, total: input.context.sum(input.meter.unit), freed: 0 }
    }

    /// Returns whether the context has at most this size after the edits so far.
    pub fn is_reached(&self, input: &LayerInput) -> bool {
        let [before, after] = before_and_after(self.total, self.freed, input.meter);
        (input.estimate + after).saturating_sub(before) <= self.size
    }

    /// Counts further edits.
    pub fn count(&mut self, input: &LayerInput, edits: &[Edit]) {
        self.freed += freed_by(input.context, edits, input.meter.unit);
    }
}

/// Returns what a meter counts before and after edits that free a size; `total` and `freed` are in its unit.
pub(super) fn before_and_after(total: u64, freed: i64, meter: Meter) -> [u64; 2] {
    [total, total.saturating_add_signed(-freed)].map(|size| meter.apply(size))
}

/// Returns the size that edits of single blocks free, in a unit; negative if the new contents are longer.
pub(super) fn freed_by(context: &Context, edits: &[Edit], unit: SizeUnit) -> i64 {
    let freed_by_edit = |edit: &Edit| {
        let Edit::Rewrite { message, block, field, value } = edit else { return 0 };
        let message = &context.messages()[*message];
        let id = message.blocks[*block];
        let after = context.rewritten_size(&context.rewritten(id, field, value.clone(), message.is_string_content), unit);
        context.block_size(id, unit).cast_signed() - after.cast_signed()
    };
    edits.iter().map(freed_by_edit).sum()
}
