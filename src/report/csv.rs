//! Comma-separated values: a header, then one line a row of the results: transcript, conversation, policy, every column.
//!
//! Numbers are written in full, missing ones as nothing. A text that a spreadsheet would run as a formula, for it begins
//! with `=`, `+`, `-` or `@` (or their full-width forms), gets an apostrophe in front (also text that begins with an apostrophe, so that one taken away
//! gives the name back). Characters that are not seen are escaped as in the table, so that a row is always one line.

use crate::results::saved::{Results, Row};

use super::{Style, escape};

pub fn render(results: &Results, _: &Style) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = ["transcript", "conversation", "policy"].map(str::to_owned);
    let header = names.into_iter().chain(results.columns.iter().map(|column| text(&column.id)));
    writer.write_record(header).expect(IN_MEMORY);
    for row in &results.rows {
        writer.write_record(cells(row, results)).expect(IN_MEMORY);
    }
    writer.into_inner().expect(IN_MEMORY)
}

pub const IN_MEMORY: &str = "rows of one length are written to memory";

fn cells(row: &Row, results: &Results) -> impl Iterator<Item = String> {
    let names = [&row.transcript, &row.conversation, &row.policy].map(|name| text(name));
    names.into_iter().chain(results.columns.iter().map(|column| match row.values.get(&column.id) {
        Some(value) if value.is_finite() => value.to_string(),
        _ => String::new(),
    }))
}

/// A text that is safe in a terminal and a spreadsheet.
pub fn text(text: &str) -> String {
    let text = escape::terminal(text);
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\'']) { format!("'{text}") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn formulas_are_texts() {
        for (name, written) in [("=1+1", "'=1+1"), ("-p", "'-p"), ("@SUM", "'@SUM"), ("'a", "''a"), ("\t=x", r"\u{9}=x")] {
            assert_eq!(super::text(name), written);
        }
        assert_eq!(super::text("a=b"), "a=b");
    }
}
