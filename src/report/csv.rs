//! The csv report: a header, then one line per row of the results: its names, what the record says about its conversation, then
//! every column. Of a sweep: a line for each configuration.
//!
//! Numbers are written in full, missing values as empty fields. A text that starts with `=`, `+`, `-` or `@` (or their
//! full-width forms) gets a leading apostrophe, because a spreadsheet would run it as a formula. A text that starts
//! with an apostrophe gets one too, so that removing one apostrophe always restores the name. Invisible characters are
//! escaped as in the table, so a row is always one line.

mod sweep;

use crate::results::saved::{Recording, Results, Row};

use super::escape;

/// The columns that are no numbers. `bound_of` is the policy that the row bounds: sums must leave such rows out.
const NAMES: [&str; 9] = ["transcript", "conversation", "policy", "bound_of", "session", "format", "model", "project", "started"];

/// Writes the rows of a replay, or the configurations of a sweep.
pub fn write(results: &Results) -> Vec<u8> {
    match &results.sweep {
        Some(sweep) => sweep::write(sweep),
        None => rows(results),
    }
}

fn rows(results: &Results) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = NAMES.into_iter().map(str::to_owned).chain(results.columns.iter().map(|column| text(&column.id)));
    writer.write_record(header).expect(IN_MEMORY);
    for row in &results.rows {
        writer.write_record(cells(row, results)).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

/// The panic message for a write to memory, which cannot fail.
pub const IN_MEMORY: &str = "rows of one length are written to memory";

fn cells(row: &Row, results: &Results) -> impl Iterator<Item = String> {
    let Recording { session, format, model, project, started } = &*row.recording;
    let known = [model, project, started].map(|known| known.as_deref().unwrap_or_default());
    let bound_of = row.bound_of.as_deref().unwrap_or_default();
    let names = [&row.transcript, &row.conversation, &row.policy, bound_of, session, format].into_iter().chain(known);
    names.map(text).chain(results.columns.iter().map(|column| number(row.values.get(&column.id))))
}

/// Writes a number in full; one that is missing, or no number, is empty.
fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map(|value| value.to_string()).unwrap_or_default()
}

/// Makes a text safe for terminals and spreadsheets.
pub fn text(text: &str) -> String {
    let text = escape::terminal(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\'']) { format!("'{text}") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn csv_escapes_formulas() {
        for (name, written) in [("=1+1", "'=1+1"), ("-p", "'-p"), ("@SUM", "'@SUM"), ("'a", "''a"), ("\t=x", r"\u{9}=x")] {
            assert_eq!(super::text(name), written);
        }
        assert_eq!(super::text("a=b"), "a=b");
    }
}
