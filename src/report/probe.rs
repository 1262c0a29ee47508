//! What a model found of what the kept measure says is there → bytes, by the names of the reports.

use super::table_model::{ColumnHeader, TableModel, cut};
use super::{Style, escape, json, markdown, number_format, table};
use crate::analysis::probe::{Agreement, Answers, EVERYTHING, Estimate, Findings, Forecast, NOTHING, PolicyAnswers, Share};
use crate::metrics::column::Unit;
use crate::util::text::plural;

/// The reports that findings can be shown as, by their names.
pub const SHOWN_AS: [&str; 3] = ["table", "json", "markdown"];

/// Renders findings as the report with this name does results.
pub fn render(report: &str, findings: &Findings, style: &Style) -> Vec<u8> {
    match report {
        "json" => json::write(findings),
        report => draw(report, &[answers(findings), agreement(findings), kinds(findings)], style),
    }
}

/// Renders what would be asked.
pub fn render_forecast(report: &str, forecasts: &[Forecast], style: &Style) -> Vec<u8> {
    match report {
        "json" => json::write(&forecasts),
        report => draw(report, &[forecast(forecasts)], style),
    }
}

fn draw(report: &str, sheets: &[TableModel], style: &Style) -> Vec<u8> {
    match report {
        "markdown" => markdown::draw_all(sheets),
        _ => table::draw_all(sheets, style),
    }
}

fn number(count: usize) -> String {
    number_format::count(count as u64)
}

/// `62.0% (31/50)`
fn share(share: Share) -> String {
    let value = number_format::value(Unit::Share, share.value());
    if share.asked == 0 { value } else { format!("{value} ({}/{})", share.right, share.asked) }
}

fn estimate(unit: Unit, Estimate { value, interval }: Estimate) -> String {
    number_format::estimate(unit, value, interval)
}

/// The columns of right answers, the controls last.
const SIDES: [&str; 6] = ["hits", "hits, line in sight", "soft misses", "hard misses", NOTHING, EVERYTHING];

fn sides(answers: &Answers) -> [String; 6] {
    let Answers { hits, hits_with_line, soft, hard, nothing, everything, .. } = *answers;
    [hits, hits_with_line, soft, hard, nothing, everything].map(share)
}

fn answers(findings: &Findings) -> TableModel {
    let row = |of: &PolicyAnswers| {
        let mut cells = vec![of.policy.clone(), number(of.answers.nothing.asked), number(of.contexts), number(of.sessions)];
        cells.extend(sides(&of.answers));
        cells
    };
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(["questions", "contexts", "sessions"].into_iter().chain(SIDES).map(ColumnHeader::numbers));
    let mut below =
        vec!["the share of the questions that were answered right, by what the kept measure says of the fact; line in sight: the request \
         holds the very line of the question, and not only its fact"
            .to_owned()];
    below.extend(findings.policies.iter().map(meaning));
    if findings.too_long > 0 {
        let (requests, most) =
            (plural(findings.too_long, "request"), number_format::grouped(findings.plan.max_context as f64, 0));
        below.push(format!("{requests} with something to ask about left out: over {most} tokens"));
    }
    let asked = plural(findings.asked.len(), "question");
    let title = format!("What a model finds ({asked})");
    TableModel { title, measure: findings.model.clone(), heads, rows: findings.policies.iter().map(row).collect(), below }
}

/// What the figures of one policy say of the measure.
fn meaning(of: &PolicyAnswers) -> String {
    let said = |share: Share| number_format::value(Unit::Share, share.value());
    let Answers { hits, nothing, everything, .. } = of.answers;
    format!(
        "{}: of what the measure says is there the model found {}, of what it says is gone {}; it guessed {} with no context, and found {} \
         with everything in sight. The nearer the first is to the last, and the second to what was guessed, the truer the measure",
        escape::terminal(&of.policy),
        said(hits),
        said(of.answers.misses()),
        said(nothing),
        said(everything)
    )
}

