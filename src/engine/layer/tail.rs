//! Where the newest messages of a context begin, by turns, groups or size. `keep` and `summarize` share these counts.

use std::ops::Range;

use super::cut::continues_batch;
use crate::engine::context::Context;
use crate::tokens::meter::Meter;

/// Returns where the newest turns begin. Where results are apart, typed messages that follow each other begin one turn, and without an
/// older turn the answer is `None`; otherwise the first turn begins with the first typed message.
pub(super) fn turns_start(context: &Context, turns: usize) -> Option<usize> {
    let typed = context.typed();
    if context.unit().is_whole() {
        return typed.get(typed.len().saturating_sub(turns)).copied();
    }
    let follows_typed = |index: usize| index.checked_sub(1).is_some_and(|before| typed[before] + 1 == typed[index]);
    let mut starts = (0..typed.len()).rev().filter(|index| !follows_typed(*index));
    let start = starts.nth(turns.checked_sub(1)?)?;
    starts.next().map(|_| typed[start])
}

/// Returns where the newest groups begin: a group is a response with the results that answer it, or any other message. With fewer
/// groups, `None`.
pub(super) fn groups_start(context: &Context, groups: usize) -> Option<usize> {
    let Some(older) = groups.checked_sub(1) else { return Some(context.len()) };
    (0..context.len()).rev().filter(|at| *at == 0 || !continues_batch(context, *at)).nth(older)
}

/// Returns the first position, at or behind `from`, from which all messages together with those before `from` have at most this size
/// by the meter. The newest message stays, however large it is.
///
/// It looks at the messages in front of that position only: those which its caller removes, so that a replay looks at each once.
pub(super) fn tokens_start(context: &Context, meter: Meter, max_tokens: u64, from: usize) -> usize {
    let (mut left, mut sum) = (context.len(), context.sum(meter.unit));
    let mut start = from;
    while start + 1 < context.len() && meter.apply(meter.unit.list(left, sum)) > max_tokens {
        sum -= context.message_size(&context.messages()[start], meter.unit);
        (left, start) = (left - 1, start + 1);
    }
    start
}

/// Returns where the newest messages of a span begin that have at most this size by the meter, and their size in its unit.
pub(super) fn newest_within(context: &Context, meter: Meter, max_tokens: u64, span: Range<usize>) -> (usize, u64) {
    let (mut from, mut size) = (span.end, 0);
    while from > span.start {
        let with_next = size + context.message_size(&context.messages()[from - 1], meter.unit);
        if meter.apply(with_next) > max_tokens {
            break;
        }
        (from, size) = (from - 1, with_next);
    }
    (from, size)
}
