//! Writes the findings of a replay, one line each, for the cases.

use recompact::engine::replay::NoObserver;
use recompact::findings::{Finding, ReplayView, detect};
use recompact::metrics::retention::evaluate;
use recompact::tokens::block_sizes::BlockSizes;
use recompact::transcript::conversation::{BlockId, Conversation};

use crate::support::trial::Trial;

/// Returns the findings of one kind, one per line: `error, call 2, line 3: what`. Lines are those of the conversation's blocks.
pub fn of(conversation: &Conversation, trial: &Trial, id: &str) -> String {
    let found = all(conversation, trial).into_iter().filter(|finding| finding.id == id);
    let line = |finding: Finding| {
        let call = finding.call.map_or(String::new(), |call| format!(", call {call}"));
        let line = finding.line.map_or(String::new(), |line| format!(", line {line}"));
        format!("{}{call}{line}: {}\n", finding.level.name(), finding.message)
    };
    let page: String = found.map(line).collect();
    if page.is_empty() { "nothing\n".to_owned() } else { page }
}

/// Returns all findings, with tokens by the trial's counter and without prices.
pub fn all(conversation: &Conversation, trial: &Trial) -> Vec<Finding> {
    let journal = trial.replay(conversation, &mut NoObserver);
    let sizes = BlockSizes::new(conversation, [trial.counter.unit]);
    let counted = |block: BlockId| trial.counter.apply(sizes.size(block, trial.counter.unit));
    let references = recompact::facts::references::References::new(conversation, counted);
    let kept = evaluate(conversation, &references, &journal, &counted);
    let written = |block: BlockId| match block.index() < conversation.blocks.len() {
        true => counted(block),
        false => trial.counter.apply(trial.counter.unit.block(journal.block(conversation, block), false)),
    };
    let replay = ReplayView {
        conversation,
        policy: &trial.policy,
        journal: &journal,
        references: &references,
        retention: &kept,
        cost: None,
        window: trial.window,
        tokens: &written,
        user_text: &Default::default(),
    };
    detect("case", &replay)
}
