//! Plots of one line a policy: what its cost consists of, and how far it is from the baseline.

use super::super::table_model::{ColumnHeader, TableModel};
use super::super::{escape, number_format};
use super::figure::numbers;
use super::plot::{self, Scale};
use super::series::{DIFFERENCES, PARTS, PolicySeries, SeriesStyle};
use crate::results::saved::{Column, ComparisonRow, Results, Unit};
use crate::util::text::plural;

/// A policy's name, its strip, and what is said at its end.
fn strip(look: &SeriesStyle, drawing: &str, said: &str, name: &str) -> String {
    format!(
        r#"<li class="strip" data-p="{}"><span class="who"><bdi>{}</bdi></span><svg class="line" width="100%" height="22" role="img" aria-label="{}">{drawing}</svg><span class="said">{}</span></li>"#,
        look.place,
        escape::html(look.policy),
        escape::html(name),
        escape::html(said)
    )
}

/// The scale under all strips.
fn foot(scale: &Scale, unit: Unit, name: &str) -> String {
    format!(
        r#"<li class="strip foot" aria-hidden="true"><span></span><svg class="line" width="100%" height="1">{}</svg><span></span></li>"#,
        plot::level(scale, unit, name, false)
    )
}

fn grid(scale: &Scale) -> String {
    scale.ticks.iter().map(|tick| plot::line("grid", (scale.at(*tick), 0.0), (scale.at(*tick), 100.0))).collect()
}

/// Stacked bars: what each policy's cost consists of.
pub fn costs(results: &Results, cast: &PolicySeries) -> Option<String> {
    let parts: Vec<(&Column, &str)> = PARTS.iter().filter_map(|(id, name)| Some((results.column(id)?, *name))).collect();
    let unit = parts.first()?.0.unit;
    let values = |policy: &str| -> Option<Vec<f64>> {
        let summary = results.summary.iter().find(|summary| summary.policy == policy && summary.bound_of.is_none())?;
        let values: Vec<Option<f64>> = parts.iter().map(|(column, _)| summary.values.get(&column.id)).collect();
        values.iter().any(Option::is_some).then(|| values.into_iter().map(|value| value.unwrap_or(0.0).max(0.0)).collect())
    };
    let drawn: Vec<(&SeriesStyle, Vec<f64>)> = cast.drawn.iter().filter_map(|look| Some((look, values(look.policy)?))).collect();
    let scale = Scale::around(drawn.iter().map(|(_, parts)| parts.iter().sum()).chain([0.0]));
    let bar = |(look, values): &(&SeriesStyle, Vec<f64>)| {
        let (mut from, mut bars, mut said) = (0.0, grid(&scale), Vec::new());
        for (at, value) in values.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            let (x, width) = (plot::place(scale.at(from)), plot::place(scale.at(*value) - scale.at(0.0)));
            bars += &format!(r#"<rect class="part p{at}" x="{x}%" y="3" width="{width}%" height="16"/>"#);
            said.push(format!("{} {}", parts[at].1, number_format::value(unit, Some(*value))));
            from += value;
        }
        let total = number_format::value(unit, Some(from));
        strip(look, &bars, &total, &format!("{}: {total}, of which {}", look.policy, said.join(", ")))
    };
    let bars: String = drawn.iter().map(bar).collect();
    if drawn.is_empty() {
        return None;
    }
    let key = |(at, (_, name)): (usize, &(&Column, &str))| {
        format!(r#"<span class="key still"><i class="swatch p{at}"></i>{}</span>"#, escape::html(name))
    };
    let keys: String = parts.iter().enumerate().map(key).collect();
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(parts.iter().map(|(_, name)| ColumnHeader::numbers(name)));
    heads.push(ColumnHeader::numbers("together"));
    let all = results.summary.iter().filter(|summary| summary.bound_of.is_none());
    let rows = all.filter_map(|summary| {
        let values = values(&summary.policy)?;
        let together = values.iter().sum();
        let cells = values.into_iter().chain([together]).map(|value| number_format::value(unit, Some(value)));
        Some(std::iter::once(summary.policy.clone()).chain(cells).collect())
    });
    let data =
        TableModel { title: "Cost by part".to_owned(), measure: String::new(), heads, rows: rows.collect(), below: vec![] };
    let caption = format!("Estimated, with prompt caching simulated, over all conversations. {}", cast.left_out(results));
    Some(format!(
        r#"<figure><div class="legend">{keys}</div><ul class="strips" id="parts">{bars}{}</ul><figcaption>{}</figcaption></figure>{}"#,
        foot(&scale, unit, ""),
        escape::html(caption.trim_end()),
        numbers(&data, cast)
    ))
}

/// Dots and whiskers: each policy less the baseline, column by column.
pub fn differences(results: &Results, cast: &PolicySeries) -> Option<String> {
    let has = |id: &str| results.comparisons.iter().any(|row| row.column == id && row.difference.is_finite());
    let columns: Vec<&Column> = DIFFERENCES.iter().filter(|id| has(id)).filter_map(|id| results.column(id)).collect();
    let plots: String = columns.iter().map(|column| difference(column, results, cast)).collect();
    if plots.is_empty() {
        return None;
    }
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("against"), ColumnHeader::names("column")];
    heads.extend(["difference", "interval", "sessions", "p", "p after Holm"].map(ColumnHeader::numbers));
    let data = TableModel {
        title: "Differences".to_owned(),
        measure: String::new(),
        heads,
        rows: results.comparisons.iter().map(|row| cells(row, results)).collect(),
        below: vec![],
    };
    let drawn = results.statistics.as_ref().map_or(String::new(), |statistics| {
        let level = number_format::grouped(statistics.level * 100.0, 0);
        let draws = number_format::grouped(statistics.draws as f64, 0);
        format!("Whiskers are {level} % intervals over {}, {draws} draws. ", plural(statistics.sessions, "session"))
    });
    let caption = format!("{drawn}A whisker that crosses the line at zero tells no difference. {}", cast.left_out(results));
    Some(format!(
        r#"<figure><div class="several">{plots}</div><figcaption>{}</figcaption></figure>{}"#,
        escape::html(caption.trim_end()),
        numbers(&data, cast)
    ))
}

