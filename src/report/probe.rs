//! The answers of a probe as a document: which facts a model found in requests, compared with what
//! `kept.hit` says.

mod screen;

use super::table_model::{ColumnHeader, TableModel, cut, left_out_transcripts};
use super::{Document, Layout, Screen, Section, escape, json, number_format};
use crate::analysis::probe::{
    Agreement, AnswerShare, Answers, EVERYTHING, Estimate, Forecast, NOTHING, PolicyAnswers, ProbeResults,
};
use crate::metrics::column::Unit;
use crate::results::saved::Coverage;
use crate::util::text::plural;

impl Document for ProbeResults {
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("answers", "facts that the model finds", |probe, _| vec![answers(probe)]),
        Section::new("agreement", "how far the model agrees with kept.hit", |probe, _| vec![agreement(probe)]),
        Section::new("kinds", "the same by kind of fact", |probe, _| vec![kinds(probe)]),
        Section::new("left-out", "transcripts that are not in the results", |probe, _| {
            vec![left_out_transcripts(&probe.coverage)]
        }),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        screen::screen(self, layout)
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

/// What would be asked, for a dry run.
pub struct DryRun {
    pub forecasts: Vec<Forecast>,
    pub coverage: Coverage,
}

impl Document for DryRun {
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("forecast", "what would be asked", |run, _| vec![forecast(&run.forecasts)]),
        Section::new("left-out", "transcripts that are not in the results", |run, _| vec![left_out_transcripts(&run.coverage)]),
    ];

    fn json(&self) -> Vec<u8> {
        json::write(&self.forecasts)
    }
}

fn number(count: usize) -> String {
    number_format::count(count as u64)
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
const GROUPS: [&str; 6] = ["in context", "in context, with line", "recoverable", "lost for good", NOTHING, EVERYTHING];

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
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(["questions", "contexts", "sessions"].into_iter().chain(GROUPS).map(ColumnHeader::numbers));
    let mut footnotes =
        vec!["share of questions answered right, grouped by where kept.hit says the fact is; with line: the request holds the exact line \
         of the question, not only its fact"
            .to_owned()];
    footnotes.extend(findings.policies.iter().map(meaning));
    if findings.too_long > 0 {
        let (requests, limit) =
            (plural(findings.too_long, "request"), number_format::grouped(findings.plan.max_context as f64, 0));
        footnotes.push(format!("left out: {requests} with a fact to ask about, over {limit} tokens"));
    }
    let asked = plural(findings.asked.len(), "question");
    let title = format!("Facts a model finds ({asked})");
    TableModel { title, subject: findings.model.clone(), headers, rows: findings.policies.iter().map(row).collect(), footnotes }
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
    let mut headers = vec![ColumnHeader::names("policy")];
    let columns = ["in context, found", "in context, not found", "gone, found", "gone, not found", "agree", "phi", "kappa"];
    headers.extend(columns.map(ColumnHeader::numbers));
    let footnotes = vec![
        "agree: the share of facts in context that were found and of gone facts that were not; phi: the correlation of the two; kappa: \
         agreement beyond chance. 95 % bootstrap intervals over sessions, if there are six or more"
            .to_owned(),
        "questions are half about facts in context and half about gone facts as far as there are both, so these shares are of the \
         questions, not of all uses"
            .to_owned(),
    ];
    let rows = findings.policies.iter().map(row).collect();
    TableModel { title: "Agreement with kept.hit".to_owned(), subject: String::new(), headers, rows, footnotes }
}

fn kinds(findings: &ProbeResults) -> TableModel {
    let rows = findings.kinds.iter().map(|kind| {
        let mut cells = vec![kind.policy.clone(), kind.kind.to_owned(), number(kind.answers.nothing.asked)];
        cells.extend(group_shares(&kind.answers));
        cells.push(number_format::value(Unit::Share, kind.answers.table.share()));
        cells
    });
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("kind")];
    headers.extend(["questions"].into_iter().chain(GROUPS).chain(["agree"]).map(ColumnHeader::numbers));
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
    let line = |asked: &crate::analysis::probe::AnsweredQuestion| {
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

fn forecast(forecasts: &[Forecast]) -> TableModel {
    let cells = |name: &str, counts: [u64; 4]| {
        std::iter::once(name.to_owned()).chain(counts.map(number_format::count)).collect::<Vec<_>>()
    };
    let counts = |forecast: &Forecast| {
        let Forecast { questions, contexts, tokens, new_tokens, .. } = *forecast;
        [questions as u64, contexts as u64, tokens, new_tokens]
    };
    let mut rows: Vec<_> = forecasts.iter().map(|forecast| cells(&forecast.of, counts(forecast))).collect();
    let sum = forecasts.iter().map(counts).fold([0; 4], |sum, counts| [0, 1, 2, 3].map(|index| sum[index] + counts[index]));
    rows.push(cells("all", sum));
    let mut headers = vec![ColumnHeader::names("context from")];
    headers.extend(["questions", "contexts", "prompt tokens", "new tokens"].map(ColumnHeader::numbers));
    let footnotes = vec![
        "each question counts once, however often it comes up; tokens as counted by o200k; new tokens: if the server still caches the \
         prefix it read for the question before"
            .to_owned(),
    ];
    TableModel { title: "What would be asked".to_owned(), subject: String::new(), headers, rows, footnotes }
}
