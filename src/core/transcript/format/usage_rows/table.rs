//! The rows of a log of usage: comma-separated values with a header, or a JSON object a line.

use csv::{ByteRecord, ReaderBuilder};
use serde_json::{Map, Value};

use super::super::notes::Notes;
use super::super::{Note, head, jsonl};

/// A table of texts.
#[derive(Debug, Default)]
pub struct Table {
    /// The names of the columns.
    pub header: Vec<String>,
    /// Each row with its line, from 1. A row may have fewer cells than there are columns.
    pub rows: Vec<(u32, Vec<String>)>,
}

impl Table {
    pub fn read(bytes: &[u8], notes: &mut Notes) -> Self {
        if head::is_lines(bytes) { Self::of_lines(bytes, notes) } else { Self::of_csv(bytes, notes) }
    }

    /// The columns are all keys of all records.
    fn of_lines(bytes: &[u8], notes: &mut Notes) -> Self {
        let mut records: Vec<(u32, Map<String, Value>)> = Vec::new();
        for (line, text) in jsonl::lines(bytes) {
            records.extend(jsonl::values(line, text, &mut notes.lines).into_iter().map(|record| (line, record)));
        }
        let mut header: Vec<String> = Vec::new();
        for key in records.iter().flat_map(|(_, record)| record.keys()) {
            if !header.contains(key) && header.len() < MAX_COLUMNS {
                header.push(key.clone());
            }
        }
        let cell = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        let cells = |record: &Map<String, Value>| header.iter().map(|key| cell(record.get(key))).collect();
        let rows = records.iter().map(|(line, record)| (*line, cells(record))).collect();
        Self { header, rows }
    }

    fn of_csv(bytes: &[u8], notes: &mut Notes) -> Self {
        let header = header(bytes);
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut reader = ReaderBuilder::new().has_headers(true).flexible(true).delimiter(delimiter(bytes)).from_reader(bytes);
        let mut rows = Vec::new();
        let (mut line, mut counted) = (1u32, 0);
        for record in reader.byte_records() {
            match record {
                Ok(record) => {
                    // The crate counts a line break that is before a record as part of it.
                    let begin = record.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(usize::MAX));
                    let breaks = bytes.iter().skip(begin).take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
                    let start = begin.saturating_add(breaks).clamp(counted, bytes.len());
                    let lines = memchr::memchr_iter(b'\n', &bytes[counted..start]).count();
                    line = line.saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
                    counted = start;
                    rows.push((line, cells(&record)));
                }
                Err(error) => notes.lines.push(Note::skipped(line, format!("not comma-separated values: {error}"))),
            }
        }
        Self { header, rows }
    }
}

/// A log has a few dozen columns.
const MAX_COLUMNS: usize = 256;

/// Returns the names in the first line of comma-separated values; none if the file is something else.
pub fn header(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let first = &bytes[..end];
    let mut reader = ReaderBuilder::new().has_headers(false).delimiter(delimiter(first)).from_reader(first);
    reader.byte_records().next().and_then(Result::ok).map(|record| cells(&record)).unwrap_or_default()
}

/// Returns what separates the cells: the most frequent of comma, semicolon and tab in the first line.
fn delimiter(bytes: &[u8]) -> u8 {
    let end = memchr::memchr(b'\n', bytes).unwrap_or(bytes.len());
    let count = |delimiter: &u8| memchr::memchr_iter(*delimiter, &bytes[..end]).count();
    // Of two equal ones the last counts, so the comma is the last.
    *[b'\t', b';', b','].iter().max_by_key(|delimiter| count(delimiter)).unwrap_or(&b',')
}

fn cells(record: &ByteRecord) -> Vec<String> {
    record.iter().map(|cell| String::from_utf8_lossy(cell).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<String>, Vec<(u32, Vec<String>)>) {
        let table = Table::read(text.as_bytes(), &mut Notes::default());
        (table.header, table.rows)
    }

    fn row(line: u32, cells: [&str; 2]) -> (u32, Vec<String>) {
        (line, cells.map(str::to_owned).to_vec())
    }

    #[test]
    fn rows_have_the_lines_of_the_file() {
        let names = vec!["a".to_owned(), "b".to_owned()];
        for text in ["\u{feff}a,b\r\n1,2\n\n3,4", "a;b\n1;2\n\n3;4\n", "a\tb\n1\t2\n\n3\t4\n"] {
            assert_eq!(read(text), (names.clone(), vec![row(2, ["1", "2"]), row(4, ["3", "4"])]), "{text}");
        }
        assert_eq!(read("a,b\n\"x\ny\",2\n3,4").1, [row(2, ["x\ny", "2"]), row(4, ["3", "4"])]);
    }

    #[test]
    fn records_need_not_have_all_keys() {
        let (header, rows) = read("{\"a\": 1}\n{\"b\": \"x\", \"a\": null}\n");
        assert_eq!((header.len(), rows), (2, vec![row(1, ["1", ""]), row(2, ["", "x"])]));
    }
}
