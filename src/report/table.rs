//! The table report: tables for a terminal.
//!
//! A row is a policy; a table has as many columns as the width allows. Columns that do not fit continue in another
//! table that repeats the names. Columns of one group (`tokens.…`) stay together.

use std::ops::Range;

use comfy_table::{Attribute, Cell, CellAlignment, Color, ColumnConstraint, LineStyle, Table, TableStyle, Width};

use crate::util::text::wrap;

use super::table_model::{CellKind, ColumnHeader, TableModel, Tone};
use super::{Style, escape, number_format};

/// Spaces between two columns.
pub const GAP: usize = 2;
/// Minimum width. On narrower terminals, lines are longer than the terminal.
pub const MIN_WIDTH: usize = 60;
/// Headers over numbers are broken into lines of about this many characters …
const HEADER_WIDTH: usize = 10;
/// … and a column of numbers or single words is at most this wide: no number is wider, and hostile names are broken to
/// fit.
const NUMBER_WIDTH: usize = 24;

/// Draws tables below each other.
pub fn draw_all(tables: &[TableModel], style: &Style) -> Vec<u8> {
    let style = Style { width: style.width.clamp(MIN_WIDTH, usize::from(u16::MAX) / 2), ..*style };
    let tables: Vec<String> = tables.iter().map(|table| draw(table, &style)).collect();
    // A wrapped cell may continue on a line of its own.
    escape::without_commands(&tables.join("\n")).into_owned().into_bytes()
}

/// Draws one table: its title, its stacked parts, its footnotes.
fn draw(table: &TableModel, style: &Style) -> String {
    let title = match table.subject.as_str() {
        "" => table.title.clone(),
        subject => format!("{}: {}", table.title, escape::terminal(subject)),
    };
    let tables: Vec<String> = if table.is_verbatim() {
        vec![table.rows.iter().flatten().map(|line| format!("{}\n", escape::line(line))).collect()]
    } else {
        let widths = widths(table, style.width);
        stack(&table.headers, &widths, style.width)
            .into_iter()
            .map(|columns| draw_part(table, &columns, &widths, (style, &[])))
            .collect()
    };
    let mut out = format!("{}\n{}", if style.color { format!("\x1b[1m{title}\x1b[0m") } else { title }, tables.join("\n"));
    for line in &table.footnotes {
        out += &wrap("", line, style.width);
    }
    out
}

/// Returns the width of each column: its content's width within limits; prose gets the width that is left.
pub fn widths(table: &TableModel, limit: usize) -> Vec<usize> {
    let mut grid = Table::new();
    grid.set_header(table.headers.iter().map(header_text));
    grid.add_rows(table.rows.iter().map(|cells| table.headers.iter().zip(cells).map(|(header, text)| cell_text(header, text))));
    let content: Vec<usize> = grid.column_max_content_widths().into_iter().map(usize::from).collect();
    let mut name_widths = shares(
        limit / 2,
        table.headers.iter().zip(&content).filter(|(header, _)| header.kind == CellKind::Names).map(|(_, width)| *width),
    )
    .into_iter();
    let mut remaining = limit;
    let widths = table.headers.iter().zip(content).map(|(header, width)| {
        let width = match header.kind {
            CellKind::Names => name_widths.next().unwrap_or(width),
            CellKind::Numbers | CellKind::Words => width.min(NUMBER_WIDTH),
            CellKind::Prose | CellKind::Verbatim => width.min(remaining.max(NUMBER_WIDTH)),
        };
        remaining = remaining.saturating_sub(width + GAP);
        width
    });
    widths.collect()
}

/// Divides `room` among columns that want these widths: narrow ones get what they want, wide ones equal parts of the
/// rest.
fn shares(room: usize, wanted: impl Iterator<Item = usize>) -> Vec<usize> {
    let wanted: Vec<usize> = wanted.collect();
    let mut by_width: Vec<usize> = (0..wanted.len()).collect();
    by_width.sort_by_key(|index| wanted[*index]);
    let (mut given, mut room) = (vec![0; wanted.len()], room);
    for (done, index) in by_width.into_iter().enumerate() {
        given[index] = wanted[index].min(room / (wanted.len() - done)).max(1);
        room = room.saturating_sub(given[index]);
    }
    given
}

/// Returns the column indices of each stacked table.
fn stack(headers: &[ColumnHeader], widths: &[usize], limit: usize) -> Vec<Vec<usize>> {
    let names: Vec<usize> = (0..headers.len()).take_while(|index| headers[*index].kind == CellKind::Names).collect();
    let room =
        limit.saturating_sub(names.iter().map(|index| widths[*index]).sum::<usize>() + GAP * names.len().saturating_sub(1));
    let needs = |columns: Range<usize>| columns.map(|index| widths[index] + GAP).sum::<usize>();
    let is_same_group = |a: usize, b: usize| group(&headers[a]) == group(&headers[b]);

    let mut tables: Vec<Range<usize>> = Vec::new();
    let mut index = names.len();
    while index < headers.len() {
        let group = (index..headers.len()).take_while(|next| is_same_group(index, *next)).count();
        match tables.last_mut() {
            Some(table) if needs(table.start..index + group) <= room => table.end = index + group,
            // A group that is too wide for one table continues column by column after its first columns.
            Some(table) if is_same_group(table.end - 1, index) && needs(table.start..index + 1) <= room => table.end = index + 1,
            _ if needs(index..index + group) <= room => tables.push(index..index + group),
            _ => tables.push(index..index + 1),
        }
        index = tables.last().map_or(headers.len(), |table| table.end);
    }
    tables.into_iter().map(|columns| names.iter().copied().chain(columns).collect()).collect()
}

