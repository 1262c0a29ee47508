//! Which layers are due before a request.

use super::Setup;
use crate::engine::layer::When;
use crate::transcript::conversation::MINUTE;

/// Whether a layer is due before the request of `call`, the `turn`-th turn's, which typed text entered for if `typed`. An
/// error where the record cannot tell.
pub fn due(setup: &Setup, when: &When, call: usize, turn: usize, typed: bool) -> Result<bool, &'static str> {
    match when {
        When::Always => Ok(true),
        When::UserTurn => Ok(typed),
        When::Calls(n) => Ok(call > 0 && call.is_multiple_of(*n)),
        When::Turns(n) => Ok(typed && turn > 1 && (turn - 1).is_multiple_of(*n)),
        When::IdleMinutes(minutes) if call > 0 => Ok(idle(setup, call)? >= *minutes),
        When::IdleMinutes(_) => Ok(false),
        // These run at other moments.
        When::Entry | When::Overflow | When::Tool(_) | When::Before(_) | When::After(_) => Ok(false),
    }
}

/// Minutes between the response before a call and what entered for it.
fn idle(setup: &Setup, call: usize) -> Result<f64, &'static str> {
    let conversation = setup.conversation;
    match (conversation.calls[call - 1].time, conversation.asked(call)) {
        (Some(before), Some(now)) => Ok((now - before) as f64 / MINUTE as f64),
        _ => Err("the record has no clock"),
    }
}
