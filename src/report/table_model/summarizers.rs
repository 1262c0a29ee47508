//! Summarizers side by side, as policies are.

use crate::results::saved::{Results, Spread, SummarizerRow, Unit};

use super::super::number_format;
use super::{ColumnHeader, TableModel};

/// Policies × summarizers, by how good the summaries were. Empty where nothing is compared.
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
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("summarizer")];
    let numbers =
        ["replicates", "sessions", "summaries", "failed", "needed", "constraints", "false", "false facts", "~tokens", "~fill"];
    heads.extend(numbers.map(ColumnHeader::numbers));
    let rows: Vec<_> = results.summarizers.iter().map(row).collect();
    TableModel { title: "Summarizers".to_owned(), measure: String::new(), heads, rows, below: below(results) }
}

fn below(results: &Results) -> Vec<String> {
    let mut below = vec![
        "needed: of the later uses of facts that only a summary could still hold, by weight, those it held; constraints: of the \
         users' rules that only it could hold, those it repeats word for word"
            .to_owned(),
        "false: of its paths, file names and identifiers, those that stand nowhere in what it was made of; tokens: a summary; fill: \
         of what its layer allows"
            .to_owned(),
        "only what stands there word for word is seen: a fact in a summary is not yet a fact understood, a paraphrase counts for \
         nothing, and false facts are names, not claims"
            .to_owned(),
    ];
    if results.summarizers.iter().any(|row| row.replicates > 1) {
        below.push(
            "in brackets: the least and the most of one replicate; summaries, failed and false facts are of all together"
                .to_owned(),
        );
    }
    if results.summarizers.iter().any(|row| row.fill.all.is_none() && row.summaries > 0) {
        below.push(
            "recorded: the summaries of the record, of the spans its harness chose; needed of those: what was known before them and \
             used after them, at its first use, wherever the agent had it from by then"
                .to_owned(),
        );
    }
    below
}

fn whole(tokens: Spread) -> Spread {
    Spread { all: tokens.all.map(f64::round), ends: tokens.ends.map(|ends| ends.map(f64::round)) }
}

fn spread(unit: Unit, Spread { all, ends }: Spread) -> String {
    number_format::estimate(unit, all, ends)
}
