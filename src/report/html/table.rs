//! Draws any table model as a table of the page.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::table_model::{CellKind, ColumnHeader, TableModel};
use super::series::PolicySeries;
use super::words::{cell, plain};

/// Draws a table in a box that scrolls sideways. Its title is the caption; `caption_visible` says whether the caption
/// is shown or only read by screen readers.
pub fn draw(table: &TableModel, series: &PolicySeries, caption_visible: bool) -> Markup {
    let title = match table.subject.as_str() {
        "" => terminal(&plain(&table.title)).into_owned(),
        subject => terminal(&plain(&format!("{}: {subject}", table.title))).into_owned(),
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
                p class="below" { (terminal(&plain(line))) }
            }
        }
    }
}

fn head_cell(header: &ColumnHeader, series: &PolicySeries) -> Markup {
    let text = terminal(&header.text);
    html! {
        @match header.kind {
            CellKind::Numbers => {
                @let policy = series.index_of(&header.text);
                @let is_id = plain(&header.text) != header.text;
                th scope="col" class="n" data-p=[policy] data-id=[(policy.is_some() || is_id).then_some(&text)] {
                    (sorter(&cell(series.roles.label(&header.text), &series.roles)))
                }
            },
            _ => th scope="col" { (cell(&header.text, &series.roles)) },
        }
    }
}

/// Renders a header that sorts its column; without the script it is a plain header.
pub fn sorter(text: &Markup) -> Markup {
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
            @for (index, (header, raw)) in cells.enumerate() {
                @let text = terminal(raw);
                @match header.kind {
                    _ if index == 0 => {
                        @match policy {
                            Some(policy) => th scope="row" data-v=(text) { (series.name(policy)) },
                            None => th scope="row" { bdi { (cell(raw, &series.roles)) } },
                        }
                    },
                    CellKind::Numbers => td class="n" data-p=[series.index_of(&header.text)] { (text) },
                    CellKind::Prose | CellKind::Verbatim => td class="prose" { bdi { (text) } },
                    CellKind::Names | CellKind::Words => td { bdi { (cell(raw, &series.roles)) } },
                }
            }
        }
    }
}
