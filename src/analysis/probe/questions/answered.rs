//! Questions with the answers of a model.

use std::sync::LazyLock;

use serde::Serialize;

use super::{Hint, Questions};
use crate::analysis::probe::{Ask, Asked, Case, Of, SampledUse, Unanswered};
use crate::llm::client::Question;
use crate::llm::prompt::Prompt;

/// Maximum tokens of an answer: the longest fact that is asked for, and some words around it.
const MAX_TOKENS: u64 = 64;

/// Name of the control that gives the model no context.
pub const NOTHING: &str = "no context";

static PROMPT: LazyLock<Prompt> =
    LazyLock::new(|| toml::from_str(include_str!("question.toml")).expect("it is part of the program, and a test parses it"));

/// A question with the model's answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnsweredQuestion {
    pub policy: String,
    pub transcript: String,
    pub conversation: String,
    pub session: String,
    /// Number of the call whose request was shown, from 1.
    pub call: usize,
    /// Line of the transcript that the question is about.
    pub line: u32,
    pub kind: &'static str,
    /// The fact as that line had it.
    pub fact: String,
    pub question: String,
    /// Outcome in the retention metric: `hit`, `soft` or `hard`.
    pub outcome: &'static str,
    /// Whether the request contains the whole line, not only the fact.
    pub line_in_sight: bool,
    /// Answer with the request.
    pub context: Answer,
    /// Answer with the same request without compaction, if that is short enough.
    pub everything: Option<Answer>,
    /// Answer without any context.
    pub nothing: Answer,
}

impl AnsweredQuestion {
    /// Returns whether the fact is in the context.
    pub fn is_hit(&self) -> bool {
        self.outcome == "hit"
    }
}

/// An answer of the model, and whether it names the fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    pub answer: String,
    pub right: bool,
}

/// Asks all questions about one request, then those about the request with everything in it, then those without any context.
pub(super) fn ask_about(cases: &[Case<Questions>], ask: Ask) -> Result<Vec<AnsweredQuestion>, Unanswered> {
    let mut answer = |case: &Case<Questions>, of, context: &str| answer(&case.used, of, context, ask);
    let context: Vec<Answer> =
        cases.iter().map(|case| answer(case, Of::Policy, &case.shown.context)).collect::<Result<_, _>>()?;
    let everything = cases.iter().map(|case| case.shown.everything.as_ref().map(|text| answer(case, Of::Full, text)).transpose());
    let everything: Vec<Option<Answer>> = everything.collect::<Result<_, _>>()?;
    let nothing: Vec<Answer> = cases.iter().map(|case| answer(case, Of::Control(NOTHING), "")).collect::<Result<_, _>>()?;
    let answers = context.into_iter().zip(everything).zip(nothing);
    let asked = cases.iter().zip(answers).map(|(Case { used, shown }, ((context, everything), nothing))| AnsweredQuestion {
        policy: used.policy.clone(),
        transcript: used.transcript.clone(),
        conversation: used.conversation.clone(),
        session: used.recording.session.clone(),
        call: used.call as usize + 1,
        line: used.hint.line,
        kind: used.fact.kind.name(),
        fact: used.hint.cloze.answer.clone(),
        question: used.hint.cloze.line.clone(),
        outcome: used.outcome.id(),
        line_in_sight: used.hint.cloze.is_in(&shown.context),
        context,
        everything,
        nothing,
    });
    Ok(asked.collect())
}

fn answer(used: &SampledUse<Hint>, of: Of, context: &str, ask: Ask) -> Result<Answer, Unanswered> {
    let Hint { line, cloze } = &used.hint;
    // The context comes first and the question last, so that prompts about one request share a prefix.
    let (user, prefix) = (PROMPT.user(context, Some(&cloze.line)), PROMPT.user(context, None).len());
    let failure = format!(
        "{}:{line}: the question for `{}` (call {}, {}) has no answer",
        used.transcript,
        cloze.answer,
        used.call + 1,
        used.policy
    );
    let question = Question { system: PROMPT.system.clone(), user, max_tokens: MAX_TOKENS, continuation: None };
    let answer = PROMPT.summary(&ask(Asked { of, question, prefix: Some(prefix), failure })?.text);
    let right = cloze.is_answered_by(&answer, used.fact.kind, &used.fact.text);
    Ok(Answer { answer, right })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_question_can_be_asked() {
        assert!(!PROMPT.system.is_empty() && PROMPT.user("TALK", Some("LINE")).contains("LINE"));
    }
}
