//! What each parameter of a sweep does to each objective: small plots of the means at its values.

use super::super::table_model::compare::title;
use super::super::table_model::sweep;
use super::super::{escape, number_format};
use super::figure::{area, numbers};
use super::plot::{self, Scale};
use super::series::PolicySeries;
use crate::results::saved::{Column, Results, SensitivityRow, Unit};

/// Pixels.
const HEIGHT: usize = 120;
/// Values of a parameter that are named below its plot; of more, the first and the last.
const NAMED: usize = 7;

/// A row a parameter, a plot an objective. All plots of an objective have the same scale, so that they can be compared.
pub fn draw(results: &Results, cast: &PolicySeries) -> Option<String> {
    let rows = &results.sweep.as_ref()?.sensitivity;
    let telling =
        |row: &&SensitivityRow| row.share > 0.0 && row.means.len() > 1 && row.means.iter().all(|(_, mean)| mean.is_finite());
    let rows: Vec<(&SensitivityRow, &Column)> =
        rows.iter().filter(telling).filter_map(|row| Some((row, results.column(&row.column)?))).collect();
    let data = sweep::sensitivity(results)?;
    if rows.is_empty() {
        return None;
    }
    let mut parameters: Vec<(&str, &str)> = Vec::new();
    for (row, _) in &rows {
        if !parameters.contains(&(&row.of, &row.parameter)) {
            parameters.push((&row.of, &row.parameter));
        }
    }
    let of = |(policy, parameter): &(&str, &str)| {
        let own = rows.iter().filter(|(row, _)| row.of == *policy && row.parameter == *parameter);
        let plots: String = own.map(|(row, column)| plot_of(row, column, &scale(&rows, &row.column))).collect();
        format!(
            r#"<div{}><h3><bdi>{}</bdi> of <bdi>{}</bdi></h3><div class="thirds">{plots}</div></div>"#,
            cast.tag(policy),
            escape::html(parameter),
            escape::html(policy)
        )
    };
    let all: String = parameters.iter().map(of).collect();
    let caption = "Plots of one objective have one scale. Steep lines are parameters to choose with care; a wider range of values gives a larger part.";
    Some(format!(r#"<figure class="small">{all}<figcaption>{caption}</figcaption></figure>{}"#, numbers(&data, cast)))
}

fn scale(rows: &[(&SensitivityRow, &Column)], objective: &str) -> Scale {
    let same = rows.iter().filter(|(row, _)| row.column == objective);
    Scale::around(same.flat_map(|(row, _)| row.means.iter().map(|(_, mean)| *mean)))
}

fn plot_of(row: &SensitivityRow, column: &Column, scale: &Scale) -> String {
    let count = row.means.len();
    let place = |(at, (_, mean)): (usize, &(String, f64))| (plot::step_middle(at, count), scale.down(*mean));
    let places: Vec<(f64, f64)> = row.means.iter().enumerate().map(place).collect();
    let is_named = |at: usize| count <= NAMED || at == 0 || at + 1 == count;
    let names = row.means.iter().enumerate().map(|(at, (value, _))| if is_named(at) { value.as_str() } else { "" });
    let names: Vec<&str> = names.collect();
    // Half of the ticks are enough for so small a plot.
    let ticks = Scale { ticks: scale.ticks.iter().copied().step_by(2).collect(), ..scale.clone() };
    let marks: String = places.iter().map(|place| plot::mark("s0", 0, *place)).collect();
    let line = format!(r#"<g class="s0">{}</g>"#, plot::path("stroke", "", places.into_iter()));
    let inside = format!("{}{}{line}{marks}", plot::upright(&ticks, column.unit, ""), plot::steps(&names, ""));
    let told = |(value, mean): &(String, f64)| format!("{value}: {}", number_format::value(column.unit, Some(*mean)));
    let told: Vec<String> = row.means.iter().map(told).collect();
    let part = number_format::value(Unit::Share, Some(row.share));
    let name = format!("{} by {}", title(column), row.parameter);
    format!(
        r#"<div><h4>{} <small>{part} of its variance</small></h4><div class="plot">{}</div></div>"#,
        escape::html(&title(column)),
        area("means", HEIGHT, "img", &name, &told.join(", "), &inside)
    )
}
