//! Plots with one row per policy: the parts of its cost, and its differences from the baseline.

use super::super::table_model::{ColumnHeader, TableModel};
use super::super::{escape, number_format};
use super::figure::data_details;
use super::plot::{self, Scale};
use super::series::{COST_PARTS, DIFFERENCES, PolicySeries, SeriesStyle};
use crate::results::saved::{Column, ComparisonRow, Results, Unit};
use crate::util::text::plural;

/// Renders one row: the policy's name, its drawing, and the value at its end.
fn strip(style: &SeriesStyle, drawing: &str, value_text: &str, name: &str) -> String {
    format!(
        r#"<li class="strip" data-p="{}"><span class="who"><bdi>{}</bdi></span><svg class="line" width="100%" height="22" role="img" aria-label="{}">{drawing}</svg><span class="said">{}</span></li>"#,
        style.index,
        escape::html(style.policy),
        escape::html(name),
        escape::html(value_text)
    )
}

/// Draws the scale below all rows.
fn scale_row(scale: &Scale, unit: Unit, name: &str) -> String {
    format!(
        r#"<li class="strip foot" aria-hidden="true"><span></span><svg class="line" width="100%" height="1">{}</svg><span></span></li>"#,
        plot::horizontal_axis(scale, unit, name, false)
    )
}

fn grid(scale: &Scale) -> String {
    scale.ticks.iter().map(|tick| plot::line("grid", (scale.position(*tick), 0.0), (scale.position(*tick), 100.0))).collect()
}

/// Draws stacked bars of the parts of each policy's cost.
pub fn costs(results: &Results, series: &PolicySeries) -> Option<String> {
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
    let bar = |(style, values): &(&SeriesStyle, Vec<f64>)| {
        let (mut from, mut bars, mut value_text) = (0.0, grid(&scale), Vec::new());
        for (index, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let (x, width) = (plot::percent(scale.position(from)), plot::percent(scale.position(*value) - scale.position(0.0)));
            bars += &format!(r#"<rect class="part p{index}" x="{x}%" y="3" width="{width}%" height="16"/>"#);
            value_text.push(format!("{} {}", parts[index].1, number_format::value(unit, Some(*value))));
            from += value;
        }
        let total = number_format::value(unit, Some(from));
        strip(style, &bars, &total, &format!("{}: {total} ({})", style.policy, value_text.join(", ")))
    };
    let bars: String = drawn.iter().map(bar).collect();
    if drawn.is_empty() {
        return None;
    }
    let key = |(index, (_, name)): (usize, &(&Column, &str))| {
        format!(r#"<span class="key still"><i class="swatch p{index}"></i>{}</span>"#, escape::html(name))
    };
    let keys: String = parts.iter().enumerate().map(key).collect();
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
    Some(format!(
        r#"<figure><div class="legend">{keys}</div><ul class="strips" id="parts">{bars}{}</ul><figcaption>{}</figcaption></figure>{}"#,
        scale_row(&scale, unit, ""),
        escape::html(caption.trim_end()),
        data_details(&data, series)
    ))
}

/// Draws dots and whiskers: each policy's difference from the baseline, one plot per column.
pub fn differences(results: &Results, series: &PolicySeries) -> Option<String> {
    let has = |id: &str| results.comparisons.iter().any(|row| row.column == id && row.difference.is_finite());
    let columns: Vec<&Column> = DIFFERENCES.iter().filter(|id| has(id)).filter_map(|id| results.column(id)).collect();
    let plots: String = columns.iter().map(|column| difference(column, results, series)).collect();
    if plots.is_empty() {
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
        let draws = number_format::grouped(statistics.draws as f64, 0);
        format!(
            "Whiskers are {level} % intervals over {}, from {draws} bootstrap resamples. ",
            plural(statistics.sessions, "session")
        )
    });
    let caption =
        format!("{drawn}A difference whose whisker crosses the line at zero is not significant. {}", series.left_out(results));
    Some(format!(
        r#"<figure><div class="several">{plots}</div><figcaption>{}</figcaption></figure>{}"#,
        escape::html(caption.trim_end()),
        data_details(&data, series)
    ))
}

fn difference(column: &Column, results: &Results, series: &PolicySeries) -> String {
    let row = |policy: &str| results.comparisons.iter().find(|row| row.policy == policy && row.column == column.id);
    let rows: Vec<(&SeriesStyle, &ComparisonRow)> = series
        .drawn
        .iter()
        .filter_map(|style| Some((style, row(style.policy).filter(|row| row.difference.is_finite())?)))
        .collect();
    let ends = rows.iter().flat_map(|(_, row)| row.interval.into_iter().flatten().chain([row.difference, 0.0]));
    let scale = Scale::around(ends);
    let strips: String = rows
        .iter()
        .map(|(style, row)| {
            let mut drawing = grid(&scale) + &plot::line("zero", (scale.position(0.0), 0.0), (scale.position(0.0), 100.0));
            if let Some([low, high]) = row.interval.filter(|ends| ends.iter().all(|end| end.is_finite())) {
                drawing +=
                    &plot::line(&format!("whisker {}", style.class), (scale.position(low), 50.0), (scale.position(high), 50.0));
            }
            drawing += &plot::mark(&style.class, style.mark, (scale.position(row.difference), 50.0));
            let value_text = signed(column.unit, row.difference);
            strip(style, &drawing, &value_text, &format!("{}: {value_text}{}", style.policy, interval(column.unit, row)))
        })
        .collect();
    let against = rows.first().map_or("", |(_, row)| row.against.as_str());
    let name = format!("{}: difference from {against}", super::super::table_model::compare::title(column));
    format!(
        r#"<div><h3>{}</h3><ul class="strips whiskers">{strips}{}</ul></div>"#,
        escape::html(&name),
        scale_row(&scale, column.unit, "")
    )
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
