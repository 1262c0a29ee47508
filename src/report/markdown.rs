//! GitHub tables: the same sheets as the terminal's table, uncut. Every text that is not ours stands in a code span, where it
//! is neither link nor mention nor tag.

use crate::results::Results;

use super::sheet::{Head, Holds, Sheet, sheets};
use super::{Style, escape};

pub fn render(results: &Results, _: &Style) -> Vec<u8> {
    draw_all(&sheets(results))
}

/// Sheets below each other.
pub fn draw_all(sheets: &[Sheet]) -> Vec<u8> {
    let sheets: Vec<String> = sheets.iter().map(sheet).collect();
    sheets.join("\n").into_bytes()
}

fn sheet(sheet: &Sheet) -> String {
    let rule = |head: &Head| if head.holds == Holds::Numbers { "---:" } else { "---" }.to_owned();
    let mut out = match sheet.measure.as_str() {
        "" => format!("### {}\n\n", sheet.title),
        measure => format!("### {}: {}\n\n", sheet.title, escape::markdown(measure)),
    };
    // Heads over numbers are ids and names of policies; the others are ours.
    let heads = sheet.heads.iter();
    out += &row(heads.map(|head| if head.holds == Holds::Numbers { escape::markdown(&head.text) } else { head.text.clone() }));
    out += &row(sheet.heads.iter().map(rule));
    for cells in &sheet.rows {
        // A row may lack its last cells.
        let cells = sheet.heads.iter().zip(cells.iter().map(String::as_str).chain(std::iter::repeat("")));
        out +=
            &row(cells.map(|(head, text)| if head.holds == Holds::Numbers { text.to_owned() } else { escape::markdown(text) }));
    }
    for line in &sheet.below {
        out += &format!("\n{line}\n");
    }
    out
}

fn row(cells: impl Iterator<Item = String>) -> String {
    cells.fold("|".to_owned(), |line, cell| line + " " + &cell + " |") + "\n"
}
