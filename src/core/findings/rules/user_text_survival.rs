//! `user_text_survival`: a summary, a drop or a cut left less of what users typed.
//!
//! What it means: messages that a person typed were in the request, and now only a part of them is, or nothing. It is a
//! warning if an instruction is lost with them, in any language: a sentence that says what must or must not be, or, in a
//! message of at most 2,000 characters, any other that is neither a question nor a report. Why it hurts: what a
//! user asked for cannot be read again from any file. An agent that has lost a rule breaks it, and the user has to
//! repeat it. What to change: keep typed messages word for word (`keep = "entered"`, `keep_first`, `{request}` in
//! `messages.template`), cut no typed text (`parts`), and instruct the summarizer to repeat it. Evidence: claude-code #19471, #6354 and #9796 (instructions
//! are gone after compacting), opencode #16960, langchain #33856, copilot-cli #2895.
//!
//! A message is present word for word if its block is in the request, or if the text of a compaction contains it, apart
//! from white space. It is shortened if only a part of it is there: its first 60 characters, or what a layer left of its block. An
//! instruction is lost if no typed text and no text of a compaction in the request contains it. One finding covers the summaries, drops
//! and cuts before one call.
//!
//! Precision: we compared 116 findings in three recorded sessions with the typed messages and the requests: 112 of 116
//! name no more messages as lost than were. The four others count a "yes" that only other texts hold, or a message that
//! a summary quotes as JSON. Of 59 typed messages that it would call
//! instructions, 40 are; the others are reports, questions without a mark and pasted code (page `validation`).

use crate::findings::Level;
use crate::findings::timeline::user_text::{Cut, Survival};
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::util::text::plural;

/// Number of instructions that a message names.
const NAMED: usize = 2;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    replay.user_text().cuts.iter().filter_map(|cut| detection(replay, cut)).collect()
}

fn detection(replay: &ReplayView, cut: &Cut) -> Option<Detection> {
    let count = |survival: Survival| cut.fewer.iter().filter(|(_, now)| *now == survival).count();
    let (absent, shortened, in_summary) = (count(Survival::Absent), count(Survival::Shortened), count(Survival::InSummary));
    let instructions_gone = cut.instructions_gone.len();
    if absent + shortened + instructions_gone == 0 {
        return None;
    }
    let untouched = cut.before - cut.fewer.len();
    let named: Vec<_> = cut.instructions_gone.iter().take(NAMED).map(|text| message_text::quoted(text)).collect();
    let instructions = match instructions_gone {
        0 => String::new(),
        gone => format!("; lost {}: {}", plural(gone, "instruction"), named.join(", ")),
    };
    let lines = match cut.lines {
        0 => String::new(),
        lines => format!("; lost lines with rules, paths or numbers: {} of {lines}", cut.lines_gone),
    };
    let message = format!(
        "{} leaves {untouched} of {} unchanged; repeated in its text: {in_summary}, shortened: {shortened}, gone: \
         {absent}{lines}{instructions}",
        replay.who(cut.layer),
        plural(cut.before, "typed message"),
    );
    let level = if instructions_gone > 0 { Level::Warning } else { Level::Note };
    let detection = Detection::at_call(replay, level, cut.call, message).with("layer", replay.layer(cut.layer));
    let detection = detection.with("before", cut.before).with("untouched", untouched).with("in_summary", in_summary);
    let detection = detection.with("shortened", shortened).with("absent", absent).with("lines", cut.lines);
    Some(detection.with("lines_gone", cut.lines_gone).with("instructions_gone", instructions_gone).with("instructions", named))
}
