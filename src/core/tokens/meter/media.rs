//! Estimates the tokens of images and documents.
//!
//! Anthropic's rule (docs.claude.com, *Vision*, "Calculate image costs"): tokens = width × height / 750, and images of more
//! than about 1,600 tokens are scaled down to that. Media of unknown size (documents, links, unknown encodings) count as the
//! largest image. Scaling by the long edge (1,568 pixels), which makes banners cheaper, is not modelled.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_PAD_INDIFFERENT;
use serde_json::Value;

use crate::transcript::conversation::{Block, BlockKind};

const PIXELS_PER_TOKEN: u64 = 750;
/// Maximum tokens of an image; also the tokens of media of unknown size.
const MAX_IMAGE_TOKENS: u64 = 1_600;
/// Base64 characters to decode to find an image's size. In a JPEG, the size comes after up to 64 KB of EXIF data.
const HEADER_CHARS: usize = 128 * 1024;

/// Returns the images and documents of a block: the block itself, or parts of a tool_result.
pub fn parts(block: &Block) -> impl Iterator<Item = &Value> {
    let media_block = (block.kind == BlockKind::Media).then_some(&block.wire);
    let content = match block.kind {
        BlockKind::ToolResult(_) => block.wire.get("content").and_then(Value::as_array),
        _ => None,
    };
    media_block.into_iter().chain(content.into_iter().flatten().filter(|part| is_media(part)))
}

/// Whether a block's tokens are partly an estimate, because it contains images or documents.
pub fn is_estimated(block: &Block) -> bool {
    block.recorded_tokens.is_none() && parts(block).next().is_some()
}

/// Estimates the tokens of one image or document from its wire form.
pub fn tokens(part: &Value) -> u64 {
    pixels(part).map_or(MAX_IMAGE_TOKENS, |pixels| pixels.div_ceil(PIXELS_PER_TOKEN).min(MAX_IMAGE_TOKENS))
}

fn is_media(part: &Value) -> bool {
    matches!(part.get("type").and_then(Value::as_str), Some("image" | "document"))
}

/// Returns width × height from the image header in `{"source": {"type": "base64", "data": …}}`.
fn pixels(part: &Value) -> Option<u64> {
    let base64 = part.get("source")?.get("data")?.as_str()?.as_bytes();
    let header = base64.get(..HEADER_CHARS).unwrap_or(base64);
    let size = imagesize::blob_size(&STANDARD_PAD_INDIFFERENT.decode(header).ok()?).ok()?;
    u64::try_from(size.width).ok()?.checked_mul(u64::try_from(size.height).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns the header of a PNG of this width and height.
    fn png(width: u32, height: u32) -> Value {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes.extend(b"\x08\x02\0\0\0");
        let data = STANDARD_PAD_INDIFFERENT.encode(bytes);
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
    }

    #[test]
    fn image_tokens_depend_on_pixels() {
        assert_eq!([png(75, 100), png(300, 201), png(4_000, 4_000)].map(|image| tokens(&image)), [10, 81, MAX_IMAGE_TOKENS]);
        assert_eq!(tokens(&png(u32::MAX, u32::MAX)), MAX_IMAGE_TOKENS);
    }

    #[test]
    fn image_without_size_counts_as_the_largest() {
        for wire in [
            json!({"type": "document", "source": {"type": "base64", "data": "JVBERi0xLjQ="}}),
            json!({"type": "image", "source": {"type": "base64", "data": "not base64!"}}),
            json!({"type": "image", "source": {"type": "base64", "data": ""}}),
            json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}),
            json!({"type": "image"}),
        ] {
            assert_eq!(tokens(&wire), MAX_IMAGE_TOKENS, "{wire}");
        }
    }
}
