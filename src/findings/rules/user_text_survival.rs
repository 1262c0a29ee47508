//! `user_text_survival`: a fold or a drop left less of what users typed.
//!
//! What it means: messages that a person typed stood in the request, and now only a part of them does, or nothing. It is a
//! warning where a rule is gone with them: a sentence that says never, must, do not, always, only. Why it hurts: what a user
//! asked for cannot be read again from any file; an agent that has lost a rule breaks it, and the user has to say it once more.
//! What to change: keep typed messages word for word (`keep = "entered"`, `keep_first`, `{request}` in `template`), and tell the
//! summarizer to repeat them. Evidence: claude-code #19471, #6354 and #9796 (instructions are gone after compacting), opencode
//! #16960, langchain #33856, copilot-cli #2895.
//!
//! A message is there word for word if its block is, or if what a compaction wrote contains its text, white space aside; it is
//! shortened if only its first 60 characters do. A rule is gone if nothing in the request that was typed or written by a
//! compaction says it. One finding for a fold or drop that left less.
//!
//! Precision: 116 findings in three recorded sessions were held against the typed messages and the requests: 112 of 116 name no
//! more messages as lost than were; the four others count a "yes" that only other texts hold, or a message that a summary quotes
//! as JSON. Of five rules said to be gone three are rules; two are questions or remarks with "only" or "should".

use crate::findings::Level;
use crate::findings::timeline::user_text::{Cut, Survival, cuts, typed};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::util::text::plural;

/// How many rules are named.
const NAMED: usize = 2;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    cuts(replay, &typed(replay)).iter().filter_map(|cut| told(replay, cut)).collect()
}

fn told(replay: &ReplayView, cut: &Cut) -> Option<Detection> {
    let of = |survival: Survival| cut.fewer.iter().filter(|(_, now)| *now == survival).count();
    let (absent, shortened, in_summary) = (of(Survival::Absent), of(Survival::Shortened), of(Survival::InSummary));
    let gone = cut.rules_gone.len();
    if absent + shortened + gone == 0 {
        return None;
    }
    let untouched = cut.before - cut.fewer.len();
    let named = cut.rules_gone.iter().take(NAMED).map(|rule| message_text::quoted(&rule.text)).collect::<Vec<_>>();
    let rules = if gone == 0 { String::new() } else { format!("; {} gone: {}", plural(gone, "rule"), named.join(", ")) };
    let lines = match cut.lines {
        0 => String::new(),
        lines => format!("; of their {} with rules, paths or numbers {} gone", plural(lines, "line"), cut.lines_gone),
    };
    let message = format!(
        "{} left {untouched} of {} untouched; repeated in what it wrote: {in_summary}, only begun there: {shortened}, nowhere: \
         {absent}{lines}{rules}",
        replay.who(cut.layer),
        plural(cut.before, "typed message"),
    );
    let level = if gone > 0 { Level::Warning } else { Level::Note };
    let found = Detection::at_call(replay, level, cut.call, message).with("layer", replay.layer(cut.layer));
    let found = found.with("before", cut.before).with("untouched", untouched).with("in_summary", in_summary);
    let found = found.with("shortened", shortened).with("absent", absent);
    Some(found.with("lines", cut.lines).with("lines_gone", cut.lines_gone).with("rules_gone", gone).with("rules", named))
}
