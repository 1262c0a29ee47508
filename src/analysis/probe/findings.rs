//! The results of a probe.

use std::collections::HashMap;

use serde::Serialize;

use super::ask::AnsweredQuestion;
use super::score::{Agreement, Table};
use super::{Plan, Shown};
use crate::results::saved::{Coverage, Session};

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
    pub model: String,
    /// The transcripts that were found but from which no question could be drawn, and why.
    #[serde(skip_serializing_if = "Coverage::is_complete")]
    pub coverage: Coverage,
    #[serde(flatten)]
    pub plan: Plan,
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
    fn count<'a>(questions: impl Iterator<Item = &'a AnsweredQuestion>) -> Self {
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
    pub fn new(
        model: &str,
        plan: Plan,
        too_long: usize,
        policies: &[&str],
        shown: &[Shown],
        asked: Vec<AnsweredQuestion>,
    ) -> Self {
        let mut findings = Self {
            model: model.to_owned(),
            coverage: Coverage::default(),
            plan,
            too_long,
            policies: Vec::new(),
            kinds: Vec::new(),
            asked: Vec::new(),
        };
        for policy in policies {
            let of_policy = || asked.iter().filter(|asked| asked.policy == *policy);
            let sessions = by_session(of_policy());
            findings.policies.push(PolicyAnswers {
                policy: (*policy).to_owned(),
                sessions: sessions.len(),
                contexts: shown.iter().filter(|shown| shown.spot.policy == *policy).count(),
                answers: Answers::count(of_policy()),
                agreement: Agreement::new(&sessions, plan.seed),
            });
            for kind in crate::facts::extract::FactKind::ALL.map(|kind| kind.name()) {
                let of_kind = || of_policy().filter(|asked| asked.kind == kind);
                if of_kind().next().is_some() {
                    findings.kinds.push(KindAnswers { policy: (*policy).to_owned(), kind, answers: Answers::count(of_kind()) });
                }
            }
        }
        Self { asked, ..findings }
    }
}

/// Returns a table for each session, in the order of their first questions.
fn by_session<'a>(asked: impl Iterator<Item = &'a AnsweredQuestion>) -> Vec<Table> {
    let mut indices: HashMap<Session, usize> = HashMap::new();
    let mut tables: Vec<Table> = Vec::new();
    for question in asked {
        let index = *indices.entry(Session::new(&question.transcript, &question.conversation)).or_insert(tables.len());
        if index == tables.len() {
            tables.push(Table::default());
        }
        tables[index].count(question.is_hit(), question.context.right);
    }
    tables
}
