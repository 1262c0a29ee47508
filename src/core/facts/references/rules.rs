//! The instructions that the user set for a session, and the blocks that contain them: rules, the orders of the first message, which
//! is the task, and orders that a later message repeats.

use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::extract::rule;
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, Message, Origin};

use super::steps::HistoryStep;
use super::{FactId, Rule};

#[derive(Default)]
pub(super) struct RuleIndex {
    pub rules: Vec<Rule>,
    pub by_block: FxHashMap<BlockId, Vec<FactId>>,
    known: FxHashMap<String, FactId>,
    in_blocks: FxHashSet<(BlockId, FactId)>,
}

impl RuleIndex {
    pub fn new(conversation: &Conversation, steps: &[HistoryStep]) -> Self {
        let entered = || {
            steps.iter().filter_map(|step| match step {
                HistoryStep::Enter(message, after) => Some((*message, *after)),
                _ => None,
            })
        };
        let is_text = |id: &BlockId, origin| {
            let block = conversation.block(*id);
            block.kind == BlockKind::Text && block.origin == origin
        };
        let texts = |message: &Message| -> Vec<String> {
            let typed = message.blocks.iter().filter(|id| is_text(id, Origin::User));
            typed.map(|id| conversation.block(*id).text().into_owned()).collect()
        };
        let typed: Vec<Vec<String>> = entered().map(|(message, _)| texts(message)).filter(|texts| !texts.is_empty()).collect();
        let holding = holding_orders(&typed);
        let mut index = Self::default();
        for (message, after) in entered() {
            for id in &message.blocks {
                let text = || conversation.block(*id).text();
                if is_text(id, Origin::User) {
                    rule::rules(&text()).for_each(|rule| index.add(rule, after, *id));
                    rule::orders(&text()).filter(|order| holding.contains(*order)).for_each(|order| index.add(order, after, *id));
                } else if is_text(id, Origin::Injected) && rule::is_rules_file(&text()) {
                    rule::rules(&text()).for_each(|rule| index.add(rule, after, *id));
                }
            }
        }
        index.by_block.values_mut().for_each(|in_block| in_block.sort_unstable());
        index
    }

    /// Adds an instruction to a block. `after`: the first call whose request can contain it.
    fn add(&mut self, text: &str, after: u32, block: BlockId) {
        let tracked = *self.known.entry(text.to_owned()).or_insert_with(|| {
            self.rules.push(Rule { text: text.to_owned(), from: after });
            self.rules.len() as FactId - 1
        });
        if self.in_blocks.insert((block, tracked)) {
            self.by_block.entry(block).or_default().push(tracked);
        }
    }
}

/// Returns an automaton that finds all rules in one pass over a text; `None` if there are no rules, or too many.
pub(super) fn matcher(rules: &[Rule]) -> Option<AhoCorasick> {
    AhoCorasick::new(rules.iter().map(|rule| &rule.text)).ok().filter(|_| !rules.is_empty())
}

/// Returns the orders that hold longer than until they are done: those of the first typed message, and those of more messages than one.
fn holding_orders(typed: &[Vec<String>]) -> FxHashSet<&str> {
    let mut holding = FxHashSet::default();
    let mut given = FxHashMap::<&str, usize>::default();
    for (message, texts) in typed.iter().enumerate() {
        for order in texts.iter().flat_map(|text| rule::orders(text)) {
            if *given.entry(order).or_insert(message) != message || message == 0 {
                holding.insert(order);
            }
        }
    }
    holding
}
