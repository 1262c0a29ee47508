//! In words: how sure the numbers are, and where nothing can be said.

use crate::results::saved::Results;
use crate::results::stats::{COVERAGE, FEW, FEWEST, Samples};
use crate::util::text::plural;

use super::super::number_format::grouped;

/// How the intervals came about, or why there are none.
pub fn of_intervals(results: &Results) -> Vec<String> {
    let Some(how) = &results.statistics else { return too_few(results).into_iter().collect() };
    let mut lines = vec![format!(
        "(low … high): {} % intervals, {} drawn with replacement {} times (seed {})",
        grouped(how.level * 100.0, 0),
        plural(how.sessions, "session"),
        grouped(how.draws as f64, 0),
        how.seed
    )];
    let measured = COVERAGE.iter().rev().find(|(sessions, ..)| *sessions <= how.sessions);
    if let Some((sessions, total, difference)) = measured.filter(|_| how.sessions < FEW) {
        let [total, difference] = [total, difference].map(|share| grouped(share * 100.0, 0));
        lines.push(format!(
            "so few sessions make them too narrow: in simulated studies of {sessions}, {total} % held the true total, and {difference} % \
             the true difference"
        ));
    }
    lines
}

/// Said in place of intervals and comparisons. One session is no sample at all, and nobody takes it for one.
fn too_few(results: &Results) -> Option<String> {
    let sessions = Samples::new(&results.rows).sessions();
    let could_be = results.columns.iter().any(|column| column.combine.is_average());
    let is_said = could_be && (2..FEWEST).contains(&sessions);
    is_said.then(|| {
        format!("{} are too few to say how sure this is: intervals and comparisons need {FEWEST}", plural(sessions, "session"))
    })
}
