//! What a sweep says to take, on what it was chosen, and what its neighbours would give and take.

use super::super::table_model::compare::title;
use super::super::table_model::sweep;
use super::super::{escape, number_format};
use super::series::PolicySeries;
use super::{policies, table};
use crate::results::saved::{Results, Sweep};
use crate::util::text::plural;

pub fn recommendation(results: &Results, cast: &PolicySeries) -> String {
    let Some(found) = &results.sweep else { return String::new() };
    let beside = sweep::recommended(results).map_or(String::new(), |sheet| table::sheet(&sheet, cast, false));
    let how = sweep::chosen(results).map_or(String::new(), |sheet| {
        format!("<details><summary>How it was chosen</summary>{}</details>", table::sheet(&sheet, cast, false))
    });
    let Some(best) = &found.recommended else {
        return format!(
            r#"<section class="card best"><h2>No recommendation</h2><p>No configuration meets the conditions: <bdi>{}</bdi>.{}</p>{beside}{how}</section>"#,
            escape::html(&found.conditions.join(", ")),
            if found.nearest.is_some() { " Below is the one that comes nearest, beside the policies as they are." } else { "" },
        );
    };
    let settings = found.configurations.iter().find(|row| row.policy == best.policy).map_or(&[][..], |row| &row.settings);
    let chips: String = settings
        .iter()
        .map(|(parameter, value)| format!("<code>{} = {}</code>", escape::html(parameter), escape::html(value)))
        .collect();
    format!(
        r#"<section class="card best" aria-labelledby="recommended"{}><h2 id="recommended">Recommended: <bdi>{}</bdi></h2><p class="settings">{chips}</p><p><bdi>{}</bdi></p><p class="{}">{}</p>{beside}<details><summary>The policy, ready to be saved</summary>{}</details>{how}</section>"#,
        cast.tag(&best.policy),
        escape::html(&best.policy),
        escape::html(&best.why),
        if found.held_out == 0 { "warned" } else { "" },
        escape::html(&reported(results, found, &best.policy)),
        policies::source(&best.policy, &best.toml),
    )
}

/// What the values are of: whoever chooses the best of many sees it better than it is.
fn reported(results: &Results, found: &Sweep, best: &str) -> String {
    let tried = plural(found.sessions, "session");
    if found.held_out == 0 {
        return format!(
            "Chosen and reported on the same {tried}: the best of {} looks better there than it is (--holdout 0.3 keeps some apart).",
            found.configurations.len()
        );
    }
    let held = plural(found.held_out, "session");
    let summary = results.summary.iter().find(|summary| summary.policy == best && summary.bound_of.is_none());
    let value = |id: &str| {
        let (column, summary) = (results.column(id)?, summary?);
        let value = number_format::value(column.unit, Some(summary.values.get(id)?));
        let ends = summary.intervals.entry(id).and_then(|ends| number_format::interval(column.unit, *ends));
        Some(format!("{} {value}{}", title(column), ends.map_or(String::new(), |ends| format!(" ({ends})"))))
    };
    let values: Vec<String> = found.objectives.iter().filter_map(|objective| value(&objective.column)).collect();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    format!(
        "Chosen on {tried}. On the {held} held out, which nothing was chosen on{values}. The table is of the sessions it was chosen on."
    )
}
