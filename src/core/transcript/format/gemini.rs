//! Contents of the Gemini API, as Gemini CLI and its relatives keep them, as blocks of Anthropic's API.

use serde_json::{Value, json};

use super::Note;
use super::notes::Notes;
use crate::transcript::conversation::text_wire;

/// A part of a content.
#[derive(Debug, PartialEq)]
pub enum Part {
    /// A block: text, thinking, a tool_use, an image or a document.
    Block(Value),
    /// The result of a call.
    Result(Answer),
}

/// The result of a call.
#[derive(Debug, PartialEq)]
pub struct Answer {
    pub id: String,
    /// As in a tool_result: a string, or a list of blocks.
    pub content: Value,
    pub is_error: bool,
}

impl Answer {
    /// Returns it as a tool_result.
    pub fn wire(self) -> Value {
        json!({"type": "tool_result", "tool_use_id": self.id, "content": self.content})
    }
}

/// Converts the parts of a content: a list of parts, one part, or a text.
pub fn parts(content: &Value, line: u32, notes: &mut Notes) -> Vec<Part> {
    match content {
        Value::Array(parts) => parts.iter().filter_map(|part| read(part, line, notes)).collect(),
        Value::Null => Vec::new(),
        one => read(one, line, notes).into_iter().collect(),
    }
}

fn read(part: &Value, line: u32, notes: &mut Notes) -> Option<Part> {
    if let Some(text) = part.as_str().or_else(|| part.get("text")?.as_str()) {
        let is_thought = part.get("thought").and_then(Value::as_bool).unwrap_or(false);
        let wire = if is_thought { json!({"type": "thinking", "thinking": text}) } else { text_wire(text) };
        return (!text.is_empty()).then_some(Part::Block(wire));
    }
    if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
        let (id, name) = names(call);
        let input = call.get("args").filter(|args| args.is_object()).cloned().unwrap_or_else(|| json!({}));
        return Some(Part::Block(json!({"type": "tool_use", "id": id, "name": name, "input": input})));
    }
    if let Some(response) = part.get("functionResponse").filter(|response| response.is_object()) {
        return Some(Part::Result(answer(response, line, notes)));
    }
    if let Some(media) = media(part) {
        return Some(Part::Block(media));
    }
    let kinds = part.as_object().map(|fields| fields.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    let kinds = crate::util::text::head(kinds.as_deref().unwrap_or("no object"), 40).to_owned();
    notes.kind(Note::info(line, format!("a part with `{kinds}` is neither text nor call nor image; it was left out")));
    None
}

/// Returns id and name of a call. The API of 2023 to 2024 had no ids: there, calls were answered by their name.
fn names(call: &Value) -> (&str, &str) {
    let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("name").unwrap_or("unknown");
    (text("id").unwrap_or(name), name)
}

/// Converts a functionResponse: the model gets `output`, or else `error`, or else the whole response; images are beside it.
pub fn answer(response: &Value, line: u32, notes: &mut Notes) -> Answer {
    let (id, _) = names(response);
    let body = response.get("response").unwrap_or(&Value::Null);
    let field = |key: &str| body.get(key).and_then(Value::as_str);
    let is_error = field("output").is_none() && body.get("error").is_some_and(|error| !error.is_null());
    let text = body.as_str().or_else(|| field("output")).or_else(|| field("error")).map(str::to_owned);
    let text = text.unwrap_or_else(|| if body.is_null() { String::new() } else { body.to_string() });
    let more = parts(response.get("parts").unwrap_or(&Value::Null), line, notes);
    let more = more.into_iter().filter_map(|part| if let Part::Block(wire) = part { Some(wire) } else { None });
    let more: Vec<Value> = more.collect();
    let content = match more.is_empty() {
        true => Value::String(text),
        false => Value::Array(Some(text).filter(|text| !text.is_empty()).map(text_wire).into_iter().chain(more).collect()),
    };
    Answer { id: id.to_owned(), content, is_error }
}

/// Converts an image or a document: `inlineData` holds it, `fileData` names it.
fn media(part: &Value) -> Option<Value> {
    let text = |path: &str| part.pointer(path).and_then(Value::as_str);
    let (kind, source) = match (text("/inlineData/data"), text("/fileData/fileUri")) {
        (Some(data), _) => {
            let kind = text("/inlineData/mimeType").unwrap_or("application/octet-stream");
            (kind, json!({"type": "base64", "media_type": kind, "data": data}))
        }
        (None, Some(uri)) => (text("/fileData/mimeType").unwrap_or_default(), json!({"type": "url", "url": uri})),
        (None, None) => return None,
    };
    let block = if kind.starts_with("image/") { "image" } else { "document" };
    Some(json!({"type": block, "source": source}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(content: Value) -> (Vec<Part>, Vec<String>) {
        let mut notes = Notes::default();
        let parts = parts(&content, 3, &mut notes);
        (parts, notes.finish().into_iter().map(|note| note.what).collect())
    }

    #[test]
    fn parts_become_blocks() {
        let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
        for (part, wire) in [
            (json!("go"), text_wire("go")),
            (json!({"text": "go"}), text_wire("go")),
            (json!([{"text": "hm", "thought": true}]), json!({"type": "thinking", "thinking": "hm"})),
            (
                json!([{"functionCall": {"id": "c1", "name": "run", "args": {"b": 1}}}]),
                json!({"type": "tool_use", "id": "c1", "name": "run", "input": {"b": 1}}),
            ),
            (json!([{"functionCall": {"name": "run"}}]), json!({"type": "tool_use", "id": "run", "name": "run", "input": {}})),
            (json!([{"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]), json!({"type": "image", "source": source})),
        ] {
            assert_eq!(read_all(part), (vec![Part::Block(wire)], vec![]));
        }
        let note = "a part with `executableCode` is neither text nor call nor image; it was left out";
        assert_eq!(read_all(json!([{"executableCode": {}}, {"text": ""}])), (vec![], vec![note.to_owned()]));
    }

    #[test]
    fn a_result_is_what_the_model_gets() {
        let answer = |response: Value| match read_all(json!({"functionResponse": response})).0.remove(0) {
            Part::Result(answer) => (answer.id, answer.content, answer.is_error),
            Part::Block(block) => panic!("{block}"),
        };
        let of = |id: &str, content: Value, is_error| (id.to_owned(), content, is_error);
        assert_eq!(answer(json!({"id": "c1", "response": {"output": "ok"}})), of("c1", json!("ok"), false));
        assert_eq!(answer(json!({"name": "run", "response": {"error": "no"}})), of("run", json!("no"), true));
        assert_eq!(answer(json!({"id": "c1", "response": {"rows": 2}})), of("c1", json!("{\"rows\":2}"), false));
        let image = json!({"type": "image", "source": {"type": "url", "url": "gs://a"}});
        let parts = json!([{"fileData": {"mimeType": "image/png", "fileUri": "gs://a"}}]);
        let seen = answer(json!({"id": "c1", "response": {"output": "see"}, "parts": parts}));
        assert_eq!(seen, of("c1", json!([text_wire("see"), image]), false));
    }
}
