//! `keep`: keeps the newest turns and removes the older ones.
//!
//! A turn begins with a message that the user typed and ends before the next one, so no pair of tool_use and tool_result breaks.
//! Removed content is lost. What one turn needs of another is lost with it, but within a turn everything stays: a single long
//! turn is never shortened. The provider writes the rest of the prompt into its cache again once per turn, not at every call.
//!
//! ```toml
//! [[layer]]
//! id = "recent"
//! do = "keep"
//! keep_recent_turns = 3
//! keep_first = 1                  # such as the task
//! marker = "[{n} messages removed]"
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cut::{CutRule, Snap};
use super::{Action, LayerInput, LayerTraits, Proposal, Stability, Timing, WrongSetting};
use crate::engine::context::{Edit, NewMessage};
use crate::transcript::conversation::Role;
use crate::util::template::fill;

/// Settings of `keep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Keep {
    /// Number of newest turns to keep; a turn begins with a message that the user typed.
    #[schemars(range(min = 1), extend("x-unit" = "turns"))]
    pub keep_recent_turns: usize,
    /// Number of oldest messages to keep, such as the task.
    #[schemars(extend("x-unit" = "messages"))]
    pub keep_first: usize,
    /// User message that replaces the removed messages: `{n}` is their number, `{path}` the archive. Without it there is no message.
    pub marker: Option<String>,
}

impl Default for Keep {
    fn default() -> Self {
        Self { keep_recent_turns: 3, keep_first: 1, marker: None }
    }
}

impl Action for Keep {
    type State = ();

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            timing: Timing::Requests,
            remains: None,
            rewrites_in_place: false,
            keeps_parts: false,
            stability: if self.marker.is_none() { Stability::Stable } else { Stability::Unstable },
            max_messages: None,
            writes_markers: true,
            restores: false,
            repeats_record: false,
            filter: None,
            selects_by_age: false,
            summarizer: None,
            archive_path: None,
            program: None,
        }
    }

    fn propose(&self, input: &LayerInput, _state: &mut ()) -> Proposal {
        let context = input.context;
        let typed = context.messages().iter().enumerate().rev().filter(|(_, message)| message.typed);
        let Some((start, _)) = typed.take(self.keep_recent_turns).last() else { return Proposal::default() };
        let (head, tail) = CutRule::Turn.adjust_span(Snap::Back, context, self.keep_first.min(start), start);
        if head >= tail {
            return Proposal::default();
        }
        let mut edits = vec![Edit::Drop { messages: head..tail }];
        if let Some(marker) = &self.marker {
            let values = [("n", &*(tail - head).to_string()), ("path", input.archive_path.unwrap_or_default())];
            edits.push(Edit::Insert { at: head, message: NewMessage::text(Role::User, fill(marker, &values)) });
        }
        Proposal { edits, ..Proposal::default() }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        if self.keep_recent_turns == 0 {
            return Err(WrongSetting::new("keep_recent_turns", "`keep_recent_turns` must be at least 1"));
        }
        Ok(())
    }
}
