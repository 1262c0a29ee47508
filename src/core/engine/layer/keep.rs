//! `keep`: keeps the newest messages, by turns, groups or size, and removes the older ones.
//!
//! A turn begins with a message that the user typed and ends before the next one; where `messages` of the policy sets results apart,
//! typed messages that follow each other begin one turn. A group is a response with the results that
//! answer it, or any other message. Neither breaks a pair of tool_use and tool_result, and nor does a size, unless
//! `cut = "anywhere"` says so. Removed content is lost.
//!
//! `remove_from = "middle"` keeps both ends within a size: as many of the oldest messages as of the newest (AutoGen). Of two messages
//! that do not fit together, the older one stays, and the model does not see what it is asked.
//!
//! `remove_at_least` removes more at once than must go, so that the prompt changes less often (LlamaIndex's `Memory`).
//!
//! With turns, what one turn needs of another is lost, but within a turn everything stays: a single long turn is never shortened,
//! and the provider writes the rest of the prompt into its cache again once per turn. With groups or a size, the prompt changes at
//! nearly every call.
//!
//! ```toml
//! [[layer]]
//! id = "recent"
//! do = "keep"
//! keep_recent_turns = 3           # or keep_recent_groups = 20, or keep_recent_tokens = "50k"
//! keep_first = 1                  # such as the task
//! marker = "[{n} messages removed]"
//! ```

mod ends;
mod steps;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cut::{CutRule, KnownRun, Snap};
use super::tail::{groups_start, tokens_start};
use super::{Action, LayerInput, LayerTraits, Proposal, Scope, Stability, ThinkingLeft, WrongSetting};
use crate::engine::context::{Context, Edit, NewMessage};
use crate::engine::size::{Limits, Size};
use crate::tokens::meter::Meter;
use crate::transcript::conversation::Role;
use crate::util::template::fill;
use ends::{Ends, Limit};
use steps::Steps;

/// Settings of `keep`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Keep {
    /// Number of newest turns to keep; a turn begins with a message that the user typed. 3 if no other number is given.
    #[schemars(range(min = 1), extend("x-unit" = "turns"))]
    pub keep_recent_turns: Option<usize>,
    /// Number of newest groups to keep; a group is a response with the results that answer it, or any other message.
    #[schemars(range(min = 1), extend("x-unit" = "groups"))]
    pub keep_recent_groups: Option<usize>,
    /// Maximum size of the messages that stay, by the policy's `meter`; one message stays in any case.
    #[schemars(extend("x-unit" = "by meter"))]
    pub keep_recent_tokens: Option<Size>,
    /// Minimum size, by the policy's `meter`, of the messages that leave at once: the oldest leave in steps of at least this size, each up
    /// to the next position where a cut may be, until those that stay have at most `keep_recent_tokens`. With `cut = "turn"` or
    /// `"typed"` and no typed message behind a step, the step ends at the last one before: the newest turn stays, however large it is.
    #[schemars(extend("x-unit" = "by meter"))]
    pub remove_at_least: Option<Size>,
    /// Which messages go first while those that stay are larger than `keep_recent_tokens`.
    pub remove_from: RemoveFrom,
    /// Number of oldest messages to keep, such as the task.
    #[schemars(extend("x-unit" = "messages"))]
    pub keep_first: usize,
    /// Where a cut by `keep_recent_tokens` may be; it moves to newer messages, so that fewer stay. In the middle it may be anywhere.
    pub cut: CutRule,
    /// User message that replaces the removed messages: `{n}` is their number, `{path}` the archive. Without it there is no message.
    pub marker: Option<String>,
}

/// Which messages go first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RemoveFrom {
    /// The oldest: the newest message stays in any case.
    #[default]
    Oldest,
    /// The one in the middle, again and again: as many of the oldest stay as of the newest, or one more. Without `keep_first`, the
    /// oldest message stays in any case.
    Middle,
}

/// Number of turns that stay if the policy says nothing.
const DEFAULT_TURNS: usize = 3;

impl Default for Keep {
    fn default() -> Self {
        Self {
            keep_recent_turns: None,
            keep_recent_groups: None,
            keep_recent_tokens: None,
            remove_at_least: None,
            remove_from: RemoveFrom::Oldest,
            keep_first: 1,
            cut: CutRule::Batch,
            marker: None,
        }
    }
}

