//! What edits cost in the prompt cache, and how well the simulation of it stands up to the record.

use crate::results::saved::{BreakRow, CheckRow, CostlyBreak, Results, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, SHOWN, TableModel, common_folder, left_out};

/// A residual up to this share is as good as the counts of tokens are.
const CLOSE: f64 = 0.05;

/// Which layers broke cached prefixes, what that cost and whether it paid.
pub fn breaks(results: &Results) -> TableModel {
    let row = |row: &BreakRow| {
        vec![
            row.policy.clone(),
            super::cut(&row.layer),
            count(row.breaks as f64),
            count(row.rebilled as f64),
            count(row.freed as f64),
            number_format::value(Unit::Usd, row.usd),
            calls(row.break_even),
            number_format::value(Unit::Share, Some(row.paid as f64 / row.breaks as f64)),
        ]
    };
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("layer")];
    heads.extend(
        ["breaks", "~tokens re-billed", "~tokens freed", "~usd", "~calls to break even", "~paid"].map(ColumnHeader::numbers),
    );
    let below = vec![
        "usd: what writing again cost more than reading would have; tokens freed: per request, all breaks together".to_owned(),
        "calls to break even: the median; paid: the share of breaks that had so many calls before the next, or the end"
            .to_owned(),
    ];
    let rows = results.breaks.iter().map(row).collect();
    TableModel { title: "Prefix breaks".to_owned(), measure: String::new(), heads, rows, below }
}

/// The breaks that are worth a look.
pub fn costliest(results: &Results) -> TableModel {
    let folder = common_folder(results.costliest_breaks.iter().map(|broken| broken.transcript.as_str()));
    let row = |broken: &CostlyBreak| {
        vec![
            broken.policy.clone(),
            format!("{}:{}", &broken.transcript[folder.len()..], broken.line),
            count(broken.call as f64),
            super::cut(&broken.layer),
            count(broken.rebilled as f64),
            count(broken.freed as f64),
            number_format::value(Unit::Usd, broken.usd),
            calls(broken.break_even),
            count(broken.followed as f64),
        ]
    };
    let mut heads = vec![
        ColumnHeader::names("policy"),
        ColumnHeader::names("place"),
        ColumnHeader::numbers("call"),
        ColumnHeader::words("layer"),
    ];
    heads.extend(
        ["~tokens re-billed", "~tokens freed", "~usd", "~calls to break even", "calls it had"].map(ColumnHeader::numbers),
    );
    let rows = results.costliest_breaks.iter().map(row).collect();
    TableModel { title: "Dearest breaks".to_owned(), measure: String::new(), heads, rows, below: left_out(folder) }
}

/// The records replayed: the sum, then those that the simulation does not reproduce, the worst first.
pub fn checks(results: &Results) -> TableModel {
    let checks = &results.checks;
    let folder = common_folder(checks.iter().map(|check| check.transcript.as_str()));
    let mut worst: Vec<&CheckRow> = checks.iter().filter(|check| check.residual.abs() > CLOSE).collect();
    worst.sort_by(|a, b| b.residual.abs().total_cmp(&a.residual.abs()));
    let mut rows: Vec<_> = together(checks).iter().map(|all| check_row(all, name_of_sum(checks))).collect();
    rows.extend(worst.iter().take(SHOWN).map(|check| check_row(check, &check.transcript[folder.len()..])));
    let mut heads = vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation")];
    heads.extend(["~tokens", "read", "~read", "alike", "billed", "~cost", "residual", "worst call"].map(ColumnHeader::numbers));
    heads.push(ColumnHeader::prose("what the record shows"));
    let mut below = vec![
        format!(
            "{} of {} with recorded usage cost within {:.0} % of what was billed; listed are the others",
            checks.len() - worst.len(),
            plural(checks.len(), "conversation"),
            CLOSE * 100.0
        ),
        "read: the share of the input that came from the cache, as recorded, and as simulated with the recorded compactions"
            .to_owned(),
    ];
    if worst.len() > SHOWN {
        below.push(format!("{} in -o json", plural(worst.len() - SHOWN, "more conversation")));
    }
    below.extend(left_out(folder));
    TableModel { title: "The record replayed, against what was billed".to_owned(), measure: String::new(), heads, rows, below }
}

fn name_of_sum(checks: &[CheckRow]) -> &'static str {
    let is_mixed = checks.iter().any(|check| check.in_usd) && checks.iter().any(|check| !check.in_usd);
    if is_mixed { "all in USD" } else { "all together" }
}

/// The sums of those in USD; of all, where no price is known.
fn together(checks: &[CheckRow]) -> Option<CheckRow> {
    let in_usd = checks.iter().any(|check| check.in_usd);
    let alike = checks.iter().filter(|check| check.in_usd == in_usd);
    let sum = alike.cloned().reduce(|sum, check| CheckRow {
        recorded_read: sum.recorded_read + check.recorded_read,
        simulated_read: sum.simulated_read + check.simulated_read,
        tokens: sum.tokens + check.tokens,
        counted_tokens: sum.counted_tokens + check.counted_tokens,
        calls: sum.calls + check.calls,
        alike: sum.alike + check.alike,
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
        share(check.alike as u64, check.calls as u64),
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

/// Calls that must follow; `never` where nothing was freed.
fn calls(break_even: Option<f64>) -> String {
    break_even.map_or("never".to_owned(), |calls| number_format::grouped(calls, 1))
}
