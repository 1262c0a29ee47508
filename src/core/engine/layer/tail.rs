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
/// It searches from both ends, so that a run costs what goes, or what stays, whichever is less.
pub(super) fn tokens_start(context: &Context, meter: Meter, max_tokens: u64, from: usize, least: usize) -> usize {
    let len = context.len();
    let end = len.saturating_sub(least);
    let size_of = |at: usize| context.message_size(&context.messages()[at], meter.unit);
    let fits = |messages: usize, sum: u64| meter.apply(meter.unit.list(messages, sum)) <= max_tokens;
    // What is left if the tail begins at `start`, and what there is if it begins at `tail`; both with what is before `from`.
    let (mut start, mut left) = (from, context.sum(meter.unit));
    let (mut tail, mut sum) = (len, (0..from.min(len)).map(size_of).sum::<u64>());
    while start < end && !fits(len - (start - from), left) {
        sum += size_of(tail - 1);
        if !fits(from + len - tail + 1, sum) {
            return tail.min(end);
        }
        tail -= 1;
        left -= size_of(start);
        start += 1;
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
