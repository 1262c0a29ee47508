//! What the growth of recorded requests says of the thinking of earlier turns, beside what the table of models says.

use std::collections::BTreeMap;

use recompact::transcript::conversation::Thinking;
use recompact::transcript::sent_thinking::Evidence;

use crate::support::transcripts::RECORDINGS;

/// The table was made from Anthropic's page, the requests were recorded by others: both may be wrong, and seldom in the same way.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn requests_of_claude_keep_thinking_as_the_table_says() {
    let mut by_model: BTreeMap<(&str, Thinking), Evidence> = BTreeMap::new();
    for conversation in RECORDINGS.iter().flat_map(|recorded| &recorded.reading.conversations) {
        let evidence = Evidence::of(conversation);
        let model = conversation.calls.iter().rev().find_map(|call| call.model.as_deref()).unwrap_or_default();
        let sum = by_model.entry((model, conversation.thinking)).or_default();
        (sum.stayed, sum.left) = (sum.stayed + evidence.stayed, sum.left + evidence.left);
    }
    let mut of_claude = [0, 0];
    for ((model, thinking), Evidence { stayed, left }) in
        by_model.iter().filter(|(_, evidence)| **evidence != Evidence::default())
    {
        println!("{model}: replayed as {thinking:?}; stayed in {stayed} turns, left in {left}");
        let agreeing = if *thinking == Thinking::All { stayed } else { left };
        if model.starts_with("claude-") {
            of_claude = [of_claude[0] + agreeing, of_claude[1] + stayed + left];
        }
    }
    let [agreeing, turns] = of_claude;
    assert!(turns >= 100 && agreeing * 20 >= turns * 19, "{agreeing} of {turns} turns");
}
