//! The wire form of a context: its messages as Anthropic's Messages API expects them.

use serde_json::{Map, Value};

use super::{Context, ContextMessage};
use crate::text::surrogates::restore_escapes;

impl Context<'_> {
    /// Returns the messages of a request as a JSON array of `{"role", "content"}`.
    pub fn to_json(&self) -> String {
        let messages = self.messages().iter().map(|message| self.wire(message));
        restore_escapes(Value::Array(messages.collect()).to_string())
    }

    /// Returns a message in wire form.
    #[doc(hidden)]
    pub fn wire(&self, message: &ContextMessage) -> Value {
        let content = match (message.is_string_content, message.blocks.first()) {
            (true, Some(only)) => Value::String(self.block(*only).text().into_owned()),
            _ => Value::Array(message.blocks.iter().map(|id| self.block(*id).wire.clone()).collect()),
        };
        let mut wire = Map::new();
        wire.insert("role".to_owned(), message.role.as_str().into());
        wire.insert("content".to_owned(), content);
        Value::Object(wire)
    }
}
