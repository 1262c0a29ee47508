//! The effect of each parameter of a sweep on each objective: small plots of the mean at each value.

use super::super::table_model::compare::title;
use super::super::table_model::sweep;
use super::super::{escape, number_format};
use super::figure::{area, data_details};
use super::plot::{self, Scale};
use super::series::PolicySeries;
use crate::results::saved::{Column, Results, SensitivityRow, Unit};

/// Height in pixels.
const HEIGHT: usize = 120;
/// Maximum values named below a plot; if there are more, only the first and the last are named.
const MAX_NAMED: usize = 7;

/// Draws one row per parameter and one plot per objective. All plots of an objective share a scale, so that they can be
/// compared.
pub fn draw(results: &Results, series: &PolicySeries) -> Option<String> {
    let rows = &results.sweep.as_ref()?.sensitivity;
    let has_effect =
        |row: &&SensitivityRow| row.share > 0.0 && row.means.len() > 1 && row.means.iter().all(|(_, mean)| mean.is_finite());
    let rows: Vec<(&SensitivityRow, &Column)> =
        rows.iter().filter(has_effect).filter_map(|row| Some((row, results.column(&row.column)?))).collect();
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
    let plots_of = |(policy, parameter): &(&str, &str)| {
        let own = rows.iter().filter(|(row, _)| row.of == *policy && row.parameter == *parameter);
        let plots: String = own.map(|(row, column)| plot_means(row, column, &scale(&rows, &row.column))).collect();
        format!(
            r#"<div{}><h3><bdi>{}</bdi> of <bdi>{}</bdi></h3><div class="thirds">{plots}</div></div>"#,
            series.tag(policy),
            escape::html(parameter),
            escape::html(policy)
        )
    };
    let all: String = parameters.iter().map(plots_of).collect();
    let caption = "All plots of an objective share a scale. Choose parameters with steep lines with care; a wider range of values gives a larger share of the variance.";
    Some(format!(r#"<figure class="small">{all}<figcaption>{caption}</figcaption></figure>{}"#, data_details(&data, series)))
}

fn scale(rows: &[(&SensitivityRow, &Column)], objective: &str) -> Scale {
    let same = rows.iter().filter(|(row, _)| row.column == objective);
    Scale::around(same.flat_map(|(row, _)| row.means.iter().map(|(_, mean)| *mean)))
}

fn plot_means(row: &SensitivityRow, column: &Column, scale: &Scale) -> String {
    let count = row.means.len();
    let point = |(index, (_, mean)): (usize, &(String, f64))| (plot::step_middle(index, count), scale.position_from_top(*mean));
    let points: Vec<(f64, f64)> = row.means.iter().enumerate().map(point).collect();
    let is_named = |index: usize| count <= MAX_NAMED || index == 0 || index + 1 == count;
    let names = row.means.iter().enumerate().map(|(index, (value, _))| if is_named(index) { value.as_str() } else { "" });
    let names: Vec<&str> = names.collect();
    // Such a small plot needs only half of the ticks.
    let ticks = Scale { ticks: scale.ticks.iter().copied().step_by(2).collect(), ..scale.clone() };
    let marks: String = points.iter().map(|point| plot::mark("s0", 0, *point)).collect();
    let line = format!(r#"<g class="s0">{}</g>"#, plot::path("stroke", "", points.into_iter()));
    let drawing = format!("{}{}{line}{marks}", plot::vertical_axis(&ticks, column.unit, ""), plot::step_axis(&names, ""));
    let text = |(value, mean): &(String, f64)| format!("{value}: {}", number_format::value(column.unit, Some(*mean)));
    let texts: Vec<String> = row.means.iter().map(text).collect();
    let share = number_format::value(Unit::Share, Some(row.share));
    let name = format!("{} by {}", title(column), row.parameter);
    format!(
        r#"<div><h4>{} <small>{share} of its variance</small></h4><div class="plot">{}</div></div>"#,
        escape::html(&title(column)),
        area("means", HEIGHT, "img", &name, &texts.join(", "), &drawing)
    )
}
