//! The table report: tables for a terminal.
//!
//! A row is a policy; a table has as many columns as the width allows. Columns that do not fit continue in another
//! table that repeats the names. Columns of one group (`tokens.…`) stay together.

use std::ops::Range;

use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, LineStyle, Table, TableStyle, Width};

use crate::results::saved::Results;
use crate::util::text::wrap;

use super::table_model::{CellKind, ColumnHeader, TableModel, sheets};
use super::{Style, escape, number_format};

/// Spaces between two columns.
const GAP: usize = 2;
/// Minimum width. On narrower terminals, lines are longer than the terminal.
const NARROWEST: usize = 60;
/// Headers over numbers are broken into lines of about this many characters …
const HEAD: usize = 10;
/// … and a column of numbers or single words is at most this wide: no number is wider, and hostile names are broken to
/// fit.
const NUMBER: usize = 24;

pub fn render(results: &Results, style: &Style) -> Vec<u8> {
    draw_all(&sheets(results), style)
}

/// Draws tables below each other.
pub fn draw_all(sheets: &[TableModel], style: &Style) -> Vec<u8> {
    let style = Style { width: style.width.clamp(NARROWEST, usize::from(u16::MAX) / 2), ..*style };
    let sheets: Vec<String> = sheets.iter().map(|sheet| lay_out(sheet, &style)).collect();
    sheets.join("\n").into_bytes()
}

/// Draws one table: its title, its stacked parts, its footnotes.
fn lay_out(sheet: &TableModel, style: &Style) -> String {
    let title = match sheet.measure.as_str() {
        "" => sheet.title.clone(),
        measure => format!("{}: {}", sheet.title, escape::terminal(measure)),
    };
    let tables: Vec<String> = if sheet.is_verbatim() {
        vec![sheet.rows.iter().flatten().map(|line| format!("{}\n", escape::terminal(line))).collect()]
    } else {
        let widths = widths(sheet, style);
        stack(&sheet.heads, &widths, style.width).into_iter().map(|columns| draw(sheet, &columns, &widths, style)).collect()
    };
    let mut out = format!("{}\n{}", if style.color { format!("\x1b[1m{title}\x1b[0m") } else { title }, tables.join("\n"));
    for line in &sheet.below {
        out += &wrap("", line, style.width);
    }
    out
}

/// Returns the width of each column: its content's width within limits; prose gets the width that is left.
fn widths(sheet: &TableModel, style: &Style) -> Vec<usize> {
    let mut table = Table::new();
    table.set_header(sheet.heads.iter().map(head_text));
    table.add_rows(sheet.rows.iter().map(|cells| sheet.heads.iter().zip(cells).map(|(head, text)| cell_text(head, text))));
    let content: Vec<usize> = table.column_max_content_widths().into_iter().map(usize::from).collect();
    let mut names = shares(
        style.width / 2,
        sheet.heads.iter().zip(&content).filter(|(head, _)| head.holds == CellKind::Names).map(|(_, width)| *width),
    )
    .into_iter();
    let mut left = style.width;
    let limited = sheet.heads.iter().zip(content).map(|(head, width)| {
        let width = match head.holds {
            CellKind::Names => names.next().unwrap_or(width),
            CellKind::Numbers | CellKind::Words => width.min(NUMBER),
            CellKind::Prose | CellKind::Verbatim => width.min(left.max(NUMBER)),
        };
        left = left.saturating_sub(width + GAP);
        width
    });
    limited.collect()
}

/// Divides `room` among columns that want these widths: narrow ones get what they want, wide ones equal parts of the
/// rest.
fn shares(room: usize, wanted: impl Iterator<Item = usize>) -> Vec<usize> {
    let wanted: Vec<usize> = wanted.collect();
    let mut by_width: Vec<usize> = (0..wanted.len()).collect();
    by_width.sort_by_key(|at| wanted[*at]);
    let (mut given, mut room) = (vec![0; wanted.len()], room);
    for (done, at) in by_width.into_iter().enumerate() {
        given[at] = wanted[at].min(room / (wanted.len() - done)).max(1);
        room = room.saturating_sub(given[at]);
    }
    given
}

