//! `overwrite`: an archive overwrites an earlier archive of the same name, so the earlier one is lost.
//!
//! What it means: the policy gives two copies of the transcript the same name. Why it hurts: an archive makes a summary
//! recoverable; without it, the history between the two archives is nowhere. What to change: put something into the
//! name that no two archives share, such as a number or a random id, and open the file in a mode that refuses existing
//! files. Evidence: learn-claude-code's s06 names archives by the second, and two compactions within one second
//! overwrite each other (maki #814).
//!
//! Results that are moved to disk twice under one name hold the same bytes and are not reported.
//!
//! Precision: nothing was found in 108 recordings, because no preset repeats a name and the recordings include no
//! archives. We overwrote copies of archives ourselves; the rule reported all of them.

use crate::engine::layer::FileKind;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let overwrites = replay.journal.files.iter().filter(|file| file.kind == FileKind::Archive && file.again);
    let detections = overwrites.map(|file| {
        let message = format!("{} overwrites the earlier archive {}", replay.layer(file.layer), file.path);
        Detection::at_call(replay, Level::Error, file.call, message).with("path", file.path.as_str()).with("bytes", file.bytes)
    });
    detections.collect()
}
