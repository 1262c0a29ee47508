//! The rules that users gave, and the blocks that hold them.

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

use crate::facts::extract::rule;
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, Origin};

use super::steps::Step;
use super::{FactId, Rule};

#[derive(Default)]
pub(super) struct Rules {
    pub rules: Vec<Rule>,
    pub of_block: FxHashMap<BlockId, Vec<FactId>>,
}

impl Rules {
    pub fn new(conversation: &Conversation, steps: &[Step]) -> Self {
        let (mut rules, mut of_block) = (Vec::new(), FxHashMap::<BlockId, Vec<FactId>>::default());
        let mut known = FxHashMap::<String, FactId>::default();
        for step in steps {
            let Step::Enter(message, after) = step else { continue };
            for id in &message.blocks {
                let block = conversation.block(*id);
                let text = block.text();
                let gives_rules =
                    block.origin == Origin::User || (block.origin == Origin::Injected && rule::is_rules_file(&text));
                if block.kind != BlockKind::Text || !gives_rules {
                    continue;
                }
                for text in rule::rules(&text) {
                    let tracked = *known.entry(text.to_owned()).or_insert_with(|| {
                        rules.push(Rule { text: text.to_owned(), from: *after });
                        rules.len() as FactId - 1
                    });
                    let held = of_block.entry(*id).or_default();
                    if !held.contains(&tracked) {
                        held.push(tracked);
                    }
                }
            }
        }
        Self { rules, of_block }
    }

    /// Finds all rules in one pass over a text. `None` where there are none, or too many for an automaton.
    pub fn finder(&self) -> Option<AhoCorasick> {
        let texts = || self.rules.iter().map(|rule| &rule.text);
        AhoCorasick::new(texts()).ok().filter(|_| !self.rules.is_empty())
    }
}
