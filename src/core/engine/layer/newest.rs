//! Which tool results are old: all but the newest, counted by number, by number of each tool, by groups, by size or by turns. `clear`,
//! `persist`, `truncate` and `dedupe` share these rules, so that "keep the last three" means the same in all of them.
//!
//! What was found stays known from run to run: a run looks at what is new and at what has become old, however many results there are.

use std::collections::{HashMap, VecDeque};

use super::named::Named;
use super::result_filter::{Candidate, result_at, results_between};
use super::tail::turns_start;
use super::{BlockPosition, LayerInput, ResultFilter, ScanCursor, Stability, WrongSetting};
use crate::engine::context::Context;

/// What a layer remembers of the newest results.
#[derive(Debug, Clone, Default)]
pub struct Newest {
    /// The results in front of it are decided: they are old, or wait among the newest of their tools.
    cursor: ScanCursor,
    /// The results that stay because of their size.
    by_size: BySize,
    /// The newest results of each tool, if they are counted by tool.
    by_tool: HashMap<String, VecDeque<BlockPosition>>,
    /// The newest groups of results, if groups are counted.
    groups: Groups,
    named: Named,
}

/// The groups of results that stay: a group is the results between two responses.
#[derive(Debug, Clone, Default)]
struct Groups {
    /// The first result of each, oldest first.
    starts: VecDeque<BlockPosition>,
    /// Index of the message with the newest result.
    last: usize,
}

/// The results that stay because of their size: a run adds what is new and subtracts what has become old.
#[derive(Debug, Clone, Copy, Default)]
struct BySize {
    /// Position of the first of them.
    start: BlockPosition,
    /// The results up to this position are counted.
    end: BlockPosition,
    /// Their size, in the unit of the policy's meter.
    size: u64,
    /// Number of edits of the context when they were counted. A later edit may have changed them.
    edits: u32,
}

impl Newest {
    /// Returns the position up to which all results are decided, or the start of the context if messages moved since.
    pub fn decided(&self, context: &Context) -> BlockPosition {
        self.cursor.start(context)
    }

    /// Takes in the edits of the layer itself, which change only older results.
    pub fn settle(&mut self, context: &Context) {
        self.by_size.edits = context.edits();
    }
}

impl ResultFilter {
    /// Returns whether `keep_recent_results` says what stays.
    pub fn counts_all_tools(&self) -> bool {
        self.keep_recent_per_tool.is_none() && self.keep_recent_groups.is_none() && self.keep_recent_tokens.is_none()
    }

    /// Returns whether some results stay because they are newer than others, and not because of their turn.
    pub fn counts_newest(&self) -> bool {
        self.keep_recent_results > 0 || self.protect_unseen || !self.counts_all_tools()
    }

    /// Returns whether some results stay because of their age.
    pub fn keeps_newest(&self) -> bool {
        self.counts_newest() || self.protect_turns > 0
    }

    /// Whether a layer with this filter decides the same again about old results when new ones are appended.
    pub fn stability(&self) -> Stability {
        if self.keep_recent_tokens.is_some() { Stability::Alone } else { Stability::Stable }
    }

    /// Checks that one setting says which of the newest results stay.
    ///
    /// # Errors
    ///
    /// Fails if two do.
    pub fn check(&self) -> Result<(), WrongSetting> {
        WrongSetting::unless_one_says_what_stays([
            ("keep_recent_per_tool", self.keep_recent_per_tool.is_some()),
            ("keep_recent_groups", self.keep_recent_groups.is_some()),
            ("keep_recent_tokens", self.keep_recent_tokens.is_some()),
        ])
    }

    /// Checks that empty results stay, as they must in a layer that edits only long ones.
    ///
    /// # Errors
    ///
    /// Fails if they do not.
    pub fn refuse_empty_too(&self) -> Result<(), WrongSetting> {
        if self.empty_too {
            return Err(WrongSetting::new("empty_too", "an empty result is never too long: remove `empty_too`"));
        }
        Ok(())
    }

