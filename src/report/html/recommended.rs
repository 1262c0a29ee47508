//! The recommendation of a sweep: the configuration, the sessions it was chosen on, and its neighbours on the front.

use super::super::table_model::compare::title;
use super::super::table_model::sweep;
use super::super::{escape, number_format};
use super::series::PolicySeries;
use super::{policies, table};
use crate::results::saved::{Results, Sweep};
use crate::util::text::plural;

pub fn recommendation(results: &Results, series: &PolicySeries) -> String {
    let Some(sweep) = &results.sweep else { return String::new() };
    let neighbours = sweep::recommended(results).map_or(String::new(), |table| table::draw(&table, series, false));
    let how = sweep::chosen(results).map_or(String::new(), |table| {
        format!("<details><summary>How it was chosen</summary>{}</details>", table::draw(&table, series, false))
    });
    let Some(best) = &sweep.recommended else {
        return format!(
            r#"<section class="card best"><h2>No recommendation</h2><p>No configuration meets the conditions: <bdi>{}</bdi>.{}</p>{neighbours}{how}</section>"#,
            escape::html(&sweep.conditions.join(", ")),
            if sweep.nearest.is_some() { " The table shows the nearest one and the current policies." } else { "" },
        );
    };
    let settings = sweep.configurations.iter().find(|row| row.policy == best.policy).map_or(&[][..], |row| &row.settings);
    let chips: String = settings
        .iter()
        .map(|(parameter, value)| format!("<code>{} = {}</code>", escape::html(parameter), escape::html(value)))
        .collect();
    format!(
        r#"<section class="card best" aria-labelledby="recommended"{}><h2 id="recommended">{}: <bdi>{}</bdi></h2><p class="settings">{chips}</p><p><bdi>{}</bdi></p><p class="{}">{}</p>{neighbours}<details><summary>The policy as TOML</summary>{}</details>{how}</section>"#,
        series.tag(&best.policy),
        if sweep.keeps_unchanged() { "Keep what you have" } else { "Recommended" },
        escape::html(&best.policy),
        escape::html(&best.why),
        if sweep.held_out == 0 { "warned" } else { "" },
        escape::html(&reported(results, sweep, &best.policy)),
        policies::source(&best.policy, &best.toml),
    )
}

/// Says which sessions the values are based on: the best of many configurations looks better on the sessions it was
/// chosen on.
fn reported(results: &Results, sweep: &Sweep, best: &str) -> String {
    let sessions = plural(sweep.sessions, "session");
    if sweep.held_out == 0 {
        return format!(
            "Chosen and reported on the same {sessions}: there, the best of {} looks better than it is (--holdout 0.3 holds some sessions out).",
            sweep.configurations.len()
        );
    }
    let held = plural(sweep.held_out, "session");
    let summary = results.summary.iter().find(|summary| summary.policy == best && summary.bound_of.is_none());
    let value = |id: &str| {
        let (column, summary) = (results.column(id)?, summary?);
        let value = number_format::value(column.unit, Some(summary.values.get(id)?));
        let ends = summary.intervals.entry(id).and_then(|ends| number_format::interval(column.unit, *ends));
        Some(format!("{} {value}{}", title(column), ends.map_or(String::new(), |ends| format!(" ({ends})"))))
    };
    let values: Vec<String> = sweep.objectives.iter().filter_map(|objective| value(&objective.column)).collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    format!(
        "Chosen on {sessions}. On the {held} held out, which had no part in the choice{values}. The table shows the sessions it was chosen on."
    )
}
