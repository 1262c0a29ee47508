//! The configurations in the plane of the first two objectives, in plain characters.

use crate::results::saved::{ConfigurationRow, Objective, Results};

use super::super::TableModel;
use super::Found;
use crate::report::number_format;

/// Characters the plane takes; with what stands beside it a line has less than 100.
const WIDE: usize = 72;
const HIGH: usize = 16;

/// What stands for a configuration; the later ones are drawn over the earlier.
const MARKS: [(char, &str); 4] =
    [('.', "a configuration"), ('o', "on the front"), ('+', "a policy as it is"), ('*', "recommended")];

/// Nothing where there are not two objectives that vary.
pub fn plot(results: &Results) -> Option<TableModel> {
    let found = Found::of(results)?;
    let [across, up, ..] = &found.sweep.objectives[..] else { return None };
    let rows = &found.sweep.configurations;
    let (x, y) = (Axis::of(across, rows)?, Axis::of(up, rows)?);
    let recommended = found.sweep.recommended.as_ref().map(|recommended| recommended.policy.as_str());
    let kind = |row: &ConfigurationRow| match row {
        row if recommended == Some(row.policy.as_str()) => 3,
        row if row.policy == row.of => 2,
        row => usize::from(row.front),
    };
    let mut plane = vec![vec![' '; WIDE]; HIGH];
    for (drawn, (mark, _)) in MARKS.iter().enumerate() {
        for row in rows.iter().filter(|row| kind(row) == drawn) {
            if let (Some(column), Some(line)) = (x.place(row, WIDE), y.place(row, HIGH)) {
                plane[HIGH - 1 - line][column] = *mark;
            }
        }
    }
    let label = |value: f64| number_format::value(found.unit(&up.column), Some(value));
    let (top, bottom) = (label(y.high), label(y.low));
    let margin = top.chars().count().max(bottom.chars().count());
    let line = |(at, line): (usize, &Vec<char>)| {
        let label = if at == 0 {
            top.as_str()
        } else if at == HIGH - 1 {
            &bottom
        } else {
            ""
        };
        format!("{label:>margin$} |{}", line.iter().collect::<String>()).trim_end().to_owned()
    };
    let mut lines: Vec<String> = plane.iter().enumerate().map(line).collect();
    let [left, right] = [x.low, x.high].map(|value| number_format::value(found.unit(&across.column), Some(value)));
    lines.push(format!("{:margin$} +{}", "", "-".repeat(WIDE)));
    let between = WIDE.saturating_sub(left.chars().count());
    lines.push(format!("{:margin$}  {left}{right:>between$}", ""));
    let drawn = |at: &usize| rows.iter().any(|row| kind(row) == *at);
    let legend = (0..MARKS.len()).filter(drawn).map(|at| format!("{} {}", MARKS[at].0, MARKS[at].1));
    let below = vec![legend.collect::<Vec<_>>().join(", ")];
    let measure = format!("{} (up) by {} (across)", up.column, across.column);
    Some(TableModel::verbatim("The configurations".to_owned(), measure, lines, below))
}

struct Axis<'a> {
    objective: &'a Objective,
    low: f64,
    high: f64,
}

impl<'a> Axis<'a> {
    fn of(objective: &'a Objective, rows: &[ConfigurationRow]) -> Option<Self> {
        let values = rows.iter().filter_map(|row| row.values.get(&objective.column)).filter(|value| value.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(ends, |(low, high), value| (low.min(value), high.max(value)));
        (low < high).then_some(Self { objective, low, high })
    }

    /// In which of so many equal parts of the axis a configuration is.
    fn place(&self, row: &ConfigurationRow, parts: usize) -> Option<usize> {
        let value = row.values.get(&self.objective.column).filter(|value| value.is_finite())?;
        let share = (value - self.low) / (self.high - self.low);
        Some(((share * parts as f64) as usize).min(parts - 1))
    }
}
