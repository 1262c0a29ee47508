//! The messages that replace a span.

use std::ops::Range;

use super::Summarize;
use crate::engine::context::{Edit, NewMessage};
use crate::engine::layer::LayerInput;
use crate::tokens::meter::python_text;
use crate::transcript::conversation::Role;
use crate::util::template::{fill, has_placeholder};

impl Summarize {
    /// Returns the edit that puts the summary in place of the span.
    ///
    /// # Errors
    ///
    /// Fails with the reason if it would free less than `min_gain`.
    pub(super) fn replace_span(&self, input: &LayerInput, span: Range<usize>, summary: &str) -> Result<Edit, String> {
        let json = if has_placeholder(&self.template, "summary_json") {
            python_text::dumps(&summary.into(), false)
        } else {
            String::new()
        };
        let values = [
            ("summary", summary),
            ("summary_json", &*json),
            ("request", input.user_request),
            ("path", input.archive_path.unwrap_or_default()),
            ("focus", input.focus.unwrap_or_default()),
        ];
        let text = fill(&self.template, &values);
        if self.min_gain > 0.0 && !self.frees_enough(input, span.clone(), &text) {
            return Err(format!("it would free less than {:.0} % of the context", self.min_gain * 100.0));
        }
        let mut into = vec![NewMessage::text(Role::User, text)];
        into.extend(self.ack.as_deref().map(|ack| NewMessage::text(Role::Assistant, ack)));
        Ok(Edit::Replace { messages: span, into })
    }

    fn frees_enough(&self, input: &LayerInput, span: Range<usize>, text: &str) -> bool {
        let (context, unit) = (input.context, input.counter.unit);
        let removed: u64 = context.messages()[span].iter().map(|message| context.message_size(message, unit)).sum();
        let added = unit.text(text) + self.ack.as_deref().map_or(0, |ack| unit.text(ack));
        removed as f64 - added as f64 >= self.min_gain * context.sum(unit) as f64
    }
}
