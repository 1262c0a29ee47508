//! What a conversation lost when it was written in another form: the difference between it and what is read of that.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::transcript::conversation::{Block, BlockId, BlockKind, Call, Compaction, Conversation, Message, RecordedEdit, Role};
use crate::util::text::plural;

/// A kind of thing that a form cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lost {
    /// A block is not read again with the same role, kind and content: what the model saw would differ.
    Content,
    /// A recorded call is none, or a response that was no call is one.
    Call,
    /// The file is not recognised by its content, so that its format has to be named.
    Sign,
    System,
    Compaction,
    /// A result that is marked as failed by a field that was not sent, because the record says so by other means.
    Marked,
    /// Where one message ends and the next begins, or that a content is a bare string.
    Boundary,
    /// Fields of a block beside its content, such as `cache_control`.
    Field,
    /// A result that the record marks as failed, or does not, is read otherwise.
    ErrorFlag,
    Origin,
    /// The recorded size of a block without a text.
    Size,
    Time,
    Model,
    Usage,
    /// The provider's ids of responses and requests.
    Id,
    /// What else the provider billed for a call, and how it served it.
    Bill,
    Branch,
    /// How long thinking stays in requests.
    Thinking,
    Window,
    Project,
    /// The agent, its version, the session, and why it began.
    Identity,
}

impl Lost {
    /// Returns what is lost, by its number.
    fn phrase(self, count: usize) -> String {
        let of = |what: &str, noun: &str| format!("{what} of {}", plural(count, noun));
        match self {
            Self::Content => of("the exact content", "block"),
            Self::Call => plural(count, "recorded call"),
            Self::Sign => of("the sign of the format", "conversation") + " (read it with --format)",
            Self::System => plural(count, "system prompt"),
            Self::Compaction => plural(count, "recorded compaction"),
            Self::Marked => of("how the failure was said", "result"),
            Self::Boundary => of("the bounds", "message"),
            Self::Field => of("fields beside the content", "block"),
            Self::ErrorFlag => of("the mark as an error", "result"),
            Self::Origin => format!("who wrote {}", plural(count, "block")),
            Self::Size => of("the recorded size", "encrypted block"),
            Self::Time => of("the time", "message"),
            Self::Model => of("the model", "call"),
            Self::Usage => of("the usage", "call"),
            Self::Id => of("the provider's ids", "call"),
            Self::Bill => of("a part of the bill", "call"),
            Self::Branch => plural(count, "call") + " of other branches",
            Self::Thinking => of("how long thinking stays in requests", "conversation"),
            Self::Window => of("the context window", "conversation"),
            Self::Project => of("the working directory", "conversation"),
            Self::Identity => of("the agent and the session", "conversation"),
        }
    }
}

/// What was lost, with the number of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses(BTreeMap<Lost, usize>);

impl Losses {
    /// Compares a conversation with what was read of its other form; `None` if nothing was.
    pub(super) fn between(original: &Conversation, again: Option<&Conversation>) -> Self {
        let mut losses = Self::default();
        match again {
            Some(again) => losses.compare(original, again),
            None => {
                losses.add(Lost::Content, original.messages.iter().map(|message| message.blocks.len()).sum());
                losses.add(Lost::Compaction, original.compactions.len());
                losses.add(Lost::Branch, original.other_branches.len());
            }
        }
        losses
    }

    /// Returns how many of a kind were lost.
    pub fn count(&self, lost: Lost) -> usize {
        self.0.get(&lost).copied().unwrap_or(0)
    }

    /// Returns whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether a model would see something else in what was written.
    pub fn is_misread(&self) -> bool {
        self.count(Lost::Content) > 0
    }

    /// Adds the losses of another conversation.
    pub fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|(lost, count)| self.add(*lost, *count));
    }

    /// Returns what has no place in the form, a phrase for each kind. Compactions and marks of failures are something else.
    pub fn phrases(&self) -> Vec<String> {
        let others = self.0.iter().filter(|(lost, _)| !matches!(lost, Lost::Compaction | Lost::Marked));
        others.map(|(lost, count)| lost.phrase(*count)).collect()
    }

    pub(super) fn add(&mut self, lost: Lost, count: usize) {
        if count > 0 {
            *self.0.entry(lost).or_default() += count;
        }
    }

    fn add_if(&mut self, lost: Lost, differs: bool) {
        self.add(lost, usize::from(differs));
    }

    fn compare(&mut self, original: &Conversation, again: &Conversation) {
        let (old, new) = (Flat::of(original), Flat::of(again));
        for (at, (role, block)) in old.blocks.iter().enumerate() {
            match new.blocks.get(at) {
                Some((new_role, other)) if role == new_role && same_content((original, block), (again, other)) => {
                    let is_marked = block.says_failed && other.field("is_error").is_some();
                    self.add_if(Lost::Marked, is_marked);
                    self.add_if(Lost::Field, !is_marked && block.wire != other.wire);
                    self.add_if(Lost::ErrorFlag, block.is_error() != other.is_error());
                    self.add_if(Lost::Origin, block.origin != other.origin);
                    self.add_if(Lost::Size, block.recorded_tokens != other.recorded_tokens);
                }
                _ => self.add(Lost::Content, 1),
            }
        }
        self.add(Lost::Content, new.blocks.len().saturating_sub(old.blocks.len()));
        for (begin, message) in &old.messages {
            let other = new.messages.get(begin);
            let is_same = |other: &&Message| other.is_string_content == message.is_string_content;
            self.add_if(Lost::Boundary, !other.is_some_and(is_same));
            self.add_if(Lost::Time, message.time.is_some() && other.and_then(|other| other.time) != message.time);
        }
        self.add(Lost::Boundary, new.messages.keys().filter(|begin| !old.messages.contains_key(begin)).count());
        for (begin, call) in &old.calls {
            match new.calls.get(begin) {
                Some(other) => self.compare_calls(call, other),
                None => self.add(Lost::Call, 1),
            }
        }
        self.add(Lost::Call, new.calls.keys().filter(|begin| !old.calls.contains_key(begin)).count());
        for (at, compaction) in original.compactions.iter().enumerate() {
            let other = again.compactions.get(at);
            self.add_if(Lost::Compaction, !other.is_some_and(|other| same_compaction((original, compaction), (again, other))));
        }
        self.add_if(Lost::System, original.system != again.system);
        let others = original.other_branches.iter().enumerate();
        let lost = others.filter(|(at, call)| again.other_branches.get(*at) != Some(call));
        self.add(Lost::Branch, lost.count());
        self.add_if(Lost::Thinking, original.thinking != again.thinking);
        self.add_if(Lost::Window, original.window != again.window);
        self.add_if(Lost::Project, original.project != again.project);
        self.add_if(Lost::Identity, original.identity != again.identity);
    }

    fn compare_calls(&mut self, call: &Call, other: &Call) {
        self.add_if(Lost::Model, call.model != other.model);
        self.add_if(Lost::Usage, call.usage != other.usage);
        self.add_if(Lost::Id, call.message_id != other.message_id || call.request_id != other.request_id);
        self.add_if(Lost::Bill, call.other_iterations != other.other_iterations || call.service != other.service);
    }
}