fn difference(column: &Column, results: &Results, cast: &PolicySeries) -> String {
    let row = |policy: &str| results.comparisons.iter().find(|row| row.policy == policy && row.column == column.id);
    let rows: Vec<(&SeriesStyle, &ComparisonRow)> =
        cast.drawn.iter().filter_map(|look| Some((look, row(look.policy).filter(|row| row.difference.is_finite())?))).collect();
    let ends = rows.iter().flat_map(|(_, row)| row.interval.into_iter().flatten().chain([row.difference, 0.0]));
    let scale = Scale::around(ends);
    let strips: String = rows
        .iter()
        .map(|(look, row)| {
            let mut drawing = grid(&scale) + &plot::line("zero", (scale.at(0.0), 0.0), (scale.at(0.0), 100.0));
            if let Some([low, high]) = row.interval.filter(|ends| ends.iter().all(|end| end.is_finite())) {
                drawing += &plot::line(&format!("whisker {}", look.class), (scale.at(low), 50.0), (scale.at(high), 50.0));
            }
            drawing += &plot::mark(&look.class, look.mark, (scale.at(row.difference), 50.0));
            let said = signed(column.unit, row.difference);
            strip(look, &drawing, &said, &format!("{}: {said}{}", look.policy, interval(column.unit, row)))
        })
        .collect();
    let against = rows.first().map_or("", |(_, row)| row.against.as_str());
    let name = format!("{} less that of {against}", super::super::table_model::compare::title(column));
    format!(
        r#"<div><h3>{}</h3><ul class="strips whiskers">{strips}{}</ul></div>"#,
        escape::html(&name),
        foot(&scale, column.unit, "")
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
    let chance = |p: Option<f64>| p.map_or(number_format::MISSING.to_owned(), |p| number_format::grouped(p, 4));
    let between = interval(unit, row);
    vec![
        row.policy.clone(),
        row.against.clone(),
        row.column.to_string(),
        signed(unit, row.difference),
        if between.is_empty() { number_format::MISSING.to_owned() } else { between.trim().to_owned() },
        number_format::grouped(row.sessions as f64, 0),
        chance(row.p),
        chance(row.p_holm),
    ]
}
