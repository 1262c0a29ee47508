//! Compares sizes with those that Python and JavaScript gave; `fixtures/golden/meters.py` made the file.

use recompact::tokens::meter::SizeUnit;
use recompact::tokens::meter::javascript::stringify_len;
use recompact::tokens::meter::python::{dumps_len, repr_len};
use recompact::transcript::format::jsonl;
use serde_json::Value;

use crate::tokens::message_sizes::size;

const WRITTEN: [(SizeUnit, &str); 4] =
    [(SizeUnit::PyRepr, "py_repr"), (SizeUnit::Json, "json"), (SizeUnit::JsonAscii, "json_ascii"), (SizeUnit::JsJson, "js_json")];
const READ: [(SizeUnit, &str); 3] = [(SizeUnit::Chars, "chars"), (SizeUnit::Bytes, "bytes"), (SizeUnit::Utf16, "utf16")];

fn cases() -> Vec<Value> {
    let mut notes = Vec::new();
    let goldens = include_bytes!("../../../fixtures/golden/meters.jsonl");
    let cases = jsonl::lines(goldens).flat_map(|(number, line)| jsonl::values(number, line, &mut notes)).collect();
    assert_eq!(notes, []);
    cases
}

#[test]
fn meter_lengths_equal_python_and_javascript_for_values() {
    for case in cases() {
        let Some(value) = case.get("value") else { continue };
        let sizes = [repr_len(value), dumps_len(value, false), dumps_len(value, true), stringify_len(value)];
        assert_eq!(sizes.map(Some), WRITTEN.map(|(_, name)| case[name].as_u64()), "{value}");
    }
}

#[test]
fn meter_lengths_equal_python_and_javascript_for_texts() {
    for case in cases() {
        let Some(text) = case.get("value").and_then(Value::as_str) else { continue };
        for (measure, name) in WRITTEN.into_iter().chain(READ) {
            assert_eq!(Some(measure.text(text)), case[name].as_u64(), "{measure} of {text:?}");
        }
    }
}

#[test]
fn meter_lengths_of_messages_equal_golden_values() {
    for case in cases() {
        let Some(messages) = case.get("messages").and_then(Value::as_array) else { continue };
        for (measure, name) in WRITTEN {
            assert_eq!(Some(size(measure, messages)), case[name].as_u64(), "{measure} of {messages:?}");
        }
    }
}
