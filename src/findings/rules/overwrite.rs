//! `overwrite`: an archive is written under a name that an earlier one has, so the earlier one is gone.
//!
//! What it means: the policy names two copies of the transcript alike. Why it hurts: an archive is what makes a summary
//! recoverable; the history between the two is then nowhere. What to change: put something into the name that no two archives
//! share, such as a number or a random id, and open the file so that an existing one is refused. Evidence: learn-claude-code's s06
//! names archives by the second, and two compactions within one second overwrite each other (maki #814).
//!
//! Results that are moved to disk twice under one name hold the same bytes and are not reported.
//!
//! Precision: nothing was found in 108 recordings, for no preset's names recur and no archives of theirs were saved. Of copies of
//! archives that were written over by hand all were told.

use crate::engine::layer::FileKind;
use crate::findings::Level;
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    let again = replay.journal.files.iter().filter(|file| file.kind == FileKind::Archive && file.again);
    let found = again.map(|file| {
        let message = format!("{} writes the archive {} over an earlier one", replay.layer(file.layer), file.path);
        Detection::at_call(replay, Level::Error, file.call, message).with("path", file.path.as_str()).with("bytes", file.bytes)
    });
    found.collect()
}
