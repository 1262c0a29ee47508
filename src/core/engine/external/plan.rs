//! Turns an answer into edits, after it was checked against what the policy was shown.

use rustc_hash::{FxHashMap, FxHashSet};

use super::edits::edits;
use super::in_place::{Place, places, rewrites};
use super::seen::{PlannedUnit, Seen, Unit};
use super::target::Targets;
use super::{ExternalError, Item, Listing, MessageId, WrittenMessage};
use crate::engine::context::{Context, Edit};

/// What an answer does to the context.
#[derive(Debug)]
pub struct Plan {
    pub edits: Vec<Edit>,
    pub units: PlannedUnits,
}

/// The units of the context after the edits.
#[derive(Debug)]
pub enum PlannedUnits {
    /// All of them.
    All(Vec<PlannedUnit>),
    /// They are as before, but for the blocks of these.
    Rewritten(Vec<Place>),
}

/// Returns the plan of an answer; `None` if it changes nothing.
///
/// # Errors
///
/// Fails if the answer names an unknown id, names an id twice, changes the order of messages, or leaves none.
pub fn plan(seen: &Seen, context: &Context, listing: Listing) -> Result<Option<Plan>, ExternalError> {
    if matches!(&listing, Listing::Changes { drop, replace } if drop.is_empty() && replace.is_empty()) {
        return Ok(None);
    }
    let listing = match listing {
        Listing::Changes { drop, replace } if drop.is_empty() => match places(seen, context, &replace) {
            Some(places) => {
                let edits = rewrites(seen, context, &places, replace)?;
                let units = PlannedUnits::Rewritten(places.into_iter().map(|(place, _)| place).collect());
                return Ok(if edits.is_empty() { None } else { Some(Plan { edits, units }) });
            }
            None => Listing::Changes { drop, replace },
        },
        listing => listing,
    };
    let units = seen.units();
    let index = Index { units, positions: units.iter().enumerate().map(|(at, unit)| (unit.id, at)).collect() };
    let items = match listing {
        Listing::Changes { drop, replace } => index.with_changes(&drop, replace)?,
        Listing::All(items) => items,
    };
    let messages = seen.messages_of_units();
    let mut targets = Targets::default();
    let mut order = Order { next: 0, last: None };
    for item in items {
        match item {
            Item::Kept(id) => {
                let at = order.advance(&index, id)?;
                targets.keep(&units[at], messages[at], context);
            }
            Item::Written(written) => {
                let replaced: Vec<usize> =
                    written.replaces.iter().map(|id| order.advance(&index, *id)).collect::<Result<_, _>>()?;
                let message = replaced.first().map(|at| messages[*at]);
                let message = message.filter(|one| replaced.iter().all(|at| messages[*at] == *one));
                let name = name_of(&written);
                let replaced: Vec<&Unit> = replaced.into_iter().map(|at| &units[at]).collect();
                targets.write(written, &replaced, message, context).map_err(|what| format!("{name}: {what}"))?;
            }
        }
    }
    if targets.messages.is_empty() {
        return Err("its answer leaves no message, and an API refuses a request without one".to_owned().into());
    }
    let edits = edits(context, &targets.messages);
    Ok(if edits.is_empty() { None } else { Some(Plan { edits, units: PlannedUnits::All(targets.units) }) })
}

/// Returns how an error names a message.
pub(super) fn name_of(written: &WrittenMessage) -> String {
    match written.replaces.first() {
        Some(id) => format!("the message that replaces {id}"),
        None => "the message that replaces none".to_owned(),
    }
}

/// The units by their ids.
struct Index<'a> {
    units: &'a [Unit],
    positions: FxHashMap<MessageId, usize>,
}

impl Index<'_> {
    fn position(&self, id: MessageId) -> Result<usize, String> {
        let at = self.positions.get(&id).copied();
        at.ok_or_else(|| format!("there is no message {id}: it was never sent, was dropped, or is gone"))
    }

    /// Returns the whole list that an answer means which names only what changes.
    fn with_changes(&self, drop: &[MessageId], replace: Vec<WrittenMessage>) -> Result<Vec<Item>, String> {
        let mut gone: FxHashSet<usize> = FxHashSet::default();
        let mut remove = |id: &MessageId| {
            let at = self.position(*id)?;
            if gone.insert(at) { Ok(at) } else { Err(format!("message {id} is named twice")) }
        };
        for id in drop {
            remove(id)?;
        }
        let mut written: FxHashMap<usize, Vec<WrittenMessage>> = FxHashMap::default();
        let mut place = None;
        for message in replace {
            for (nth, id) in message.replaces.iter().enumerate() {
                let at = remove(id)?;
                place = if nth == 0 { Some(at) } else { place };
            }
            let place =
                place.ok_or("the first message of `replace` replaces none, so it has no place: answer with `messages`")?;
            written.entry(place).or_default().push(message);
        }
        let mut items = Vec::with_capacity(self.units.len());
        for (at, unit) in self.units.iter().enumerate() {
            if let Some(messages) = written.remove(&at) {
                items.extend(messages.into_iter().map(Item::Written));
            } else if !gone.contains(&at) {
                items.push(Item::Kept(unit.id));
            }
        }
        Ok(items)
    }
}

/// Checks that ids come in the order of the context, and each once.
struct Order {
    next: usize,
    last: Option<MessageId>,
}

impl Order {
    fn advance(&mut self, index: &Index, id: MessageId) -> Result<usize, String> {
        let at = index.position(id)?;
        match self.last {
            Some(last) if last == id => Err(format!("message {id} is named twice")),
            Some(last) if at < self.next => Err(format!("message {id} comes after {last}: messages cannot change their order")),
            _ => {
                (self.next, self.last) = (at + 1, Some(id));
                Ok(at)
            }
        }
    }
}
