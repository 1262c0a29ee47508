//! Converts objects of Anthropic's Python SDK, printed by `json.dumps(…, default=str)`, back to blocks of the Messages API.

use serde_json::{Map, Value};

use super::python;

/// Keys that come first in a block, in the order of the API. Other keys follow in their printed order.
const KEY_ORDER: [&str; 9] = ["type", "id", "name", "input", "text", "thinking", "signature", "tool_use_id", "content"];

/// Converts a printed object to a block, without fields that are `None`; returns an error message if it is not a block.
pub(super) fn block(printed: &str) -> Result<Value, String> {
    let python::Object { class, mut fields } = python::object(printed).map_err(|error| error.to_string())?;
    if !fields.get("type").is_some_and(Value::is_string) {
        let Some(kind) = kind_of_class(&class) else {
            return Err(format!("`{}` is not a class of blocks", crate::util::text::head(&class, 40)));
        };
        fields.insert("type".to_owned(), Value::String(kind));
    }
    let mut block = Map::new();
    for key in KEY_ORDER {
        if let Some(value) = fields.shift_remove(key) {
            block.insert(key.to_owned(), value);
        }
    }
    block.extend(fields);
    block.retain(|_, value| !value.is_null());
    Ok(Value::Object(block))
}

/// Returns the block type of a class: `server_tool_use` for `ServerToolUseBlock`.
fn kind_of_class(class: &str) -> Option<String> {
    let stem = class.strip_suffix("Block").filter(|stem| stem.chars().all(|c| c.is_ascii_alphanumeric()))?;
    let mut kind = String::new();
    for c in stem.strip_prefix("Beta").unwrap_or(stem).chars() {
        if c.is_ascii_uppercase() && !kind.is_empty() {
            kind.push('_');
        }
        kind.push(c.to_ascii_lowercase());
    }
    Some(kind).filter(|kind| !kind.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(printed: &str) -> String {
        block(printed).unwrap_or_else(|why| panic!("{printed}: {why}")).to_string()
    }

    #[test]
    fn sdk_blocks_have_all_keys_in_api_order() {
        assert_eq!(
            wire("ToolUseBlock(id='t1', caller=None, input={'path': 'a.rs', 'limit': None}, name='read_file', type='tool_use')"),
            r#"{"type":"tool_use","id":"t1","name":"read_file","input":{"path":"a.rs","limit":null}}"#
        );
        assert_eq!(wire("TextBlock(citations=None, text='Hi.', type='text')"), r#"{"type":"text","text":"Hi."}"#);
        assert_eq!(
            wire("ThinkingBlock(signature='c2ln', thinking='Hm.', type='thinking')"),
            r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#
        );
        assert_eq!(
            wire("ToolUseBlock(id='t1', caller=DirectCaller(type='direct'), input={}, name='ls', type='tool_use')"),
            r#"{"type":"tool_use","id":"t1","name":"ls","input":{},"caller":{"type":"direct"}}"#
        );
    }

    #[test]
    fn block_without_type_gets_the_type_of_its_class() {
        assert_eq!(wire("TextBlock(text='Hi.')"), r#"{"type":"text","text":"Hi."}"#);
        assert_eq!(wire("BetaServerToolUseBlock(id='s')"), r#"{"type":"server_tool_use","id":"s"}"#);
    }

    #[test]
    fn other_texts_are_not_sdk_blocks() {
        assert_eq!(block("print(end='')"), Err("`print` is not a class of blocks".to_owned()));
        assert_eq!(block("Done."), Err("`Done.` is not a value at character 1".to_owned()));
    }
}
