//! The section that shows one conversation at a time: its calls, its values by policy, its lost facts and its notes.
//!
//! Only the longest conversation is in the page as markup; the others are compressed together until one of them is chosen, because a
//! hundred of them would take the browser a second.

use std::collections::HashMap;

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::compare::title;
use super::super::table_model::{ColumnHeader, TableModel, common_folder};
use super::numbers::{ConversationData, ConversationKey, Numbers, collect, shown};
use super::series::{PolicySeries, SeriesStyle};
use super::{call_panel, calls, misses, table};
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::saved::{Column, MissRow, ResultNote, Results, Unit};
use crate::util::text::{are, plural};

/// `has_files` says whether `recompact show` can read the transcripts.
pub fn draw(results: &Results, series: &PolicySeries, has_files: bool) -> Markup {
    let conversations = collect(results);
    let Some(longest) = conversations
        .iter()
        .enumerate()
        .max_by_key(|(index, data)| (data.calls, std::cmp::Reverse(*index)))
        .map(|(index, _)| index)
    else {
        return Markup::default();
    };
    let shown = shown(&conversations);
    let numbers = Numbers::new(results);
    let of_show = |style: &SeriesStyle| call_panel::arguments(results, style.policy);
    let arguments: Vec<String> = series.drawn.iter().filter(|_| has_files).map(of_show).collect();
    let folder = common_folder(conversations.iter().map(|data| data.transcript));
    let misses = by_conversation(&results.misses, |miss| (&miss.transcript, &miss.conversation));
    let mut notes: HashMap<&str, Vec<&ResultNote>> = HashMap::new();
    results.notes.iter().for_each(|note| notes.entry(&note.path).or_default().push(note));
    let panel = |index: &usize| {
        let data = &conversations[*index];
        let misses = misses.get(&(data.transcript, data.conversation)).map_or(&[][..], Vec::as_slice);
        let notes = notes.get(data.transcript).map_or(&[][..], Vec::as_slice);
        let inside = panel(&Page { results, series, numbers: &numbers, arguments: &arguments }, data, misses, notes);
        html! { div id=[(*index == longest).then_some("conversation")] data-t=(index) { (inside) } }
    };
    let packed = html! { @for index in shown.iter().filter(|index| **index != longest) { (panel(index)) } };
    let left_out = conversations.len() - shown.len();
    html! {
        div class="chooser" {
            label for="choose" { "Conversation" }
            select id="choose" {
                @for index in &shown {
                    @let data = &conversations[*index];
                    option value=(index) selected[*index == longest] {
                        (terminal(&data.transcript[folder.len()..])) " · " (terminal(data.conversation)) " (" (plural(data.calls, "call")) ")"
                    }
                }
            }
            button type="button" class="live" id="before" aria-label="Previous conversation" { "←" }
            button type="button" class="live" id="after" aria-label="Next conversation" { "→" }
        }
        @if !folder.is_empty() {
            p class="below" { "All in " bdi { (terminal(folder)) } }
        }
        @if left_out > 0 {
            p class="below" { (plural(left_out, "more conversation")) ", shorter than these, " (are(left_out)) " only in -o json." }
        }
        (series.legend(Some(legend())))
        p class="below" { (terminal(&series.left_out(results))) }
        (panel(&longest))
        (super::packed("panels", &packed))
        (call_panel::place(results, series))
    }
}

/// Legend entries for everything but the policies' lines.
fn legend() -> Markup {
    let entry = |drawing: Markup, name: &str| {
        html! {
            span class="key still" {
                svg class="sample" width="30" height="12" aria-hidden="true" { (drawing) }
                (name)
            }
        }
    };
    html! {
        (entry(html! { line class="window" x1="0" x2="30" y1="6" y2="6" {} }, "window"))
        (entry(html! { line class="recorded" x1="15" x2="15" y1="0" y2="12" {} }, "recorded compaction"))
        (entry(html! { path class="tick" d="M6 2v8M11 2v8M22 2v8" {} }, "edits of layers"))
    }
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

/// What every panel needs of the page.
struct Page<'a> {
    results: &'a Results,
    series: &'a PolicySeries<'a>,
    numbers: &'a Numbers<'a>,
    /// Options of `recompact show` for each policy that is drawn; none if it cannot read the transcripts.
    arguments: &'a [String],
}

fn panel(page: &Page, data: &ConversationData, misses: &[&MissRow], notes: &[&ResultNote]) -> Markup {
    let Page { results, series, numbers, arguments } = page;
    html! {
        h3 class="heard" { bdi { (terminal(data.transcript)) " · " (terminal(data.conversation)) } }
        @if let Some(trace) = data.trace {
            (calls::draw(trace, results, series, arguments))
        } @else {
            p class="below" { "Tokens per call were not saved for this conversation." }
        }
        details class="values" {
            summary { "This conversation by policy" }
            (table::draw(&values(results, series, data), series, false))
        }
        @if !misses.is_empty() {
            details {
                summary { "Facts lost for good and used again (" (misses.len()) ")" }
                (misses::list(misses, series, data.transcript, numbers))
            }
        }
        @if !notes.is_empty() {
            details {
                summary { "Notes on the transcript (" (notes.len()) ")" }
                ul {
                    @for note in notes {
                        li {
                            @if let Some(line) = note.line { "line " (line) ": " }
                            bdi { (terminal(&note.what)) }
                        }
                    }
                }
            }
        }
    }
}

/// What people look at first in a conversation, by policy.
const VALUES: [&str; 6] = [cost::USD, retention::HIT, retention::HARD, broken::REQUESTS, overflow::FAILED_CALLS, tokens::SENT];

/// Table of the policies that have a line: the values that decide, the largest request, and the edits.
fn values(results: &Results, series: &PolicySeries, data: &ConversationData) -> TableModel {
    let columns: Vec<&Column> = VALUES.iter().filter_map(|id| results.column(id)).collect();
    let lines = data.trace.map(|trace| trace.lines.value()).unwrap_or_default();
    let lines = calls::drawn_lines(&lines, series);
    let row = |style: &SeriesStyle| {
        let row = data.rows.iter().find(|row| *row.policy == *style.policy && row.bound_of.is_none())?;
        let of_row = columns.iter().map(|column| number_format::value(column.unit, row.values.get(&column.id)));
        let line = lines.iter().find(|(drawn, _)| drawn.policy == style.policy).map(|(_, line)| *line);
        let of_line = [
            number_format::value(Unit::Tokens, line.and_then(|line| line.tokens.iter().max()).map(|tokens| *tokens as f64)),
            number_format::value(Unit::Count, line.map(|line| line.events.len() as f64)),
        ];
        Some([style.policy.to_owned()].into_iter().chain(of_row).chain(of_line).collect())
    };
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(columns.iter().map(|column| ColumnHeader::numbers(&title(column))));
    headers.extend(["~largest request", "edits"].map(ColumnHeader::numbers));
    TableModel {
        title: "This conversation by policy".to_owned(),
        subject: String::new(),
        headers,
        rows: series.drawn.iter().filter_map(row).collect(),
        footnotes: vec![],
    }
}
