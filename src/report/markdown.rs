//! The markdown report: the tables of the terminal report as GitHub tables, without cuts. Every text that is not ours
//! is in a code span, where GitHub sees no link, mention or tag.

use super::escape;
use super::table_model::{CellKind, ColumnHeader, TableModel};

/// Draws tables below each other.
pub fn draw_all(tables: &[TableModel]) -> Vec<u8> {
    let tables: Vec<String> = tables.iter().map(table).collect();
    escape::without_commands(&tables.join("\n")).into_owned().into_bytes()
}

fn table(table: &TableModel) -> String {
    let rule = |header: &ColumnHeader| if header.kind == CellKind::Numbers { "---:" } else { "---" }.to_owned();
    let mut out = match table.subject.as_str() {
        "" => format!("### {}\n\n", table.title),
        subject => format!("### {}: {}\n\n", table.title, escape::markdown(subject)),
    };
    if table.is_verbatim() {
        return out + &fenced(table.rows.iter().flatten()) + &footnotes(table);
    }
    // Headers over numbers are column ids and policy names, so they are escaped; the other headers are ours.
    let headers = table.headers.iter();
    out +=
        &row(headers
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
    let lines: String = lines.map(|line| format!("{}\n", escape::terminal(line))).collect();
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{lines}{fence}\n")
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |") + "\n"
}
