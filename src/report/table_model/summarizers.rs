//! Summarizers side by side.

use crate::results::saved::{Results, Spread, SummarizerRow, Unit};

use super::super::number_format;
use super::{ColumnHeader, TableModel};

/// Policies × summarizers, compared by the quality of their summaries. Empty if no summarizers are compared.
pub fn summarizers(results: &Results) -> TableModel {
    let row = |row: &SummarizerRow| {
        let mut cells = vec![row.policy.clone(), row.summarizer.clone()];
        cells.extend([row.replicates as u64, row.sessions as u64, row.summaries, row.failed].map(number_format::count));
        cells.extend([row.needed, row.constraints, row.false_share].map(|share| spread(Unit::Share, share)));
        cells.push(format!("{} of {}", number_format::count(row.false_facts), number_format::count(row.facts)));
        cells.push(spread(Unit::Tokens, whole(row.tokens)));
        cells.push(spread(Unit::Share, row.fill));
        cells
    };
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("summarizer")];
    let numbers =
        ["replicates", "sessions", "summaries", "failed", "needed", "constraints", "false", "false facts", "~tokens", "~fill"];
    headers.extend(numbers.map(ColumnHeader::numbers));
    let rows: Vec<_> = results.summarizers.iter().map(row).collect();
    TableModel { title: "Summarizers".to_owned(), subject: String::new(), headers, rows, footnotes: footnotes(results) }
}

fn footnotes(results: &Results) -> Vec<String> {
    let mut footnotes = vec![
        "needed: weighted share of later uses whose fact was in the summary, among facts that only the summary could still hold; \
         constraints: share of user instructions repeated word for word, among those that only the summary could still hold"
            .to_owned(),
        "false: share of the summary's paths, file names and identifiers that occur nowhere in its input; tokens: per summary; \
         fill: share of the length its layer allows"
            .to_owned(),
        "all of this compares text word for word: a fact in a summary may still be misunderstood, a paraphrase does not count, and \
         false facts are names, not claims"
            .to_owned(),
    ];
    if results.summarizers.iter().any(|row| row.replicates > 1) {
        footnotes.push(
            "in parentheses: the lowest and the highest single replicate; summaries, failed and false facts are sums over all"
                .to_owned(),
        );
    }
    if results.summarizers.iter().any(|row| row.fill.all.is_none() && row.summaries > 0) {
        footnotes.push(
            "recorded: the recorded summaries, of the spans that the recorded harness chose; their needed facts were known before the \
             summary and used after it, counted at the first use, from whatever source the agent had them then"
                .to_owned(),
        );
    }
    footnotes
}

fn whole(tokens: Spread) -> Spread {
    Spread { all: tokens.all.map(f64::round), ends: tokens.ends.map(|ends| ends.map(f64::round)) }
}

fn spread(unit: Unit, Spread { all, ends }: Spread) -> String {
    number_format::estimate(unit, all, ends)
}
