//! Footnotes on the certainty of the numbers: how the intervals were computed, or why there are none.

use crate::results::saved::Results;
use crate::results::stats::{COVERAGE, FEW_SESSIONS, MIN_SESSIONS, Samples};
use crate::util::text::plural;

use super::super::number_format::grouped;

/// Returns lines on how the intervals were computed, or on why there are none.
pub fn interval_notes(results: &Results) -> Vec<String> {
    let Some(statistics) = &results.statistics else { return too_few_note(results).into_iter().collect() };
    let mut lines = vec![format!(
        "(low … high): {} % bootstrap intervals, {} resampled {} times (seed {})",
        grouped(statistics.level * 100.0, 0),
        plural(statistics.sessions, "session"),
        grouped(statistics.draws as f64, 0),
        statistics.seed
    )];
    let measured = COVERAGE.iter().rev().find(|(sessions, ..)| *sessions <= statistics.sessions);
    if let Some((sessions, total, difference)) = measured.filter(|_| statistics.sessions < FEW_SESSIONS) {
        let [total, difference] = [total, difference].map(|share| grouped(share * 100.0, 0));
        lines.push(format!(
            "with so few sessions they are too narrow: in simulated studies of {sessions}, {total} % held the true total, and {difference} % \
             the true difference"
        ));
    }
    lines
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