/// Returns the column indices of each stacked table.
fn stack(heads: &[ColumnHeader], widths: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let names: Vec<usize> = (0..heads.len()).take_while(|at| heads[*at].holds == CellKind::Names).collect();
    let room = limit.saturating_sub(names.iter().map(|at| widths[*at]).sum::<usize>() + GAP * names.len().saturating_sub(1));
    let needs = |columns: Range<usize>| columns.map(|at| widths[at] + GAP).sum::<usize>();
    let is_same = |one: usize, other: usize| group(&heads[one]) == group(&heads[other]);

    let mut tables: Vec<Range<usize>> = Vec::new();
    let mut at = names.len();
    while at < heads.len() {
        let group = (at..heads.len()).take_while(|next| is_same(at, *next)).count();
        match tables.last_mut() {
            Some(table) if needs(table.start..at + group) <= room => table.end = at + group,
            // A group that is too wide for one table continues column by column after its first columns.
            Some(table) if is_same(table.end - 1, at) && needs(table.start..at + 1) <= room => table.end = at + 1,
            _ if needs(at..at + group) <= room => tables.push(at..at + group),
            _ => tables.push(at..at + 1),
        }
        at = tables.last().map_or(heads.len(), |table| table.end);
    }
    tables.into_iter().map(|columns| names.iter().copied().chain(columns).collect()).collect()
}

/// Returns the part of a column id before its dot. Ids without a dot form one group.
fn group(head: &ColumnHeader) -> &str {
    head.text.trim_start_matches('~').split_once('.').map_or("", |(group, _)| group)
}

fn draw(sheet: &TableModel, columns: &[usize], widths: &[usize], style: &Style) -> String {
    let mut table = Table::new();
    let rule = LineStyle { fill: Some('─'), ..LineStyle::none() };
    table.load_style(TableStyle::new().header_separator(rule));
    if style.color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(columns.iter().map(|at| Cell::new(head_text(&sheet.heads[*at])).add_attribute(Attribute::Bold)));
    for cells in rows_of(sheet, columns) {
        let cell = |at: &usize| {
            let (head, text) = (&sheet.heads[*at], cells.get(*at).map_or("", String::as_str));
            let text = cell_text(head, text);
            if head.holds == CellKind::Names { broken(&text, &['/'], widths[*at]) } else { text }
        };
        table.add_row(columns.iter().map(cell));
    }
    for (column, at) in table.column_iter_mut().zip(columns) {
        let gap = if *at == columns[0] { 0 } else { GAP };
        column.set_padding((narrow(gap), 0));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(narrow(widths[*at] + gap))));
        let numbers = sheet.heads[*at].holds == CellKind::Numbers;
        column.set_cell_alignment(if numbers { CellAlignment::Right } else { CellAlignment::Left });
    }
    table.trim_fmt() + "\n"
}

/// Returns the rows of one stacked table. It leaves out a row whose values, like those of a bound, are all in other
/// stacked tables.
fn rows_of<'a>(sheet: &'a TableModel, columns: &[usize]) -> Vec<&'a Vec<String>> {
    let says = |cells: &[String], at: usize| {
        sheet.heads[at].holds != CellKind::Names && cells.get(at).is_some_and(|text| text != number_format::MISSING)
    };
    let says_here = |cells: &&Vec<String>| columns.iter().any(|at| says(cells, *at));
    let only_elsewhere = |cells: &&Vec<String>| !says_here(cells) && (0..sheet.heads.len()).any(|at| says(cells, at));
    let anyone_here = sheet.rows.iter().any(|cells| says_here(&cells));
    sheet.rows.iter().filter(|cells| !(anyone_here && only_elsewhere(cells))).collect()
}

/// Breaks a header over numbers after dots and dashes, so that it is not much wider than the numbers.
fn head_text(head: &ColumnHeader) -> String {
    let text = escape::terminal(&head.text);
    if head.holds == CellKind::Numbers { broken(&text, &['.', '-', '_', '/', ' '], HEAD) } else { text.into_owned() }
}

/// Breaks a text into lines of at most `limit` characters, as far as it can be broken after the characters in `after`.
fn broken(text: &str, after: &[char], limit: usize) -> String {
    let mut lines = vec![String::new()];
    for piece in text.split_inclusive(after) {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.chars().count() + piece.chars().count() <= limit => line.push_str(piece),
            _ => lines.push(piece.to_owned()),
        }
    }
    lines.join("\n")
}

/// Puts a number's interval on the line below it, and the p-value on the next line.
fn cell_text(head: &ColumnHeader, text: &str) -> String {
    let text = escape::terminal(text);
    if head.holds == CellKind::Numbers { text.replacen(" (", "\n(", 1).replacen(") ", ")\n", 1) } else { text.into_owned() }
}

/// Converts a width. [`draw_all`] limits widths far below `u16::MAX`.
fn narrow(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}
