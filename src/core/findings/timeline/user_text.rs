//! Tracks what summaries, drops and cuts left of what users typed.

mod inserted;
mod survival;

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::Request;
use crate::facts::extract::{self, FactKind, rule};
use crate::facts::references::Rule;
use crate::findings::timeline::ReplayView;
use crate::findings::timeline::visible::{Form, VisibleBlocks};
use crate::transcript::conversation::{BlockId, BlockKind, Origin};
use crate::util::search::quick_matcher;

use inserted::{InsertedTexts, normalise_spaces};
pub use survival::Survival;
use survival::SurvivalTracker;

/// A message that a person typed.
pub struct TypedMessage {
    /// Index of the message in the conversation.
    message: usize,
    pub line: u32,
    blocks: Vec<BlockId>,
    /// The typed text, with its original line ends.
    pub text: String,
}

/// A summary, a drop or a shortened text that left less of some typed messages.
pub struct Cut {
    pub call: usize,
    pub layer: usize,
    /// Number of typed messages that were visible before, whole or in part.
    pub before: usize,
    /// Index and survival of the messages with less left than before.
    pub fewer: Vec<(usize, Survival)>,
    /// Index of the newest typed message.
    pub newest: usize,
    /// Index of the newest typed message that is in the request word for word.
    pub newest_verbatim: Option<usize>,
    /// Instructions typed by a user that were visible before and are gone now.
    pub instructions_gone: Vec<String>,
    /// Lines with a rule, a path or a number in the messages of `fewer`.
    pub lines: usize,
    /// Those of `lines` that are nowhere in the request.
    pub lines_gone: usize,
}

/// The typed messages of a conversation, in order, and every summary or drop that left less of them.
pub struct UserText {
    pub typed: Vec<TypedMessage>,
    pub cuts: Vec<Cut>,
}

impl UserText {
    /// Follows the typed messages through all requests of a replay.
    pub fn new(replay: &ReplayView) -> Self {
        let typed = typed_messages(replay);
        let mut tracker = UserTextTracker::new(replay, &typed);
        let cuts = replay.journal.requests.iter().filter_map(|request| tracker.advance(request)).collect();
        Self { cuts, typed }
    }
}

fn typed_messages(replay: &ReplayView) -> Vec<TypedMessage> {
    let conversation = replay.conversation;
    let typed_message = |(index, message): (usize, &crate::transcript::conversation::Message)| {
        let blocks: Vec<_> = message.blocks.iter().copied().filter(|id| conversation.block(*id).origin == Origin::User).collect();
        let texts: Vec<_> = blocks.iter().map(|id| conversation.block(*id).text().into_owned()).collect();
        let text = texts.join("\n");
        let line = blocks.first().map_or(message.line, |id| conversation.block(*id).line);
        (!text.trim().is_empty()).then_some(TypedMessage { message: index, line, blocks, text })
    };
    conversation.messages.iter().enumerate().filter_map(typed_message).collect()
}

/// A rule that a user typed.
struct UserRule<'a> {
    rule: &'a Rule,
    sources: &'a [BlockId],
}

fn user_rules<'a>(replay: &ReplayView<'a>) -> Vec<UserRule<'a>> {
    let references = replay.references;
    // Rules have the ids after those of the facts.
    let id = |index: usize| (references.facts.len() + index) as u32;
    let rules =
        references.rules.iter().enumerate().map(|(index, rule)| UserRule { rule, sources: references.sources(id(index)) });
    rules.filter(|rule| rule.sources.iter().any(|id| replay.block(*id).origin == Origin::User)).collect()
}

/// Returns for each block the positions of the lists that contain it.
fn positions<'b>(lists: impl Iterator<Item = &'b [BlockId]>) -> FxHashMap<BlockId, Vec<usize>> {
    let mut positions: FxHashMap<BlockId, Vec<usize>> = FxHashMap::default();
    for (at, blocks) in lists.enumerate() {
        for block in blocks {
            positions.entry(*block).or_default().push(at);
        }
    }
    positions
}