impl Action for Keep {
    type State = Ends;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            stability: match (&self.marker, &self.keep_recent_tokens) {
                (None, None) => Stability::Stable,
                // Of the whole history, other steps may be left than of a copy that lacks its beginning.
                (None, Some(_)) if self.remove_at_least.is_none() => Stability::Alone,
                _ => Stability::Unstable,
            },
            writes_markers: true,
            ..LayerTraits::PLAIN
        }
    }

    fn propose(&self, input: &LayerInput, ends: &mut Ends) -> Proposal {
        if input.scope != Scope::Request {
            *ends = Ends::default();
        }
        if let (RemoveFrom::Middle, Some(limit)) = (self.remove_from, self.limit(input.meter, input.limits)) {
            return Proposal { edits: ends.trim(input.context, self.keep_first, limit), ..Proposal::default() };
        }
        let Some((head, tail)) = self.span(input, ends.are_apart()) else { return Proposal::default() };
        if head >= tail {
            return Proposal::default();
        }
        let may_come_back = input.scope == Scope::Request && self.keep_recent_tokens.is_some() && self.marker.is_none();
        let mut edits = if may_come_back {
            ends.move_to(input.context, head, input.context.len() - tail)
        } else {
            vec![Edit::Drop { messages: head..tail }]
        };
        if let Some(marker) = &self.marker {
            let values = [("n", &*(tail - head).to_string()), ("path", input.archive_path.unwrap_or_default())];
            edits.push(Edit::Insert { at: head, message: NewMessage::text(Role::User, fill(marker, &values)) });
        }
        Proposal { edits, ..Proposal::default() }
    }

    fn thinking_left(&self, left: &ThinkingLeft, ends: &mut Ends) -> Option<Vec<Edit>> {
        ends.drop_thinking(left.context);
        match self.limit(left.meter, left.limits) {
            _ if !left.gone.is_empty() => None,
            // Where the tail begins then depends on what comes next.
            Some(_) if self.cut == CutRule::Turn => None,
            Some(limit) if self.remove_from == RemoveFrom::Oldest => {
                Some(ends.bring_back(left.context, self.keep_first, limit, self.cut))
            }
            _ => Some(Vec::new()),
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        let numbers = [
            ("keep_recent_turns", self.keep_recent_turns.map(|turns| turns == 0)),
            ("keep_recent_groups", self.keep_recent_groups.map(|groups| groups == 0)),
            ("keep_recent_tokens", self.keep_recent_tokens.as_ref().map(Size::is_zero)),
        ];
        WrongSetting::unless_one_says_what_stays(numbers.map(|(name, is_zero)| (name, is_zero.is_some())))?;
        if self.remove_from == RemoveFrom::Middle {
            self.check_middle()?;
        }
        if self.remove_at_least.is_some() && self.keep_recent_tokens.is_none() {
            return Err(WrongSetting::new("remove_at_least", "`remove_at_least` needs `keep_recent_tokens`"));
        }
        match numbers.into_iter().find(|(_, is_zero)| *is_zero == Some(true)) {
            Some((name, _)) => Err(WrongSetting::new(name, format!("`{name}` must be at least 1"))),
            None => Ok(()),
        }
    }

    fn restrict_schema(schema: &mut Value) {
        schema["if"] = json!({ "properties": { "remove_from": { "const": "middle" } }, "required": ["remove_from"] });
        schema["then"] = json!({
            "properties": { "cut": { "const": "anywhere" }, "marker": false, "remove_at_least": false },
            "required": ["keep_recent_tokens", "cut"],
        });
        schema["allOf"] = json!([{ "if": { "required": ["remove_at_least"] }, "then": { "required": ["keep_recent_tokens"] } }]);
    }
}

impl Keep {
    /// Returns the size that may stay, if a size says what does.
    fn limit(&self, meter: Meter, limits: Limits) -> Option<Limit> {
        self.keep_recent_tokens.as_ref().map(|tokens| Limit { meter, max_tokens: tokens.resolve(limits) })
    }

    /// Checks the settings of a cut in the middle.
    fn check_middle(&self) -> Result<(), WrongSetting> {
        let wrong = |setting, why: &str| Err(WrongSetting::new(setting, format!("`remove_from = \"middle\"` {why}")));
        match self {
            Self { keep_recent_tokens: None, .. } => wrong("remove_from", "needs `keep_recent_tokens`"),
            Self { marker: Some(_), .. } => wrong("marker", "has no `marker`"),
            Self { remove_at_least: Some(_), .. } => wrong("remove_at_least", "has no `remove_at_least`"),
            Self { cut, .. } if *cut != CutRule::Anywhere => wrong("cut", "cuts anywhere: write `cut = \"anywhere\"`"),
            _ => Ok(()),
        }
    }

    /// Returns the messages to remove; `None` if all fit, or if there is no turn or group to begin with.
    fn span(&self, input: &LayerInput, is_shortened: bool) -> Option<(usize, usize)> {
        let context = input.context;
        let (start, cut, snap) = if let Some(tokens) = &self.keep_recent_tokens {
            let max_tokens = tokens.resolve(input.limits);
            let from = self.keep_first.min(context.len());
            let start = match &self.remove_at_least {
                Some(step) => {
                    let step = step.resolve(input.limits);
                    Steps { meter: input.meter, max_tokens, step, cut: self.cut }.start(context, from)
                }
                None => tokens_start(context, input.meter, max_tokens, from, 1),
            };
            if start == from && (self.remove_at_least.is_some() || !is_shortened) {
                return None;
            }
            (start, self.cut, Snap::Forward)
        } else if let Some(groups) = self.keep_recent_groups {
            (groups_start(context, groups)?, CutRule::Anywhere, Snap::Back)
        } else {
            (first_kept_turn(context, self.keep_recent_turns.unwrap_or(DEFAULT_TURNS))?, CutRule::Turn, Snap::Back)
        };
        let head = cut.adjust_head(context, self.keep_first.min(start)..start);
        Some((head, cut.adjust_last_tail(snap, context, start, &mut KnownRun::default())))
    }
}

/// Returns where the newest turns begin. Where results are apart, typed messages that follow each other begin one turn, and without an
/// older turn the answer is `None`; otherwise the first turn begins with the first typed message.
fn first_kept_turn(context: &Context, turns: usize) -> Option<usize> {
    let typed = context.typed();
    if context.unit().is_whole() {
        return typed.get(typed.len().saturating_sub(turns)).copied();
    }
    let follows_typed = |index: usize| index.checked_sub(1).is_some_and(|before| typed[before] + 1 == typed[index]);
    let mut starts = (0..typed.len()).rev().filter(|index| !follows_typed(*index));
    let start = starts.nth(turns.checked_sub(1)?)?;
    starts.next().map(|_| typed[start])
}
