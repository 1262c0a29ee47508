//! Summaries by a model.
//!
//! What the layer's limits let through is written down block by block, under the name of who said it, and put into the layer's
//! [prompt](crate::prompt) as data. What of the answer is the summary, the prompt says, too.

use std::fmt::Write;

use super::{Ask, Failure, Paid, Piece, Reply, Summarizer};
use crate::conversation::{Kind, Origin};
use crate::llm::{Model, Outcome, Question, Trouble};

/// A model in the place of the harness's own.
pub struct Live {
    pub model: Model,
}

impl Summarizer for Live {
    fn summarize(&self, ask: &Ask) -> Reply {
        let question = question(ask);
        match self.model.look_up(&question) {
            Err(trouble) => Reply { text: Err(failure(trouble)), paid: None },
            Ok(asked) => {
                let (usage, seconds) = asked.took();
                let paid = Paid { key: asked.key, model: self.model.name().to_owned(), usage, seconds };
                Reply { text: summary(ask, asked.outcome), paid: Some(paid) }
            }
        }
    }
}

/// What the model is asked.
pub(super) fn question(ask: &Ask) -> Question {
    Question {
        system: ask.prompt.system.clone(),
        user: ask.prompt.user(&written(&ask.pieces), ask.focus),
        max_tokens: ask.max_tokens,
    }
}

/// What of the answer is the summary.
pub(super) fn summary(ask: &Ask, outcome: Outcome) -> Result<String, Failure> {
    let answer = outcome.map_err(Failure::Refused)?;
    let text = ask.prompt.summary(&answer.text);
    match (text.is_empty(), answer.cut_off) {
        (true, _) => Err(Failure::Empty),
        (false, true) => Err(Failure::OverCap { max_tokens: ask.max_tokens, text }),
        (false, false) => Ok(text),
    }
}

fn failure(trouble: Trouble) -> Failure {
    match trouble {
        Trouble::TooLong(what) => Failure::Refused(what),
        Trouble::Unanswered(what) => Failure::Unanswered(what),
    }
}

/// The pieces, one under the other.
fn written(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for piece in pieces {
        let _ = match piece.kind {
            Kind::ToolUse(_) => writeln!(text, "[agent calls {}]", piece.tool),
            Kind::ToolResult(_) if piece.is_error => writeln!(text, "[error of {}]", piece.tool),
            Kind::ToolResult(_) => writeln!(text, "[result of {}]", piece.tool),
            Kind::Thinking => writeln!(text, "[agent thinks]"),
            _ => writeln!(text, "[{}]", speaker(piece.origin)),
        };
        text.push_str(piece.text().trim_end());
        text.push_str("\n\n");
    }
    text.truncate(text.trim_end().len());
    text
}

fn speaker(origin: Origin) -> &'static str {
    match origin {
        Origin::Agent => "agent",
        Origin::Typed => "user",
        _ => "harness",
    }
}