struct UserTextTracker<'a, 'r> {
    replay: &'r ReplayView<'a>,
    typed: &'r [TypedMessage],
    visible: VisibleBlocks<'a>,
    messages: SurvivalTracker<'r>,
    rules: Vec<UserRule<'a>>,
    /// Number of rules that have entered.
    known_rules: usize,
    /// Whether each rule is gone, and the others whose sources may be gone.
    rule_is_gone: Vec<bool>,
    open_rules: BTreeSet<usize>,
    rules_of: FxHashMap<BlockId, Vec<usize>>,
}

impl<'a, 'r> UserTextTracker<'a, 'r> {
    fn new(replay: &'r ReplayView<'a>, typed: &'r [TypedMessage]) -> Self {
        let rules = user_rules(replay);
        Self {
            replay,
            typed,
            visible: VisibleBlocks::new(replay),
            messages: SurvivalTracker::new(typed),
            known_rules: 0,
            rule_is_gone: vec![false; rules.len()],
            open_rules: BTreeSet::new(),
            rules_of: positions(rules.iter().map(|rule| rule.sources)),
            rules,
        }
    }

    /// Advances to the next request, and returns the cut before it, if there is one.
    fn advance(&mut self, request: &Request) -> Option<Cut> {
        let (removed, added) = self.visible.advance(request);
        self.enter(request.call);
        self.open(&removed, &added);
        let layer = last_cutting_layer(request)?;
        let entered = self.messages.entered();
        // No block that could hold a user's words was removed.
        if entered == 0 || !removed.iter().chain(self.removed_by_cuts(request)).any(|id| self.may_hold_user_text(*id)) {
            return None;
        }
        let texts = InsertedTexts::collect(self.replay, &self.visible);
        let before = self.messages.present();
        let fewer = self.messages.look(&self.visible, &texts);
        let mut instructions_gone = self.look_at_rules(&texts);
        if fewer.is_empty() && instructions_gone.is_empty() {
            return None;
        }
        self.add_orders_gone(&fewer, &texts, &mut instructions_gone);
        let lines: Vec<String> =
            fewer.iter().flat_map(|(at, _)| important_lines(&self.typed[*at].text)).map(normalise_spaces).collect();
        let found_lines = texts.find(lines.iter().map(String::as_str));
        let lines_gone = lines.iter().filter(|line| !found_lines.has_words(line)).count();
        let (newest, newest_verbatim) = (entered - 1, self.messages.newest_verbatim());
        Some(Cut {
            call: request.call,
            layer,
            before,
            fewer,
            newest,
            newest_verbatim,
            instructions_gone,
            lines: lines.len(),
            lines_gone,
        })
    }

    /// Adds the messages and rules that are new in the request of a call.
    fn enter(&mut self, call: usize) {
        self.messages.enter(self.replay.conversation.calls[call].response);
        while self.rules.get(self.known_rules).is_some_and(|user_rule| user_rule.rule.from as usize <= call) {
            self.open_rules.insert(self.known_rules);
            self.known_rules += 1;
        }
    }

    /// Marks what the next cut looks at: the messages of blocks that entered or left the request, and the rules of those that left.
    fn open(&mut self, removed: &[BlockId], added: &[BlockId]) {
        let recorded = |id: &BlockId| self.replay.journal.recorded_block(self.replay.conversation, *id);
        removed.iter().chain(added).filter_map(recorded).for_each(|block| self.messages.open(block));
        for block in removed.iter().filter_map(recorded) {
            let rules = self.rules_of.get(&block).into_iter().flatten().copied();
            self.open_rules.extend(rules.filter(|at| *at < self.known_rules && !self.rule_is_gone[*at]));
        }
    }

    /// Adds the orders of these messages that are nowhere in the request any more.
    fn add_orders_gone(&self, fewer: &[(usize, Survival)], texts: &InsertedTexts, gone: &mut Vec<String>) {
        let mut known: FxHashSet<String> = gone.iter().cloned().collect();
        let typed = self.typed;
        let less = fewer.iter().filter(|(_, now)| *now < Survival::InSummary).map(|(at, _)| &typed[*at]);
        let orders: Vec<(&[BlockId], &str)> =
            less.flat_map(|typed| rule::orders(&typed.text).map(|order| (typed.blocks.as_slice(), order))).collect();
        let shown = self.shown_in_place(&orders);
        let hidden = orders.iter().enumerate().filter(|(at, _)| !shown.contains(at)).map(|(_, (_, order))| *order);
        let hidden: Vec<&str> = hidden.filter(|order| known.insert((*order).to_owned())).collect();
        let needles: Vec<String> = hidden.iter().map(|order| normalise_spaces(order)).collect();
        let found = texts.find(needles.iter().map(String::as_str));
        let hidden = hidden.into_iter().zip(&needles).filter(|(_, needle)| !found.has_words(needle));
        gone.extend(hidden.map(|(order, _)| order.to_owned()));
    }

