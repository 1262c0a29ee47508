//! Where the newest messages of a context begin, by turns, groups or size. Layers share these counts.

use super::cut::{CutRule, Snap, continues_batch};
use crate::engine::context::{Context, ContextMessage};
use crate::tokens::meter::Meter;

/// Returns where the newest `turns` turns begin: at a typed message, or earlier if that message also holds tool results. With fewer
/// turns, 0; without a turn to count, the end.
pub(super) fn turns_start(context: &Context, turns: usize) -> usize {
    if turns == 0 {
        return context.len();
    }
    let start = context.typed().iter().nth_back(turns - 1).copied();
    CutRule::Turn.adjust_tail(Snap::Back, context, start.unwrap_or(0))
}

/// Returns where the newest groups begin: a group is a response with the results that answer it, or any other message. With fewer
/// groups, `None`.
pub(super) fn groups_start(context: &Context, groups: usize) -> Option<usize> {
    let Some(older) = groups.checked_sub(1) else { return Some(context.len()) };
    (0..context.len()).rev().filter(|at| *at == 0 || !continues_batch(context, *at)).nth(older)
}

/// Returns the first position, at or behind `from`, from which all messages together with those before `from` have at most this size
/// by the meter. The newest `least` messages stay, however large they are.
///
/// It looks at the messages in front of that position only: those which its caller removes, so that a replay looks at each once.
pub(super) fn tokens_start(context: &Context, meter: Meter, max_tokens: u64, from: usize, least: usize) -> usize {
    let (mut left, mut sum) = (context.len(), context.sum(meter.unit));
    let mut start = from;
    while start + least < context.len() && meter.apply(meter.unit.list(left, sum)) > max_tokens {
        sum -= context.message_size(&context.messages()[start], meter.unit);
        (left, start) = (left - 1, start + 1);
    }
    start
}

/// Returns the last position from which all messages together have at least this size by the meter; 0 if all of them are smaller. Some
/// message stays.
///
/// Like [`tokens_start`], it looks only at the messages in front of that position.
pub(super) fn last_start_of(context: &Context, meter: Meter, min_tokens: u64) -> usize {
    let mut sum = context.sum(meter.unit);
    let has_size = |(at, message): (usize, &ContextMessage)| {
        sum -= context.message_size(message, meter.unit);
        meter.apply(meter.unit.list(context.len() - at - 1, sum)) >= min_tokens
    };
    let older = context.messages().iter().enumerate().take(context.len().saturating_sub(1));
    older.map(has_size).take_while(|has_size| *has_size).count()
}
