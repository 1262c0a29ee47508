//! Writes the outcome of each use of an earlier fact, one line per use, for the cases.

use recompact::engine::journal::Journal;
use recompact::engine::replay::{NoObserver, Observer};
use recompact::facts::references::{Provenance, References, Use};
use recompact::metrics::retention::{GENERATIONS, Retention, Summarised, UseOutcome, evaluate};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::Meter;
use recompact::transcript::conversation::{BlockId, BlockKind, Conversation};

use crate::support::notation::shown;
use crate::support::trial::Trial;

pub fn of(conversation: &Conversation, trial: &Trial) -> String {
    let (references, kept) = looked_up(conversation, trial);
    let mut page = String::new();
    for (used, outcome) in references.uses.iter().zip(&kept.outcomes) {
        let missed = kept.missed.iter().find(|missed| missed.fact == used.fact).and_then(|missed| missed.lost);
        let by = match missed.filter(|_| *outcome == UseOutcome::Hard) {
            Some((layer, call)) => format!(", taken by {} before call {}", trial.policy.layers[layer].id, call + 1),
            None => String::new(),
        };
        page += &format!("{}: {}{by}\n", use_line(conversation, &references, used), name(*outcome));
    }
    for (name, share) in GENERATIONS.iter().zip(&kept.by_generation).skip(1).filter(|(_, share)| share.uses > 0) {
        page += &format!("summaries between: {name}, uses: {}\n", share.uses);
    }
    if kept.rules > 0 {
        page += &format!("rules: {} of {}\n", kept.rules_held, kept.rules);
    }
    let Summarised { rules, rules_held, .. } = kept.summarised;
    if rules > 0 {
        page += &format!("rules that went into summaries: {rules_held} of {rules}\n");
    }
    if kept.rules_cut > 0 {
        page += &format!("rules that were cut out of texts: {}\n", kept.rules_cut);
    }
    if kept.at_risk.uses > 0 && references.uses.iter().any(|used| used.refetch.is_some()) {
        page += &format!("at risk: {} of {} uses\n", kept.at_risk.uses, kept.all.uses);
    }
    let saved: u64 = kept.saved.iter().map(|saved| saved.tokens).sum();
    if saved > 0 {
        page += &format!("fetched again without need: {saved} characters\n");
    }
    if kept.reread_tokens() > 0 {
        page += &format!("to read again: {} characters\n", kept.reread_tokens());
    }
    page
}

/// Returns the uses of earlier facts in a conversation with their outcomes. Tokens are those of the trial's counter.
pub fn looked_up(conversation: &Conversation, trial: &Trial) -> (References, Retention) {
    let lookup = Lookup::new(conversation, trial.counter);
    let (_, kept) = lookup.replay(trial, &mut NoObserver);
    (lookup.references, kept)
}

/// The uses of earlier facts in a conversation, found once for all trials with the same counter.
pub struct Lookup<'c> {
    conversation: &'c Conversation,
    counter: Meter,
    sizes: BlockSizes,
    pub references: References,
}

impl<'c> Lookup<'c> {
    pub fn new(conversation: &'c Conversation, counter: Meter) -> Self {
        let sizes = BlockSizes::new(conversation, [counter.unit]);
        let references = References::new(conversation, |block| counter.apply(sizes.size(block, counter.unit)));
        Self { conversation, counter, sizes, references }
    }

    /// Replays a trial, and returns the outcomes of the uses.
    pub fn replay(&self, trial: &Trial, observer: &mut dyn Observer) -> (Journal, Retention) {
        assert_eq!(trial.counter, self.counter);
        let journal = trial.replay(self.conversation, observer);
        let tokens = |block: BlockId| self.counter.apply(self.sizes.size(block, self.counter.unit));
        let kept = evaluate(self.conversation, &self.references, &journal, &tokens);
        (journal, kept)
    }
}

fn use_line(conversation: &Conversation, references: &References, used: &Use) -> String {
    let (fact, origin) = (&references.facts[used.fact as usize], conversation.block(used.origin));
    let from = match origin.kind {
        BlockKind::ToolResult(pair) => format!("result#{}", conversation.pair(pair).id),
        _ => Provenance::of_block(origin).name().to_owned(),
    };
    let again = if used.refetch.is_some() { ", fetched again" } else { "" };
    format!("call {}, {} {}, {} calls back, from {from}{again}", used.call + 1, fact.kind.name(), shown(&fact.text), used.gap)
}

fn name(outcome: UseOutcome) -> &'static str {
    match outcome {
        UseOutcome::Hit { in_summary: false } => "hit",
        UseOutcome::Hit { in_summary: true } => "hit in a summary",
        UseOutcome::Soft { quoted: false } => "soft miss",
        UseOutcome::Soft { quoted: true } => "soft miss, quoted",
        UseOutcome::Reworded => "soft miss, in other words",
        UseOutcome::Stale => "stale",
        UseOutcome::Hard => "hard miss",
    }
}
