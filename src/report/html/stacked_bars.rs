//! Plots with one row per policy: the parts of its cost, and its differences from the baseline.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::{ColumnHeader, TableModel};
use super::figure::data_details;
use super::plot::{self, Scale};
use super::series::{COST_PARTS, DIFFERENCES, PolicySeries, SeriesStyle};
use super::words::words;
use crate::results::saved::{Column, ComparisonRow, Results, Unit};
use crate::util::text::plural;

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

/// Draws dots and whiskers: each policy's difference from the baseline, one plot per column.
pub fn differences(results: &Results, series: &PolicySeries) -> Option<Markup> {
    let has = |id: &str| results.comparisons.iter().any(|row| row.column == id && row.difference.is_finite());
    let columns: Vec<&Column> = DIFFERENCES.iter().filter(|id| has(id)).filter_map(|id| results.column(id)).collect();
    if columns.is_empty() {
        return None;
    }
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("compared with"), ColumnHeader::names("column")];
    headers.extend(["difference", "interval", "sessions", "p", "p after Holm"].map(ColumnHeader::numbers));
    let data = TableModel {
        title: "Differences".to_owned(),
        subject: String::new(),
        headers,
        rows: results.comparisons.iter().map(|row| cells(row, results)).collect(),
        footnotes: vec![],
    };
    let drawn = results.statistics.as_ref().map_or(String::new(), |statistics| {
        let level = number_format::grouped(statistics.level * 100.0, 0);
        let draws = number_format::grouped(statistics.resamples as f64, 0);
        format!(
            "Whiskers are {level} % intervals over {}, from {draws} bootstrap resamples. ",
            plural(statistics.sessions, "session")
        )
    });
    let caption =
        format!("{drawn}A difference whose whisker crosses the line at zero is not significant. {}", series.left_out(results));
    Some(html! {
        figure {
            div class="several" {
                @for column in columns { (difference(column, results, series)) }
            }
            figcaption { (terminal(caption.trim_end())) }
        }
        (data_details(&data, series))
    })
}

fn difference(column: &Column, results: &Results, series: &PolicySeries) -> Markup {
    let row = |policy: &str| results.comparisons.iter().find(|row| row.policy == policy && row.column == column.id);
    let rows: Vec<(&SeriesStyle, &ComparisonRow)> = series
        .drawn
        .iter()
        .filter_map(|style| Some((style, row(style.policy).filter(|row| row.difference.is_finite())?)))
        .collect();
    let ends = rows.iter().flat_map(|(_, row)| row.interval.into_iter().flatten().chain([row.difference, 0.0]));
    let scale = Scale::around(ends);
    let of_policy = |style: &SeriesStyle, row: &ComparisonRow| {
        let whisker = row.interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
        let drawing = html! {
            (plot::grid(&scale))
            (plot::line("zero", (scale.position(0.0), 0.0), (scale.position(0.0), 100.0)))
            @if let Some([low, high]) = whisker {
                (plot::line(&format!("whisker {}", style.class), (scale.position(low), 50.0), (scale.position(high), 50.0)))
            }
            (plot::mark(&style.class, style.mark, (scale.position(row.difference), 50.0)))
        };
        let value_text = signed(column.unit, row.difference);
        strip(series, style, &drawing, &value_text, &format!("{}: {value_text}{}", style.policy, interval(column.unit, row)))
    };
    let against = rows.first().map_or("", |(_, row)| row.against.as_str());
    let name = format!("{}: difference from {}", words(column, &series.roles), series.roles.label(against));
    html! {
        div {
            h3 { (terminal(&name)) }
            ul class="strips whiskers" {
                @for (style, row) in rows { (of_policy(style, row)) }
                (scale_row(&scale, column.unit))
            }
        }
    }
}

fn signed(unit: Unit, value: f64) -> String {
    let shown = number_format::value(unit, Some(value));
    if value > 0.0 { format!("+{shown}") } else { shown.replacen('-', "−", 1) }
}

fn interval(unit: Unit, row: &ComparisonRow) -> String {
    row.interval.map_or(String::new(), |[low, high]| format!(" ({} … {})", signed(unit, low), signed(unit, high)))
}

fn cells(row: &ComparisonRow, results: &Results) -> Vec<String> {
    let unit = results.column(&row.column).map_or(Unit::Ratio, |column| column.unit);
    let p_value = |p: Option<f64>| p.map_or(number_format::MISSING.to_owned(), |p| number_format::grouped(p, 4));
    let interval = interval(unit, row);
    vec![
        row.policy.clone(),
        row.against.clone(),
        row.column.to_string(),
        signed(unit, row.difference),
        if interval.is_empty() { number_format::MISSING.to_owned() } else { interval.trim().to_owned() },
        number_format::grouped(row.sessions as f64, 0),
        p_value(row.p),
        p_value(row.p_holm),
    ]
}
