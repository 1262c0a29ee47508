//! `unseen_masked`: a tool result was cleared or dropped before any response had seen it.
//!
//! What it means: the first request that could have the result has a placeholder in its place, or nothing. Why it
//! hurts: the agent asked, paid for the answer and never got it. It asks again and loses it again, or goes on as if it
//! had read it. It happens if a response calls more tools at once than the layer keeps results. What to change:
//! `protect_unseen = true` of `clear`, a larger `keep_recent_results`, `cut = "batch"` of `drop`; of `dedupe` with
//! `key = "path"`, `keep = "last"`. Evidence: aionrs #271 (a trigger that counts: of 106 results 96 were cleared),
//! Vibe-Trading PR #1349, learn-claude-code #62.
//!
//! Results that `persist` or `truncate` shortened are not reported: those layers leave a part, and a file to read, on
//! purpose. Nor are copies of a result that is in the request. One finding covers everything that a layer did at a
//! call.
//!
//! Precision: we compared 55 findings (three of `lcc-s06` and `lcc-s08`, 52 of two `dedupe` policies) in recorded
//! sessions with the requests: in 55 of 55 the result was in no earlier request, and its text was not in the present
//! one.

use crate::findings::timeline::unseen::{self, Fate};
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    unseen::detect(replay, Fate::Masked)
}