/// Returns the part of a column id before its dot. Ids without a dot form one group.
fn group(header: &ColumnHeader) -> &str {
    header.text.trim_start_matches('~').split_once('.').map_or("", |(group, _)| group)
}

/// Draws all columns of a table beside each other, without its title and footnotes; each row has the colour of its tone.
pub fn draw_rows(table: &TableModel, tones: &[Tone], style: &Style) -> String {
    let columns: Vec<usize> = (0..table.headers.len()).collect();
    draw_part(table, &columns, &widths(table, style.width), (style, tones))
}

fn draw_part(table: &TableModel, columns: &[usize], widths: &[usize], (style, tones): (&Style, &[Tone])) -> String {
    let mut grid = Table::new();
    let separator = LineStyle { fill: Some('─'), ..LineStyle::none() };
    grid.load_style(TableStyle::new().header_separator(separator));
    if style.color {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    grid.set_header(columns.iter().map(|index| Cell::new(header_text(&table.headers[*index])).add_attribute(Attribute::Bold)));
    for (row, cells) in rows_of(table, columns).into_iter().enumerate() {
        let color = tones.get(row).copied().and_then(color).filter(|_| style.color);
        let cell = |index: &usize| {
            let (header, text) = (&table.headers[*index], cells.get(*index).map_or("", String::as_str));
            let text = cell_text(header, text);
            let text = if header.kind == CellKind::Names { break_after(&text, &['/'], widths[*index]) } else { text };
            let cell = Cell::new(text);
            if let Some(color) = color { cell.fg(color) } else { cell }
        };
        grid.add_row(columns.iter().map(cell));
    }
    for (column, index) in grid.column_iter_mut().zip(columns) {
        let gap = if *index == columns[0] { 0 } else { GAP };
        column.set_padding((to_u16(gap), 0));
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(to_u16(widths[*index] + gap))));
        let numbers = table.headers[*index].kind == CellKind::Numbers;
        column.set_cell_alignment(if numbers { CellAlignment::Right } else { CellAlignment::Left });
    }
    // Cells do not break at such spaces, which matters no more; people who search the output type common ones.
    grid.trim_fmt().replace('\u{a0}', " ") + "\n"
}

/// The colour of a row.
fn color(tone: Tone) -> Option<Color> {
    match tone {
        Tone::Plain => None,
        Tone::Chosen => Some(Color::Green),
        Tone::Unfit => Some(Color::Red),
        Tone::Reference => Some(Color::DarkGrey),
    }
}

/// Returns the rows of one stacked table. It leaves out a row whose values, like those of a bound, are all in other
/// stacked tables.
fn rows_of<'a>(table: &'a TableModel, columns: &[usize]) -> Vec<&'a Vec<String>> {
    let has_value = |cells: &[String], column: usize| {
        table.headers[column].kind != CellKind::Names && cells.get(column).is_some_and(|text| text != number_format::MISSING)
    };
    let has_value_here = |cells: &&Vec<String>| columns.iter().any(|column| has_value(cells, *column));
    let only_elsewhere =
        |cells: &&Vec<String>| !has_value_here(cells) && (0..table.headers.len()).any(|column| has_value(cells, column));
    let any_here = table.rows.iter().any(|cells| has_value_here(&cells));
    table.rows.iter().filter(|cells| !(any_here && only_elsewhere(cells))).collect()
}

/// Breaks a header over numbers after dots and dashes, so that it is not much wider than the numbers.
fn header_text(header: &ColumnHeader) -> String {
    let text = escape::terminal(&header.text);
    if header.kind == CellKind::Numbers {
        break_after(&text, &['.', '-', '_', '/', ' '], HEADER_WIDTH)
    } else {
        text.into_owned()
    }
}

/// Breaks a text into lines of at most `limit` characters, as far as it can be broken after the characters in `after`.
fn break_after(text: &str, after: &[char], limit: usize) -> String {
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
fn cell_text(header: &ColumnHeader, text: &str) -> String {
    let text = escape::terminal(text);
    if header.kind == CellKind::Numbers { text.replacen(" (", "\n(", 1).replacen(") ", ")\n", 1) } else { text.into_owned() }
}

/// Converts a width. [`draw_all`] limits widths far below `u16::MAX`.
fn to_u16(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}
