//! Bytes and files that a policy writes to disk.

use super::{Metric, MetricGroup, MetricInput, count, sum};
use crate::engine::journal::File;
use crate::engine::layer::FileKind;
use crate::metrics::column::{Aggregation, Direction, Unit};

pub(super) const GROUP: MetricGroup = MetricGroup {
    name: "disk",
    about: "bytes and files that a policy writes: tool results moved to disk, transcripts archived",
    metrics: &[
        Metric::counted(
            "persisted.bytes",
            Unit::Bytes,
            Direction::Neither,
            Aggregation::Sum,
            "UTF-8 bytes of tool results moved to disk, each result counted once",
            |input| Some(sum(persisted(input).map(|file| file.bytes))),
        ),
        Metric::counted(
            "persisted.files",
            Unit::Count,
            Direction::Neither,
            Aggregation::Sum,
            "tool results moved to disk",
            |input| count(persisted(input).count()),
        ),
        Metric::counted(
            "archived.bytes",
            Unit::Bytes,
            Direction::Lower,
            Aggregation::Sum,
            "bytes of the transcripts archived before something was removed, a full copy each time",
            |input| Some(sum(archived(input).map(|file| file.bytes))),
        ),
        Metric::counted("archived.files", Unit::Count, Direction::Lower, Aggregation::Sum, "transcripts archived", |input| {
            count(archived(input).count())
        }),
    ],
};

fn persisted<'a>(input: &MetricInput<'a>) -> impl Iterator<Item = &'a File> {
    // A harness writes a result only if its file does not exist yet.
    input.journal.files.iter().filter(|file| file.kind == FileKind::Persisted && !file.again)
}

fn archived<'a>(input: &MetricInput<'a>) -> impl Iterator<Item = &'a File> {
    input.journal.files.iter().filter(|file| file.kind == FileKind::Archive)
}
