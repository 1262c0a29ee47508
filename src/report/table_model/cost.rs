//! What edits cost in the prompt cache, and how well the cache simulation agrees with recorded bills.

use crate::results::saved::{BreakRow, CheckRow, CostlyBreak, Results, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, SHOWN, TableModel, common_folder, left_out};

/// Errors up to this share of the bill are within the error of the token counts.
const CLOSE: f64 = 0.05;

/// Which layers invalidated cached prefixes, what that cost, and whether it paid off.
pub fn breaks(results: &Results) -> TableModel {
    let row = |row: &BreakRow| {
        vec![
            row.policy.clone(),
            super::cut(&row.layer),
            count(row.breaks as f64),
            count(row.rebilled as f64),
            count(row.freed as f64),
            number_format::value(Unit::Usd, row.usd),
            break_even_calls(row.break_even),
            number_format::value(Unit::Share, Some(row.paid as f64 / row.breaks as f64)),
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
    let rows = results.breaks.iter().map(row).collect();
    TableModel { title: "Cache invalidations".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// The cache invalidations that cost most.
pub fn costliest(results: &Results) -> TableModel {
    let folder = common_folder(results.costliest_breaks.iter().map(|invalidation| invalidation.transcript.as_str()));
    let row = |invalidation: &CostlyBreak| {
        vec![
            invalidation.policy.clone(),
            format!("{}:{}", &invalidation.transcript[folder.len()..], invalidation.line),
            count(invalidation.call as f64),
            super::cut(&invalidation.layer),
            count(invalidation.rebilled as f64),
            count(invalidation.freed as f64),
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
    let rows = results.costliest_breaks.iter().map(row).collect();
    TableModel {
        title: "Most expensive cache invalidations".to_owned(),
        subject: String::new(),
        headers,
        rows,
        footnotes: left_out(folder),
    }
}

/// Cost check: the sum over all recorded sessions, then those whose simulated cost is off, worst first.
pub fn checks(results: &Results) -> TableModel {
    let checks = &results.checks;
    let folder = common_folder(checks.iter().map(|check| check.transcript.as_str()));
    let mut worst: Vec<&CheckRow> = checks.iter().filter(|check| check.residual.abs() > CLOSE).collect();
    worst.sort_by(|a, b| b.residual.abs().total_cmp(&a.residual.abs()));
    let mut rows: Vec<_> = sum(checks).iter().map(|total| check_row(total, sum_name(checks))).collect();
    rows.extend(worst.iter().take(SHOWN).map(|check| check_row(check, &check.transcript[folder.len()..])));
    let mut headers = vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation")];
    headers.extend(
        ["~tokens", "cache reads", "~cache reads", "calls that match", "billed", "~simulated", "error", "worst call"]
            .map(ColumnHeader::numbers),
    );
    headers.push(ColumnHeader::prose("what the recording shows"));
    let mut footnotes = vec![
        format!(
            "{} of {} with recorded usage: simulated cost within {:.0} % of the bill; the others are listed",
            checks.len() - worst.len(),
            plural(checks.len(), "conversation"),
            CLOSE * 100.0
        ),
        "cache reads: share of the input read from the cache, as recorded and (~) as simulated with the recorded compactions"
            .to_owned(),
    ];
    if worst.len() > SHOWN {
        footnotes.push(format!("{} in -o json", plural(worst.len() - SHOWN, "more conversation")));
    }
    footnotes.extend(left_out(folder));
    TableModel { title: "Cost check: simulated and billed".to_owned(), subject: String::new(), headers, rows, footnotes }
}

fn sum_name(checks: &[CheckRow]) -> &'static str {
    let is_mixed = checks.iter().any(|check| check.in_usd) && checks.iter().any(|check| !check.in_usd);
    if is_mixed { "all in USD" } else { "all together" }
}

/// Sums the checks in USD; if no price is known, all checks.
fn sum(checks: &[CheckRow]) -> Option<CheckRow> {
    let in_usd = checks.iter().any(|check| check.in_usd);
    let same_unit = checks.iter().filter(|check| check.in_usd == in_usd);
    let sum = same_unit.cloned().reduce(|sum, check| CheckRow {
        recorded_read: sum.recorded_read + check.recorded_read,
        simulated_read: sum.simulated_read + check.simulated_read,
        tokens: sum.tokens + check.tokens,
        counted_tokens: sum.counted_tokens + check.counted_tokens,
        calls: sum.calls + check.calls,
        matching_calls: sum.matching_calls + check.matching_calls,
        recorded_cost: sum.recorded_cost + check.recorded_cost,
        simulated_cost: sum.simulated_cost + check.simulated_cost,
        ..sum
    })?;
    let residual = if sum.recorded_cost > 0.0 { sum.simulated_cost / sum.recorded_cost - 1.0 } else { 0.0 };
    Some(CheckRow { conversation: String::new(), worst_call: None, why: None, residual, ..sum })
}

fn check_row(check: &CheckRow, name: &str) -> Vec<String> {
    let unit = if check.in_usd { Unit::Usd } else { Unit::Tokens };
    let share = |part: u64, whole: u64| number_format::value(Unit::Share, Some(part as f64 / whole.max(1) as f64));
    vec![
        name.to_owned(),
        check.conversation.clone(),
        share(check.counted_tokens, check.tokens),
        share(check.recorded_read, check.tokens),
        share(check.simulated_read, check.tokens),
        share(check.matching_calls as u64, check.calls as u64),
        number_format::value(unit, Some(check.recorded_cost)),
        number_format::value(unit, Some(check.simulated_cost)),
        number_format::value(Unit::Share, Some(check.residual)),
        check.worst_call.map_or(String::new(), |call| count(call as f64)),
        check.why.clone().unwrap_or_default(),
    ]
}

fn count(number: f64) -> String {
    number_format::grouped(number, 0)
}

/// Calls needed to break even; `never` if nothing was freed.
fn break_even_calls(break_even: Option<f64>) -> String {
    break_even.map_or("never".to_owned(), |calls| number_format::grouped(calls, 1))
}
