//! Tracks what summaries and drops left of what users typed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

use aho_corasick::AhoCorasick;

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::Request;
use crate::facts::extract::{self, FactKind, rule};
use crate::facts::references::Rule;
use crate::findings::timeline::ReplayView;
use crate::findings::timeline::visible::{Form, VisibleBlocks};
use crate::transcript::conversation::{BlockId, BlockKind, Origin};
use crate::util::text;

/// A message counts as shortened if the request still has this many characters of its beginning.
const BEGINNING: usize = 60;

/// How much of a typed message a request still has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Survival {
    Absent,
    /// Its beginning is there, or a part of it.
    Shortened,
    /// Word for word in a text that a compaction wrote.
    InSummary,
    Verbatim,
}

/// A message that a person typed.
pub struct TypedMessage {
    /// Index of the message in the conversation.
    message: usize,
    pub line: u32,
    blocks: Vec<BlockId>,
    /// The typed text, with its original line ends.
    pub text: String,
}

/// A summary or a drop that left less of some typed messages.
pub struct Cut<'a> {
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
    /// Rules typed by a user that were visible before and are gone now.
    pub rules_gone: Vec<&'a Rule>,
    /// Lines with a rule, a path or a number in the messages of `fewer`.
    pub lines: usize,
    /// Those of `lines` that are nowhere in the request.
    pub lines_gone: usize,
}

/// Returns the typed messages of the conversation, in order.
pub fn typed_messages(replay: &ReplayView) -> Vec<TypedMessage> {
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

/// Returns every summary or drop that left less of the typed messages.
pub fn cuts<'a>(replay: &ReplayView<'a>, typed: &[TypedMessage]) -> Vec<Cut<'a>> {
    let mut tracker = UserTextTracker {
        replay,
        typed,
        visible: VisibleBlocks::new(replay),
        survival: Vec::new(),
        present: Vec::new(),
        rules: user_rules(replay),
        known_rules: 0,
        visible_rules: Vec::new(),
    };
    replay.journal.requests.iter().filter_map(|request| tracker.advance(request)).collect()
}

/// A rule that a user typed.
struct UserRule<'a> {
    rule: &'a Rule,
    sources: &'a [BlockId],
}

fn user_rules<'a>(replay: &ReplayView<'a>) -> Vec<UserRule<'a>> {
    let references = replay.references;
    // Rules have the ids after those of the facts.
    let rules = references.rules.iter().zip(references.facts.len() as u32..);
    let rules = rules.map(|(rule, id)| UserRule { rule, sources: references.sources(id) });
    rules.filter(|rule| rule.sources.iter().any(|id| replay.block(*id).origin == Origin::User)).collect()
}

struct UserTextTracker<'a, 'r> {
    replay: &'r ReplayView<'a>,
    typed: &'r [TypedMessage],
    visible: VisibleBlocks<'a>,
    /// How much is left of each typed message that has entered.
    survival: Vec<Survival>,
    /// Indices of the typed messages that are visible, whole or in part.
    present: Vec<usize>,
    rules: Vec<UserRule<'a>>,
    /// Number of rules that have entered, and the indices of those that are visible.
    known_rules: usize,
    visible_rules: Vec<usize>,
}

