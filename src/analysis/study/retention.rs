//! Retention over many conversations: the rows by group, the worst misses, the rows of bounds, the placebo.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::analysis::secrets::Secrets;
use crate::engine::journal::{Journal, Request};
use crate::engine::policy::Policy;
use crate::facts::references::{Placebo, Provenance, References};
use crate::metrics::metric::retention::CHANCE;
use crate::metrics::metric::{self, MetricInput};
use crate::metrics::retention::{Bounds, GroupTotals, Miss, OutcomeWeights, Retention};
use crate::results::saved::{Families, KeptRow, MissRow, Row, Session};
use crate::transcript::conversation::{BlockKind, Conversation};
use crate::util::held::Held;
use crate::util::spill::Spill;
use crate::util::text::around;

use super::Prepared;

/// Maximum number of other sessions for the placebo. Their median counts, because one of them may be a copy of the same
/// session.
const MAX_PLACEBO_SESSIONS: usize = 9;
/// Characters shown around a missed fact.
const CONTEXT_CHARS: usize = 240;

/// Returns whether a policy keeps parts of blocks or writes summaries. Then an oracle that keeps whole blocks is no bound for it,
/// but one that keeps single lines is.
pub fn keeps_parts(policy: &Policy) -> bool {
    policy.layers.iter().any(|layer| layer.enabled && layer.spec.traits().keeps_parts)
}

/// Returns one row for each group that has a use.
pub fn rows(policy: &str, totals: &GroupTotals) -> Vec<KeptRow> {
    let row = |((by, of), share): ((&'static str, &'static str), &OutcomeWeights)| {
        let part = |weight: f64| weight / share.weight;
        KeptRow {
            policy: policy.to_owned(),
            grouped_by: by.into(),
            group: of.into(),
            uses: share.uses,
            weight: share.weight,
            hit: part(share.hit),
            soft: part(share.soft),
            stale: part(share.stale),
            hard: part(share.hard),
            hit_summary: part(share.hit_summary),
        }
    };
    totals.iter().filter(|(_, share)| share.weight > 0.0).map(row).collect()
}

/// Returns the worst hard misses of one conversation. What one call names from one origin is one row, for the heaviest of the facts;
/// and so is what it fetches again.
pub fn misses(
    most: usize,
    (transcript, conversation): (&str, &Conversation),
    policy: &Policy,
    prepared: &Prepared,
    kept: &Retention,
) -> Vec<MissRow> {
    let references = &prepared.references;
    let mut rows: Vec<(MissRow, &Miss)> = Vec::new();
    let mut row_of = HashMap::new();
    for missed in &kept.missed {
        match row_of.entry((missed.call, missed.origin, missed.fetched)) {
            Entry::Occupied(place) => {
                let (row, _): &mut (MissRow, &Miss) = &mut rows[*place.get()];
                row.more += 1;
                row.weight += missed.weight;
            }
            Entry::Vacant(place) => {
                place.insert(rows.len());
                rows.push((miss_row((transcript, conversation), policy, references, missed), missed));
            }
        }
    }
    rows.sort_by(|(a, _), (b, _)| b.weight.total_cmp(&a.weight));
    // The text around a fact may be long, so it is searched for listed rows only.
    let listed = rows.into_iter().take(most);
    let with_text = |(row, missed): (MissRow, &Miss)| {
        let context = text_around(conversation, references, prepared.secrets(), missed);
        let mut row = MissRow { context, ..row };
        prepared.secrets().hide_fact(&mut row.fact);
        row
    };
    listed.map(with_text).collect()
}