    /// Returns the results that have become old and may be edited, oldest first. Each is returned once, as long as no message moves.
    /// Where results are counted, or sized, this many `more` of the newest stay. A result that `is_done` does not count for a size.
    pub fn take_old<'a>(
        &self,
        input: &LayerInput<'a>,
        newest: &mut Newest,
        more: usize,
        is_done: impl Fn(&Candidate) -> bool,
    ) -> Vec<Candidate<'a>> {
        let context = input.context;
        let turns = turns_start(context, self.protect_turns);
        let mut old = if let Some(tokens) = &self.keep_recent_tokens {
            let counts = |candidate: &Candidate| self.may_edit(context, candidate) && !is_done(candidate);
            self.take_by_size(input, newest, (turns, more), tokens.resolve(input.limits), counts)
        } else if let Some(of_each) = self.keep_recent_per_tool {
            self.take_by_tool(context, newest, turns, of_each)
        } else if let Some(groups) = self.keep_recent_groups {
            self.take_by_group(context, newest, turns, groups)
        } else {
            self.take_by_number(context, newest, turns, more)
        };
        old.retain(|candidate| self.may_edit(context, candidate));
        if self.keep_named && !old.is_empty() {
            newest.named.read(context);
            old.retain(|candidate| !newest.named.is_named(context, candidate));
        }
        old
    }

    /// Returns the position behind the results that may be old: those of protected turns are not, nor those that the model has not
    /// answered, if they are protected.
    fn end_of_old(&self, context: &Context, turns: usize) -> BlockPosition {
        let seen = if self.protect_unseen { context.newest_response().map_or(0, |last| last + 1) } else { context.len() };
        BlockPosition { message: turns.min(seen), block: 0 }
    }

    /// Takes all undecided results in front of the newest `keep_recent_results`, which are counted over all tools.
    fn take_by_number<'a>(&self, context: &'a Context, newest: &mut Newest, turns: usize, more: usize) -> Vec<Candidate<'a>> {
        let end = self.end_of_old(context, turns);
        let mut old: Vec<_> = results_between(context, newest.decided(context), end).collect();
        let kept = old.len().saturating_sub(self.keep_recent_results + more);
        newest.cursor.set(old.get(kept).map_or(end, |candidate| candidate.position), context);
        old.truncate(kept);
        old
    }

    /// Takes the results in front of the newest of their tools.
    fn take_by_tool<'a>(&self, context: &'a Context, newest: &mut Newest, turns: usize, of_each: usize) -> Vec<Candidate<'a>> {
        let (start, end) = (newest.decided(context), self.end_of_old(context, turns));
        if start == BlockPosition::default() {
            newest.by_tool.clear();
        }
        let mut old = Vec::new();
        for candidate in results_between(context, start, end) {
            let tool = context.tool_name(candidate.pair);
            let of_tool = newest.by_tool.entry(tool.to_owned()).or_default();
            of_tool.push_back(candidate.position);
            if of_tool.len() > of_each {
                old.extend(of_tool.pop_front().and_then(|position| result_at(context, position)));
            }
        }
        newest.cursor.set(end.max(start), context);
        old
    }

    /// Takes the results in front of the newest groups.
    fn take_by_group<'a>(&self, context: &'a Context, newest: &mut Newest, turns: usize, kept: usize) -> Vec<Candidate<'a>> {
        let (start, end) = (newest.decided(context), self.end_of_old(context, turns));
        let Groups { starts, last } = &mut newest.groups;
        if start == BlockPosition::default() {
            starts.clear();
        }
        for Candidate { position, .. } in results_between(context, start, end) {
            let is_response_between = || context.messages()[*last..position.message].iter().any(|m| m.is_response());
            if starts.is_empty() || is_response_between() {
                starts.push_back(position);
            }
            *last = position.message;
        }
        let oldest = starts.front().copied();
        starts.drain(..starts.len().saturating_sub(kept));
        let first_kept = starts.front().copied().unwrap_or(end);
        newest.cursor.set(end.max(start), context);
        oldest.map_or_else(Vec::new, |oldest| results_between(context, oldest, first_kept).collect())
    }

    /// Takes the results whose newer ones have more than this size, or would have it with them; of those, `more` of the newest stay.
    fn take_by_size<'a>(
        &self,
        input: &LayerInput<'a>,
        newest: &mut Newest,
        (turns, more): (usize, usize),
        max_size: u64,
        counts: impl Fn(&Candidate) -> bool,
    ) -> Vec<Candidate<'a>> {
        let context = input.context;
        let undecided = newest.decided(context);
        let recent = &mut newest.by_size;
        if recent.edits != context.edits() {
            *recent = BySize { start: undecided, end: undecided, size: 0, edits: context.edits() };
        }
        let end = recent.end.max(self.end_of_old(context, turns));
        let size = |candidate: &Candidate| {
            if counts(candidate) { context.block_size(candidate.id, input.meter.unit) } else { 0 }
        };
        let results = |from| results_between(context, from, end);
        recent.size += results(recent.end).map(|candidate| size(&candidate)).sum::<u64>();
        recent.end = end;
        let mut oldest = results(recent.start).peekable();
        while input.meter.apply(recent.size) > max_size
            && let Some(candidate) = oldest.next()
        {
            recent.size -= size(&candidate);
            recent.start = oldest.peek().map_or(end, |next| next.position);
        }
        let mut old: Vec<_> = results_between(context, undecided, recent.start).collect();
        let kept = old.len().saturating_sub(more);
        newest.cursor.set(old.get(kept).map_or(recent.start, |candidate| candidate.position), context);
        old.truncate(kept);
        old
    }
}