/// The blocks of a conversation in one row, and what begins at each of them.
struct Flat<'a> {
    blocks: Vec<(Role, &'a Block)>,
    messages: HashMap<usize, &'a Message>,
    calls: HashMap<usize, &'a Call>,
}

impl<'a> Flat<'a> {
    fn of(conversation: &'a Conversation) -> Self {
        let mut flat = Self { blocks: Vec::new(), messages: HashMap::new(), calls: HashMap::new() };
        let mut call_of = super::calls(conversation);
        for (at, message) in conversation.messages.iter().enumerate() {
            flat.messages.insert(flat.blocks.len(), message);
            flat.calls.extend(call_of(at).map(|call| (flat.blocks.len(), call)));
            flat.blocks.extend(message.blocks.iter().map(|block| (message.role, conversation.block(*block))));
        }
        flat
    }
}

/// Returns whether two compactions are at the same place and leave the same context.
fn same_compaction((original, compaction): (&Conversation, &Compaction), (again, other): (&Conversation, &Compaction)) -> bool {
    let left = |edit: &RecordedEdit| -> Vec<(Role, BlockId)> {
        let of = |message: &Message| message.blocks.iter().map(|block| (message.role, *block)).collect::<Vec<_>>();
        edit.messages().iter().flat_map(of).collect()
    };
    let cleared = |conversation: &Conversation, edit: &RecordedEdit| -> Vec<String> {
        let RecordedEdit::Clear { pairs } = edit else { return Vec::new() };
        pairs.iter().map(|pair| conversation.pair(*pair).id.clone()).collect()
    };
    let (left, other_left) = (left(&compaction.edit), left(&other.edit));
    let is_same = |((role, block), (other_role, other_block)): (&(Role, BlockId), &(Role, BlockId))| {
        let (block, other) = (original.block(*block), again.block(*other_block));
        role == other_role && block.recorded_tokens == other.recorded_tokens && same_content((original, block), (again, other))
    };
    let details = |one: &Compaction| (one.message_index, one.tokens_before, one.tokens_after, one.summary_usage);
    details(compaction) == details(other)
        && compaction.trigger == other.trigger
        && left.len() == other_left.len()
        && left.iter().zip(&other_left).all(is_same)
        && cleared(original, &compaction.edit) == cleared(again, &other.edit)
}

/// Returns whether a model reads the same in two blocks.
fn same_content((original, block): (&Conversation, &Block), (again, other): (&Conversation, &Block)) -> bool {
    let same = |key: &str| block.field(key) == other.field(key);
    match (block.kind, other.kind) {
        (BlockKind::Text, BlockKind::Text) => same("text"),
        (BlockKind::Thinking, BlockKind::Thinking) => ["thinking", "signature", "data"].into_iter().all(same),
        (BlockKind::ToolUse(pair), BlockKind::ToolUse(other)) => {
            original.pair(pair).id == again.pair(other).id && same("name") && same("input")
        }
        (BlockKind::ToolResult(pair), BlockKind::ToolResult(other_pair)) => {
            original.pair(pair).id == again.pair(other_pair).id && same_result(block.field("content"), other.field("content"))
        }
        (BlockKind::Media, BlockKind::Media) | (BlockKind::Other, BlockKind::Other) => block.wire == other.wire,
        _ => false,
    }
}

/// Returns whether two results are the same. No content is an empty text, and a text part may have other fields.
fn same_result(content: Option<&Value>, other: Option<&Value>) -> bool {
    let parts = |content: Option<&Value>| match content {
        None | Some(Value::Null) => vec![Value::from("")],
        Some(Value::Array(parts)) => {
            parts.iter().map(|part| if part["type"] == "text" { part["text"].clone() } else { part.clone() }).collect()
        }
        Some(content) => vec![content.clone()],
    };
    content.is_some_and(Value::is_array) == other.is_some_and(Value::is_array) && parts(content) == parts(other)
}