fn agreement(findings: &Findings) -> TableModel {
    let row = |of: &PolicyAnswers| {
        let (table, Agreement { share, phi, kappa }) = (of.answers.table, of.agreement);
        let mut cells = vec![of.policy.clone()];
        let counts = [table.hit_right, table.hit_wrong, table.miss_right, table.miss_wrong];
        cells.extend(counts.map(|count| number_format::value(Unit::Count, Some(count))));
        cells.extend([(Unit::Share, share), (Unit::Ratio, phi), (Unit::Ratio, kappa)].map(|(unit, of)| estimate(unit, of)));
        cells
    };
    let mut heads = vec![ColumnHeader::names("policy")];
    let columns = ["hit, found", "hit, not found", "miss, found", "miss, not found", "agree", "phi", "kappa"];
    heads.extend(columns.map(ColumnHeader::numbers));
    let below = vec![
        "agree: hits that were found and misses that were not; phi: the correlation of the two; kappa: agreement beyond chance. 95 % \
         intervals by drawing sessions, where there are six or more"
            .to_owned(),
        "hits and misses are drawn half and half as far as there are both, so the share that agrees is of these questions, and not of \
         all uses"
            .to_owned(),
    ];
    let rows = findings.policies.iter().map(row).collect();
    TableModel { title: "Agreement with kept.hit".to_owned(), measure: String::new(), heads, rows, below }
}

fn kinds(findings: &Findings) -> TableModel {
    let rows = findings.kinds.iter().map(|of| {
        let mut cells = vec![of.policy.clone(), of.kind.to_owned(), number(of.answers.nothing.asked)];
        cells.extend(sides(&of.answers));
        cells.push(number_format::value(Unit::Share, of.answers.table.share()));
        cells
    });
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("kind")];
    heads.extend(["questions"].into_iter().chain(SIDES).chain(["agree"]).map(ColumnHeader::numbers));
    TableModel {
        title: "By kind of fact".to_owned(),
        measure: String::new(),
        heads,
        rows: rows.collect(),
        below: wrong(findings),
    }
}

/// Answers shown of those on which measure and model do not agree.
const EXAMPLES: usize = 5;

/// Some of the questions on which the two do not agree: the place to look.
fn wrong(findings: &Findings) -> Vec<String> {
    let differ = findings.asked.iter().filter(|asked| asked.is_hit() != asked.context.right);
    let line = |asked: &crate::analysis::probe::AnsweredQuestion| {
        let [fact, answer] = [&asked.fact, &asked.context.answer].map(|text| cut(text.lines().next().unwrap_or_default()));
        let text = format!("{}:{}: a {}, `{fact}`; the model: `{answer}`", asked.transcript, asked.line, said(asked.outcome));
        escape::terminal(&text).into_owned()
    };
    let mut lines: Vec<String> = differ.clone().take(EXAMPLES).map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, format!("they do not agree on {}, such as", plural(differ.count(), "question")));
    }
    lines
}

fn said(outcome: &str) -> &str {
    match outcome {
        "soft" => "soft miss",
        "hard" => "hard miss",
        other => other,
    }
}

fn forecast(forecasts: &[Forecast]) -> TableModel {
    let cells =
        |of: &str, counts: [u64; 4]| std::iter::once(of.to_owned()).chain(counts.map(number_format::count)).collect::<Vec<_>>();
    let counts = |of: &Forecast| [of.questions as u64, of.contexts as u64, of.tokens, of.new_tokens];
    let mut rows: Vec<_> = forecasts.iter().map(|of| cells(&of.of, counts(of))).collect();
    let sum = forecasts.iter().map(counts).fold([0; 4], |sum, of| [0, 1, 2, 3].map(|at| sum[at] + of[at]));
    rows.push(cells("all", sum));
    let mut heads = vec![ColumnHeader::names("asked of")];
    heads.extend(["questions", "contexts", "prompt tokens", "new tokens"].map(ColumnHeader::numbers));
    let below = vec![
        "questions are counted once however often they come up; tokens by o200k; new: where the server still has what it read for the \
         question before"
            .to_owned(),
    ];
    TableModel { title: "What would be asked".to_owned(), measure: String::new(), heads, rows, below }
}
