//! `unseen_folded`: a tool result was summarised before any response had seen it.
//!
//! What it means: the layer that summarises ran when a result had just entered, and kept no tail that holds it. Why it
//! hurts: the agent gets only a summary of the answer it asked for, and the summarizer did not know what the agent
//! wanted to know. A large result can exceed the threshold by itself, so that no result of its size is ever read. What
//! to change: keep what is new (`keep = "entered"`, or `keep_recent_messages` with `cut = "batch"`), summarise at the end of
//! turns (`when = "user-turn"`), and move large results to disk one by one before the summary (`persist` with
//! `of = "result"` and a limit well below the threshold). Evidence: learn-claude-code's s08, whose threshold of 50,000
//! characters is exceeded by any single result of that size; learn-claude-code PR #27, where clearing runs first and
//! starves the summarizer.
//!
//! Fewer than 200 tokens in all are a note, because a summary can repeat the answer to an edit. Results that were put
//! back whole with the summary are not reported. One finding covers everything that a layer did at a call.
//!
//! Precision: we compared 58 findings in three recorded sessions, of the record, `claude-code`, `lcc-s08` and
//! `lcc-s08-late`, with the requests: in 58 of 58 the result was in no request before, and not in the present one. Of
//! the record's 21 in all recordings 11 are notes.

use crate::findings::timeline::unseen::{self, Fate};
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    unseen::detect(replay, Fate::Folded)
}
