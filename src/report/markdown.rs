//! The markdown report: the tables of the terminal report as GitHub tables, without cuts. Every text that is not ours
//! is in a code span, where GitHub sees no link, mention or tag.

use super::escape;
use super::screen::{CHANGES_TITLE, CHECKS_TITLE, Prose, Screen};
use super::table_model::{CellKind, ColumnHeader, TableModel};

/// Draws a screen: its answer, its table and what to check. What to do next is for the reader of a terminal.
pub fn screen(screen: &Screen) -> Vec<u8> {
    let text = |prose: &Prose| prose.text(escape::markdown);
    let mut out = String::new();
    for (index, sentences) in screen.answer.iter().enumerate() {
        out += &if index == 0 { format!("**{}**\n\n", text(sentences)) } else { format!("{}\n\n", text(sentences)) };
    }
    out += &format!("{}\n\n{}", text(&screen.scope), rows_of(&screen.table.model));
    for (title, points) in [(CHECKS_TITLE, &screen.checks), (CHANGES_TITLE, &screen.changes)] {
        if !points.is_empty() {
            out += &format!("\n{title}:\n\n");
            points.iter().for_each(|point| out += &format!("- {}\n", text(&point.text)));
        }
    }
    escape::without_commands(&out).into_owned().into_bytes()
}

/// Draws tables below each other.
pub fn draw_all(tables: &[TableModel]) -> Vec<u8> {
    let tables: Vec<String> = tables.iter().map(table).collect();
    escape::without_commands(&tables.join("\n")).into_owned().into_bytes()
}

fn table(table: &TableModel) -> String {
    let title = match table.subject.as_str() {
        "" => format!("### {}\n\n", table.title),
        subject => format!("### {}: {}\n\n", table.title, escape::markdown(subject)),
    };
    title + &rows_of(table)
}

/// Draws a table without its title.
fn rows_of(table: &TableModel) -> String {
    let rule = |header: &ColumnHeader| if header.kind == CellKind::Numbers { "---:" } else { "---" }.to_owned();
    if table.is_verbatim() {
        return fenced(table.rows.iter().flatten()) + &footnotes(table);
    }
    // Headers over numbers are column ids and policy names, so they are escaped; the other headers are ours.
    let headers = table.headers.iter();
    let mut out =
        row(headers
            .map(|header| if header.kind == CellKind::Numbers { escape::markdown(&header.text) } else { header.text.clone() }));
    out += &row(table.headers.iter().map(rule));
    for cells in &table.rows {
        // A row may have fewer cells than there are columns.
        let cells = table.headers.iter().zip(cells.iter().map(String::as_str).chain(std::iter::repeat("")));
        out +=
            &row(cells
                .map(|(header, text)| if header.kind == CellKind::Numbers { text.to_owned() } else { escape::markdown(text) }));
    }
    out + &footnotes(table)
}

fn footnotes(table: &TableModel) -> String {
    table.footnotes.iter().map(|line| format!("\n{line}\n")).collect()
}

/// Draws lines unchanged, in a fence longer than any run of backticks in them.
fn fenced<'a>(lines: impl Iterator<Item = &'a String>) -> String {
    let lines: String = lines.map(|line| format!("{}\n", escape::line(line))).collect();
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{lines}{fence}\n")
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |") + "\n"
}
