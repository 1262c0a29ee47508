//! What came of the questions.

use std::collections::HashMap;

use serde::Serialize;

use super::ask::AnsweredQuestion;
use super::score::{Agreement, Table};
use super::{Plan, Shown};
use crate::results::saved::Session;

/// How many of some questions were answered right.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Share {
    pub asked: usize,
    pub right: usize,
}

/// The answers of one policy's questions, or of those of one kind of fact.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Answers {
    /// What `kept.hit` says is in the request.
    pub hits: Share,
    /// Those of them whose very line is in it.
    pub hits_with_line: Share,
    /// What it says is gone and can be had again, and what is gone for good.
    pub soft: Share,
    pub hard: Share,
    /// All of the questions, without any context, and with everything in sight where that is short enough.
    pub nothing: Share,
    pub everything: Share,
    pub table: Table,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyAnswers {
    pub policy: String,
    pub sessions: usize,
    pub contexts: usize,
    #[serde(flatten)]
    pub answers: Answers,
    pub agreement: Agreement,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindAnswers {
    pub policy: String,
    pub kind: &'static str,
    #[serde(flatten)]
    pub answers: Answers,
}

/// Everything a report shows, in the order in which it was asked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    pub model: String,
    #[serde(flatten)]
    pub plan: Plan,
    /// Requests in which a fact was used again and that were too long to ask about.
    pub too_long: usize,
    pub policies: Vec<PolicyAnswers>,
    pub kinds: Vec<KindAnswers>,
    pub asked: Vec<AnsweredQuestion>,
}

impl Share {
    fn count(&mut self, right: bool) {
        self.asked += 1;
        self.right += usize::from(right);
    }

    /// 0 to 1; `None` where nothing was asked.
    pub fn value(&self) -> Option<f64> {
        (self.asked > 0).then(|| self.right as f64 / self.asked as f64)
    }
}

impl Answers {
    fn of<'a>(asked: impl Iterator<Item = &'a AnsweredQuestion>) -> Self {
        let mut answers = Self::default();
        for asked in asked {
            let right = asked.context.right;
            let side = match asked.outcome {
                "hit" => &mut answers.hits,
                "soft" => &mut answers.soft,
                _ => &mut answers.hard,
            };
            side.count(right);
            if asked.is_hit() && asked.line_in_sight {
                answers.hits_with_line.count(right);
            }
            answers.nothing.count(asked.nothing.right);
            asked.everything.iter().for_each(|answer| answers.everything.count(answer.right));
            answers.table.count(asked.is_hit(), right);
        }
        answers
    }

    /// Soft and hard ones.
    pub fn misses(&self) -> Share {
        Share { asked: self.soft.asked + self.hard.asked, right: self.soft.right + self.hard.right }
    }
}

impl Findings {
    /// The answers by policy, in their order, and by kind of fact.
    pub fn new(
        model: &str,
        plan: Plan,
        too_long: usize,
        policies: &[&str],
        shown: &[Shown],
        asked: Vec<AnsweredQuestion>,
    ) -> Self {
        let mut found =
            Self { model: model.to_owned(), plan, too_long, policies: Vec::new(), kinds: Vec::new(), asked: Vec::new() };
        for policy in policies {
            let of_policy = || asked.iter().filter(|asked| asked.policy == *policy);
            let sessions = by_session(of_policy());
            found.policies.push(PolicyAnswers {
                policy: (*policy).to_owned(),
                sessions: sessions.len(),
                contexts: shown.iter().filter(|shown| shown.spot.policy == *policy).count(),
                answers: Answers::of(of_policy()),
                agreement: Agreement::of(&sessions, plan.seed),
            });
            for kind in crate::facts::extract::FactKind::ALL.map(|kind| kind.name()) {
                let of_kind = || of_policy().filter(|asked| asked.kind == kind);
                if of_kind().next().is_some() {
                    found.kinds.push(KindAnswers { policy: (*policy).to_owned(), kind, answers: Answers::of(of_kind()) });
                }
            }
        }
        Self { asked, ..found }
    }
}

/// A table for each session, in the order of their first questions.
fn by_session<'a>(asked: impl Iterator<Item = &'a AnsweredQuestion>) -> Vec<Table> {
    let mut places: HashMap<Session, usize> = HashMap::new();
    let mut tables: Vec<Table> = Vec::new();
    for asked in asked {
        let place = *places.entry(Session::of(&asked.transcript, &asked.conversation)).or_insert(tables.len());
        if place == tables.len() {
            tables.push(Table::default());
        }
        tables[place].count(asked.is_hit(), asked.context.right);
    }
    tables
}