impl<'a> UserTextTracker<'a, '_> {
    /// Advances to the next request, and returns the cut before it, if there is one.
    fn advance(&mut self, request: &Request) -> Option<Cut<'a>> {
        let (removed, _) = self.visible.advance(request);
        let response = self.replay.conversation.calls[request.call].response;
        while self.typed.get(self.survival.len()).is_some_and(|typed| typed.message < response) {
            self.present.push(self.survival.len());
            self.survival.push(Survival::Verbatim);
        }
        let entered = self.survival.len();
        while self.rules.get(self.known_rules).is_some_and(|user_rule| user_rule.rule.from as usize <= request.call) {
            self.visible_rules.push(self.known_rules);
            self.known_rules += 1;
        }
        let layer = last_cutting_layer(request)?;
        // No block that could hold a user's words was removed.
        if entered == 0 || !removed.iter().chain(self.removed_by_cuts(request)).any(|id| self.may_hold_user_text(*id)) {
            return None;
        }
        let texts = InsertedTexts::collect(self.replay, &self.visible);
        let needles: Vec<Needle> = self.present.iter().map(|at| Needle::new(&self.typed[*at].text)).collect();
        let found = texts.find(needles.iter().map(|needle| needle.text.as_str()));
        let before = self.present.len();
        let mut fewer = Vec::new();
        for (at, needle) in self.present.iter().copied().zip(&needles) {
            let (typed, current) = (&self.typed[at], &mut self.survival[at]);
            let now = survival(typed, &self.visible, needle, &found);
            // A layer rewrote the block in its place: that is not a summary and not a drop.
            let in_place = typed.blocks.iter().any(|id| matches!(self.visible.form(*id), Form::Written(_)));
            let was = std::mem::replace(current, now);
            if now < was && !in_place {
                fewer.push((at, now));
            }
        }
        self.present.retain(|at| self.survival[*at] > Survival::Absent);
        let rules: Vec<String> = self.visible_rules.iter().map(|at| normalise_spaces(&self.rules[*at].rule.text)).collect();
        let found_rules = texts.find(rules.iter().map(String::as_str));
        let mut rules = rules.iter();
        let is_gone = |at: &mut usize| {
            let sources = self.rules[*at].sources;
            let is_written = rules.next().is_some_and(|rule| found_rules.has_words(rule));
            sources.iter().all(|id| self.visible.form(*id) == Form::Gone) && !is_written
        };
        let rules_gone: Vec<&Rule> = self.visible_rules.extract_if(.., is_gone).map(|at| self.rules[at].rule).collect();
        if fewer.is_empty() && rules_gone.is_empty() {
            return None;
        }
        let lines: Vec<String> =
            fewer.iter().flat_map(|(at, _)| important_lines(&self.typed[*at].text)).map(normalise_spaces).collect();
        let found_lines = texts.find(lines.iter().map(String::as_str));
        let lines_gone = lines.iter().filter(|line| !found_lines.has_words(line)).count();
        let newest_verbatim = self.survival.iter().rposition(|survival| *survival == Survival::Verbatim);
        let newest = entered - 1;
        Some(Cut {
            call: request.call,
            layer,
            before,
            fewer,
            newest,
            newest_verbatim,
            rules_gone,
            lines: lines.len(),
            lines_gone,
        })
    }

    /// Returns the blocks that summaries and drops removed before this request, also those that no request had.
    fn removed_by_cuts<'r>(&self, request: &'r Request) -> impl Iterator<Item = &'r BlockId> {
        request.edits().filter(|change| is_cut(change.kind)).flat_map(|change| &change.removed)
    }

    fn may_hold_user_text(&self, id: BlockId) -> bool {
        let block = self.replay.block(id);
        block.kind == BlockKind::Text && matches!(block.origin, Origin::User | Origin::Compaction)
    }
}

fn is_cut(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Replace | ChangeKind::Drop)
}

/// Returns the layer that summarised last before a request, or else the one that dropped last.
fn last_cutting_layer(request: &Request) -> Option<usize> {
    let last = |kind: ChangeKind| {
        let of_layers = request.edits().filter(|change| change.kind == kind).filter_map(|change| match change.cause {
            Cause::Layer(layer) => Some(layer),
            Cause::Record => None,
        });
        of_layers.last()
    };
    last(ChangeKind::Replace).or_else(|| last(ChangeKind::Drop))
}

/// The texts that compactions inserted into a request, with normalised white space.
struct InsertedTexts {
    /// Texts with the origin of a user: Codex keeps the newest typed messages beside its summary.
    typed: Vec<String>,
    written: Vec<String>,
}

