//! The table of a sweep: a row for each configuration, a column for each setting if they fit the width.

use super::super::super::number_format;
use super::super::fit;
use super::super::replay::{change, money};
use super::super::{ScreenTable, Tone};
use super::View;
use crate::metrics::metric::{cost, overflow, retention};
use crate::report::table_model::{ColumnHeader, TableModel};
use crate::results::Role;
use crate::results::saved::{Unit, Values};
use crate::util::text::plural;

/// Most rows of a table with a line a row.
const MOST_LINES: usize = 12;
/// Most rows of a table whose names take several lines.
const MOST_NAMES: usize = 5;

/// The column without which a row says too little.
const NEEDED: &str = "facts in context";

/// Returns the table; `None` if nothing was replayed. Settings have columns of their own if these leave room for the facts.
pub fn table(view: &View, width: usize) -> Option<ScreenTable> {
    let rows = rows(view, MOST_LINES);
    rows.first()?;
    let by_setting = setting_names(view, &rows).map(|settings| with_settings(view, &rows, &settings));
    let fits = |table: &ScreenTable| {
        let fitted = fit::fitted(table, width);
        fit::width(&fitted, width) <= width && fitted.headers.iter().any(|header| header.text == NEEDED)
    };
    Some(by_setting.filter(fits).unwrap_or_else(|| with_names(view, &self::rows(view, MOST_NAMES))))
}

/// The front, the policies as they are and the baseline, the cheapest first; all configurations if there is room for them.
fn rows<'a>(view: &View<'a>, most: usize) -> Vec<&'a str> {
    let rows = view.results.summary.iter().filter(|summary| !matches!(summary.role(), Role::DropAll | Role::Oracle));
    let mut rows: Vec<&str> = rows.map(|summary| summary.policy.as_str()).collect();
    let others = view.sweep.configurations.iter().map(|row| row.policy.as_str()).filter(|policy| !rows.contains(policy));
    let others: Vec<&str> = others.collect();
    if rows.len() + others.len() <= most {
        rows.extend(others);
    }
    let chosen_on = |policy: &str| view.sweep.configuration(policy).and_then(|row| row.values.get(cost::RATIO));
    let cost = |policy: &&str| view.value(policy, cost::RATIO).or_else(|| chosen_on(policy)).unwrap_or(f64::INFINITY);
    rows.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    if rows.len() > most {
        // What the answer names stays, and what there is today.
        let is_needed = |policy: &str| !choice(view, policy).is_empty();
        let step = rows.len().div_ceil(most);
        let kept = rows.iter().enumerate().filter(|(at, policy)| at % step == 0 || is_needed(policy));
        rows = kept.map(|(_, policy)| *policy).collect();
    }
    rows
}

/// The settings that differ from the policy as it is, in the order of the sweep. `None` if several policies are swept, because their
/// settings have nothing in common.
fn setting_names(view: &View, rows: &[&str]) -> Option<Vec<String>> {
    view.sweep.only_policy()?;
    let is_changed = |name: &str| rows.iter().any(|policy| setting(view, policy, name).is_some());
    let names = view.sweep.parameters.iter().map(|parameter| parameter.parameter.clone());
    Some(names.filter(|name| is_changed(name)).collect())
}

/// The value of a setting that a configuration changes.
fn setting(view: &View, policy: &str, name: &str) -> Option<String> {
    let label = view.sweep.label(policy);
    label.split(' ').filter_map(|part| part.split_once('=')).find(|(of, _)| *of == name).map(|(_, value)| value.to_owned())
}

fn with_settings(view: &View, rows: &[&str], settings: &[String]) -> ScreenTable {
    let headers = settings.iter().map(|name| ColumnHeader::numbers(name)).collect();
    let cells = |policy: &str| settings.iter().map(|name| setting(view, policy, name).unwrap_or_default()).collect();
    let note = if settings.is_empty() { "" } else { "An empty setting is as in the policy. " };
    numbers(view, rows, (headers, cells), note)
}

fn with_names(view: &View, rows: &[&str]) -> ScreenTable {
    numbers(
        view,
        rows,
        (vec![ColumnHeader::names("configuration")], |policy: &str| vec![view.sweep.label(policy).to_owned()]),
        "",
    )
}

