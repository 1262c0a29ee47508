//! The rules that the user set, and the blocks that contain them.

use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::extract::rule;
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, Origin};

use super::steps::HistoryStep;
use super::{FactId, Rule};

#[derive(Default)]
pub(super) struct RuleIndex {
    pub rules: Vec<Rule>,
    pub by_block: FxHashMap<BlockId, Vec<FactId>>,
}

impl RuleIndex {
    pub fn new(conversation: &Conversation, steps: &[HistoryStep]) -> Self {
        let (mut rules, mut by_block) = (Vec::new(), FxHashMap::<BlockId, Vec<FactId>>::default());
        let mut known = FxHashMap::<String, FactId>::default();
        let mut in_blocks = FxHashSet::default();
        for step in steps {
            let HistoryStep::Enter(message, after) = step else { continue };
            for id in &message.blocks {
                let block = conversation.block(*id);
                let text = block.text();
                let may_set_rules =
                    block.origin == Origin::User || (block.origin == Origin::Injected && rule::is_rules_file(&text));
                if block.kind != BlockKind::Text || !may_set_rules {
                    continue;
                }
                for text in rule::rules(&text) {
                    let tracked = *known.entry(text.to_owned()).or_insert_with(|| {
                        rules.push(Rule { text: text.to_owned(), from: *after });
                        rules.len() as FactId - 1
                    });
                    if in_blocks.insert((*id, tracked)) {
                        by_block.entry(*id).or_default().push(tracked);
                    }
                }
            }
        }
        Self { rules, by_block }
    }

    /// Returns an automaton that finds all rules in one pass over a text; `None` if there are no rules, or too many.
    pub fn matcher(&self) -> Option<AhoCorasick> {
        let texts = || self.rules.iter().map(|rule| &rule.text);
        AhoCorasick::new(texts()).ok().filter(|_| !self.rules.is_empty())
    }
}
