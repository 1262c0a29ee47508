//! `archive_growth`: the same history is written to disk again and again.
//!
//! What it means: three or more archives are full copies (nine tenths of all that had been said by then), or all archives
//! together are more than three times the history. Why it hurts: disk, time before each call, and many files of which nobody
//! knows which to read; a log that grows with the square of the session. What to change: archive before summaries only (`when = {
//! before = ["auto"] }`), not before layers that act at every turn; make the layer act seldom (`threshold`, `keep_recent`);
//! append what is new. Evidence: claude-code #92089; learn-claude-code's last s08 archives before each snip, 15 full copies in 40
//! turns.
//!
//! Results that are moved to disk are no copies. It is silent for the record, whose archives are files beside the transcript.
//!
//! Precision: 4 opened of 8, their history held against the request of a replay that keeps all: 4 right. It counts thinking that
//! no archive holds, so it tells too few rather than too many.

use crate::engine::journal::File;
use crate::engine::layer::FileKind;
use crate::engine::layer::archive::FORM;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::calibration::message_size;
use crate::util::text::plural;

/// So many full copies, or so many times the history: ours.
const COPIES: usize = 3;
const TIMES: f64 = 3.0;
/// An archive that holds so much of all that was said until then is a full copy.
const FULL: f64 = 0.9;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let archives: Vec<&File> = replay.journal.files.iter().filter(|file| file.kind == FileKind::Archive).collect();
    // Fewer can be neither.
    if archives.len() < COPIES {
        return Vec::new();
    }
    let until = history(replay);
    let copies: Vec<&&File> = archives.iter().filter(|file| file.bytes as f64 >= FULL * until[file.call] as f64).collect();
    let (bytes, of) = (archives.iter().map(|file| file.bytes).sum::<u64>(), until.last().copied().unwrap_or_default());
    let times = bytes as f64 / of.max(1) as f64;
    if copies.len() < COPIES && times <= TIMES {
        return Vec::new();
    }
    let at = copies.get(COPIES - 1).map_or(archives[COPIES - 1].call, |file| file.call);
    let message = format!(
        "{} of {bytes} bytes hold a history of {of} bytes {times:.1} times over; {} of them were full copies of all that had been said",
        plural(archives.len(), "archive"),
        copies.len()
    );
    let found =
        Detection::at_call(replay, Level::Warning, at, message).with("archives", archives.len()).with("copies", copies.len());
    vec![found.with("bytes", bytes).with("history_bytes", of).with("times", times)]
}

/// Bytes of all that had been said before each call, and before the end, written as archives are.
fn history(replay: &ReplayView) -> Vec<u64> {
    let conversation = replay.conversation;
    let sizes = conversation.messages.iter().map(|message| message_size(conversation, message, FORM) + 1);
    let mut until = vec![0];
    until.extend(sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    }));
    let before = conversation.calls.iter().map(|call| until[call.response]);
    before.chain(until.last().copied()).collect()
}
