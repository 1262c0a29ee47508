//! Bytes and files that a policy writes to disk.

use super::{Metric, MetricInput, count, sum};
use crate::engine::journal::File;
use crate::engine::layer::FileKind;
use crate::metrics::column::{Aggregation, Column, Direction, Unit};

pub const METRIC: Metric = Metric {
    name: "disk",
    about: "bytes and files that a policy writes: tool results moved to disk, transcripts archived",
    columns: &[
        Column::counted(
            "persisted.bytes",
            Unit::Bytes,
            Direction::Neither,
            Aggregation::Sum,
            "UTF-8 bytes of tool results moved to disk, each result counted once",
        ),
        Column::counted("persisted.files", Unit::Count, Direction::Neither, Aggregation::Sum, "tool results moved to disk"),
        Column::counted(
            "archived.bytes",
            Unit::Bytes,
            Direction::Lower,
            Aggregation::Sum,
            "bytes of the transcripts archived before something was removed, a full copy each time",
        ),
        Column::counted("archived.files", Unit::Count, Direction::Lower, Aggregation::Sum, "transcripts archived"),
    ],
    values,
};

fn values(input: &MetricInput) -> Vec<Option<f64>> {
    let files = &input.journal.files;
    // A harness writes a result only if its file does not exist yet.
    let persisted = |file: &&File| file.kind == FileKind::Persisted && !file.again;
    let archived = |file: &&File| file.kind == FileKind::Archive;
    vec![
        Some(sum(files.iter().filter(persisted).map(|file| file.bytes))),
        count(files.iter().filter(persisted).count()),
        Some(sum(files.iter().filter(archived).map(|file| file.bytes))),
        count(files.iter().filter(archived).count()),
    ]
}
