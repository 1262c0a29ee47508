//! `too_early`: the conversation was summarised while most of the window was free.
//!
//! What it means: a summary was made of a request that filled less than a quarter of the context window. For the
//! recorded session it is a warning if the harness did it by itself, and a note if the user asked for it; for a policy
//! it is a note. Why it hurts: a summary loses what it leaves out and breaks the prompt cache, and nothing was gained
//! by it, because the next requests would have fit. What to change: a higher `threshold`, as a share of the window
//! ("0.8 * window"), so that it grows with the model's window; a `meter` that counts what the provider counts. Short
//! requests can still be cheaper: the cost of the policy says whether they are.
//!
//! There is one finding for each layer: at the earliest summary, with their number. Evidence: claude-code #36014 (at 17 %
//! of a window of a million tokens), #67259 (at 16 %).
//!
//! Precision: one of 122 recorded conversations has the warning: three automatic summaries, the earliest at 10 % of the
//! window. The window is that of the model, or of the option `--window`.

use std::collections::BTreeMap;

use crate::findings::Level;
use crate::findings::timeline::folds::folds;
use crate::findings::timeline::{Detection, ReplayView};

/// Share of the window under which a summary is early. We chose the number: no preset of the field acts under it by a share of the
/// window.
const EARLY: f64 = 0.25;

/// One summary.
struct Summarised {
    call: usize,
    /// Tokens of the request before it.
    tokens: u64,
    /// The harness decided it, not the user.
    by_itself: bool,
    line: Option<u32>,
}

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let mut by_layer: BTreeMap<usize, Vec<Summarised>> = BTreeMap::new();
    if replay.is_record() {
        by_layer.insert(0, recorded(replay));
    } else {
        for fold in folds(replay) {
            let tokens = fold.before + replay.journal.overhead;
            let summarised = Summarised { call: fold.call, tokens, by_itself: false, line: None };
            by_layer.entry(fold.layer).or_default().push(summarised);
        }
    }
    by_layer.iter().filter_map(|(layer, summarised)| of_layer(replay, *layer, summarised)).collect()
}

/// The compactions of the record, by the tokens that the harness wrote down, or by the usage of the call before.
fn recorded(replay: &ReplayView) -> Vec<Summarised> {
    let (conversation, calls) = (replay.conversation, &replay.conversation.calls);
    let folds = conversation.compactions.iter().filter(|compaction| !compaction.edit.messages().is_empty());
    let summarised = folds.filter_map(|compaction| {
        let call = calls.iter().position(|call| call.response >= compaction.message_index)?;
        let billed = || Some(calls[call.checked_sub(1)?].billed()?.request());
        let by_itself = compaction.trigger.as_deref() == Some("auto");
        Some(Summarised { call, tokens: compaction.tokens_before.or_else(billed)?, by_itself, line: Some(compaction.line) })
    });
    summarised.collect()
}

fn of_layer(replay: &ReplayView, layer: usize, summarised: &[Summarised]) -> Option<Detection> {
    let share = |one: &Summarised| one.tokens as f64 / replay.window.max(1) as f64;
    let early = || summarised.iter().filter(|one| share(one) < EARLY);
    let count = early().count();
    // The worst one is that which the harness decided by itself.
    let worst = early().min_by_key(|one| (!one.by_itself, one.tokens))?;
    let level = if worst.by_itself { Level::Warning } else { Level::Note };
    let number =
        if summarised.len() > 1 { format!("; {count} of {} summaries are early", summarised.len()) } else { String::new() };
    let message = format!(
        "{} summarises {} tokens, {:.0} % of the window of {}{number}",
        replay.who(layer),
        worst.tokens,
        share(worst) * 100.0,
        replay.window
    );
    let detection = Detection::at_call(replay, level, worst.call, message).at_line(worst.line).with("layer", replay.layer(layer));
    Some(
        detection
            .with("tokens", worst.tokens)
            .with("window", replay.window)
            .with("early", count)
            .with("summaries", summarised.len()),
    )
}