/// Returns the text around a missed fact in the block from which the agent had it.
fn text_around(conversation: &Conversation, references: &References, secrets: &Secrets, missed: &Miss) -> String {
    let (block, fact) = (conversation.block(missed.origin), &references.facts[missed.fact as usize].text);
    if secrets.is_part(fact) {
        return String::new();
    }
    let text = match block.kind {
        // The string that contains it, not the JSON around it.
        BlockKind::ToolUse(_) => {
            block.field("input").and_then(|input| first_string_with(input, fact)).map_or_else(|| block.text(), Cow::Borrowed)
        }
        _ => block.text(),
    };
    // Before it is cut, because a cut secret is not found.
    let text = secrets.hidden(&text);
    // The text need not contain the canonical form of a fact. Lines of a tool's input are counted string by string, so they
    // do not apply.
    let by_line = || {
        let seen = references.in_block(missed.origin).iter().find(|seen| seen.tracked == missed.fact)?;
        let line = text.lines().nth(seen.line as usize).filter(|_| !matches!(block.kind, BlockKind::ToolUse(_)))?;
        Some(around(line, 0..0, CONTEXT_CHARS))
    };
    match text.find(fact.as_str()) {
        Some(at) => around(&text, at..at + fact.len(), CONTEXT_CHARS),
        None => by_line().unwrap_or_default(),
    }
}

/// Returns the first string of a JSON value that contains a text.
fn first_string_with<'a>(value: &'a Value, text: &str) -> Option<&'a str> {
    match value {
        Value::String(string) => Some(string.as_str()).filter(|string| string.contains(text)),
        Value::Array(values) => values.iter().find_map(|value| first_string_with(value, text)),
        Value::Object(fields) => fields.values().find_map(|value| first_string_with(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn miss_row(
    (transcript, conversation): (&str, &Conversation),
    policy: &Policy,
    references: &References,
    missed: &Miss,
) -> MissRow {
    let (fact, origin) = (&references.facts[missed.fact as usize], conversation.block(missed.origin));
    let response = &conversation.messages[conversation.calls[missed.call as usize].response];
    let used_in = response.blocks.iter().find(|id| references.in_block(**id).iter().any(|seen| seen.tracked == missed.fact));
    MissRow {
        policy: policy.name.clone(),
        transcript: transcript.to_owned(),
        conversation: conversation.name.clone(),
        call: missed.call as usize + 1,
        fetched: missed.fetched,
        line: used_in.map_or(response.line, |id| conversation.block(*id).line),
        fact: fact.text.clone(),
        kind: fact.kind.name().into(),
        uses: u64::from(missed.uses),
        more: 0,
        weight: missed.weight,
        origin: match origin.kind {
            BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair) => conversation.pair(pair).name.clone(),
            _ => Provenance::of_block(origin).name().to_owned(),
        },
        origin_line: origin.line,
        context: String::new(),
        layer: missed.lost.and_then(|(layer, _)| Some(policy.layers.get(layer)?.id.clone())),
        lost_at: missed.lost.map(|(_, call)| call as usize + 1),
    }
}

/// Keeps the heaviest misses of many.
pub fn keep_worst(most: usize, misses: &mut Vec<MissRow>) {
    misses.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    misses.truncate(most);
}

/// Returns the rows of a row's bounds; they have values only for tokens and hits.
pub fn bounds_of(row: &Row, input: &MetricInput, bounds: &Bounds, name: &str) -> Vec<Row> {
    let weight = input.retention.all.weight;
    let bound = |name: &str, journal: Option<&Journal>, hit: f64| {
        let retention = Retention { all: OutcomeWeights { hit, ..input.retention.all }, ..Retention::default() };
        let journal = journal.unwrap_or(input.journal);
        let values = metric::bound_values(&MetricInput { journal, retention: &retention, ..*input });
        row.bound(name, values)
    };
    let held = |request: &Request| bounds.clairvoyant.tokens.get(request.call).map_or(0, |tokens| tokens.round() as u64);
    let overhead = input.journal.overhead;
    let sent = |request: &Request| Request { call: request.call, tokens: held(request) + overhead, ..Request::default() };
    let requests = input.journal.requests.iter().map(sent).collect();
    let journal = Journal { requests, overhead, ..Journal::default() };
    let clairvoyant = bound(name, Some(&journal), bounds.weight);
    let upper = bounds.upper.map(|upper| bound("upper bound", None, upper.min(weight)));
    [clairvoyant].into_iter().chain(upper).collect()
}

/// A conversation of a study, for the comparison with the others by chance.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChanceSample {
    conversation: String,
    /// Name of its session.
    session: String,
    placebo: Held<Placebo>,
}

impl ChanceSample {
    pub fn new(transcript: &str, conversation: &str, placebo: Placebo) -> Self {
        let session = Session::new(transcript, conversation).to_string();
        Self { conversation: conversation.to_owned(), session, placebo: placebo.into() }
    }

    /// Gives it the session with which it counts.
    pub fn move_to(&mut self, families: &Families) {
        let head = families.head(&self.session);
        if head != self.session {
            self.session = head.to_owned();
        }
    }

    /// Moves the facts to a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn spill(&mut self, to: &Spill) -> io::Result<()> {
        self.placebo.spill(to)
    }
}

