//! Scatter plot of the configurations over the first two objectives, in plain characters.

use crate::results::saved::{ConfigurationRow, Objective, Results};

use super::super::TableModel;
use super::SweepView;
use crate::report::number_format;

/// Width and height of the plot in characters. With the labels beside it, a line stays below 100 characters.
const WIDTH: usize = 72;
const HEIGHT: usize = 16;

/// Characters for configurations and their meaning; later ones are drawn over earlier ones.
const MARKS: [(char, &str); 4] =
    [('.', "a configuration"), ('o', "on the Pareto front"), ('+', "a current policy"), ('*', "recommended")];

/// Returns `None` unless there are two objectives that vary.
pub fn plot(results: &Results) -> Option<TableModel> {
    let view = SweepView::new(results)?;
    let [across, up, ..] = &view.sweep.objectives[..] else { return None };
    let rows = &view.sweep.configurations;
    let (x, y) = (Axis::new(across, rows)?, Axis::new(up, rows)?);
    let recommended = view.sweep.recommended.as_ref().map(|recommended| recommended.policy.as_str());
    let mark_index = |row: &ConfigurationRow| match row {
        row if recommended == Some(row.policy.as_str()) => 3,
        row if row.policy == row.of => 2,
        row => usize::from(row.front),
    };
    let mut plane = vec![vec![' '; WIDTH]; HEIGHT];
    for (index, (mark, _)) in MARKS.iter().enumerate() {
        for row in rows.iter().filter(|row| mark_index(row) == index) {
            if let (Some(column), Some(line)) = (x.part(row, WIDTH), y.part(row, HEIGHT)) {
                plane[HEIGHT - 1 - line][column] = *mark;
            }
        }
    }
    let label = |value: f64| number_format::value(view.unit(&up.column), Some(value));
    let (top, bottom) = (label(y.high), label(y.low));
    let margin = top.chars().count().max(bottom.chars().count());
    let line = |(index, line): (usize, &Vec<char>)| {
        let label = if index == 0 {
            top.as_str()
        } else if index == HEIGHT - 1 {
            &bottom
        } else {
            ""
        };
        format!("{label:>margin$} |{}", line.iter().collect::<String>()).trim_end().to_owned()
    };
    let mut lines: Vec<String> = plane.iter().enumerate().map(line).collect();
    let [left, right] = [x.low, x.high].map(|value| number_format::value(view.unit(&across.column), Some(value)));
    lines.push(format!("{:margin$} +{}", "", "-".repeat(WIDTH)));
    let between = WIDTH.saturating_sub(left.chars().count());
    lines.push(format!("{:margin$}  {left}{right:>between$}", ""));
    let is_drawn = |index: &usize| rows.iter().any(|row| mark_index(row) == *index);
    let legend = (0..MARKS.len()).filter(is_drawn).map(|index| format!("{} {}", MARKS[index].0, MARKS[index].1));
    let footnotes = vec![legend.collect::<Vec<_>>().join(", ")];
    let subject = format!("{} (up) by {} (across)", up.column, across.column);
    Some(TableModel::verbatim("Configurations".to_owned(), subject, lines, footnotes))
}

struct Axis<'a> {
    objective: &'a Objective,
    low: f64,
    high: f64,
}

impl<'a> Axis<'a> {
    fn new(objective: &'a Objective, rows: &[ConfigurationRow]) -> Option<Self> {
        let values = rows.iter().filter_map(|row| row.values.get(&objective.column)).filter(|value| value.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(ends, |(low, high), value| (low.min(value), high.max(value)));
        (low < high).then_some(Self { objective, low, high })
    }

    /// Index of the part a configuration falls into when the axis is divided into `parts` equal parts.
    fn part(&self, row: &ConfigurationRow, parts: usize) -> Option<usize> {
        let value = row.values.get(&self.objective.column).filter(|value| value.is_finite())?;
        let share = (value - self.low) / (self.high - self.low);
        Some(((share * parts as f64) as usize).min(parts - 1))
    }
}
