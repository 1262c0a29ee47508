//! `last_request_survival`: after a fold or a drop the newest request of the user is not in sight word for word.
//!
//! What it means: what the user typed last stood in the request, and is now shortened or gone. If an older request stands there,
//! it looks like the newest one: a stale goal. Why it hurts: the agent goes on with a task that is done, or with a summarizer's
//! idea of the present one. What to change: put the request beside the summary (`{request}` in `template`), keep the turn
//! (`protect_turn = true`, `keep = "entered"`), and order what is kept newest last. Evidence: codex #27731, #38931 and #43855 (a
//! finished task is done again after compacting), claude-code #24792 and #32776, browser-use PR #4403.
//!
//! A request that the summary repeats word for word is in sight. Reported where it is lost, not at each later request.
//!
//! Precision: 14 findings in three recorded sessions were held against the requests: in 14 of 14 the request was not there word
//! for word. One of them was "yes", whose loss hurts less than that of what it answers.

use crate::findings::Level;
use crate::findings::timeline::user_text::{Survival, Typed, cuts, typed};
use crate::findings::timeline::{Detection, ReplayView, message_text};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let typed = typed(replay);
    let lost = cuts(replay, &typed).into_iter().filter_map(|cut| {
        let (newest, now) = *cut.fewer.last().filter(|(at, now)| *at == cut.newest && *now < Survival::InSummary)?;
        let request = &typed[newest];
        let stale: Option<&Typed> = cut.newest_verbatim.map(|at| &typed[at]);
        let older = match stale {
            Some(older) => {
                let line = replay.conversation.line_named(older.line);
                format!("; the newest that stands there is an older one: {} ({line})", message_text::quoted(&older.text))
            }
            None => "; no request stands there word for word".to_owned(),
        };
        let message = format!(
            "{} {} the user's newest request {} ({}){older}",
            replay.who(cut.layer),
            if now == Survival::Absent { "took" } else { "left only a part of" },
            message_text::quoted(&request.text),
            replay.conversation.line_named(request.line),
        );
        let found =
            Detection::at_call(replay, Level::Warning, cut.call, message).at_line(Some(request.line).filter(|line| *line > 0));
        let found = found.with("layer", replay.layer(cut.layer)).with("absent", now == Survival::Absent);
        Some(stale.map_or(found.clone(), |older| found.with("stale_line", replay.conversation.line_value(older.line))))
    });
    lost.collect()
}
