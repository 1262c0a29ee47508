//! `last_request_survival`: after a summary or a drop, the user's newest request is no longer in the context word for
//! word.
//!
//! What it means: the user's newest typed text was in the request, and is now shortened or gone. If an older request is
//! still there, it looks like the newest one: a stale goal. Why it hurts: the agent goes on with a task that is done,
//! or with a summarizer's idea of the present one. What to change: put the request beside the summary (`{request}` in
//! `messages.template`), keep the turn (`protect_turn = true`, `keep = "entered"`), and order what is kept newest last.
//! Evidence: codex #27731, #38931 and #43855 (a finished task is done again after compacting), claude-code #24792 and
//! #32776, browser-use PR #4403.
//!
//! A request that the summary repeats word for word still counts as present. The rule reports a request when it is
//! lost, not at each later request.
//!
//! Precision: we compared 14 findings in three recorded sessions with the requests: in 14 of 14 the user's request was
//! not there word for word. One of them was "yes", whose loss hurts less than the loss of the question it answers.

use crate::findings::Level;
use crate::findings::timeline::user_text::{Survival, TypedMessage, UserText};
use crate::findings::timeline::{Detection, ReplayView, message_text};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let UserText { typed, cuts } = replay.user_text();
    let lost = cuts.iter().filter_map(|cut| {
        let (newest, now) = *cut.fewer.last().filter(|(at, now)| *at == cut.newest && *now < Survival::InSummary)?;
        let request = &typed[newest];
        let stale: Option<&TypedMessage> = cut.newest_verbatim.map(|at| &typed[at]);
        let older = match stale {
            Some(older) => {
                let line = replay.conversation.line_label(older.line);
                format!(
                    "; the newest request still in the context is an older one: {} ({line})",
                    message_text::quoted(&older.text)
                )
            }
            None => "; no request is in the context word for word".to_owned(),
        };
        let message = format!(
            "{} {} the user's newest request {} ({}){older}",
            replay.who(cut.layer),
            if now == Survival::Absent { "removed" } else { "left only a part of" },
            message_text::quoted(&request.text),
            replay.conversation.line_label(request.line),
        );
        let detection =
            Detection::at_call(replay, Level::Warning, cut.call, message).at_line(Some(request.line).filter(|line| *line > 0));
        let detection = detection.with("layer", replay.layer(cut.layer)).with("absent", now == Survival::Absent);
        Some(match stale {
            Some(older) => detection.with("stale_line", replay.conversation.line_json(older.line)),
            None => detection,
        })
    });
    lost.collect()
}
