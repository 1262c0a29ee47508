//! Laws of the meters over generated text and messages, each against a slow and obvious oracle.

use proptest::prelude::*;
use recompact::text::surrogates::{lone_surrogate, stand_in};
use recompact::text::tokens::Vocabulary;
use recompact::tokens::meter::SizeUnit;
use recompact::tokens::meter::media;
use serde_json::{Value, json};
use tiktoken_rs::{cl100k_base_singleton, o200k_base_singleton};

use crate::support::effort;
use crate::tokens::message_sizes::size;

/// Generated text that mixes words, quotes, slashes, white space and characters that need escapes.
fn text() -> impl Strategy<Value = String> {
    let bits = prop::sample::select(vec![
        "a",
        "fooBar",
        "HTTP",
        "don",
        "s",
        "ll",
        "'",
        "\"",
        "\\",
        "/",
        "//",
        ".",
        "..",
        "(",
        "=>",
        "_",
        "1",
        "2026",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\r\n",
        "\n\n",
        "\u{b}",
        "\0",
        "\u{7f}",
        "\u{85}",
        "\u{a0}",
        "\u{ad}",
        "\u{2028}",
        "\u{3000}",
        "é",
        "e\u{301}",
        "\u{301}",
        "ß",
        "Ω",
        "ǅ",
        "ʰ",
        "中",
        "文",
        "½",
        "٣",
        "—",
        "«",
        "😀",
        "👩\u{200d}👧",
        "\u{e000}",
        "\u{378}",
        "<|endoftext|>",
    ]);
    let lone = (0xD800..0xE000u16).prop_filter_map("a surrogate", stand_in).prop_map(String::from);
    let bit = prop_oneof![40 => bits.prop_map(str::to_owned), 1 => lone];
    prop::collection::vec(bit, 0..24).prop_map(|bits| bits.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn message() -> impl Strategy<Value = Value> {
    let block = prop_oneof![
        text().prop_map(|text| json!({"type": "text", "text": text})),
        value().prop_map(|input| json!({"type": "tool_use", "id": "t1", "name": "bash", "input": input})),
        (value(), any::<bool>()).prop_map(
            |(content, failed)| json!({"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": failed})
        ),
    ];
    let content = prop_oneof![text().prop_map(Value::from), prop::collection::vec(block, 0..4).prop_map(Value::from)];
    (prop::sample::select(vec!["user", "assistant"]), content)
        .prop_map(|(role, content)| json!({"role": role, "content": content}))
}

/// Returns what each language writes. Numbers are whole, and below 2^53 for JavaScript.
fn written(measure: SizeUnit, value: &Value) -> String {
    let (comma, colon) = if measure == SizeUnit::JsJson { (",", ":") } else { (", ", ": ") };
    let python = measure == SizeUnit::PyRepr;
    match value {
        Value::Null => if python { "None" } else { "null" }.to_owned(),
        Value::Bool(true) => if python { "True" } else { "true" }.to_owned(),
        Value::Bool(false) => if python { "False" } else { "false" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if python => repr(text),
        Value::String(text) => quoted(measure, text),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|item| written(measure, item)).collect::<Vec<_>>().join(comma))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| {
                format!("{}{colon}{}", written(measure, &Value::from(key.as_str())), written(measure, value))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(comma))
        }
    }
}

fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => out.extend(['\\', c]),
            '\0' | '\u{b}' | '\u{7f}' | '\u{85}' | '\u{a0}' | '\u{ad}' => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            '\u{378}' | '\u{200d}' | '\u{2028}' | '\u{3000}' | '\u{e000}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c if let Some(unit) = lone_surrogate(c) => out.push_str(&format!("\\u{unit:04x}")),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn quoted(measure: SizeUnit, text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match (c, lone_surrogate(c)) {
            ('"' | '\\', _) => out.extend(['\\', c]),
            ('\n', _) => out.push_str("\\n"),
            ('\r', _) => out.push_str("\\r"),
            ('\t', _) => out.push_str("\\t"),
            ('\u{8}', _) => out.push_str("\\b"),
            ('\u{c}', _) => out.push_str("\\f"),
            ('\0'..='\u{1f}', _) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            (_, Some(unit)) if measure != SizeUnit::Json => out.push_str(&format!("\\u{unit:04x}")),
            ('\u{7f}'.., _) if measure == SizeUnit::JsonAscii => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

proptest! {
    #[test]
    fn meter_size_equals_length_of_written_messages(messages in prop::collection::vec(message(), 0..4)) {
        for measure in [SizeUnit::PyRepr, SizeUnit::Json, SizeUnit::JsonAscii] {
            let whole = written(measure, &Value::from(messages.clone()));
            prop_assert_eq!(size(measure, &messages), whole.chars().count() as u64, "{} of {}", measure, whole);
        }
    }

    #[test]
    fn javascript_string_literals_have_measured_length(text in text()) {
        let whole = written(SizeUnit::JsJson, &json!([{"role": "user", "content": [{"type": "text", "text": text}]}]));
        let messages = [json!({"role": "user", "content": [{"type": "text", "text": text}]})];
        prop_assert_eq!(size(SizeUnit::JsJson, &messages), whole.encode_utf16().count() as u64, "{}", whole);
    }

    #[test]
    fn tokens_of_pieces_equal_tokens_of_the_whole(bits in prop::collection::vec((text(), any::<char>()), 1..4)) {
        let text: String = bits.into_iter().map(|(text, c)| text + &String::from(c)).collect();
        let readable: String = text.chars().map(|c| if lone_surrogate(c).is_some() { '\u{fffd}' } else { c }).collect();
        prop_assert_eq!(Vocabulary::O200k.count(&text), o200k_base_singleton().count_ordinary(&readable) as u64, "{:?}", text);
        prop_assert_eq!(Vocabulary::Cl100k.count(&text), cl100k_base_singleton().count_ordinary(&readable) as u64, "{:?}", text);
    }

    #[test]
    fn odd_image_data_is_counted_without_panic(data in "[A-Za-z0-9+/=]{0,200}") {
        let image = json!({"type": "image", "source": {"data": data}});
        prop_assert!(media::tokens(&image) <= 1_600, "{}", image);
    }
}

#[test]
fn long_runs_of_one_character_are_counted() {
    for run in [" ", "A", "\n", "中"] {
        let tokens = Vocabulary::O200k.count(&run.repeat(200_000));
        assert!(tokens > 0 && tokens <= 200_000, "{run:?} gave {tokens}");
    }
}

#[test]
fn text_of_50_mb_is_counted() {
    let bytes = effort::of(5_000_000, 50_000_000);
    let text = "It's 5 o'clock.\n".repeat(bytes / 16);
    assert_eq!(SizeUnit::PyRepr.text(&text), 2 + 17 * (bytes as u64 / 16));
    assert_eq!(SizeUnit::JsJson.text(&text), 2 + 17 * (bytes as u64 / 16));
    assert_eq!(SizeUnit::Bytes.text(&text), bytes as u64);
    // Tests run unoptimised: a tenth is enough for tokens.
    assert_eq!(SizeUnit::O200k.text(&text[..bytes / 10]), (bytes as u64 / 160) * SizeUnit::O200k.text("It's 5 o'clock.\n"));
}
