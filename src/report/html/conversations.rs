//! The section that shows one conversation at a time: its calls, its values by policy, its lost facts and its notes.
//!
//! Only the longest conversation is in the page as markup; the others are compressed until they are chosen, because a
//! hundred of them would take the browser a second.

use std::collections::HashMap;

use super::super::table_model::compare::{in_tables, title};
use super::super::table_model::{ColumnHeader, TableModel, common_folder};
use super::super::{escape, number_format};
use super::series::PolicySeries;
use super::{calls, misses, table};
use crate::results::saved::{MissRow, ResultNote, Results, Row, TraceRow};
use crate::util::text::plural;

/// Maximum conversations on the page, the longest ones first; more would make it slow.
const MAX_CONVERSATIONS: usize = 150;

/// The data of one conversation.
struct ConversationData<'a> {
    transcript: &'a str,
    conversation: &'a str,
    calls: usize,
    trace: Option<&'a TraceRow>,
    rows: Vec<&'a Row>,
}

/// Transcript and name of a conversation.
type ConversationKey<'a> = (&'a str, &'a str);

pub fn draw(results: &Results, series: &PolicySeries) -> String {
    let conversations = collect(results);
    let Some(longest) = conversations
        .iter()
        .enumerate()
        .max_by_key(|(index, data)| (data.calls, std::cmp::Reverse(*index)))
        .map(|(index, _)| index)
    else {
        return String::new();
    };
    let mut shown: Vec<usize> = (0..conversations.len()).collect();
    shown.sort_by_key(|index| (std::cmp::Reverse(conversations[*index].calls), *index));
    shown.truncate(MAX_CONVERSATIONS);
    shown.sort_unstable();
    let folder = common_folder(conversations.iter().map(|data| data.transcript));
    let option = |index: &usize| {
        let data = &conversations[*index];
        let chosen = if *index == longest { " selected" } else { "" };
        let name = escape::html(&data.transcript[folder.len()..]);
        format!(
            r#"<option value="{index}"{chosen}>{name} · {} ({})</option>"#,
            escape::html(data.conversation),
            plural(data.calls, "call")
        )
    };
    let options: String = shown.iter().map(option).collect();
    let misses = by_conversation(&results.misses, |miss| (&miss.transcript, &miss.conversation));
    let mut notes: HashMap<&str, Vec<&ResultNote>> = HashMap::new();
    results.notes.iter().for_each(|note| notes.entry(&note.path).or_default().push(note));
    let panel = |index: &usize| {
        let data = &conversations[*index];
        let misses = misses.get(&(data.transcript, data.conversation)).map_or(&[][..], Vec::as_slice);
        let notes = notes.get(data.transcript).map_or(&[][..], Vec::as_slice);
        let inside = panel(results, series, data, misses, notes);
        if *index == longest {
            format!(r#"<div id="conversation" data-t="{index}">{inside}</div>"#)
        } else {
            let packed = super::pack(inside.as_bytes());
            format!(r#"<script type="text/plain" class="panel" data-t="{index}">{packed}</script>"#)
        }
    };
    let panels: String = shown.iter().map(panel).collect();
    let left_out = match conversations.len() - shown.len() {
        0 => String::new(),
        left => {
            format!(
                r#"<p class="below">{}, the shorter ones, are only in the saved data.</p>"#,
                plural(left, "more conversation")
            )
        }
    };
    let folder_note = if folder.is_empty() {
        String::new()
    } else {
        format!(r#"<p class="below">All in <bdi>{}</bdi></p>"#, escape::html(folder))
    };
    format!(
        r#"<div class="chooser"><label for="choose">Conversation</label><select id="choose">{options}</select><button type="button" class="live" id="before" aria-label="Previous conversation">←</button><button type="button" class="live" id="after" aria-label="Next conversation">→</button></div>{folder_note}{left_out}{}<p class="below">{}</p>{panels}"#,
        series.legend(LEGEND),
        escape::html(&series.left_out(results)),
    )
}

/// Legend entries for everything but the policies' lines.
const LEGEND: &str = r#"<span class="key still"><svg class="sample" width="30" height="12" aria-hidden="true"><line class="window" x1="0" x2="30" y1="6" y2="6"/></svg>window</span><span class="key still"><svg class="sample" width="30" height="12" aria-hidden="true"><line class="recorded" x1="15" x2="15" y1="0" y2="12"/></svg>recorded compaction</span><span class="key still"><svg class="sample" width="30" height="12" aria-hidden="true"><path class="tick" d="M6 2v8M11 2v8M22 2v8"/></svg>edits of layers</span>"#;

/// Returns the conversations in the order of the rows; conversations that only have a trace come last.
fn collect(results: &Results) -> Vec<ConversationData<'_>> {
    let mut indices: HashMap<ConversationKey, usize> = HashMap::new();
    let mut conversations: Vec<ConversationData> = Vec::new();
    let rows = results.rows.iter().map(|row| (&row.transcript, &row.conversation, Some(row), None));
    let traces = results.traces.iter().map(|trace| (&trace.transcript, &trace.conversation, None, Some(trace)));
    for (transcript, conversation, row, trace) in rows.chain(traces) {
        let index = *indices.entry((transcript, conversation)).or_insert(conversations.len());
        if index == conversations.len() {
            conversations.push(ConversationData { transcript, conversation, calls: 0, trace: None, rows: Vec::new() });
        }
        let data = &mut conversations[index];
        data.rows.extend(row);
        data.trace = data.trace.or(trace);
        data.calls = data.calls.max(trace.map_or(0, |trace| trace.lines.iter().map(|line| line.tokens.len()).max().unwrap_or(0)));
    }
    conversations
}

fn by_conversation<'a, T>(
    items: &'a [T],
    key: impl Fn(&'a T) -> (&'a String, &'a String),
) -> HashMap<ConversationKey<'a>, Vec<&'a T>> {
    let mut by_conversation: HashMap<ConversationKey, Vec<&T>> = HashMap::new();
    for item in items {
        let (transcript, conversation) = key(item);
        by_conversation.entry((transcript, conversation)).or_default().push(item);
    }
    by_conversation
}

fn panel(
    results: &Results,
    series: &PolicySeries,
    data: &ConversationData,
    misses: &[&MissRow],
    notes: &[&ResultNote],
) -> String {
    let name = format!("{} · {}", escape::html(data.transcript), escape::html(data.conversation));
    let mut out = format!(r#"<h3 class="heard"><bdi>{name}</bdi></h3>"#);
    out += &match data.trace {
        Some(trace) => calls::draw(trace, series),
        None => r#"<p class="below">Tokens per call were not saved for this conversation.</p>"#.to_owned(),
    };
    out += &format!(
        "<details class=\"values\"><summary>Values by policy</summary>{}</details>",
        table::draw(&values(results, series, data), series, false)
    );
    if !misses.is_empty() {
        let list = misses::list(misses, series, data.transcript);
        out += &format!("<details><summary>Facts lost for good and used again ({})</summary>{list}</details>", misses.len());
    }
    if !notes.is_empty() {
        let line = |note: &&ResultNote| {
            let line = note.line.map_or(String::new(), |line| format!("line {line}: "));
            format!("<li>{line}<bdi>{}</bdi></li>", escape::html(&note.what))
        };
        let lines: String = notes.iter().map(line).collect();
        out += &format!("<details><summary>Notes on the transcript ({})</summary><ul>{lines}</ul></details>", notes.len());
    }
    out
}

/// Table of columns × the policies that have a line.
fn values(results: &Results, series: &PolicySeries, data: &ConversationData) -> TableModel {
    let row_of = |policy: &str| data.rows.iter().find(|row| row.policy == policy && row.bound_of.is_none());
    let rows: Vec<(&str, &Row)> = series.drawn.iter().filter_map(|style| Some((style.policy, *row_of(style.policy)?))).collect();
    let line = |column: &crate::results::saved::Column| {
        let values: Vec<Option<f64>> = rows.iter().map(|(_, row)| row.values.get(&column.id)).collect();
        let has_values = values.iter().any(|value| value.is_some_and(|value| value != 0.0));
        let cells = values.into_iter().map(|value| number_format::value(column.unit, value));
        has_values.then(|| std::iter::once(title(column)).chain(cells).collect())
    };
    let mut headers = vec![ColumnHeader::names("column")];
    headers.extend(rows.iter().map(|(policy, _)| ColumnHeader::numbers(policy)));
    TableModel {
        title: "Values by policy".to_owned(),
        subject: String::new(),
        headers,
        rows: in_tables(results).filter_map(line).collect(),
        footnotes: vec!["Columns whose values are all zero or missing are left out.".to_owned()],
    }
}
