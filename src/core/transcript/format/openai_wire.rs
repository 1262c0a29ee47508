//! Conversions to Anthropic's blocks that OpenAI's chat and responses APIs share.

use serde_json::{Value, json};

/// Returns an image block for an `image_url`. A `data:` URL contains the image itself.
pub fn image(url: &str) -> Value {
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
        }
        None => json!({"type": "image", "source": {"type": "url", "url": url}}),
    }
}

/// Returns a tool_use block. `arguments` is the text that the model wrote, nearly always a JSON object. Any other text becomes
/// `{"arguments": "<the text>"}`, because Anthropic's `input` must be an object.
pub fn tool_use(id: &str, name: &str, arguments: String) -> Value {
    let input = match serde_json::from_str(&arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => json!({ "arguments": arguments }),
    };
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_arguments_that_are_not_objects_are_kept_as_written() {
        assert_eq!(tool_use("c", "run", r#"{"b":1,"a":2}"#.into())["input"].to_string(), r#"{"b":1,"a":2}"#);
        assert_eq!(tool_use("c", "run", "{\"b\":".into())["input"], json!({"arguments": "{\"b\":"}));
        assert_eq!(tool_use("c", "run", "[1]".into())["input"], json!({"arguments": "[1]"}));
    }

    #[test]
    fn data_url_becomes_an_image_block() {
        let source = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
        assert_eq!(image("data:image/png;base64,AAAA"), json!({"type": "image", "source": source}));
        assert_eq!(image("https://example.org/a.png")["source"]["url"], "https://example.org/a.png");
    }
}
