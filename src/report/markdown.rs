//! The markdown report: the tables of the terminal report as GitHub tables, without cuts. Every text that is not ours
//! is in a code span, where GitHub sees no link, mention or tag.

use crate::results::saved::Results;

use super::table_model::{CellKind, ColumnHeader, TableModel, sheets};
use super::{Style, escape};

pub fn render(results: &Results, _: &Style) -> Vec<u8> {
    draw_all(&sheets(results))
}

/// Draws tables below each other.
pub fn draw_all(sheets: &[TableModel]) -> Vec<u8> {
    let sheets: Vec<String> = sheets.iter().map(sheet).collect();
    sheets.join("\n").into_bytes()
}

fn sheet(sheet: &TableModel) -> String {
    let rule = |head: &ColumnHeader| if head.holds == CellKind::Numbers { "---:" } else { "---" }.to_owned();
    let mut out = match sheet.measure.as_str() {
        "" => format!("### {}\n\n", sheet.title),
        measure => format!("### {}: {}\n\n", sheet.title, escape::markdown(measure)),
    };
    if sheet.is_verbatim() {
        return out + &fenced(sheet.rows.iter().flatten()) + &below(sheet);
    }
    // Headers over numbers are column ids and policy names, so they are escaped; the other headers are ours.
    let heads = sheet.heads.iter();
    out += &row(heads.map(|head| if head.holds == CellKind::Numbers { escape::markdown(&head.text) } else { head.text.clone() }));
    out += &row(sheet.heads.iter().map(rule));
    for cells in &sheet.rows {
        // A row may have fewer cells than there are columns.
        let cells = sheet.heads.iter().zip(cells.iter().map(String::as_str).chain(std::iter::repeat("")));
        out += &row(
            cells.map(|(head, text)| if head.holds == CellKind::Numbers { text.to_owned() } else { escape::markdown(text) })
        );
    }
    out + &below(sheet)
}

fn below(sheet: &TableModel) -> String {
    sheet.below.iter().map(|line| format!("\n{line}\n")).collect()
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
