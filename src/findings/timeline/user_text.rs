//! Tracks what summaries and drops left of what users typed.

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
        rules: user_rules(replay),
        known_rules: 0,
    };
    replay.journal.requests.iter().filter_map(|request| tracker.advance(request)).collect()
}

/// A rule that a user typed.
struct UserRule<'a> {
    rule: &'a Rule,
    sources: &'a [BlockId],
    is_visible: bool,
}

fn user_rules<'a>(replay: &ReplayView<'a>) -> Vec<UserRule<'a>> {
    let references = replay.references;
    // Rules have the ids after those of the facts.
    let rules = references.rules.iter().zip(references.facts.len() as u32..);
    let rules = rules.map(|(rule, id)| UserRule { rule, sources: references.sources(id), is_visible: true });
    rules.filter(|rule| rule.sources.iter().any(|id| replay.block(*id).origin == Origin::User)).collect()
}

struct UserTextTracker<'a, 'r> {
    replay: &'r ReplayView<'a>,
    typed: &'r [TypedMessage],
    visible: VisibleBlocks<'a>,
    /// How much is left of each typed message that has entered.
    survival: Vec<Survival>,
    rules: Vec<UserRule<'a>>,
    /// Number of rules that have entered.
    known_rules: usize,
}

impl<'a> UserTextTracker<'a, '_> {
    /// Advances to the next request, and returns the cut before it, if there is one.
    fn advance(&mut self, request: &Request) -> Option<Cut<'a>> {
        let (removed, _) = self.visible.advance(request);
        let response = self.replay.conversation.calls[request.call].response;
        let entered = self.typed.iter().take_while(|typed| typed.message < response).count();
        self.survival.resize(entered, Survival::Verbatim);
        self.known_rules = self.rules.iter().take_while(|user_rule| user_rule.rule.from as usize <= request.call).count();
        let layer = last_cutting_layer(request)?;
        // No block that could hold a user's words was removed.
        if entered == 0 || !removed.iter().chain(self.removed_by_cuts(request)).any(|id| self.may_hold_user_text(*id)) {
            return None;
        }
        let texts = InsertedTexts::collect(self.replay, &self.visible);
        let before = self.survival.iter().filter(|survival| **survival > Survival::Absent).count();
        let mut fewer = Vec::new();
        for (at, (typed, current)) in
            self.typed.iter().zip(&mut self.survival).enumerate().filter(|(_, (_, current))| **current > Survival::Absent)
        {
            let now = survival(typed, &self.visible, &texts);
            // A layer rewrote the block in its place: that is not a summary and not a drop.
            let in_place = typed.blocks.iter().any(|id| matches!(self.visible.form(*id), Form::Written(_)));
            let was = std::mem::replace(current, now);
            if now < was && !in_place {
                fewer.push((at, now));
            }
        }
        let mut rules_gone = Vec::new();
        for user_rule in self.rules[..self.known_rules].iter_mut().filter(|user_rule| user_rule.is_visible) {
            user_rule.is_visible = user_rule.sources.iter().any(|id| self.visible.form(*id) != Form::Gone)
                || texts.contain(user_rule.rule.text.as_str());
            rules_gone.extend(Some(user_rule.rule).filter(|_| !user_rule.is_visible));
        }
        if fewer.is_empty() && rules_gone.is_empty() {
            return None;
        }
        let lines: Vec<_> = fewer.iter().flat_map(|(at, _)| important_lines(&self.typed[*at].text)).collect();
        let lines_gone = lines.iter().filter(|line| !texts.contain(line)).count();
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

    fn contain(&self, text: &str) -> bool {
        let text = normalise_spaces(text);
        [&self.typed, &self.written].into_iter().any(|texts| contain_words(texts, &text))
    }
}

/// Whether one of the texts contains a text as whole words: "yesterday" does not contain "yes".
fn contain_words(texts: &[String], words: &str) -> bool {
    let is_separate = |text: &str, at: usize| {
        !text[..at].ends_with(char::is_alphanumeric) && !text[at + words.len()..].starts_with(char::is_alphanumeric)
    };
    texts.iter().any(|text| text.match_indices(words).any(|(at, _)| is_separate(text, at)))
}

fn normalise_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn survival(typed: &TypedMessage, visible: &VisibleBlocks, texts: &InsertedTexts) -> Survival {
    let whole = typed.blocks.iter().filter(|id| visible.contains(**id)).count();
    let text = normalise_spaces(&typed.text);
    let has_beginning = || {
        let beginning = text::head(&text, BEGINNING);
        beginning.len() < text.len() && texts.typed.iter().chain(&texts.written).any(|text| text.contains(beginning))
    };
    let is_partly_there = || whole > 0 || typed.blocks.iter().any(|id| visible.form(*id) != Form::Gone);
    if whole == typed.blocks.len() || contain_words(&texts.typed, &text) {
        Survival::Verbatim
    } else if contain_words(&texts.written, &text) {
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
