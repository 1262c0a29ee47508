//! The recommendation of a sweep in full: why, the sessions it was chosen on, its neighbours on the front, its file.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::{TableModel, sweep};
use super::roles::Roles;
use super::series::PolicySeries;
use super::words::{plain, words};
use super::{policies, table};
use crate::results::saved::{Results, Sweep};
use crate::util::text::plural;

pub fn recommendation(results: &Results, series: &PolicySeries) -> Markup {
    let Some(sweep) = &results.sweep else { return Markup::default() };
    let neighbours = sweep::recommended(results).map(|table| table::draw(&in_words(table), series, false));
    let how = html! {
        @if let Some(table) = sweep::chosen(results) {
            details {
                summary { "How it was chosen" }
                (table::draw(&in_words(table), series, false))
            }
        }
    };
    let Some(best) = &sweep.recommended else {
        return html! {
            div class="card best" {
                p {
                    "No configuration meets the conditions: " bdi { (terminal(&plain(&sweep.conditions.join(", ")))) } "."
                    @if sweep.nearest.is_some() { " The table shows the nearest one and the current policies." }
                }
                @if let Some(neighbours) = neighbours { (neighbours) }
                (how)
            }
        };
    };
    html! {
        div class="card best" data-p=[series.index_of(&best.policy)] {
            p { bdi { (terminal(&plain(&best.why))) } }
            p class=[(sweep.held_out == 0).then_some("warned")] { (terminal(&reported(results, sweep, (&best.policy, &series.roles)))) }
            @if let Some(neighbours) = neighbours { (neighbours) }
            details {
                summary { "The policy as TOML" }
                (policies::source(&best.policy, &best.toml))
            }
            (how)
        }
    }
}

/// The conditions and the objectives in words; the first cell may be the name of a policy.
fn in_words(table: TableModel) -> TableModel {
    let in_words = |(at, cell): (usize, &String)| if at == 0 { cell.clone() } else { plain(cell) };
    let rows = table.rows.iter().map(|row| row.iter().enumerate().map(in_words).collect());
    TableModel { rows: rows.collect(), ..table }
}

/// Says which sessions the values are based on: the best of many configurations looks better on the sessions it was
/// chosen on.
fn reported(results: &Results, sweep: &Sweep, (best, roles): (&str, &Roles)) -> String {
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
        let ends = summary.intervals.entry(id).and_then(|ends| number_format::interval(column.unit, ends));
        Some(format!("{} {value}{}", words(column, roles), ends.map_or(String::new(), |ends| format!(" ({ends})"))))
    };
    let values: Vec<String> = sweep.objectives.iter().filter_map(|objective| value(&objective.column)).collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    format!(
        "Chosen on {sessions}. On the {held} held out, which had no part in the choice{values}. The table shows the sessions it was chosen on."
    )
}
