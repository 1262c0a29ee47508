//! Tables of the page: any table model, and the comparison of all policies by all columns.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::compare::{in_tables, keep_all_first, name, title};
use super::super::table_model::{CellKind, ColumnHeader, TableModel};
use super::series::PolicySeries;
use crate::results::saved::{Column, Direction, Results, Summary};

/// Draws a table in a box that scrolls sideways. Its title is the caption; `caption_visible` says whether the caption
/// is shown or only read by screen readers.
pub fn draw(table: &TableModel, series: &PolicySeries, caption_visible: bool) -> Markup {
    let title = match table.subject.as_str() {
        "" => terminal(&table.title).into_owned(),
        subject => format!("{}: {}", terminal(&table.title), terminal(subject)),
    };
    html! {
        div class="sheet" {
            div class="scroll" tabindex="0" role="region" aria-label=(title) {
                @if table.is_verbatim() {
                    pre { (table.rows.iter().flatten().map(|line| terminal(line)).collect::<Vec<_>>().join("\n")) }
                } @else {
                    table {
                        caption class=[(!caption_visible).then_some("heard")] { (title) }
                        thead { tr { @for header in &table.headers { (head_cell(header, series)) } } }
                        tbody { @for cells in &table.rows { (row(table, cells, series)) } }
                    }
                }
            }
            @for line in &table.footnotes {
                p class="below" { (terminal(line)) }
            }
        }
    }
}

fn head_cell(header: &ColumnHeader, series: &PolicySeries) -> Markup {
    let text = terminal(&header.text);
    html! {
        @match header.kind {
            CellKind::Numbers => th scope="col" class="n" data-p=[series.index_of(&header.text)] { (sorter(&html! { (text) })) },
            _ => th scope="col" { (text) },
        }
    }
}

/// Renders a header that sorts its column; without the script it is a plain header.
fn sorter(text: &Markup) -> Markup {
    html! {
        button type="button" class="sort" { (text) }
    }
}

fn row(table: &TableModel, cells: &[String], series: &PolicySeries) -> Markup {
    let policy = cells.first().filter(|_| table.headers.first().is_some_and(|header| header.text == "policy"));
    // A row may have fewer cells than there are columns.
    let cells = table.headers.iter().zip(cells.iter().map(String::as_str).chain(std::iter::repeat("")));
    html! {
        tr data-p=[policy.and_then(|policy| series.index_of(policy))] {
            @for (index, (header, text)) in cells.enumerate() {
                @let text = terminal(text);
                @match header.kind {
                    _ if index == 0 => th scope="row" { bdi { (text) } },
                    CellKind::Numbers => td class="n" data-p=[series.index_of(&header.text)] { (text) },
                    CellKind::Prose | CellKind::Verbatim => td class="prose" { bdi { (text) } },
                    CellKind::Names | CellKind::Words => td { bdi { (text) } },
                }
            }
        }
    }
}

/// Draws policies × columns, with intervals. Each policy and its bounds form one `tbody`, so that sorting keeps them
/// together.
pub fn comparison(results: &Results, series: &PolicySeries) -> Markup {
    let groups = groups(results);
    let mut labels: Vec<&str> = Vec::new();
    groups.iter().for_each(|(label, _)| {
        if !labels.contains(label) {
            labels.push(label);
        }
    });
    let number = |label: &str| labels.iter().position(|known| *known == label).unwrap_or(0);
    let columns: Vec<(usize, bool, &Column)> = groups
        .iter()
        .flat_map(|(label, columns)| columns.iter().enumerate().map(|(index, column)| (number(label), index == 0, *column)))
        .collect();
    // Each policy is followed by its bounds.
    let summaries: Vec<&Summary> = keep_all_first(results).collect();
    let bodies = summaries.chunk_by(|_, next| next.bound_of.is_some());
    html! {
        div class="groups live" role="group" aria-label="Columns shown" {
            @for (index, label) in labels.iter().enumerate() {
                button type="button" class="group" aria-pressed="true" data-g=(index) { (terminal(label)) }
            }
        }
        div class="sheet" {
            div class="scroll tall" tabindex="0" role="region" aria-label="Policies by column" {
                table id="comparison" {
                    caption class="heard" { "Policies by column, with intervals where there are any" }
                    thead {
                        tr {
                            th scope="col" rowspan="2" { (sorter(&html! { "policy" })) }
                            @for (label, columns) in &groups {
                                th scope="colgroup" colspan=(columns.len()) class={ "g g" (number(label)) } { (terminal(label)) }
                            }
                        }
                        tr { @for (group, first, column) in &columns { (column_header(column, *group, *first)) } }
                    }
                    @for body in bodies {
                        @let replayed = body.first().filter(|summary| summary.bound_of.is_none());
                        tbody data-p=[replayed.and_then(|summary| series.index_of(&summary.policy))] {
                            @for summary in body { (named_row(summary, results, series, &columns)) }
                        }
                    }
                }
            }
            p class="below" {
                "~ estimated, not counted; " (number_format::MISSING) " no value; ↓ less is better, ↑ more is better; └ a bound of the \
                 policy above: what an oracle that knows the future would do with the same tokens"
            }
        }
        (meanings(results))
    }
}