/// The columns that say which configuration a row is, and then its numbers.
fn numbers(
    view: &View,
    rows: &[&str],
    (mut headers, first): (Vec<ColumnHeader>, impl Fn(&str) -> Vec<String>),
    note: &str,
) -> ScreenTable {
    let has_held_out = view.sweep.held_out > 0;
    let mut ranks = vec![0; headers.len()];
    headers.push(ColumnHeader::words("choice"));
    headers.extend(["cost", "change", NEEDED, "lost", "refused"].map(ColumnHeader::numbers));
    ranks.extend([1, 4, 2, 3, 7, 5]);
    if has_held_out {
        headers.extend(["change on the others", "facts on the others"].map(ColumnHeader::numbers));
        ranks.extend([8, 6]);
    }
    let yardstick = view.sweep.yardstick.as_ref().and_then(|row| view.reported(&row.policy));
    // Nothing is compared with what could not be sent.
    let can_compare = |policy: &str| {
        view.verdict.yardstick.policy.is_some()
            && (Role::of(policy) != Role::KeepAll || view.value(policy, overflow::FAILED_CALLS) <= Some(0.0))
    };
    let cells = |policy: &&str| {
        let share = |column: &str| number_format::value(Unit::Share, view.value(policy, column));
        let mut cells = first(policy);
        cells.push(choice(view, policy));
        cells.push(view.value(policy, cost::USD).map_or(number_format::MISSING.to_owned(), money));
        cells.push(against(yardstick, view.reported(policy).filter(|_| can_compare(policy))));
        let refused = view.reported(policy).map(|_| number_format::count(view.refused(policy) as u64));
        cells.extend([
            share(retention::HIT),
            share(retention::HARD),
            refused.unwrap_or_else(|| number_format::MISSING.to_owned()),
        ]);
        if has_held_out {
            let chosen_on = view.sweep.configuration(policy).map(|row| &row.values);
            let yardstick = view.sweep.yardstick.as_ref().map(|row| &row.values);
            cells.push(against(yardstick, chosen_on.filter(|_| can_compare(policy))));
            cells.push(number_format::value(Unit::Share, chosen_on.and_then(|values| values.get(retention::HIT))));
        }
        cells
    };
    let tone = |policy: &&str| match view.sweep.configuration(policy) {
        _ if Some(*policy) == view.recommended() => Tone::Chosen,
        None => Tone::Reference,
        Some(_) => Tone::Plain,
    };
    let model = TableModel {
        title: "Configurations".to_owned(),
        subject: String::new(),
        headers,
        rows: rows.iter().map(cells).collect(),
        footnotes: vec![format!("{note}change: {}. {}{}", change_words(view), levels(view), sessions(view))],
    };
    ScreenTable { tones: rows.iter().map(tone).collect(), ..ScreenTable::new(model, ranks, "front") }
}

/// What the column `change` is.
fn change_words(view: &View) -> String {
    match view.verdict.yardstick.policy {
        Some(policy) => format!("of the cost, against {}", Role::name_of(policy)),
        None => "not known, because nothing that fits the window is there to compare with".to_owned(),
    }
}

/// What the shares of the column `choice` are.
fn levels(view: &View) -> &'static str {
    if view.sweep.cheapest_by_level().is_empty() {
        return "";
    }
    "cheapest with 95%: of the front, with at least this share of the facts in context on the sessions to choose on. "
}

fn sessions(view: &View) -> String {
    match view.sweep.held_out {
        0 => "All values are of the sessions that the configuration was chosen on.".to_owned(),
        held_out => format!(
            "Values are of the {}, on which only the best were tried; on the others: the {} it was chosen on.",
            plural(held_out, "held-out session"),
            plural(view.sweep.sessions, "session")
        ),
    }
}

/// The change of the cost against the yardstick, over the sessions of `values`.
fn against(yardstick: Option<&Values>, values: Option<&Values>) -> String {
    let ratio = |values: Option<&Values>| values?.get(cost::RATIO);
    // Results of older programs compare with no compaction.
    let theirs = ratio(yardstick).filter(|theirs| *theirs > 0.0).unwrap_or(1.0);
    change(ratio(values).map(|own| own / theirs))
}

/// What a configuration is in the answer; empty for most.
fn choice(view: &View, policy: &str) -> String {
    let neighbours = view.sweep.recommended.iter().flat_map(|recommended| &recommended.neighbours);
    let neighbour = |column: &str| neighbours.clone().any(|next| next.policy == policy && next.by == column);
    let level = view.sweep.cheapest_by_level().into_iter().find(|(_, cheapest)| *cheapest == policy).map(|(level, _)| level);
    let what = match view.sweep.configuration(policy) {
        _ if Some(policy) == view.recommended() && view.sweep.keeps_unchanged() => "keep this",
        _ if Some(policy) == view.recommended() && view.sweep.held_out == 0 => "best here",
        _ if Some(policy) == view.recommended() => "take this",
        None => Role::of(policy).words().unwrap_or_default(),
        Some(row) if view.sweep.only_policy() == Some(row.policy.as_str()) => "as it is",
        Some(row) if !row.missed.is_empty() => "excluded",
        _ if level.is_some() => "",
        _ if neighbour(cost::RATIO) => "cheaper",
        _ if neighbour(retention::HIT) => "keeps more",
        _ => "",
    };
    match level {
        Some(level) if what.is_empty() => format!("cheapest with {}%", level * 100.0),
        Some(level) => format!("{what}, cheapest with {}%", level * 100.0),
        None => what.to_owned(),
    }
}
