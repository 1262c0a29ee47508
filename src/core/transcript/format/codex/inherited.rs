//! Finds the history that a fork or a child copied from its parent. It is the first context of the session: the parent made its calls.
//!
//! Versions differ in what they write, so the first of these that a rollout has decides:
//!
//! 1. the ordinal of the first record that is not copied, in the header;
//! 2. an id of a turn that is younger than the session: these ids contain their time;
//! 3. times of copied records that are older than the session;
//! 4. copied records have the time of the copying, all at once; a model does not answer so fast.
//!
//! A header of another session is always copied, and a second header of the session itself never is.

use super::super::Note;
use super::record::{Record, RecordKind};
use super::session::SessionMeta;

/// The longest time between two copied records, in milliseconds.
const COPY_PAUSE: i64 = 250;

/// Returns the number of records at the beginning that are copied, the session's own header included; 0 if none are.
pub fn count(records: &[Record]) -> usize {
    let Some((at, own)) = records.iter().enumerate().find_map(|(at, record)| Some((at, header(record)?))) else { return 0 };
    if own.identity.parent.is_none() && own.first_own_ordinal.is_none() {
        return 0;
    }
    if let Some(first_own) = own.first_own_ordinal.filter(|_| records.iter().any(|record| record.ordinal.is_some())) {
        return after_last(records, |record| record.ordinal.is_some_and(|ordinal| ordinal < first_own));
    }
    let is_foreign = |record: &Record| header(record).is_some_and(|header| header.identity.session != own.identity.session);
    let is_own = |record: &Record| header(record).is_some_and(|header| header.identity.session == own.identity.session);
    let end = records.iter().skip(at + 1).position(is_own).map_or(records.len(), |resumed| at + 1 + resumed);
    let copied = after_last(&records[..end], is_foreign).max(at + 1);
    let is_own_turn = |record: &Record| turn_time(record).zip(own.began).is_some_and(|(turn, began)| turn >= began);
    if let Some(turn) = records[copied..end].iter().position(is_own_turn) {
        return copied + turn;
    }
    let is_older = |record: &Record| record.at.time.zip(own.began).is_some_and(|(time, began)| time < began);
    match after_last(&records[..end], is_older) {
        // The parent's header is the first record of the copy, if it is there.
        0 => after_burst(&records[..end], if copied > at + 1 { copied - 1 } else { copied }),
        older => older.max(copied),
    }
}

/// Returns a note if a session has the header of its parent, but nothing tells where the copy ends.
pub fn note(records: &[Record], copied: usize) -> Option<Note> {
    let own = records.iter().find_map(header)?;
    let parent = own.identity.parent.as_deref()?;
    let foreign =
        records.iter().find(|record| header(record).is_some_and(|header| header.identity.session != own.identity.session))?;
    if records[..copied].iter().any(|record| matches!(record.kind, RecordKind::Item(_) | RecordKind::Compacted(_))) {
        return None;
    }
    let text = format!("nothing tells where the history copied from {parent} ends; all of it counts as this session's own");
    Some(Note::info(foreign.at.line, text))
}

fn header(record: &Record) -> Option<&SessionMeta> {
    if let RecordKind::Session(meta) = &record.kind { Some(meta) } else { None }
}

/// Returns the position after the last of these records; 0 if there is none.
fn after_last(records: &[Record], is_copied: impl Fn(&Record) -> bool) -> usize {
    records.iter().rposition(is_copied).map_or(0, |last| last + 1)
}

/// Returns the end of the records from a position on that were written at once.
fn after_burst(records: &[Record], from: usize) -> usize {
    let Some(mut before) = records.get(from).and_then(|record| record.at.time) else { return from };
    let own = records[from..].iter().position(|record| {
        let Some(time) = record.at.time else { return false };
        time - std::mem::replace(&mut before, time) > COPY_PAUSE
    });
    own.map_or(records.len(), |own| from + own)
}

/// Returns the time in the id of a turn, in milliseconds since 1970, if it is a UUID with a time (version 7).
fn turn_time(record: &Record) -> Option<i64> {
    let id = match &record.kind {
        RecordKind::Turn(turn) => turn.turn_id.as_deref()?,
        RecordKind::TurnStarted(turn) => turn.turn_id.as_deref()?,
        _ => return None,
    };
    let parts: Vec<&str> = id.split('-').collect();
    let [high, low, version, _, _] = parts[..] else { return None };
    let has_time = high.len() == 8 && low.len() == 4 && version.starts_with('7');
    if has_time { i64::from_str_radix(&format!("{high}{low}"), 16).ok() } else { None }
}
