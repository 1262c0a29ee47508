//! What folds and drops left of what users typed.

use crate::engine::context::{Cause, ChangeKind};
use crate::engine::journal::Request;
use crate::facts::extract::{self, FactKind, rule};
use crate::facts::references::Rule;
use crate::findings::timeline::ReplayView;
use crate::findings::timeline::visible::{Form, VisibleBlocks};
use crate::transcript::conversation::{BlockId, Kind, Origin};
use crate::util::text;

/// A longer text whose first so many characters stand in the request was shortened.
const BEGINNING: usize = 60;

/// How much of a typed message a request holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Survival {
    Absent,
    /// Its beginning stands there, or a part of it.
    Shortened,
    /// Word for word within what a compaction wrote.
    InSummary,
    Verbatim,
}

/// A message that a person typed.
pub struct Typed {
    /// Index in the conversation.
    message: usize,
    pub line: u32,
    blocks: Vec<BlockId>,
    /// Line ends as they were typed.
    pub text: String,
}

/// A fold or a drop after which less is left of some typed messages.
pub struct Cut<'a> {
    pub call: usize,
    pub layer: usize,
    /// Typed messages of which anything was in sight before.
    pub before: usize,
    /// Those of which less is left: index, and how much.
    pub fewer: Vec<(usize, Survival)>,
    /// The newest typed message, and the newest that is in sight word for word.
    pub newest: usize,
    pub newest_verbatim: Option<usize>,
    /// Rules typed by a user that were in sight before and are not now.
    pub rules_gone: Vec<&'a Rule>,
    /// Lines of the fewer messages that hold a rule, a path or a number; and those of them that are nowhere in sight.
    pub lines: usize,
    pub lines_gone: usize,
}

/// The typed messages of the conversation, in order.
pub fn typed(replay: &ReplayView) -> Vec<Typed> {
    let conversation = replay.conversation;
    let of = |(index, message): (usize, &crate::transcript::conversation::Message)| {
        let blocks: Vec<_> = message.blocks.iter().copied().filter(|id| conversation.block(*id).origin == Origin::User).collect();
        let texts: Vec<_> = blocks.iter().map(|id| conversation.block(*id).text().into_owned()).collect();
        let text = texts.join("\n");
        let line = blocks.first().map_or(message.line, |id| conversation.block(*id).line);
        (!text.trim().is_empty()).then_some(Typed { message: index, line, blocks, text })
    };
    conversation.messages.iter().enumerate().filter_map(of).collect()
}

/// Every fold or drop that left less of them.
pub fn cuts<'a>(replay: &ReplayView<'a>, typed: &[Typed]) -> Vec<Cut<'a>> {
    let mut follower =
        Follower { replay, typed, visible: VisibleBlocks::new(replay), left: Vec::new(), rules: rules(replay), known: 0 };
    replay.journal.requests.iter().filter_map(|request| follower.step(request)).collect()
}

/// A rule that a user typed.
struct Given<'a> {
    rule: &'a Rule,
    sources: &'a [BlockId],
    in_sight: bool,
}

fn rules<'a>(replay: &ReplayView<'a>) -> Vec<Given<'a>> {
    let references = replay.references;
    let given = references.rules.iter().zip(references.facts.len() as u32..);
    let given = given.map(|(rule, tracked)| Given { rule, sources: references.sources(tracked), in_sight: true });
    given.filter(|given| given.sources.iter().any(|id| replay.block(*id).origin == Origin::User)).collect()
}

struct Follower<'a, 'r> {
    replay: &'r ReplayView<'a>,
    typed: &'r [Typed],
    visible: VisibleBlocks<'a>,
    /// How much is left of each typed message that has entered.
    left: Vec<Survival>,
    rules: Vec<Given<'a>>,
    /// Rules given so far.
    known: usize,
}

