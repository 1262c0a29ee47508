use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::text::surrogates::lone_surrogate;

fn read(text: &str) -> Value {
    value(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    value(text).expect_err(text).to_string()
}

#[test]
fn python_repr_of_sdk_object_is_class_and_fields() {
    let printed = r#"ToolUseBlock(id='toolu_1', caller=DirectCaller(type='direct'), input={'command': 'ls "a"', 'n': 1, 'xs': [1, 2.5, True, None], 'p': (-1,)}, name='bash')"#;
    let Object { class, fields } = object(printed).expect("an object");
    assert_eq!(class, "ToolUseBlock");
    let expected = r#"{"id":"toolu_1","caller":{"type":"direct"},"input":{"command":"ls \"a\"","n":1,"xs":[1,2.5,true,null],"p":[-1]},"name":"bash"}"#;
    assert_eq!(Value::Object(fields).to_string(), expected);
}

#[test]
fn class_names_may_have_dots_and_a_parameter() {
    let class = |text: &str| object(text).map(|object| object.class);
    assert_eq!(class("types.TextBlock()").as_deref(), Ok("types.TextBlock"));
    assert_eq!(class("ParsedTextBlock[Union[str, NoneType]](text='a')").as_deref(), Ok("ParsedTextBlock[Union[str, NoneType]]"));
}

/// The right column is the output of `json.dumps(ast.literal_eval(left))` in Python 3.11.
#[test]
fn escapes_are_read_as_python_reads_them() {
    let cases = [
        (r#"'\\ \' \" \n \r \t \a \b \f \v'"#, r#""\\ ' \" \n \r \t \u0007 \b \f \u000b""#),
        (r"'\0 \7 \101 \1018 \777'", r#""\u0000 \u0007 A A8 \u01ff""#),
        (r"'\x00\x7f\xa0\xFF'", r#""\u0000\u007f\u00a0\u00ff""#),
        (r"'\u00e9\u200b'", r#""\u00e9\u200b""#),
        (r"'\U0001f600\U0010ffff'", r#""\ud83d\ude00\udbff\udfff""#),
        (r"'\d \  \é'", r#""\\d \\  \\\u00e9""#),
        ("'a\\\nb'", r#""ab""#),
        (r"'it\'s' ", r#""it's""#),
        (r#""it's""#, r#""it's""#),
        (r#"'both \' and "'"#, r#""both ' and \"""#),
        (r"'\x85\u2028\ue000\U000e0001\xad'", r#""\u0085\u2028\ue000\udb40\udc01\u00ad""#),
        (r"'😀é'", r#""\ud83d\ude00\u00e9""#),
        (r"b'\x00\xff\u00e9\N{x}\101'", r#""\u0000\u00ff\\u00e9\\N{x}A""#),
    ];
    for (printed, json) in cases {
        assert_eq!(read(printed), serde_json::from_str::<Value>(json).expect(json), "{printed}");
    }
}

#[test]
fn lone_surrogates_become_stand_ins() {
    let read = read(r"'a\udc80\ud83d\U0000d800'");
    let units: Vec<_> = read.as_str().expect("a string").chars().map(lone_surrogate).collect();
    assert_eq!(units, [None, Some(0xDC80), Some(0xD83D), Some(0xD800)]);
}

#[test]
fn number_digits_are_kept() {
    for digits in ["0", "-7", "1.0", "-0.0", "1e+16", "1e-05", "1.5e+300", "10000000000000000000000000000000000000000"] {
        assert_eq!(read(digits).to_string(), digits);
    }
    assert_eq!(read("[inf, -inf, nan]"), json!(["inf", "-inf", "nan"]));
}

#[test]
fn dict_keys_become_json_strings() {
    assert_eq!(read("{'a': 1, 2: 2, None: 3, True: 4, 1.5: 5}"), json!({"a": 1, "2": 2, "null": 3, "true": 4, "1.5": 5}));
    assert_eq!(refused("{'a': 1, (1, 2): 3}"), "a key that JSON cannot hold at character 10");
}

#[test]
fn brackets_may_be_empty_and_end_in_a_comma() {
    assert_eq!(read("[ [], (), {} , (1,), [1, 2 ,],\n{'a':1,} ]"), json!([[], [], {}, [1], [1, 2], {"a": 1}]));
}

#[test]
fn python_repr_errors_name_problem_and_character() {
    let cases = [
        ("", "the text ends where a value was expected at character 1"),
        ("'é' x", "expected the end of the text at character 5"),
        ("['é', 'b", "the string that begins here does not end at character 7"),
        ("'é\\", "the text ends in the middle of an escape at character 3"),
        (r"'é\x4'", "an escape that needs 2 hexadecimal digits at character 3"),
        (r"'\u+123'", "an escape that needs 4 hexadecimal digits at character 2"),
        (r"'\U00110000'", "an escape beyond the last character, U+10FFFF at character 2"),
        (r"'\N{DASH}'", r"character names (\N{…}) are not supported, because repr never prints them at character 2"),
        ("[1 2]", "expected ']' at character 4"),
        ("{1, 2}", "expected ':' at character 3"),
        ("0x1f", "`0x1f` is not a number JSON can hold at character 1"),
        ("-", "`-` is not a number JSON can hold at character 1"),
        ("Hello there", "`Hello` is not a value at character 1"),
        ("A(1)", "expected '=' at character 4"),
        ("A('x')", "expected a field's name at character 3"),
        ("A[b", "expected '(' after the class at character 2"),
        ("<A>", "expected a value at character 1"),
    ];
    for (text, error) in cases {
        assert_eq!(refused(text), error, "{text}");
    }
}

#[test]
fn deeply_nested_repr_is_refused() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(value(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(refused(&nested(MAX_DEPTH + 1)), "brackets are nested more than 128 deep at character 129");
    for hostile in ["(", "{'a':", "A(a=", "A[", "[{(", "{(1,"] {
        assert!(value(&hostile.repeat(200_000)).is_err(), "{hostile}");
    }
}

/// Formats a JSON value like Python's `repr`, in the obvious way.
fn repr(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => repr_string(text),
        Value::Array(list) => format!("[{}]", list.iter().map(repr).collect::<Vec<_>>().join(", ")),
        Value::Object(dict) => {
            let items: Vec<_> = dict.iter().map(|(key, value)| format!("{}: {}", repr_string(key), repr(value))).collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

fn repr_string(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for c in text.chars() {
        match (c, lone_surrogate(c), u32::from(c)) {
            (_, Some(unit), _) => out.push_str(&format!("\\u{unit:04x}")),
            ('\\', ..) => out.push_str("\\\\"),
            ('\n', ..) => out.push_str("\\n"),
            ('\r', ..) => out.push_str("\\r"),
            ('\t', ..) => out.push_str("\\t"),
            (c, ..) if c == quote => out.extend(['\\', c]),
            (_, _, code @ (0..0x20 | 0x7F..0xA1 | 0xAD)) => out.push_str(&format!("\\x{code:02x}")),
            (_, _, code @ (0x2000..0x2010 | 0xE000..0xF900)) => out.push_str(&format!("\\u{code:04x}")),
            (_, _, code @ 0xE0000..) => out.push_str(&format!("\\U{code:08x}")),
            (c, ..) => out.push(c),
        }
    }
    out.push(quote);
    out
}

fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![any::<String>(), "[a-z'\"\\\\\n\t\u{10D800}\u{10DFFF}\u{85}😀]{0,12}"];
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e6..1e6).prop_map(|x: f64| Value::from(x))
    ];
    let leaf = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool), number, text.clone().prop_map(Value::String)];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((text.clone(), inner), 0..6).prop_map(|items| Value::Object(items.into_iter().collect())),
        ]
    })
}

/// Returns the beginning of a text: this share of its characters.
fn cut(text: &str, share: f64) -> &str {
    head(text, (text.chars().count() as f64 * share) as usize)
}

proptest! {
    #[test]
    fn python_repr_round_trips(fields in prop::collection::vec(("[a-z_]{1,8}", any_value()), 0..6)) {
        let printed: Vec<_> = fields.iter().map(|(name, value)| format!("{name}={}", repr(value))).collect();
        let read = object(&format!("Block({})", printed.join(", ")));
        let expected = Object { class: "Block".to_owned(), fields: fields.into_iter().collect() };
        prop_assert_eq!(read, Ok(expected));
    }

    #[test]
    fn truncated_repr_is_an_error_inside_the_text(value in any_value(), share in 0.0..1.0) {
        let whole = format!("Block(a={})", repr(&value));
        let cut = cut(&whole, share);
        let error = object(cut).expect_err(cut);
        prop_assert!(error.at <= cut.chars().count() + 1);
    }

    #[test]
    fn hostile_repr_never_panics(text in any::<String>(), pythonic in r#"[a-cA-C(){}\[\]'"\\,:=.0-9xuUNe+\-\né😀 ]{0,60}"#) {
        for text in [text, pythonic] {
            let _ = (value(&text), object(&text), object(&format!("A(a='{text}')")), value(&format!("{{'a': [{text}")));
        }
    }
}
