//! Marks: what sets a record of one program apart, as short texts.
//!
//! A mark is a list of conditions, separated by spaces. `a.b` is a field that is not null; of a list, each element is looked at. `=`, `^=`
//! and `$=` compare its text: equal, begins with, ends with. `file=` compares the name of the file.

use serde_json::Value;

/// Returns whether a record of a file of this name has one of these marks.
pub fn is_marked(marks: &[&str], file: &str, record: &Value) -> bool {
    marks.iter().any(|mark| mark.split(' ').all(|condition| holds(condition, file, record)))
}

fn holds(condition: &str, file: &str, record: &Value) -> bool {
    let (left, wanted) = condition.split_once('=').unwrap_or((condition, ""));
    let (path, matches): (&str, fn(&str, &str) -> bool) = match left.as_bytes().last() {
        Some(b'^') => (&left[..left.len() - 1], |text, wanted| text.starts_with(wanted)),
        Some(b'$') => (&left[..left.len() - 1], |text, wanted| text.ends_with(wanted)),
        _ => (left, |text, wanted| text == wanted),
    };
    if path == "file" {
        return matches(file, wanted);
    }
    let is_compared = condition.contains('=');
    any_at(record, path, &|value| match value {
        Value::String(text) if is_compared => matches(text, wanted),
        value => !is_compared && !value.is_null(),
    })
}

/// Returns whether a value at this path passes a test.
fn any_at(value: &Value, path: &str, passes: &dyn Fn(&Value) -> bool) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| any_at(element, path, passes)),
        value if path.is_empty() => passes(value),
        value => {
            let (key, rest) = path.split_once('.').unwrap_or((path, ""));
            let field = value.get(key);
            // A list itself is there, even if it is empty.
            field.is_some_and(|field| any_at(field, rest, passes) || (rest.is_empty() && field.is_array() && passes(field)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_look_into_lists_and_compare_texts() {
        let record =
            json!({"type": "say", "list": [{"id": "ses_1"}, {"kind": "MessageEvent"}], "none": null, "empty": [], "ts": 1});
        for yes in ["type", "type=say", "list.id^=ses_", "list.kind$=Event", "empty", "ts", "file=a.json", "file$=.json"] {
            assert!(holds(yes, "a.json", &record), "{yes}");
        }
        for no in
            ["none", "type=ask", "list.id=ses_", "list.kind^=Event", "ts=1", "type.say", "other", "list.other", "file=b.json"]
        {
            assert!(!holds(no, "a.json", &record), "{no}");
        }
    }
}
