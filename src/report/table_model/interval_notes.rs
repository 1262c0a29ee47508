//! Footnotes on the certainty of the numbers: how the intervals were computed, or why there are none.

use crate::results::saved::Results;
use crate::results::stats::{MIN_SESSIONS, Samples};
use crate::util::text::plural;

use super::super::number_format::grouped;

/// Returns lines on how the intervals were computed, or on why there are none.
pub fn interval_notes(results: &Results) -> Vec<String> {
    let Some(statistics) = &results.statistics else { return too_few_note(results).into_iter().collect() };
    vec![format!(
        "(low … high): {} % intervals, from {} resampled {} times (seed {})",
        grouped(statistics.level * 100.0, 0),
        plural(statistics.sessions, "session"),
        grouped(statistics.resamples as f64, 0),
        statistics.seed
    )]
}

/// Returns a line that replaces intervals and comparisons. A single session needs no such line: it is clearly not a
/// sample.
fn too_few_note(results: &Results) -> Option<String> {
    let sessions = Samples::new(&results.rows).sessions();
    let has_averages = results.columns.iter().any(|column| column.combine.is_average());
    let applies = has_averages && (2..MIN_SESSIONS).contains(&sessions);
    applies
        .then(|| format!("{} are too few for intervals and comparisons: these need {MIN_SESSIONS}", plural(sessions, "session")))
}
