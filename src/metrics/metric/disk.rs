//! What a policy writes to disk.

use super::{Measurement, Replayed, count, sum};
use crate::engine::journal::File;
use crate::engine::layer::FileKind;
use crate::metrics::column::{Better, Column, Combine, Unit};

pub const MEASUREMENT: Measurement = Measurement {
    name: "disk",
    about: "bytes and files a policy writes: tool results it moves away, transcripts it keeps",
    columns: &[
        Column::counted(
            "persisted.bytes",
            Unit::Bytes,
            Better::Neither,
            Combine::Sum,
            "UTF-8 bytes of tool results moved to disk, each once",
        ),
        Column::counted("persisted.files", Unit::Count, Better::Neither, Combine::Sum, "tool results moved to disk"),
        Column::counted(
            "archived.bytes",
            Unit::Bytes,
            Better::Lower,
            Combine::Sum,
            "bytes of the transcripts written before something was lost, a full copy each time",
        ),
        Column::counted("archived.files", Unit::Count, Better::Lower, Combine::Sum, "transcripts written"),
    ],
    values,
};

fn values(replayed: &Replayed) -> Vec<Option<f64>> {
    let files = &replayed.journal.files;
    // A harness writes a result only where its file is not there yet.
    let persisted = |file: &&File| file.kind == FileKind::Persisted && !file.again;
    let archived = |file: &&File| file.kind == FileKind::Archive;
    vec![
        Some(sum(files.iter().filter(persisted).map(|file| file.bytes))),
        count(files.iter().filter(persisted).count()),
        Some(sum(files.iter().filter(archived).map(|file| file.bytes))),
        count(files.iter().filter(archived).count()),
    ]
}
