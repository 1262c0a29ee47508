//! Parts of `content`: texts and images. Any other block is a part as Anthropic writes it.

use serde_json::{Value, json};

/// Writes a block as a part.
pub(crate) fn write(block: &Value) -> Value {
    match image_url(block) {
        Some(url) => json!({ "type": "image_url", "image_url": { "url": url } }),
        None => block.clone(),
    }
}

/// Reads a part as a block.
pub(crate) fn read(part: Value) -> Value {
    if part["type"] != "image_url" {
        return part;
    }
    let Some(url) = part["image_url"]["url"].as_str() else { return part };
    let source = match url.strip_prefix("data:").map(|data| data.split_once(";base64,")) {
        Some(Some((media_type, data))) => json!({ "type": "base64", "media_type": media_type, "data": data }),
        Some(None) => return part,
        None => json!({ "type": "url", "url": url }),
    };
    json!({ "type": "image", "source": source })
}

/// Returns the text of a part that is nothing else.
pub(crate) fn plain_text(part: &Value) -> Option<&str> {
    let fields = part.as_object().filter(|fields| fields.len() == 2 && part["type"] == "text")?;
    fields.get("text")?.as_str()
}

/// Returns the address of an image if the block has nothing else, so that nothing is lost.
fn image_url(block: &Value) -> Option<String> {
    let fields = block.as_object().filter(|fields| fields.len() == 2 && block["type"] == "image")?;
    let source = fields.get("source")?.as_object()?;
    let text = |field: &str| source.get(field)?.as_str();
    match (text("type")?, source.len()) {
        ("base64", 3) => {
            let (media_type, data) = (text("media_type")?, text("data")?);
            (!media_type.contains(';')).then(|| format!("data:{media_type};base64,{data}"))
        }
        ("url", 2) => text("url").filter(|url| !url.starts_with("data:")).map(str::to_owned),
        _ => None,
    }
}