fn column_header(column: &Column, group: usize, first: bool) -> Markup {
    let name = name_in_group(column);
    let content = html! {
        abbr title=(terminal(&column.about)) { (terminal(&name)) }
        (better_arrow(column.better))
    };
    html! {
        th scope="col" class=(number_class(group, first)) { (sorter(&content)) }
    }
}

/// CSS classes of a cell with a number: its group, and whether it is the group's first.
fn number_class(group: usize, first: bool) -> String {
    format!("n g{group}{}", if first { " first" } else { "" })
}

/// Groups adjacent columns whose ids begin alike: `cost.ratio`, `cost.usd`.
fn groups(results: &Results) -> Vec<(&str, Vec<&Column>)> {
    let mut groups: Vec<(&str, Vec<&Column>)> = Vec::new();
    for column in in_tables(results) {
        let label = column.id.split_once('.').map_or("counts", |(group, _)| group);
        match groups.last_mut() {
            Some((last, columns)) if *last == label => columns.push(column),
            _ => groups.push((label, vec![column])),
        }
    }
    groups
}

fn name_in_group(column: &Column) -> String {
    let name = column.id.split_once('.').map_or(&*column.id, |(_, name)| name).replace('_', " ");
    format!("{}{name}", if column.estimated { "~" } else { "" })
}

fn better_arrow(better: Direction) -> Markup {
    html! {
        @match better {
            Direction::Lower => span class="wanted" aria-label=", less is better" { "↓" },
            Direction::Higher => span class="wanted" aria-label=", more is better" { "↑" },
            Direction::Neither => {},
        }
    }
}

/// Renders the row of a policy. Below the name of a sweep's configuration, which is only a number, are its settings.
fn named_row(summary: &Summary, results: &Results, series: &PolicySeries, columns: &[(usize, bool, &Column)]) -> Markup {
    let name = name(summary);
    let name = terminal(&name);
    let index = series.index_of(&summary.policy).filter(|_| summary.bound_of.is_none());
    let configurations = results.sweep.iter().flat_map(|sweep| &sweep.configurations);
    let own_settings =
        configurations.filter(|row| row.policy == summary.policy && row.policy != row.of).flat_map(|row| &row.settings);
    let settings: Vec<String> = own_settings.map(|(name, value)| format!("{name}={value}")).collect();
    html! {
        tr class=[index.is_none().then_some("bound")] {
            th scope="row" {
                @if let Some(index) = index {
                    button type="button" class="pin" aria-pressed="false" data-pin=(index) data-name=(name) {
                        @if let Some(style) = series.style(&summary.policy) { (super::series::sample(style)) }
                        bdi { (name) }
                    }
                    @if !settings.is_empty() {
                        small {
                            @for (index, setting) in settings.iter().enumerate() {
                                @if index > 0 { " " }
                                bdi { (terminal(setting)) }
                            }
                        }
                    }
                } @else {
                    bdi { (name) }
                }
            }
            @for (group, first, column) in columns { (value(summary, column, *group, *first)) }
        }
    }
}

fn value(summary: &Summary, column: &Column, group: usize, first: bool) -> Markup {
    let value = summary.values.get(&column.id).filter(|value| value.is_finite());
    let ends = summary.intervals.entry(&column.id).and_then(|ends| number_format::interval(column.unit, *ends));
    html! {
        td class=(number_class(group, first)) data-v=[value.map(|value| value.to_string())] {
            (number_format::value(column.unit, value))
            @if let Some(ends) = ends { small { (ends) } }
        }
    }
}

/// Explains each column, for readers who cannot see the tooltips of the headers.
fn meanings(results: &Results) -> Markup {
    html! {
        details {
            summary { "What the columns mean" }
            dl class="meanings" {
                @for column in in_tables(results) {
                    dt { (terminal(&title(column))) }
                    dd { (terminal(&column.about)) }
                }
            }
        }
    }
}
