//! Decides whether a layer is due before a request.

use super::ReplaySetup;
use crate::engine::layer::When;
use crate::transcript::conversation::{BlockKind, Conversation, MINUTE};

/// The moment before a request, as one layer sees it.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub call: usize,
    /// Number of the turn, from 1.
    pub turn: usize,
    /// The user typed text for this call.
    pub typed: bool,
    /// Tokens of the requests since the layer last edited the context.
    pub sent: u64,
}

/// Returns whether a layer is due before a request. Returns an error if the recording has no timestamps to decide it.
pub fn is_due(setup: &ReplaySetup, when: &When, moment: Moment) -> Result<bool, &'static str> {
    let Moment { call, turn, typed, sent } = moment;
    let are_due =
        |conditions: &[When], decisive: bool| join(conditions.iter().map(|condition| is_due(setup, condition, moment)), decisive);
    match when {
        When::Always => Ok(true),
        When::UserTurn => Ok(typed),
        // At the end of a turn it ran before the new messages entered.
        When::AfterResponse => Ok(!ends_turn(setup.conversation, call)),
        When::Calls(n) => Ok(call > 0 && call.is_multiple_of(*n)),
        When::Turns(n) => Ok(typed && turn > 1 && (turn - 1).is_multiple_of(*n)),
        When::IdleMinutes(minutes) if call > 0 => Ok(idle_minutes(setup, call)? >= *minutes),
        When::IdleMinutes(_) => Ok(false),
        When::Sent(tokens) => Ok(sent >= tokens.resolve(setup.limits())),
        When::Any(conditions) => are_due(conditions, true),
        When::All(conditions) => are_due(conditions, false),
        // These run at other moments.
        When::Entry | When::TurnEnd | When::Overflow | When::Tool(_) | When::ToolUse(_) | When::Before(_) | When::After(_) => {
            Ok(false)
        }
    }
}

/// Returns `decisive` if one answer is that; otherwise the first error, or if there is none, the opposite.
fn join(answers: impl Iterator<Item = Result<bool, &'static str>>, decisive: bool) -> Result<bool, &'static str> {
    let mut joined = Ok(!decisive);
    for answer in answers {
        match answer {
            Ok(answer) if answer == decisive => return Ok(decisive),
            Ok(_) => {}
            Err(why) => joined = joined.and(Err(why)),
        }
    }
    joined
}

/// Returns whether the response before this call says something and calls no tool. One of only thinking ends nothing.
pub fn ends_turn(conversation: &Conversation, call: usize) -> bool {
    let Some(response) = conversation.response_before(call) else { return false };
    let kinds = || response.blocks.iter().map(|id| conversation.block(*id).kind);
    kinds().any(|kind| kind == BlockKind::Text) && !kinds().any(|kind| matches!(kind, BlockKind::ToolUse(_)))
}

/// Returns the minutes between the previous response and the request of a call.
fn idle_minutes(setup: &ReplaySetup, call: usize) -> Result<f64, &'static str> {
    let conversation = setup.conversation;
    match (conversation.calls[call - 1].time, conversation.requested_at(call)) {
        (Some(before), Some(now)) => Ok((now - before) as f64 / MINUTE as f64),
        _ => Err("the recording has no timestamps"),
    }
}
