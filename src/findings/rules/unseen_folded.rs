//! `unseen_folded`: a tool result went into a summary before any response had seen it.
//!
//! What it means: the layer that folds ran when a result had just entered, and kept no tail that holds it. Why it hurts: of the
//! answer it asked for the agent gets what a summarizer makes of it, which was not told what the agent wanted to know; a large
//! result can be over the threshold by itself, so that none of its size is ever read. What to change: keep what is new (`keep =
//! "entered"`, or `keep_recent` with `cut = "batch"`), fold at the end of turns (`when = "user-turn"`), and move large results to
//! disk one by one before the fold (`persist` with `of = "result"` and a limit well below the threshold). Evidence:
//! learn-claude-code's s08, whose threshold of 50,000 characters is passed by any single result of that size; learn-claude-code
//! PR #27, where clearing runs first and starves the summarizer.
//!
//! Less than 200 tokens in all are a note: what an edit answers, a summary can say. Results whose text was put back whole with
//! the summary are not reported. One finding for what a layer did at a call.
//!
//! Precision: 58 findings in three recorded sessions, of the record, `claude-code`, `lcc-s08` and `lcc-s08-late`, were held
//! against the requests: in 58 of 58 the result had stood in no request before, and stood nowhere then. Of the record's 21 in all
//! recordings 11 are notes.

use crate::findings::timeline::unseen::{self, Fate};
use crate::findings::timeline::{Detection, ReplayView};

pub fn detect(replay: &ReplayView) -> Vec<Detection> {
    unseen::detect(replay, Fate::Folded)
}
