//! The results of a probe.

use std::collections::HashSet;

use serde::Serialize;

use super::agreement::{Agreement, Table};
use super::answered::AnsweredQuestion;
use crate::analysis::probe::About;
use crate::analysis::probe::choose::by_session;
use crate::facts::extract::FactKind;
use crate::results::saved::Session;

/// Number of questions, and of right answers to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AnswerShare {
    pub asked: usize,
    pub right: usize,
}

/// The answers of one policy's questions, or of those of one kind of fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Answers {
    /// Facts that are in the request, by `kept.hit`.
    pub hits: AnswerShare,
    /// Hits whose line is in the request unchanged.
    pub hits_with_line: AnswerShare,
    /// Facts that are gone but recoverable.
    pub soft: AnswerShare,
    /// Facts that are gone for good.
    pub hard: AnswerShare,
    /// All questions, without any context.
    pub nothing: AnswerShare,
    /// All questions whose uncompacted request is short enough, with that request.
    pub everything: AnswerShare,
    pub table: Table,
}

/// Shares of right answers for one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyAnswers {
    pub policy: String,
    pub sessions: usize,
    pub contexts: usize,
    #[serde(flatten)]
    pub answers: Answers,
    pub agreement: Agreement,
}

/// Shares of right answers for one kind of fact.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindAnswers {
    pub policy: String,
    pub kind: &'static str,
    #[serde(flatten)]
    pub answers: Answers,
}

/// Everything that a report shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProbeResults {
    #[serde(flatten)]
    pub about: About,
    /// Number of requests that use a fact again, but are too long to ask about.
    pub too_long: usize,
    pub policies: Vec<PolicyAnswers>,
    pub kinds: Vec<KindAnswers>,
    /// All questions in order, with their answers.
    pub asked: Vec<AnsweredQuestion>,
}

impl AnswerShare {
    fn count(&mut self, right: bool) {
        self.asked += 1;
        self.right += usize::from(right);
    }

    /// Returns the share of right answers, 0 to 1; `None` without questions.
    pub fn value(&self) -> Option<f64> {
        (self.asked > 0).then(|| self.right as f64 / self.asked as f64)
    }
}

impl Answers {
    fn count(questions: &[&AnsweredQuestion]) -> Self {
        let mut answers = Self::default();
        for question in questions {
            let right = question.context.right;
            let share = match question.outcome {
                "hit" => &mut answers.hits,
                "soft" => &mut answers.soft,
                _ => &mut answers.hard,
            };
            share.count(right);
            if question.is_hit() && question.line_in_sight {
                answers.hits_with_line.count(right);
            }
            answers.nothing.count(question.nothing.right);
            question.everything.iter().for_each(|answer| answers.everything.count(answer.right));
            answers.table.count(question.is_hit(), right);
        }
        answers
    }

    /// Returns soft and hard misses together.
    pub fn misses(&self) -> AnswerShare {
        AnswerShare { asked: self.soft.asked + self.hard.asked, right: self.soft.right + self.hard.right }
    }
}

impl ProbeResults {
    /// Counts the answers by policy, in the given order, and by kind of fact.
    pub fn new(about: About, too_long: usize, policies: &[&str], asked: Vec<AnsweredQuestion>) -> Self {
        let (mut by_policy, mut kinds) = (Vec::new(), Vec::new());
        for policy in policies {
            let of_policy: Vec<&AnsweredQuestion> = asked.iter().filter(|asked| asked.policy == *policy).collect();
            let sessions = sessions(&of_policy);
            let contexts: HashSet<_> =
                of_policy.iter().map(|asked| (&asked.transcript, &asked.conversation, asked.call)).collect();
            by_policy.push(PolicyAnswers {
                policy: (*policy).to_owned(),
                sessions: sessions.len(),
                contexts: contexts.len(),
                answers: Answers::count(&of_policy),
                agreement: Agreement::new(&sessions, about.plan.seed),
            });
            for kind in FactKind::ALL.map(FactKind::name) {
                let of_kind: Vec<&AnsweredQuestion> = of_policy.iter().copied().filter(|asked| asked.kind == kind).collect();
                if !of_kind.is_empty() {
                    kinds.push(KindAnswers { policy: (*policy).to_owned(), kind, answers: Answers::count(&of_kind) });
                }
            }
        }
        Self { about, too_long, policies: by_policy, kinds, asked }
    }
}

/// Returns a table for each session, in the order of their first questions.
fn sessions(asked: &[&AnsweredQuestion]) -> Vec<Table> {
    let asked = asked.iter().map(|asked| (Session::named(&asked.session), *asked));
    by_session(asked).iter().map(|asked| Answers::count(asked).table).collect()
}
