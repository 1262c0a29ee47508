//! The effect of each parameter of a sweep on each objective: small plots of the mean at each value.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::sweep;
use super::figure::{area, data_details};
use super::plot::{self, Scale};
use super::roles::Roles;
use super::series::PolicySeries;
use super::words::words;
use crate::results::saved::{Column, Results, SensitivityRow, Unit};

/// Height in pixels.
const HEIGHT: usize = 120;
/// Maximum values named below a plot; if there are more, only the first and the last are named.
const MAX_NAMED: usize = 7;

/// Draws one row per parameter and one plot per objective. All plots of an objective share a scale, so that they can be
/// compared.
pub fn draw(results: &Results, series: &PolicySeries) -> Option<Markup> {
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
    let caption = "All plots of an objective share a scale. Choose parameters with steep lines with care; a wider range of values gives a larger share of the variance.";
    Some(html! {
        figure class="small" {
            @for (policy, parameter) in &parameters {
                div data-p=[series.index_of(policy)] {
                    h3 { bdi { (terminal(parameter)) } " of " bdi { (terminal(policy)) } }
                    div class="thirds" {
                        @for (row, column) in rows.iter().filter(|(row, _)| row.of == *policy && row.parameter == *parameter) {
                            (plot_means(row, column, &scale(&rows, &row.column), &series.roles))
                        }
                    }
                }
            }
            figcaption { (caption) }
        }
        (data_details(&data, series))
    })
}

fn scale(rows: &[(&SensitivityRow, &Column)], objective: &str) -> Scale {
    let same = rows.iter().filter(|(row, _)| row.column == objective);
    Scale::around(same.flat_map(|(row, _)| row.means.iter().map(|(_, mean)| *mean)))
}

fn plot_means(row: &SensitivityRow, column: &Column, scale: &Scale, roles: &Roles) -> Markup {
    let count = row.means.len();
    let point = |(index, (_, mean)): (usize, &(String, f64))| (plot::step_middle(index, count), scale.position_from_top(*mean));
    let points: Vec<(f64, f64)> = row.means.iter().enumerate().map(point).collect();
    let is_named = |index: usize| count <= MAX_NAMED || index == 0 || index + 1 == count;
    let names = row.means.iter().enumerate().map(|(index, (value, _))| if is_named(index) { value.as_str() } else { "" });
    let names: Vec<&str> = names.collect();
    // Such a small plot needs only half of the ticks.
    let ticks = Scale { ticks: scale.ticks.iter().copied().step_by(2).collect(), ..scale.clone() };
    let drawing = html! {
        (plot::vertical_axis(&ticks, column.unit, ""))
        (plot::step_axis(&names, ""))
        g class="s0" { (plot::path("stroke", points.iter().copied())) }
        @for point in &points { (plot::mark("s0", 0, *point)) }
    };
    let text = |(value, mean): &(String, f64)| format!("{value}: {}", number_format::value(column.unit, Some(*mean)));
    let texts: Vec<String> = row.means.iter().map(text).collect();
    let share = number_format::value(Unit::Share, Some(row.share));
    let title = words(column, roles);
    let name = format!("{title} by {}", row.parameter);
    html! {
        div {
            h4 { (terminal(&title)) " " small { (share) " of its variance" } }
            div class="plot" { (area("means", HEIGHT, "img", &name, &texts.join(", "), &drawing)) }
        }
    }
}
