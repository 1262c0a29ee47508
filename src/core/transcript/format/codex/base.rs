//! Joins the history of a fork that stays in the file of its parent.
//!
//! Since 0.153 a fork is written without a copy: its header names the parent, and the number (`ordinal`) of the first record of the
//! parent's file that it does not share (seen in files of 0.169.0). A parent may itself be such a fork.

use super::super::Level;
use super::record::{Record, RecordKind, records};
use super::session::{HistoryBase, SessionMeta};

/// Returns the id of the session in whose file the history of this one begins.
pub fn parent(bytes: &[u8]) -> Option<String> {
    // The header is the first line.
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    let records = records(&bytes[..end], &mut Vec::new());
    Some(header(&records)?.base.as_ref()?.parent.clone())
}

/// Puts the history of the parent behind the header, as if the fork had a copy of it. Of the files of its ancestors the parent's is the
/// first one. Without all of the history nothing is joined.
pub fn join(mut own: Vec<Record>, ancestors: &[&[u8]]) -> Vec<Record> {
    let Some(joined) = history(&own, ancestors) else { return own };
    let Some(at) = own.iter().position(|record| matches!(record.kind, RecordKind::Session(_))) else { return own };
    let line = own[at].at.line;
    if let RecordKind::Session(meta) = &mut own[at].kind {
        meta.has_base = false;
    }
    // A line is a place in the file of the fork, and its header is where it names the rest.
    let joined = joined.into_iter().map(|mut record| {
        record.at.line = line;
        record
    });
    own.splice(at + 1..at + 1, joined);
    own
}

/// Returns the history before a fork's own records; `None` if it has none, or not all of it is in these files.
fn history(own: &[Record], ancestors: &[&[u8]]) -> Option<Vec<Record>> {
    let HistoryBase { parent, end } = header(own)?.base.clone()?;
    let ((bytes, older), mut notes) = (ancestors.split_first()?, Vec::new());
    let mut theirs = join(records(bytes, &mut notes), older);
    let meta = header(&theirs)?;
    let is_whole = !meta.has_base && notes.iter().all(|note| note.level != Level::Skipped);
    let is_parent = meta.identity.session.as_ref() == Some(&parent);
    theirs.retain(|record| record.ordinal.is_some_and(|ordinal| ordinal < end));
    let reaches_end = theirs.iter().any(|record| record.ordinal == end.checked_sub(1));
    (is_parent && is_whole && reaches_end).then_some(theirs)
}

fn header(records: &[Record]) -> Option<&SessionMeta> {
    records.iter().find_map(|record| if let RecordKind::Session(meta) = &record.kind { Some(meta.as_ref()) } else { None })
}
