//! The facts of a block; [`text::facts`](crate::text::facts) says what a fact is.

pub mod rule;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use crate::text::facts::{FactKind, FactMatch, in_name, in_text, key, plain};
use crate::text::facts::{MAX_BYTES, QuoteDetector, Scanner};
use crate::transcript::conversation::{Block, BlockKind, Origin};

/// Calls `on_match` for every fact of a block, in one pass, and returns the bytes read. A fact may occur several times. Thinking
/// and media have no facts. The strings of a tool's input are separate texts with consecutive line numbers.
pub fn in_block(block: &Block, on_match: &mut dyn FnMut(FactMatch)) -> usize {
    let mut scanner = Scanner::new(on_match);
    for_each_text(block, &mut |text, quotes| scanner.text(text, quotes));
    scanner.finish()
}

/// Calls `on_match` for every fact that a model can read in a block: those of [`in_block`], and those in thinking. Thinking only
/// shows facts: it is not their source, and what it names is no use.
pub fn shown_by(block: &Block, on_match: &mut dyn FnMut(FactMatch)) {
    match block.kind {
        BlockKind::Thinking => in_text(&block.text(), on_match),
        _ => _ = in_block(block, on_match),
    }
}

/// Calls `each` with the texts of a block that are searched for facts.
pub fn texts(block: &Block, each: &mut dyn FnMut(&str)) {
    for_each_text(block, &mut |text, _| each(text));
}

fn for_each_text(block: &Block, each: &mut dyn FnMut(&str, QuoteDetector)) {
    match block.kind {
        BlockKind::Thinking | BlockKind::Media => {}
        BlockKind::Text if block.origin == Origin::Agent => each(&block.text(), QuoteDetector::ANSWER),
        BlockKind::Text | BlockKind::ToolResult(_) => each(&block.text(), QuoteDetector::None),
        BlockKind::ToolUse(_) => {
            let input = block.field("input").unwrap_or(&Value::Null);
            for_each_string(input, "", &mut |key, text| each(text, QuoteDetector::for_input(key, text)));
        }
        BlockKind::Other => for_each_string(&block.wire, "", &mut |key, text| {
            if !SKIPPED_KEYS.contains(&key) {
                each(text, QuoteDetector::None);
            }
        }),
    }
}

/// Whether the facts of a block can be extracted line by line with the same result: no quotation spans lines, and nothing is left
/// out. Only [`FactMatch::said`] of file names depends on the whole block. `text` is the block's text.
pub fn can_be_read_by_line(block: &Block, text: &str) -> bool {
    let is_text =
        matches!(block.kind, BlockKind::Text if block.origin != Origin::Agent) || matches!(block.kind, BlockKind::ToolResult(_));
    is_text && text.len() <= MAX_BYTES
}

/// Keys in blocks of other kinds whose strings the model does not read.
const SKIPPED_KEYS: [&str; 5] = ["type", "id", "signature", "encrypted_content", "data"];

/// Calls `each` with every string of a JSON value and the key of the string, in the order of the value.
fn for_each_string(value: &Value, key: &str, each: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) => each(key, text),
        Value::Array(values) => values.iter().for_each(|value| for_each_string(value, key, each)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| for_each_string(value, key, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
