//! `unseen_masked`: a tool result was cleared or dropped before any response had seen it.
//!
//! What it means: at the first request in which a result could stand, a placeholder stands there, or nothing. Why it hurts: the
//! agent asked, paid for the answer and never got it; it asks again, and loses it again, or goes on as if it had read it. It
//! happens where a response calls more tools at once than the layer keeps results. What to change: `protect_unseen = true` of
//! `clear`, a larger `keep_recent`, `cut = "batch"` of `drop`; of `dedupe` with `key = "path"`, `keep = "last"`. Evidence: aionrs
//! #271 (a trigger that counts: of 106 results 96 were cleared), Vibe-Trading PR #1349, learn-claude-code #62.
//!
//! Results that `persist` or `truncate` shortened are not reported: those layers leave a part, and a file to read, by purpose.
//! Nor are copies of a result that is in sight. One finding for what a layer did at a call.
//!
//! Precision: 55 findings (three of `lcc-s06` and `lcc-s08`, 52 of two `dedupe` policies) in recorded sessions were held against
//! the requests: in 55 of 55 the result stood in no earlier request, and its text nowhere in the present one.

use crate::findings::timeline::unseen::{self, Fate};
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    unseen::detect(replay, Fate::Masked)
}
