//! `fold_input_overflow`: the summarizer's own call does not fit the window.
//!
//! What it means: its input, its prompt and the most its answer may take are together more than the window; where the call
//! continues the conversation (`rides_prefix`), system prompt and tools count, too. Why it hurts: the API refuses the very call
//! that should have mended the context. A retry with less begins without the oldest messages, so the task is what goes first;
//! without one nothing is summarised, the context grows on, and the agent stands still. What to change: a lower `threshold`, so
//! that the room left is more than the growth of one call; `input_chars`, or a `truncate` or `persist` layer before it;
//! `max_retries` with a `shrink`. Evidence: claude-code #23047, #13889, #14274, codex #29319, #8632, gemini-cli #7784, #14766,
//! goose #8642, cline #8315.
//!
//! An error where nothing came of it, a warning where a retry did. A replay's own summarizer is asked with its prompt and the
//! system prompt left out of the count, so of a call that is over by no more than these the replay has a summary all the same. Of
//! the record it tells compactions whose context was larger than the window; calls that were answered with more show a larger
//! one.
//!
//! Precision: 3 opened (all that 100 recorded files gave under four presets), 3 right; one of them is over by less than its
//! prompt and system prompt.

use crate::engine::journal::Summary;
use crate::engine::layer::LayerSpec;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::util::text::plural;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return of_the_record(replay);
    }
    let mut runs: Vec<Run> = Vec::new();
    for attempts in replay.journal.summaries.chunk_by(|one, next| (one.call, one.layer) == (next.call, next.layer)) {
        let Some(run) = over(replay, attempts) else {
            runs.iter_mut().filter(|run| run.layer == attempts[0].layer).for_each(|run| run.goes_on = false);
            continue;
        };
        match runs.iter_mut().find(|earlier| earlier.goes_on && earlier.layer == run.layer && run.end == End::Nothing) {
            Some(earlier) => {
                earlier.folds += 1;
                earlier.last = run.first;
            }
            None => runs.push(run),
        }
    }
    runs.iter().map(|run| run.found(replay)).collect()
}

/// What became of a call that does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Nothing,
    /// A later attempt with so many tokens of input.
    Mended(u64),
    /// The replay does not count the prompt, and has an answer.
    Answered,
}

/// Calls of one layer's summarizer that do not fit, one after another.
struct Run {
    layer: usize,
    first: usize,
    last: usize,
    folds: usize,
    input: u64,
    /// The prompt, and the system prompt where it is sent.
    prompt: u64,
    answer: u64,
    retries: usize,
    end: End,
    goes_on: bool,
}

/// The attempts of one layer at one call, if the first of them that matters does not fit.
fn over(replay: &ReplayView, attempts: &[Summary]) -> Option<Run> {
    let rides = replay.policy.layers[attempts[0].layer].reuses_prefix_cache();
    let prompt = |one: &Summary| one.attempt.prompt + if rides { replay.journal.overhead } else { 0 };
    let fits = |one: &&Summary| one.attempt.tokens_in + prompt(one) + one.attempt.max_tokens <= replay.window;
    let at = attempts.iter().position(|one| !fits(&one))?;
    let (one, later) = (&attempts[at], &attempts[at + 1..]);
    let mended = later.iter().find(|later| !later.attempt.failed);
    let end = match mended {
        _ if !one.attempt.failed => End::Answered,
        Some(later) => End::Mended(later.attempt.tokens_in),
        None => End::Nothing,
    };
    Some(Run {
        layer: one.layer,
        first: one.call,
        last: one.call,
        folds: 1,
        input: one.attempt.tokens_in,
        prompt: prompt(one),
        answer: one.attempt.max_tokens,
        retries: later.len(),
        end,
        goes_on: end == End::Nothing,
    })
}

impl Run {
    fn found(&self, replay: &ReplayView) -> Detection {
        let Self { input, prompt, answer, retries, .. } = *self;
        let needed = input + prompt + answer;
        let end = match self.end {
            End::Mended(tokens) => format!("a retry with {tokens} of input mended it"),
            End::Nothing if retries > 0 => format!("{} with less did not mend it", plural(retries, "attempt")),
            End::Nothing => "nothing was summarised".to_owned(),
            End::Answered => "the replay counts no prompt and has an answer".to_owned(),
        };
        let what = if replay.policy.layers[self.layer].reuses_prefix_cache() { "prompt and system prompt" } else { "prompt" };
        let again = match self.folds {
            1 => String::new(),
            folds => format!("; so {folds} times in a row, up to call {}", self.last + 1),
        };
        let message = format!(
            "{}'s own call needs {needed} tokens ({input} of input, {prompt} of {what}, {answer} for the answer) and the window has \
             {}: {end}{again}",
            replay.layer(self.layer),
            replay.window
        );
        let level = if self.end == End::Nothing { Level::Error } else { Level::Warning };
        let found = Detection::at_call(replay, level, self.first, message).with("layer", replay.layer(self.layer));
        let found = found.with("tokens_in", input).with("prompt_tokens", prompt).with("max_tokens", answer);
        found
            .with("window", replay.window)
            .with("retries", retries)
            .with("mended", self.end != End::Nothing)
            .with("folds", self.folds)
    }
}

/// Compactions that were made of more than the window holds.
fn of_the_record(replay: &ReplayView) -> Vec<Detection> {
    let conversation = replay.conversation;
    let answered = conversation.calls.iter().filter_map(|call| Some(call.billed()?.request())).max().unwrap_or_default();
    let window = replay.window.max(answered);
    let made =
        replay.journal.recorded.iter().filter(|made| matches!(replay.policy.layers[made.layer].spec, LayerSpec::Recorded(_)));
    let found = made.filter_map(|made| {
        let compaction = &conversation.compactions[made.restored.compaction];
        let tokens = compaction.tokens_before.filter(|tokens| *tokens > window)?;
        let message = format!("a compaction was made of {tokens} tokens, and the window has {window}: its own call did not fit");
        let found = Detection::at_call(replay, Level::Error, made.call, message).at_line(Some(compaction.line));
        Some(found.with("tokens_in", tokens).with("window", window))
    });
    found.collect()
}
