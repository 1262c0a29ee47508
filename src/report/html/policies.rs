//! The policies themselves: what a sweep recommends, and what was replayed.

use super::super::sheet::compare::title;
use super::super::sheet::{Head, Sheet};
use super::super::{escape, shown};
use super::cast::{Cast, column};
use super::table;
use crate::results::{Column, Neighbour, PolicyText, Results};

/// What a sweep says to take, with what it gives up against its neighbours.
pub fn recommendation(results: &Results, cast: &Cast) -> String {
    let Some(sweep) = &results.sweep else { return String::new() };
    let Some(best) = &sweep.recommended else {
        return r#"<section class="card best"><h2>No recommendation</h2><p>No configuration meets the conditions.</p></section>"#
            .to_owned();
    };
    let name = escape::html(&best.policy);
    let settings = sweep.configurations.iter().find(|row| row.policy == best.policy).map_or(&[][..], |row| &row.settings);
    let chips: String = settings
        .iter()
        .map(|(parameter, value)| format!("<code>{} = {}</code>", escape::html(parameter), escape::html(value)))
        .collect();
    let neighbours = if best.neighbours.is_empty() {
        String::new()
    } else {
        let sheet = neighbours(results, &best.neighbours);
        format!(
            "<details><summary>What its neighbours on the front would give and take</summary>{}</details>",
            table::sheet(&sheet, cast, false)
        )
    };
    format!(
        r#"<section class="card best" aria-labelledby="recommended"{}><h2 id="recommended">Recommended: <bdi>{name}</bdi></h2><p><bdi>{}</bdi></p><p class="settings">{chips}</p><details><summary>The policy, ready to be saved</summary>{}</details>{neighbours}</section>"#,
        cast.tag(&best.policy),
        escape::html(&best.why),
        source(&best.policy, &best.toml),
    )
}

fn neighbours(results: &Results, neighbours: &[Neighbour]) -> Sheet {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    let columns: Vec<&Column> = objectives.filter_map(|objective| column(results, &objective.column)).collect();
    let mut heads = vec![Head::names("policy"), Head::words("better in")];
    heads.extend(columns.iter().map(|column| Head::numbers(&title(column))));
    let row = |neighbour: &Neighbour| {
        let difference = |column: &&Column| {
            let value = neighbour.differences.get(&column.id);
            let sign = if value.is_some_and(|value| value > 0.0) { "+" } else { "" };
            format!("{sign}{}", shown::value(column.unit, value))
        };
        let names = [neighbour.policy.clone(), neighbour.by.to_string()];
        names.into_iter().chain(columns.iter().map(difference)).collect()
    };
    let below = vec!["the neighbour less the recommended one".to_owned()];
    Sheet { title: "Neighbours".to_owned(), measure: String::new(), heads, rows: neighbours.iter().map(row).collect(), below }
}

/// Every policy as it was replayed, settings from the command line included.
pub fn definitions(results: &Results, cast: &Cast) -> String {
    let one = |policy: &PolicyText| {
        let quirks: String = policy.quirks.iter().map(|quirk| format!("<li><bdi>{}</bdi></li>", escape::html(quirk))).collect();
        let quirks = if quirks.is_empty() {
            quirks
        } else {
            format!(r#"<p class="below">Quirks of the original, kept:</p><ul>{quirks}</ul>"#)
        };
        format!(
            r#"<details{}><summary><bdi>{}</bdi></summary>{}{quirks}</details>"#,
            cast.tag(&policy.name),
            escape::html(&policy.name),
            source(&policy.name, &policy.toml)
        )
    };
    results.policies.iter().map(one).collect()
}

/// A policy's text, and a button that copies it.
fn source(name: &str, toml: &str) -> String {
    format!(
        r#"<div class="source"><button type="button" class="copy live" aria-label="Copy {}">Copy</button><pre tabindex="0"><code>{}</code></pre></div>"#,
        escape::html(name),
        escape::html_lines(toml)
    )
}