impl InsertedTexts {
    fn collect(replay: &ReplayView, visible: &VisibleBlocks) -> Self {
        let mut texts = Self { typed: Vec::new(), written: Vec::new() };
        for block in visible.inserted().map(|id| replay.block(id)) {
            let text = block.text();
            let list = if block.origin == Origin::User { &mut texts.typed } else { &mut texts.written };
            list.push(normalise_spaces(&text));
            // A summary may quote a message as JSON.
            if text.contains('\\') {
                list.push(normalise_spaces(&text.replace("\\n", "\n").replace("\\\"", "\"")));
            }
        }
        texts
    }

    /// Searches all these texts for some others, in one pass. White space of the others must be normalised.
    fn find<'n>(&self, needles: impl Iterator<Item = &'n str>) -> Found<'n> {
        // Beginnings are searched and the rest is compared, because pasted texts may be very long.
        let mut by_beginning: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for needle in needles {
            by_beginning.entry(text::head(needle, BEGINNING)).or_default().insert(needle);
        }
        let (beginnings, needles): (Vec<&str>, Vec<BTreeSet<&str>>) = by_beginning.into_iter().unzip();
        let mut found = Found::default();
        // An automaton can only be too large for millions of texts; then nothing counts as repeated.
        let Ok(matcher) = AhoCorasick::new(&beginnings) else { return found };
        for (text, is_typed) in self.typed.iter().map(|text| (text, true)).chain(self.written.iter().map(|text| (text, false))) {
            for found_at in matcher.find_overlapping_iter(text.as_str()) {
                let beginning = found_at.pattern().as_usize();
                found.beginnings.insert(beginnings[beginning]);
                let rest = &text[found_at.start()..];
                for needle in needles[beginning].iter().filter(|needle| rest.starts_with(**needle)) {
                    if is_separate(text, found_at.start()..found_at.start() + needle.len()) {
                        if is_typed { &mut found.typed } else { &mut found.written }.insert(needle);
                    }
                }
            }
        }
        found
    }
}

/// The texts that were found in inserted texts.
#[derive(Default)]
struct Found<'n> {
    /// As whole words in texts with the origin of a user, and in others.
    typed: HashSet<&'n str>,
    written: HashSet<&'n str>,
    /// Beginnings in any of them, also as parts of words.
    beginnings: HashSet<&'n str>,
}

impl Found<'_> {
    fn has_words(&self, text: &str) -> bool {
        self.typed.contains(text) || self.written.contains(text)
    }
}

/// A typed text with normalised white space.
struct Needle {
    text: String,
}

impl Needle {
    fn new(text: &str) -> Self {
        Self { text: normalise_spaces(text) }
    }

    fn beginning(&self) -> &str {
        text::head(&self.text, BEGINNING)
    }
}

/// Whether a range of a text is whole words: in "yesterday", "yes" is not.
fn is_separate(text: &str, range: Range<usize>) -> bool {
    !text[..range.start].ends_with(char::is_alphanumeric) && !text[range.end..].starts_with(char::is_alphanumeric)
}

fn normalise_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn survival(typed: &TypedMessage, visible: &VisibleBlocks, needle: &Needle, found: &Found) -> Survival {
    let whole = typed.blocks.iter().filter(|id| visible.contains(**id)).count();
    let has_beginning = || needle.beginning().len() < needle.text.len() && found.beginnings.contains(needle.beginning());
    let is_partly_there = || whole > 0 || typed.blocks.iter().any(|id| visible.form(*id) != Form::Gone);
    if whole == typed.blocks.len() || found.typed.contains(needle.text.as_str()) {
        Survival::Verbatim
    } else if found.written.contains(needle.text.as_str()) {
        Survival::InSummary
    } else if is_partly_there() || has_beginning() {
        Survival::Shortened
    } else {
        Survival::Absent
    }
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