impl<'a> Follower<'a, '_> {
    fn step(&mut self, request: &Request) -> Option<Cut<'a>> {
        let (gone, _) = self.visible.advance(request);
        let response = self.replay.conversation.calls[request.call].response;
        let entered = self.typed.iter().take_while(|typed| typed.message < response).count();
        self.left.resize(entered, Survival::Verbatim);
        self.known = self.rules.iter().take_while(|given| given.rule.from as usize <= request.call).count();
        let layer = cutter(request)?;
        // Nothing that held a user's words has left.
        if entered == 0 || !gone.iter().chain(self.added_and_gone(request)).any(|id| self.may_hold_words(*id)) {
            return None;
        }
        let texts = Texts::of(self.replay, &self.visible);
        let before = self.left.iter().filter(|left| **left > Survival::Absent).count();
        let mut fewer = Vec::new();
        for (at, (typed, left)) in
            self.typed.iter().zip(&mut self.left).enumerate().filter(|(_, (_, left))| **left > Survival::Absent)
        {
            let now = survival(typed, &self.visible, &texts);
            // Shortened where it stands: that was no fold and no drop.
            let in_place = typed.blocks.iter().any(|id| matches!(self.visible.form(*id), Form::Written(_)));
            let was = std::mem::replace(left, now);
            if now < was && !in_place {
                fewer.push((at, now));
            }
        }
        let mut rules_gone = Vec::new();
        for given in self.rules[..self.known].iter_mut().filter(|given| given.in_sight) {
            given.in_sight =
                given.sources.iter().any(|id| self.visible.form(*id) != Form::Gone) || texts.hold(given.rule.text.as_str());
            rules_gone.extend(Some(given.rule).filter(|_| !given.in_sight));
        }
        if fewer.is_empty() && rules_gone.is_empty() {
            return None;
        }
        let lines: Vec<_> = fewer.iter().flat_map(|(at, _)| telling_lines(&self.typed[*at].text)).collect();
        let lines_gone = lines.iter().filter(|line| !texts.hold(line)).count();
        let newest_verbatim = self.left.iter().rposition(|left| *left == Survival::Verbatim);
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

    /// Blocks that entered and left before the same request.
    fn added_and_gone<'r>(&self, request: &'r Request) -> impl Iterator<Item = &'r BlockId> {
        request.edits().filter(|change| takes(change.kind)).flat_map(|change| &change.removed)
    }

    fn may_hold_words(&self, id: BlockId) -> bool {
        let block = self.replay.block(id);
        block.kind == Kind::Text && matches!(block.origin, Origin::User | Origin::Compaction)
    }
}

fn takes(kind: ChangeKind) -> bool {
    matches!(kind, ChangeKind::Replace | ChangeKind::Drop)
}

/// The layer that folded last before a request, else the one that dropped last.
fn cutter(request: &Request) -> Option<usize> {
    let last = |kind: ChangeKind| {
        let of_layers = request.edits().filter(|change| change.kind == kind).filter_map(|change| match change.cause {
            Cause::Layer(layer) => Some(layer),
            Cause::Record => None,
        });
        of_layers.last()
    };
    last(ChangeKind::Replace).or_else(|| last(ChangeKind::Drop))
}

/// What compactions wrote into a request, its white space evened out.
struct Texts {
    /// As a user's words: Codex keeps the newest typed messages beside its summary.
    typed: Vec<String>,
    written: Vec<String>,
}

impl Texts {
    fn of(replay: &ReplayView, visible: &VisibleBlocks) -> Self {
        let mut texts = Self { typed: Vec::new(), written: Vec::new() };
        for block in visible.added().map(|id| replay.block(id)) {
            let text = block.text();
            let to = if block.origin == Origin::User { &mut texts.typed } else { &mut texts.written };
            to.push(even(&text));
            // A summary may be quoted as JSON.
            if text.contains('\\') {
                to.push(even(&text.replace("\\n", "\n").replace("\\\"", "\"")));
            }
        }
        texts
    }

    fn hold(&self, text: &str) -> bool {
        let text = even(text);
        [&self.typed, &self.written].into_iter().any(|texts| hold(texts, &text))
    }
}

/// Whether a text stands in one of these, no word cut: "yes" does not stand in "yesterday".
fn hold(texts: &[String], text: &str) -> bool {
    let apart = |held: &str, at: usize| {
        !held[..at].ends_with(char::is_alphanumeric) && !held[at + text.len()..].starts_with(char::is_alphanumeric)
    };
    texts.iter().any(|held| held.match_indices(text).any(|(at, _)| apart(held, at)))
}

fn even(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn survival(typed: &Typed, visible: &VisibleBlocks, texts: &Texts) -> Survival {
    let whole = typed.blocks.iter().filter(|id| visible.holds(**id)).count();
    let text = even(&typed.text);
    let begins = || {
        let beginning = text::head(&text, BEGINNING);
        beginning.len() < text.len() && texts.typed.iter().chain(&texts.written).any(|held| held.contains(beginning))
    };
    let is_partly_there = || whole > 0 || typed.blocks.iter().any(|id| visible.form(*id) != Form::Gone);
    if whole == typed.blocks.len() || hold(&texts.typed, &text) {
        Survival::Verbatim
    } else if hold(&texts.written, &text) {
        Survival::InSummary
    } else if is_partly_there() || begins() {
        Survival::Shortened
    } else {
        Survival::Absent
    }
}

/// The lines of a text that hold a rule, a path or a number.
fn telling_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| tells(line)).collect()
}

fn tells(line: &str) -> bool {
    let mut tells = rule::rules(line).next().is_some();
    extract::in_text(line, &mut |sighting| {
        tells |= matches!(sighting.kind, FactKind::Path | FactKind::File | FactKind::Url | FactKind::Number);
    });
    tells
}