    /// Returns the positions of the texts that a block of their own has in the request, whole or in what a layer wrote in its place.
    fn shown_in_place(&self, texts: &[(&[BlockId], &str)]) -> FxHashSet<usize> {
        let (mut shown, mut by_written) = (FxHashSet::default(), FxHashMap::<BlockId, Vec<usize>>::default());
        for (at, (blocks, _)) in texts.iter().enumerate() {
            for id in *blocks {
                match self.visible.form(*id) {
                    Form::Whole => _ = shown.insert(at),
                    Form::Written(written) => by_written.entry(written).or_default().push(at),
                    Form::Gone => {}
                }
            }
        }
        for (written, searched) in by_written {
            let Some(matcher) = quick_matcher(searched.iter().map(|at| texts[*at].1)) else { continue };
            let text = self.replay.block(written).text();
            shown.extend(matcher.find_overlapping_iter(&*text).map(|found| searched[found.pattern().as_usize()]));
        }
        shown
    }

    /// Returns the rules that are nowhere in the request any more.
    fn look_at_rules(&mut self, texts: &InsertedTexts) -> Vec<String> {
        let open: Vec<usize> = self.open_rules.iter().copied().collect();
        let looked_at: Vec<_> = open.iter().map(|at| (self.rules[*at].sources, self.rules[*at].rule.text.as_str())).collect();
        let shown = self.shown_in_place(&looked_at);
        for place in &shown {
            self.open_rules.remove(&open[*place]);
        }
        let without: Vec<usize> = self.open_rules.iter().copied().collect();
        let needles: Vec<String> = without.iter().map(|at| normalise_spaces(&self.rules[*at].rule.text)).collect();
        let found = texts.find(needles.iter().map(String::as_str));
        let gone = without.into_iter().zip(&needles).filter(|(_, rule)| !found.has_words(rule)).map(|(at, _)| at);
        let gone: Vec<usize> = gone.collect();
        for at in &gone {
            self.rule_is_gone[*at] = true;
            self.open_rules.remove(at);
        }
        gone.into_iter().map(|at| self.rules[at].rule.text.clone()).collect()
    }

    /// Returns the blocks that summaries, drops and cuts removed before this request, also those that no request had.
    fn removed_by_cuts<'q>(&self, request: &'q Request) -> impl Iterator<Item = &'q BlockId> {
        request.edits().filter(|change| is_cut(change.kind)).flat_map(|change| &change.removed)
    }

    fn may_hold_user_text(&self, id: BlockId) -> bool {
        let block = self.replay.block(id);
        block.kind == BlockKind::Text && matches!(block.origin, Origin::User | Origin::Compaction)
    }
}

fn is_cut(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Replace | ChangeKind::Drop | ChangeKind::Rewrite)
}

/// Returns the layer that summarised last before a request, or else the one that dropped last, or else the one that rewrote last.
fn last_cutting_layer(request: &Request) -> Option<usize> {
    let last = |kind: ChangeKind| {
        let of_layers = request.edits().filter(|change| change.kind == kind).filter_map(|change| match change.cause {
            Cause::Layer(layer) => Some(layer),
            Cause::Record => None,
        });
        of_layers.last()
    };
    last(ChangeKind::Replace).or_else(|| last(ChangeKind::Drop)).or_else(|| last(ChangeKind::Rewrite))
}

/// Returns the lines of a text that contain a rule, a path or a number.
fn important_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| is_important(line)).collect()
}

fn is_important(line: &str) -> bool {
    let mut is_important = rule::rules(line).next().is_some();
    extract::in_text(line, &mut |fact_match| {
        is_important |= matches!(fact_match.kind, FactKind::Path | FactKind::File | FactKind::Url | FactKind::Number);
    });
    is_important
}
