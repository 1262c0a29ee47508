//! One conversation at a time: its calls, its values by policy, its misses and its notes. All but the longest are packed until
//! they are chosen: a hundred of them would take the browser a second.

use std::collections::HashMap;

use super::super::table_model::compare::{in_tables, title};
use super::super::table_model::{ColumnHeader, TableModel, common_folder};
use super::super::{escape, number_format};
use super::series::PolicySeries;
use super::{calls, misses, table};
use crate::results::saved::{MissRow, ResultNote, Results, Row, TraceRow};
use crate::util::text::plural;

/// Conversations that are on the page, the longest ones: more make it slow.
const SHOWN: usize = 150;

/// What is known of one conversation.
struct About<'a> {
    transcript: &'a str,
    conversation: &'a str,
    calls: usize,
    trace: Option<&'a TraceRow>,
    rows: Vec<&'a Row>,
}

type Place<'a> = (&'a str, &'a str);

pub fn draw(results: &Results, cast: &PolicySeries) -> String {
    let all = all(results);
    let Some(longest) = all.iter().enumerate().max_by_key(|(at, about)| (about.calls, std::cmp::Reverse(*at))).map(|(at, _)| at)
    else {
        return String::new();
    };
    let mut shown: Vec<usize> = (0..all.len()).collect();
    shown.sort_by_key(|at| (std::cmp::Reverse(all[*at].calls), *at));
    shown.truncate(SHOWN);
    shown.sort_unstable();
    let folder = common_folder(all.iter().map(|about| about.transcript));
    let option = |at: &usize| {
        let about = &all[*at];
        let chosen = if *at == longest { " selected" } else { "" };
        let name = escape::html(&about.transcript[folder.len()..]);
        format!(
            r#"<option value="{at}"{chosen}>{name} · {} ({})</option>"#,
            escape::html(about.conversation),
            plural(about.calls, "call")
        )
    };
    let options: String = shown.iter().map(option).collect();
    let misses = by_place(&results.misses, |miss| (&miss.transcript, &miss.conversation));
    let mut notes: HashMap<&str, Vec<&ResultNote>> = HashMap::new();
    results.notes.iter().for_each(|note| notes.entry(&note.path).or_default().push(note));
    let panel = |at: &usize| {
        let about = &all[*at];
        let misses = misses.get(&(about.transcript, about.conversation)).map_or(&[][..], Vec::as_slice);
        let notes = notes.get(about.transcript).map_or(&[][..], Vec::as_slice);
        let inside = panel(results, cast, about, misses, notes);
        if *at == longest {
            format!(r#"<div id="conversation" data-t="{at}">{inside}</div>"#)
        } else {
            let packed = super::pack(inside.as_bytes());
            format!(r#"<script type="text/plain" class="panel" data-t="{at}">{packed}</script>"#)
        }
    };
    let panels: String = shown.iter().map(panel).collect();
    let left = match all.len() - shown.len() {
        0 => String::new(),
        left => {
            format!(r#"<p class="below">{}, shorter ones, are in the saved data only.</p>"#, plural(left, "more conversation"))
        }
    };
    let within = if folder.is_empty() {
        String::new()
    } else {
        format!(r#"<p class="below">All in <bdi>{}</bdi></p>"#, escape::html(folder))
    };
    format!(
        r#"<div class="chooser"><label for="choose">Conversation</label><select id="choose">{options}</select><button type="button" class="live" id="before" aria-label="The conversation before">←</button><button type="button" class="live" id="after" aria-label="The next conversation">→</button></div>{within}{left}{}<p class="below">{}</p>{panels}"#,
        cast.legend(LEGEND),
        escape::html(&cast.left_out(results)),
    )
}

/// What is drawn beside the lines.
const LEGEND: &str = r#"<span class="key still"><svg class="sample" width="30" height="12" aria-hidden="true"><line class="window" x1="0" x2="30" y1="6" y2="6"/></svg>window</span><span class="key still"><svg class="sample" width="30" height="12" aria-hidden="true"><line class="recorded" x1="15" x2="15" y1="0" y2="12"/></svg>recorded compaction</span><span class="key still"><svg class="sample" width="30" height="12" aria-hidden="true"><path class="tick" d="M6 2v8M11 2v8M22 2v8"/></svg>edits of layers</span>"#;

/// Conversations in the order of the rows; those that only have a trace after them.
fn all(results: &Results) -> Vec<About<'_>> {
    let mut places: HashMap<Place, usize> = HashMap::new();
    let mut all: Vec<About> = Vec::new();
    let rows = results.rows.iter().map(|row| (&row.transcript, &row.conversation, Some(row), None));
    let traces = results.traces.iter().map(|trace| (&trace.transcript, &trace.conversation, None, Some(trace)));
    for (transcript, conversation, row, trace) in rows.chain(traces) {
        let place = *places.entry((transcript, conversation)).or_insert(all.len());
        if place == all.len() {
            all.push(About { transcript, conversation, calls: 0, trace: None, rows: Vec::new() });
        }
        let about = &mut all[place];
        about.rows.extend(row);
        about.trace = about.trace.or(trace);
        about.calls =
            about.calls.max(trace.map_or(0, |trace| trace.lines.iter().map(|line| line.tokens.len()).max().unwrap_or(0)));
    }
    all
}

fn by_place<'a, T>(all: &'a [T], place: impl Fn(&'a T) -> (&'a String, &'a String)) -> HashMap<Place<'a>, Vec<&'a T>> {
    let mut by_place: HashMap<Place, Vec<&T>> = HashMap::new();
    for one in all {
        let (transcript, conversation) = place(one);
        by_place.entry((transcript, conversation)).or_default().push(one);
    }
    by_place
}

fn panel(results: &Results, cast: &PolicySeries, about: &About, missed: &[&MissRow], notes: &[&ResultNote]) -> String {
    let name = format!("{} · {}", escape::html(about.transcript), escape::html(about.conversation));
    let mut out = format!(r#"<h3 class="heard"><bdi>{name}</bdi></h3>"#);
    out += &match about.trace {
        Some(trace) => calls::draw(trace, cast),
        None => r#"<p class="below">Tokens per call were not saved for it.</p>"#.to_owned(),
    };
    out += &format!(
        "<details class=\"values\"><summary>Its values by policy</summary>{}</details>",
        table::sheet(&values(results, cast, about), cast, false)
    );
    if !missed.is_empty() {
        let list = misses::list(missed, cast, about.transcript);
        out += &format!("<details><summary>Its worst hard misses ({})</summary>{list}</details>", missed.len());
    }
    if !notes.is_empty() {
        let line = |note: &&ResultNote| {
            let place = note.line.map_or(String::new(), |line| format!("line {line}: "));
            format!("<li>{place}<bdi>{}</bdi></li>", escape::html(&note.what))
        };
        let lines: String = notes.iter().map(line).collect();
        out += &format!("<details><summary>Notes on the transcript ({})</summary><ul>{lines}</ul></details>", notes.len());
    }
    out
}

/// Columns down, policies across: those that have lines.
fn values(results: &Results, cast: &PolicySeries, about: &About) -> TableModel {
    let row_of = |policy: &str| about.rows.iter().find(|row| row.policy == policy && row.bound_of.is_none());
    let rows: Vec<(&str, &Row)> = cast.drawn.iter().filter_map(|look| Some((look.policy, *row_of(look.policy)?))).collect();
    let line = |column: &crate::results::saved::Column| {
        let values: Vec<Option<f64>> = rows.iter().map(|(_, row)| row.values.get(&column.id)).collect();
        let tells = values.iter().any(|value| value.is_some_and(|value| value != 0.0));
        let cells = values.into_iter().map(|value| number_format::value(column.unit, value));
        tells.then(|| std::iter::once(title(column)).chain(cells).collect())
    };
    let mut heads = vec![ColumnHeader::names("column")];
    heads.extend(rows.iter().map(|(policy, _)| ColumnHeader::numbers(policy)));
    TableModel {
        title: "Values by policy".to_owned(),
        measure: String::new(),
        heads,
        rows: in_tables(results).filter_map(line).collect(),
        below: vec!["Columns in which all are zero or missing are left out.".to_owned()],
    }
}