/// Returns the values of the column `kept.chance`: looks up each conversation's uses in whole other sessions, evenly spaced over all of
/// them, and takes the median.
pub fn chances(compared: &[&ChanceSample]) -> Vec<Option<f64>> {
    let mut own: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, sample) in compared.iter().enumerate() {
        own.entry(&sample.session).or_default().push(index);
    }
    let chance = |(index, sample): (usize, &&ChanceSample)| {
        let placebo = sample.placebo.value();
        let others = other_sessions(index, &own[sample.session.as_str()], compared.len());
        let mut shares: Vec<f64> = others.filter_map(|other| placebo.chance(&compared[other].placebo.value())).collect();
        shares.sort_by(f64::total_cmp);
        shares.get(shares.len() / 2).copied()
    };
    compared.par_iter().enumerate().map(chance).collect()
}

/// Fills in the column `kept.chance` of one transcript's rows, which are in the order of its conversations.
pub fn fill_in_chance<'a>(rows: &mut [Row], chances: impl Iterator<Item = (&'a ChanceSample, Option<f64>)>) {
    let mut rows = rows.iter_mut().peekable();
    for (sample, chance) in chances {
        while let Some(row) = rows.next_if(|row| *row.conversation == *sample.conversation) {
            if row.bound_of.is_none() {
                row.values.set(CHANCE, chance);
            }
        }
    }
}

/// Returns at most [`MAX_PLACEBO_SESSIONS`] of `all` conversations, evenly spaced, beginning after `index` and going on from the start.
/// `own` lists the conversations of the same session, in ascending order; they are left out.
fn other_sessions(index: usize, own: &[usize], all: usize) -> impl Iterator<Item = usize> {
    let others = all - own.len();
    let step = others.div_ceil(MAX_PLACEBO_SESSIONS).max(1);
    let place = own.partition_point(|one| *one < index);
    // How far the j-th conversation of the same session is after `index`. The 0-th is `index` itself.
    let distance = move |j: usize| (own[(place + j) % own.len()] + all - index) % all;
    (0..others).step_by(step).map(move |nth| {
        let (mut skipped, mut end) = (1, own.len());
        while skipped < end {
            let middle = usize::midpoint(skipped, end);
            // The number of other conversations before this one of the same session.
            if distance(middle) - middle <= nth { skipped = middle + 1 } else { end = middle }
        }
        (index + nth + skipped) % all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placebo_sessions_are_those_of_a_plain_filter() {
        for all in 1..30_usize {
            for own in (0..1 << all.min(6)).map(|bits: usize| (0..all).filter(|at| bits >> (at % 6) & 1 == 1).collect::<Vec<_>>())
            {
                for index in &own {
                    let after = (index + 1..all).chain(0..*index);
                    let others: Vec<usize> = after.filter(|other| !own.contains(other)).collect();
                    let step = others.len().div_ceil(MAX_PLACEBO_SESSIONS).max(1);
                    let expected: Vec<usize> = others.into_iter().step_by(step).collect();
                    assert_eq!(other_sessions(*index, &own, all).collect::<Vec<_>>(), expected, "{index} of {all}, own {own:?}");
                }
            }
        }
    }
}
