//! The csv report: a header, then one line per row of the results: transcript, conversation, policy, then every column.
//!
//! Numbers are written in full, missing values as empty fields. A text that starts with `=`, `+`, `-` or `@` (or their
//! full-width forms) gets a leading apostrophe, because a spreadsheet would run it as a formula. A text that starts
//! with an apostrophe gets one too, so that removing one apostrophe always restores the name. Invisible characters are
//! escaped as in the table, so a row is always one line.

use crate::results::saved::{Results, Row};

use super::escape;

pub fn write(results: &Results) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = ["transcript", "conversation", "policy"].map(str::to_owned);
    let header = names.into_iter().chain(results.columns.iter().map(|column| text(&column.id)));
    writer.write_record(header).expect(IN_MEMORY);
    for row in &results.rows {
        writer.write_record(cells(row, results)).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

/// The panic message for a write to memory, which cannot fail.
pub const IN_MEMORY: &str = "rows of one length are written to memory";

fn cells(row: &Row, results: &Results) -> impl Iterator<Item = String> {
    let names = [&row.transcript, &row.conversation, &row.policy].map(|name| text(name));
    names.into_iter().chain(results.columns.iter().map(|column| match row.values.get(&column.id) {
        Some(value) if value.is_finite() => value.to_string(),
        _ => String::new(),
    }))
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
