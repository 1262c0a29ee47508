//! What edits cost in the prompt cache.

use crate::results::saved::{CostlyInvalidation, InvalidationRow, Results, Unit};

use super::super::number_format;
use super::{ColumnHeader, TableModel, common_folder, left_out};

/// Which layers invalidated cached prefixes, what that cost, and whether it paid off.
pub fn breaks(results: &Results) -> TableModel {
    let row = |row: &InvalidationRow| {
        vec![
            row.policy.clone(),
            super::cut(&row.layer),
            count(row.count as f64),
            count(row.tokens_rewritten as f64),
            count(row.tokens_freed as f64),
            number_format::value(Unit::Usd, row.usd),
            break_even_calls(row.break_even),
            number_format::value(Unit::Share, Some(row.paid as f64 / row.count as f64)),
        ]
    };
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("layer")];
    headers.extend(
        ["invalidations", "~tokens written again", "~tokens freed", "~usd", "~calls to break even", "~paid off"]
            .map(ColumnHeader::numbers),
    );
    let footnotes = vec![
        "usd: extra cost of writing again instead of reading; tokens freed: per request, summed over all invalidations".to_owned(),
        "calls to break even: the median; paid off: the share of invalidations with that many calls before the next one or the end"
            .to_owned(),
    ];
    let rows = results.invalidations.iter().map(row).collect();
    TableModel { title: "Cache invalidations".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// The cache invalidations that cost most.
pub fn costliest(results: &Results) -> TableModel {
    let folder = common_folder(results.costliest_invalidations.iter().map(|invalidation| invalidation.transcript.as_str()));
    let row = |invalidation: &CostlyInvalidation| {
        vec![
            invalidation.policy.clone(),
            format!("{}:{}", &invalidation.transcript[folder.len()..], invalidation.line),
            count(invalidation.call as f64),
            super::cut(&invalidation.layer),
            count(invalidation.tokens_rewritten as f64),
            count(invalidation.tokens_freed as f64),
            number_format::value(Unit::Usd, invalidation.usd),
            break_even_calls(invalidation.break_even),
            count(invalidation.followed as f64),
        ]
    };
    let mut headers = vec![
        ColumnHeader::names("policy"),
        ColumnHeader::names("location"),
        ColumnHeader::numbers("call"),
        ColumnHeader::words("layer"),
    ];
    headers.extend(
        ["~tokens written again", "~tokens freed", "~usd", "~calls to break even", "calls that followed"]
            .map(ColumnHeader::numbers),
    );
    let rows = results.costliest_invalidations.iter().map(row).collect();
    TableModel {
        title: "Most expensive cache invalidations".to_owned(),
        subject: String::new(),
        headers,
        rows,
        footnotes: left_out(folder),
    }
}

fn count(number: f64) -> String {
    number_format::grouped(number, 0)
}

/// Calls needed to break even; `never` if nothing was freed.
fn break_even_calls(break_even: Option<f64>) -> String {
    break_even.map_or("never".to_owned(), |calls| number_format::grouped(calls, 1))
}
