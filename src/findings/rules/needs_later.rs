//! `needs_later`: what a layer took away was needed later.
//!
//! What it means: a path, a name, a number or a line left the request, nothing that stayed could bring it back, and a later call
//! of the recorded agent uses it. Why it hurts: the agent searches for it again, guesses it, or makes it up. What to change: keep
//! more of what is taken (`keep_recent`, a higher `threshold`), write what is taken to a file whose path stays
//! (`persist`, `archive` with the path in the summary), ask the summarizer for paths and names word for word. Evidence: deja-vu
//! #543 (58 transcripts, 43 compactions: 9.8 % of paths, 0.2 % of commands and 1.9 % of measured numbers survive), nakama #588.
//!
//! Of a policy: facts that a request lacks when the call it belongs to uses them, and that no path in sight leads back to
//! (`kept.hard`); each counts at the layer and call that took its last copy. Of the record: what its agent went on to need after
//! each compaction, and where it had it from; it is reported where it had to fetch something again, or had it from nowhere in
//! sight. That a fact was used does not prove that the agent needed to see it: it may have known it, or have found it by chance.
//!
//! Precision: 113 findings in three recorded sessions: their three heaviest facts were looked for in the requests that missed
//! them. In 105 none stood there; in 8 one did, six times as a part of a longer word or line, which does not count as the fact.
//! In 10 more one stood in thinking only, where no facts are looked for.

use std::collections::BTreeMap;

use crate::facts::extract::FactKind;
use crate::facts::references::{Loss, Provenance};
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView, message_text};
use crate::metrics::retention::Miss;
use crate::util::text::plural;

/// How many facts are named.
const NAMED: usize = 3;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    if replay.is_record() {
        return replay.references.losses.iter().filter_map(|loss| of_compaction(replay, loss)).collect();
    }
    let mut taken: BTreeMap<(u32, usize), Vec<&Miss>> = BTreeMap::new();
    for missed in &replay.kept.missed {
        if let Some((layer, call)) = missed.lost {
            taken.entry((call, layer)).or_default().push(missed);
        }
    }
    taken.into_iter().filter_map(|((call, layer), missed)| of_layer(replay, call as usize, layer, &missed)).collect()
}

/// What a layer took at a call, the heaviest fact first.
fn of_layer(replay: &ReplayView, call: usize, layer: usize, missed: &[&Miss]) -> Option<Detection> {
    // A call whose request was never sent has none to point at.
    replay.conversation.calls.get(call)?;
    let uses: u32 = missed.iter().map(|missed| missed.uses).sum();
    let kinds = by_kind(replay, missed.iter().map(|missed| missed.fact));
    let named = missed.iter().take(NAMED).map(|missed| named(replay, missed.fact, missed.call)).collect::<Vec<_>>();
    let unseen = missed.iter().filter(|missed| has_just_entered(replay, missed.fact, call)).count();
    let last_seen = match unseen {
        0 => format!("last in sight at call {call}"),
        _ if unseen == missed.len() => "they had just entered".to_owned(),
        _ => format!("last in sight at call {call}, but {unseen} had just entered"),
    };
    let message = format!(
        "{} took {} away that later calls use {}: {kinds}; {last_seen}: {}",
        replay.who(layer),
        plural(missed.len(), "fact"),
        plural(uses as usize, "time"),
        named.join(", "),
    );
    let found = Detection::at_call(replay, Level::Warning, call, message);
    let found = found.with("layer", replay.layer(layer)).with("facts", missed.len()).with("uses", uses);
    Some(found.with("kinds", kinds).with("last_visible_at_call", call).with("unseen", unseen).with("named", named))
}

/// Whether a fact entered for this call, so that no earlier request need have held it.
fn has_just_entered(replay: &ReplayView, fact: u32, call: usize) -> bool {
    replay.references.sources(fact).iter().any(|block| replay.references.after(*block) as usize == call)
}

/// What a recorded compaction cost its agent.
fn of_compaction(replay: &ReplayView, loss: &Loss) -> Option<Detection> {
    replay.conversation.calls.get(loss.after as usize)?;
    let compaction = &replay.conversation.compactions[loss.compaction];
    let fetched = loss.had_from[Provenance::Tool as usize];
    // What only an encrypted summary held looks like nowhere.
    let encrypted = compaction.edit.is_encrypted(replay.conversation);
    let nowhere = if encrypted { 0 } else { loss.nowhere.len() };
    if fetched + nowhere == 0 {
        return None;
    }
    let heaviest = loss.heaviest_nowhere(replay.references).into_iter().take(if encrypted { 0 } else { NAMED });
    let named = heaviest.map(|nowhere| named(replay, nowhere.fact, nowhere.call)).collect::<Vec<_>>();
    let held = loss.had_from[Provenance::Summary as usize];
    let message = format!(
        "of {} from before the compaction that the agent went on to use, {held} stood in what the compaction left, {fetched} \
         were fetched again for {} tokens{}{}{}",
        plural(loss.needed, "fact"),
        loss.refetched_tokens,
        if encrypted { String::new() } else { format!(", {nowhere} stood nowhere in sight") },
        if named.is_empty() { "" } else { ": " },
        named.join(", "),
    );
    let found = Detection::at_call(replay, Level::Warning, loss.after as usize, message).at_line(Some(compaction.line));
    let found = found.with("needed", loss.needed).with("held", held).with("fetched_again", fetched);
    Some(found.with("refetched_tokens", loss.refetched_tokens).with("nowhere", nowhere).with("named", named))
}

/// `3 paths, 1 identifier`, in the order of the kinds.
fn by_kind(replay: &ReplayView, facts: impl Iterator<Item = u32>) -> String {
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

/// A fact, and who uses it: `path "src/pool.rs" (call 4, line 9)`.
fn named(replay: &ReplayView, fact: u32, call: u32) -> String {
    let fact = &replay.references.facts[fact as usize];
    let line = replay.conversation.line_named(replay.line_of(call as usize));
    format!("{} {} (call {}, {line})", fact.kind.name(), message_text::quoted(&fact.text), call + 1)
}
