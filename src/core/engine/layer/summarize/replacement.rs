//! The messages that replace a span.

use std::ops::Range;

use super::Summarize;
use super::users::first_context;
use crate::engine::context::{Edit, NewMessage};
use crate::engine::layer::LayerInput;
use crate::tokens::meter::python_text;
use crate::transcript::conversation::Role;
use crate::util::template::{fill, has_placeholder};

impl Summarize {
    /// Returns the edits that put the summary in place of the span.
    ///
    /// # Errors
    ///
    /// Fails with the reason if it would free less than `min_gain`.
    pub(super) fn replace_span(&self, input: &LayerInput, span: Range<usize>, summary: &str) -> Result<Vec<Edit>, String> {
        let json = if has_placeholder(&self.messages.template, "summary_json") {
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
        let text = fill(&self.messages.template, &values);
        if self.min_gain > 0.0 && !self.frees_enough(input, span.clone(), &text) {
            return Err(format!("it would free less than {:.0} % of the context", self.min_gain * 100.0));
        }
        let question = self.messages.question.as_deref().map(|question| NewMessage::text(Role::User, question));
        let ack = self.messages.ack.as_deref().map(|ack| NewMessage::text(Role::Assistant, ack));
        let into = question.into_iter().chain([NewMessage::text(self.messages.role, text)]).chain(ack).collect();
        let mut edits = Vec::new();
        if let Some(go_on) = self.messages.go_on.as_deref() {
            let go_on = fill(go_on, &[("request", input.user_request)]);
            edits.push(Edit::Insert { at: input.context.len(), message: NewMessage::text(Role::User, go_on) });
        }
        let kept = self.kept_users(input, span.clone());
        let from = kept.last().map_or(span.start, |last| last.message + 1);
        edits.push(Edit::Replace { messages: from..span.end, into });
        // Edits go from back to front, so that each position is still valid.
        for (index, user) in kept.iter().enumerate().rev() {
            edits.extend(user.edits(input.context));
            let before = index.checked_sub(1).map_or(span.start, |before| kept[before].message + 1)..user.message;
            if !before.is_empty() {
                edits.push(Edit::Drop { messages: before });
            }
        }
        if self.typed.first_context
            && let Some(message) = first_context(input)
        {
            edits.push(Edit::Insert { at: span.start + kept.len().saturating_sub(1), message });
        }
        Ok(edits)
    }

    fn frees_enough(&self, input: &LayerInput, span: Range<usize>, text: &str) -> bool {
        let (context, unit) = (input.context, input.counter.unit);
        let removed: u64 = context.messages()[span].iter().map(|message| context.message_size(message, unit)).sum();
        let added = unit.text(text) + self.messages.ack.as_deref().map_or(0, |ack| unit.text(ack));
        removed as f64 - added as f64 >= self.min_gain * context.sum(unit) as f64
    }
}
