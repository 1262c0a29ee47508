//! Plot with one row per policy: the parts of its cost.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::{ColumnHeader, TableModel};
use super::figure::data_details;
use super::plot::{self, Scale};
use super::series::{COST_PARTS, PolicySeries, SeriesStyle};
use crate::results::saved::{Column, Results, Unit};

/// Renders one row: the policy's name, its drawing, and the value at its end.
fn strip(series: &PolicySeries, style: &SeriesStyle, drawing: &Markup, value_text: &str, name: &str) -> Markup {
    html! {
        li class="strip" data-p=(style.index) {
            span class="who" { (series.name(style.policy)) }
            svg class="line" width="100%" height="22" role="img" aria-label=(terminal(name)) { (drawing) }
            span class="said" { (terminal(value_text)) }
        }
    }
}

/// Draws the scale below all rows.
fn scale_row(scale: &Scale, unit: Unit) -> Markup {
    html! {
        li class="strip foot" aria-hidden="true" {
            span {}
            svg class="line" width="100%" height="1" { (plot::horizontal_axis(scale, unit, "", false)) }
            span {}
        }
    }
}

/// Draws stacked bars of the parts of each policy's cost.
pub fn costs(results: &Results, series: &PolicySeries) -> Option<Markup> {
    let parts: Vec<(&Column, &str)> = COST_PARTS.iter().filter_map(|(id, name)| Some((results.column(id)?, *name))).collect();
    let unit = parts.first()?.0.unit;
    let values = |policy: &str| -> Option<Vec<f64>> {
        let summary = results.summary.iter().find(|summary| summary.policy == policy && summary.bound_of.is_none())?;
        let values: Vec<Option<f64>> = parts.iter().map(|(column, _)| summary.values.get(&column.id)).collect();
        values.iter().any(Option::is_some).then(|| values.into_iter().map(|value| value.unwrap_or(0.0).max(0.0)).collect())
    };
    let drawn: Vec<(&SeriesStyle, Vec<f64>)> =
        series.drawn.iter().filter_map(|style| Some((style, values(style.policy)?))).collect();
    let scale = Scale::around(drawn.iter().map(|(_, parts)| parts.iter().sum()).chain([0.0]));
    if drawn.is_empty() {
        return None;
    }
    let bar = |style: &SeriesStyle, values: &[f64]| {
        let positive = || values.iter().enumerate().filter(|(_, value)| **value > 0.0);
        let bars = html! {
            (plot::grid(&scale))
            @for (index, value) in positive() {
                @let before: f64 = values[..index].iter().sum();
                @let width = plot::percent(scale.position(*value) - scale.position(0.0));
                rect class={ "part p" (index) } x={ (plot::percent(scale.position(before))) "%" } y="3" width={ (width) "%" } height="16" {}
            }
        };
        let value_text =
            positive().map(|(index, value)| format!("{} {}", parts[index].1, number_format::value(unit, Some(*value))));
        let total = number_format::value(unit, Some(values.iter().sum()));
        strip(series, style, &bars, &total, &format!("{}: {total} ({})", style.policy, value_text.collect::<Vec<_>>().join(", ")))
    };
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(parts.iter().map(|(_, name)| ColumnHeader::numbers(name)));
    headers.push(ColumnHeader::numbers("total"));
    let all = results.summary.iter().filter(|summary| summary.bound_of.is_none());
    let rows = all.filter_map(|summary| {
        let values = values(&summary.policy)?;
        let together = values.iter().sum();
        let cells = values.into_iter().chain([together]).map(|value| number_format::value(unit, Some(value)));
        Some(std::iter::once(summary.policy.clone()).chain(cells).collect())
    });
    let data =
        TableModel { title: "Cost by part".to_owned(), subject: String::new(), headers, rows: rows.collect(), footnotes: vec![] };
    let caption = format!("Estimated, with prompt caching simulated, over all conversations. {}", series.left_out(results));
    Some(html! {
        figure {
            div class="legend" {
                @for (index, (_, name)) in parts.iter().enumerate() {
                    span class="key still" { i class={ "swatch p" (index) } {} (name) }
                }
            }
            ul class="strips" id="parts" {
                @for (style, values) in &drawn { (bar(style, values)) }
                (scale_row(&scale, unit))
            }
            figcaption { (terminal(caption.trim_end())) }
        }
        (data_details(&data, series))
    })
}
