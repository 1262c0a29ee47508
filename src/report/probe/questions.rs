//! The answers to questions as a document: which facts a model found in requests, compared with what `kept.hit` says.

mod screen;

use super::{headers, number};
use crate::analysis::probe::questions::{
    Agreement, AnswerShare, AnsweredQuestion, Answers, NOTHING, PolicyAnswers, ProbeResults,
};
use crate::analysis::probe::{Estimate, FULL_CONTEXT};
use crate::metrics::column::Unit;
use crate::report::table_model::{TableModel, cut, left_out_transcripts};
use crate::report::{Document, Layout, Screen, Section, escape, json, number_format};
use crate::util::text::plural;

impl Document for ProbeResults {
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("answers", "facts that the model finds", |probe, _| vec![answers(probe)]),
        Section::new("agreement", "how far the model agrees with kept.hit", |probe, _| vec![agreement(probe)]),
        Section::new("kinds", "the same by kind of fact", |probe, _| vec![kinds(probe)]),
        Section::new("left-out", "transcripts that are not in the results", |probe, _| {
            vec![left_out_transcripts(&probe.about.coverage)]
        }),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::screen(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

/// `62.0% (31/50)`
fn share(share: AnswerShare) -> String {
    let value = number_format::value(Unit::Share, share.value());
    if share.asked == 0 { value } else { format!("{value} ({}/{})", share.right, share.asked) }
}

fn estimate(unit: Unit, Estimate { value, interval }: Estimate) -> String {
    number_format::estimate(unit, value, interval)
}

/// Columns with shares of right answers; the controls come last.
const GROUPS: [&str; 6] = ["in context", "in context, with line", "recoverable", "lost for good", NOTHING, FULL_CONTEXT];

fn group_shares(answers: &Answers) -> [String; 6] {
    let Answers { hits, hits_with_line, soft, hard, nothing, everything, .. } = *answers;
    [hits, hits_with_line, soft, hard, nothing, everything].map(share)
}

fn answers(findings: &ProbeResults) -> TableModel {
    let row = |policy: &PolicyAnswers| {
        let mut cells =
            vec![policy.policy.clone(), number(policy.answers.nothing.asked), number(policy.contexts), number(policy.sessions)];
        cells.extend(group_shares(&policy.answers));
        cells
    };
    let headers = headers(&["policy"], &[&["questions", "contexts", "sessions"], &GROUPS[..]].concat());
    let mut footnotes =
        vec!["share of questions answered right, grouped by where kept.hit says the fact is; with line: the request holds the exact line \
         of the question, not only its fact"
            .to_owned()];
    footnotes.extend(findings.policies.iter().map(meaning));
    if findings.too_long > 0 {
        let (requests, limit) =
            (plural(findings.too_long, "request"), number_format::grouped(findings.about.plan.max_context as f64, 0));
        footnotes.push(format!("left out: {requests} with a fact to ask about, over {limit} tokens"));
    }
    let asked = plural(findings.asked.len(), "question");
    let title = format!("Facts a model finds ({asked})");
    TableModel {
        title,
        subject: findings.about.model.clone(),
        headers,
        rows: findings.policies.iter().map(row).collect(),
        footnotes,
    }
}

/// Says how far the answers for one policy support the metric.
fn meaning(policy: &PolicyAnswers) -> String {
    let percent = |share: AnswerShare| number_format::value(Unit::Share, share.value());
    let Answers { hits, nothing, everything, .. } = policy.answers;
    format!(
        "{}: the model found {} of the facts that kept.hit counts as in context and {} of those it counts as gone; without context it \
         guessed {}, and with the whole history in context it found {}. The metric is right if the first share is close to the last, and \
         the second close to the guesses",
        escape::terminal(&policy.policy),
        percent(hits),
        percent(policy.answers.misses()),
        percent(nothing),
        percent(everything)
    )
}

fn agreement(findings: &ProbeResults) -> TableModel {
    let row = |policy: &PolicyAnswers| {
        let (table, Agreement { share, phi, kappa }) = (policy.answers.table, policy.agreement);
        let mut cells = vec![policy.policy.clone()];
        let counts = [table.hit_right, table.hit_wrong, table.miss_right, table.miss_wrong];
        cells.extend(counts.map(|count| number_format::value(Unit::Count, Some(count))));
        cells.extend([(Unit::Share, share), (Unit::Ratio, phi), (Unit::Ratio, kappa)].map(|(unit, value)| estimate(unit, value)));
        cells
    };
    let columns = ["in context, found", "in context, not found", "gone, found", "gone, not found", "agree", "phi", "kappa"];
    let footnotes = vec![
        "agree: the share of facts in context that were found and of gone facts that were not; phi: the correlation of the two; kappa: \
         agreement beyond chance. 95 % bootstrap intervals over sessions, if there are six or more"
            .to_owned(),
        "questions are half about facts in context and half about gone facts as far as there are both, so these shares are of the \
         questions, not of all uses"
            .to_owned(),
    ];
    let rows = findings.policies.iter().map(row).collect();
    TableModel {
        title: "Agreement with kept.hit".to_owned(),
        subject: String::new(),
        headers: headers(&["policy"], &columns),
        rows,
        footnotes,
    }
}

fn kinds(findings: &ProbeResults) -> TableModel {
    let rows = findings.kinds.iter().map(|kind| {
        let mut cells = vec![kind.policy.clone(), kind.kind.to_owned(), number(kind.answers.nothing.asked)];
        cells.extend(group_shares(&kind.answers));
        cells.push(number_format::value(Unit::Share, kind.answers.table.share()));
        cells
    });
    let headers = headers(&["policy", "kind"], &[&["questions"], &GROUPS[..], &["agree"]].concat());
    TableModel {
        title: "By kind of fact".to_owned(),
        subject: String::new(),
        headers,
        rows: rows.collect(),
        footnotes: disagreements(findings),
    }
}

/// Maximum answers shown on which metric and model disagree.
const EXAMPLES: usize = 5;

/// Lists some of the questions on which metric and model disagree.
fn disagreements(findings: &ProbeResults) -> Vec<String> {
    let disagreeing = findings.asked.iter().filter(|asked| asked.is_hit() != asked.context.right);
    let line = |asked: &AnsweredQuestion| {
        let [fact, answer] = [&asked.fact, &asked.context.answer].map(|text| cut(text.lines().next().unwrap_or_default()));
        let text =
            format!("{}:{}: {}: `{fact}`; the model: `{answer}`", asked.transcript, asked.line, outcome_label(asked.outcome));
        escape::terminal(&text).into_owned()
    };
    let mut lines: Vec<String> = disagreeing.clone().take(EXAMPLES).map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, format!("metric and model disagree on {}, such as", plural(disagreeing.count(), "question")));
    }
    lines
}

fn outcome_label(outcome: &str) -> &str {
    match outcome {
        "hit" => "in context",
        "soft" => "recoverable",
        "hard" => "lost for good",
        other => other,
    }
}
