//! `needs_later`: a layer removed something that the agent needed later.
//!
//! What it means: a path, a name, a number or a line left the request, nothing that stayed could bring it back, and a
//! later call of the recorded agent uses it. Why it hurts: the agent searches for it again, guesses it, or makes it up.
//! What to change: keep more of what is removed (`keep_recent_results`, a higher `threshold`), write what is removed to a file
//! whose path stays in the context (`persist`, `archive` with the path in the summary), ask the summarizer for paths
//! and names word for word. Evidence: deja-vu #543 (58 transcripts, 43 compactions: 9.8 % of paths, 0.2 % of commands
//! and 1.9 % of measured numbers survive), nakama #588.
//!
//! For a policy, the rule reports facts that a later call uses although its request neither has them nor has a path
//! that leads back to them (`kept.hard`). Each fact counts for the layer and the call that removed its last copy. For
//! the recorded session, it reports what the agent needed after each compaction and where the agent got it from, if the
//! agent had to fetch something again or had it from no visible text. The use of a fact does not prove that the agent
//! needed to see it: the agent may have known it, or found it by chance.
//!
//! Precision: we took 113 findings in three recorded sessions and searched the requests for their three heaviest facts.
//! In 105 no fact was there. In 8 one was, six times as a part of a longer word or line, which does not count as the
//! fact. In 10 more, one was only in thinking, where the rule does not look for facts.

use std::collections::BTreeMap;

use crate::facts::extract::FactKind;
use crate::facts::references::{Loss, Provenance};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::metrics::retention::Miss;
use crate::util::text::plural;

/// Number of facts that a message names.
const NAMED: usize = 3;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return replay.references.losses.iter().filter_map(|loss| detection_of_compaction(replay, loss)).collect();
    }
    let mut removed: BTreeMap<(u32, usize), Vec<&Miss>> = BTreeMap::new();
    for miss in &replay.retention.missed {
        if let Some((layer, call)) = miss.lost {
            removed.entry((call, layer)).or_default().push(miss);
        }
    }
    removed.into_iter().filter_map(|((call, layer), misses)| detection_of_layer(replay, call as usize, layer, &misses)).collect()
}

/// Reports what a layer removed at a call, the heaviest fact first.
fn detection_of_layer(replay: &ReplayView, call: usize, layer: usize, misses: &[&Miss]) -> Option<Detection> {
    // A call whose request was never sent has no line to refer to.
    replay.conversation.calls.get(call)?;
    let uses: u32 = misses.iter().map(|miss| miss.uses).sum();
    let kinds = count_by_kind(replay, misses.iter().map(|miss| miss.fact));
    let named = misses.iter().take(NAMED).map(|miss| describe_use(replay, miss.fact, miss.call)).collect::<Vec<_>>();
    let unseen = misses.iter().filter(|miss| has_just_entered(replay, miss.fact, call)).count();
    let last_visible = match unseen {
        0 => format!("last visible at call {call}"),
        _ if unseen == misses.len() => "they had just entered".to_owned(),
        _ => format!("last visible at call {call}, but {unseen} had just entered"),
    };
    let message = format!(
        "{} removed {} that later calls use {}: {kinds}; {last_visible}; heaviest: {}",
        replay.who(layer),
        plural(misses.len(), "fact"),
        plural(uses as usize, "time"),
        named.join(", "),
    );
    let detection = Detection::at_call(replay, Level::Warning, call, message);
    let detection = detection.with("layer", replay.layer(layer)).with("facts", misses.len()).with("uses", uses);
    Some(detection.with("kinds", kinds).with("last_visible_at_call", call).with("unseen", unseen).with("named", named))
}

/// Whether a fact entered for this call, so that no earlier request had to hold it.
fn has_just_entered(replay: &ReplayView, fact: u32, call: usize) -> bool {
    replay.references.sources(fact).iter().any(|block| replay.references.after(*block) as usize == call)
}

/// Reports what the agent lost by a recorded compaction.
fn detection_of_compaction(replay: &ReplayView, loss: &Loss) -> Option<Detection> {
    replay.conversation.calls.get(loss.after as usize)?;
    let compaction = &replay.conversation.compactions[loss.compaction];
    let fetched = loss.had_from[Provenance::Tool as usize];
    // A fact that only an encrypted summary holds looks like a fact that no text holds.
    let encrypted = compaction.edit.is_encrypted(replay.conversation);
    let nowhere = if encrypted { 0 } else { loss.nowhere.len() };
    if fetched + nowhere == 0 {
        return None;
    }
    let heaviest = loss.heaviest_nowhere(replay.references).into_iter().take(if encrypted { 0 } else { NAMED });
    let named = heaviest.map(|nowhere| describe_use(replay, nowhere.fact, nowhere.call)).collect::<Vec<_>>();
    let held = loss.had_from[Provenance::Summary as usize];
    let message = format!(
        "the agent later used {} from before the compaction: {held} from what the compaction left, {fetched} fetched again for {} \
         tokens{}{}{}",
        plural(loss.needed, "fact"),
        loss.refetched_tokens,
        if encrypted { String::new() } else { format!(", {nowhere} from no visible text") },
        if named.is_empty() { "" } else { ": " },
        named.join(", "),
    );
    let detection = Detection::at_call(replay, Level::Warning, loss.after as usize, message).at_line(Some(compaction.line));
    let detection = detection.with("needed", loss.needed).with("held", held).with("fetched_again", fetched);
    Some(detection.with("refetched_tokens", loss.refetched_tokens).with("nowhere", nowhere).with("named", named))
}

/// Counts facts by kind, in the order of the kinds: `3 paths, 1 identifier`.
fn count_by_kind(replay: &ReplayView, facts: impl Iterator<Item = u32>) -> String {
    let mut counts = BTreeMap::<FactKind, usize>::new();
    for fact in facts {
        *counts.entry(replay.references.facts[fact as usize].kind).or_default() += 1;
    }
    let each = counts.into_iter().map(|(kind, count)| match (kind, count) {
        (FactKind::Hash, 2..) => format!("{count} hashes"),
        (FactKind::Quoted, _) => plural(count, "quoted string"),
        _ => plural(count, kind.name()),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Names a fact and the call that uses it: `path "src/pool.rs" (call 4, line 9)`.
fn describe_use(replay: &ReplayView, fact: u32, call: u32) -> String {
    let fact = &replay.references.facts[fact as usize];
    let line = replay.conversation.line_label(replay.line_of(call as usize));
    format!("{} {} (call {}, {line})", fact.kind.name(), message_text::quoted(&fact.text), call + 1)
}
