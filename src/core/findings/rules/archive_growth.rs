//! `archive_growth`: the same history is written to disk again and again.
//!
//! What it means: three or more archives are full copies (nine tenths of the history at that point), or all archives
//! together are more than three times as large as the history. Why it hurts: it costs disk space and time before each
//! call, and it leaves many files without showing which one to read. A log that grows this way grows with the square of
//! the session. What to change: archive only before summaries (`when = { before = ["auto"] }`), not before layers that
//! act at every turn. Let the layer act less often (`threshold`, `keep_recent_messages`), or append only what is new. Evidence:
//! claude-code #92089; learn-claude-code's last s08 archives before each snip, which made 15 full copies in 40 turns.
//!
//! Results that are moved to disk do not count as copies. The rule does not run on the recorded session, whose archives
//! are files beside the transcript.
//!
//! Precision: of 8 findings we opened 4 and compared their history with the request of a replay that keeps everything:
//! 4 are right. The rule counts thinking that no archive holds, so it reports too few findings rather than too many.

use crate::engine::journal::File;
use crate::engine::layer::FileKind;
use crate::engine::layer::archive::FORM;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};
use crate::tokens::calibration::message_size;
use crate::util::text::plural;

/// Full copies from which the rule reports. We chose the number.
const COPIES: usize = 3;
/// Size of all archives, as a multiple of the history, above which the rule reports. We chose the number.
const TIMES: f64 = 3.0;
/// Share of the history so far that makes an archive a full copy.
const FULL: f64 = 0.9;

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let archives: Vec<&File> = replay.journal.files.iter().filter(|file| file.kind == FileKind::Archive).collect();
    // Both conditions need at least this many archives.
    if archives.len() < COPIES {
        return Vec::new();
    }
    let history = history_before_calls(replay);
    let copies: Vec<&&File> = archives.iter().filter(|file| file.bytes as f64 >= FULL * history[file.call] as f64).collect();
    let (bytes, history_bytes) =
        (archives.iter().map(|file| file.bytes).sum::<u64>(), history.last().copied().unwrap_or_default());
    let times = bytes as f64 / history_bytes.max(1) as f64;
    if copies.len() < COPIES && times <= TIMES {
        return Vec::new();
    }
    let call = copies.get(COPIES - 1).map_or(archives[COPIES - 1].call, |file| file.call);
    let message = format!(
        "{} with {bytes} bytes store a history of {history_bytes} bytes {times:.1} times; {} of them are full copies of the history so far",
        plural(archives.len(), "archive"),
        copies.len()
    );
    let detection =
        Detection::at_call(replay, Level::Warning, call, message).with("archives", archives.len()).with("copies", copies.len());
    vec![detection.with("bytes", bytes).with("history_bytes", history_bytes).with("times", times)]
}

/// Bytes of the history before each call, and at the end, in the format of archives.
fn history_before_calls(replay: &ReplayView) -> Vec<u64> {
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
