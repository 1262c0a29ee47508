//! How well the cache simulation agrees with recorded bills, and how much of them costs cover.

use std::collections::HashMap;

use crate::metrics::metric::cost;
use crate::results::Role;
use crate::results::saved::{CheckRow, EventCounts, Results, Unit};
use crate::util::text::plural;

use super::super::number_format;
use super::{ColumnHeader, SHOWN, TableModel, common_folder, left_out};

/// A simulated cost this close to the bill agrees with it, as shares of the bill: with cache events, and without them.
/// Amounts below half a cent are the same.
const SAME: f64 = 0.005;

const CLOSE: f64 = 0.01;
const CLOSE_WITHOUT_EVENTS: f64 = 0.05;

/// The sum over all recorded sessions, then those whose simulated cost is off, worst first.
pub fn checks(results: &Results) -> TableModel {
    let checks = &results.checks;
    let folder = common_folder(checks.iter().map(|check| &*check.transcript));
    let far = |check: &&CheckRow| check.error.abs() > CLOSE || check.ideal_error.abs() > CLOSE_WITHOUT_EVENTS;
    let mut worst: Vec<&CheckRow> = checks.iter().filter(far).collect();
    let error = |check: &CheckRow| check.error.abs().max(check.ideal_error.abs());
    worst.sort_by(|a, b| error(b).total_cmp(&error(a)));
    let mut rows: Vec<_> = sum(checks).iter().map(|total| check_row(total, sum_name(checks))).collect();
    rows.extend(worst.iter().take(SHOWN).map(|check| check_row(check, &check.transcript[folder.len()..])));
    let mut headers = vec![ColumnHeader::names("transcript"), ColumnHeader::names("conversation")];
    let columns = [
        "~tokens",
        "cache reads",
        "~cache reads",
        "calls that match",
        "billed",
        "~simulated",
        "error",
        "~as counted",
        "cache events",
        "error without them",
        "worst call",
    ];
    headers.extend(columns.map(ColumnHeader::numbers));
    headers.push(ColumnHeader::prose("what the recording shows"));
    let within = |limit: f64, error: fn(&CheckRow) -> f64| checks.iter().filter(|check| error(check).abs() <= limit).count();
    let mut footnotes = vec![
        format!(
            "simulated cost of {} with recorded usage: {} within {:.0} % of the bill; without cache events {} within {:.0} %",
            plural(checks.len(), "conversation"),
            within(CLOSE, |check| check.error),
            CLOSE * 100.0,
            within(CLOSE_WITHOUT_EVENTS, |check| check.ideal_error),
            CLOSE_WITHOUT_EVENTS * 100.0
        ),
        "cache reads: share of the input read from the cache, as recorded and (~) as simulated with the recorded compactions"
            .to_owned(),
        "as counted: the simulated cost if the tokens of every request were counted; a replay takes their recorded number, and counts what \
         a policy changes"
            .to_owned(),
    ];
    footnotes.extend(record(results));
    if worst.len() > SHOWN {
        footnotes.push(format!("{} in -o json", plural(worst.len() - SHOWN, "more conversation")));
    }
    footnotes.extend(left_out(folder));
    TableModel { title: "Cost check: simulated and billed".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// Lines below the summary: how much of the bill costs cover, and which cache events they contain.
pub fn coverage(results: &Results) -> Vec<String> {
    covered(results).map(|covered| covered.line).into_iter().chain(events(&results.checks)).collect()
}

/// Says how much of the bill costs cover, if they do not cover all of it.
pub fn coverage_gap(results: &Results) -> Option<String> {
    covered(results).filter(|covered| !covered.is_all).map(|covered| covered.line)
}

/// What the recorded runs cost, part by part, so that it can be compared with what other programs and commands say.
///
/// `your recorded runs cost $182.07: $167.34 by the recorded usage (so says ccusage), $11.31 for output and cache writes that it leaves out
/// (`recompact inspect` has both), $2.72 for summaries, $0.70 where the simulated cache differs`
pub fn record(results: &Results) -> Option<String> {
    let rows = || results.rows.iter().filter(|row| row.bound_of.is_none() && Role::of(&row.policy) == Role::Recorded);
    let sum = |id: &str| rows().filter_map(|row| row.values.get(id)).sum::<f64>();
    let in_usd = results.checks.iter().filter(|check| check.priced && check.in_usd);
    let checks: HashMap<_, &CheckRow> = in_usd.map(|check| ((&*check.transcript, &*check.conversation), check)).collect();
    let priced = rows().filter(|row| row.values.get(cost::USD).is_some());
    let priced = priced.filter_map(|row| checks.get(&(&*row.transcript, &*row.conversation)));
    let (usage, simulated) = priced.fold((0.0, 0.0), |(usage, simulated), check| {
        (usage + check.usage_cost, simulated + check.simulated_cost - check.recorded_cost)
    });
    let (all, summaries) = (sum(cost::USD), sum(cost::SUMMARIZER));
    let usd = |amount: f64| number_format::value(Unit::Usd, Some(amount));
    let parts = [
        (all - summaries - simulated - usage, "for output and cache writes that it leaves out (`recompact inspect` has both)"),
        (summaries, "for summaries"),
        (simulated, "where the simulated cache differs"),
    ];
    let parts = parts.iter().filter(|(amount, _)| amount.abs() >= SAME);
    let parts: String = parts.map(|(amount, what)| format!(", {} {what}", usd(*amount))).collect();
    (usage > 0.0 && !parts.is_empty())
        .then(|| format!("your recorded runs cost {}: {} by the recorded usage (so says ccusage){parts}", usd(all), usd(usage)))
}

/// How much of the bill costs cover.
struct Covered {
    line: String,
    is_all: bool,
}

fn covered(results: &Results) -> Option<Covered> {
    let in_usd = || results.checks.iter().filter(|check| check.in_usd);
    let billed = |checks: &mut dyn Iterator<Item = &CheckRow>| checks.map(|check| check.recorded_cost).sum::<f64>();
    let (all, covered) = (billed(&mut in_usd()), billed(&mut in_usd().filter(|check| check.priced)));
    if all <= 0.0 {
        return None;
    }
    let usd = |amount: f64| number_format::value(Unit::Usd, Some(amount));
    let share = number_format::value(Unit::Share, Some(covered / all));
    let mut line = format!("costs cover {} of the {} billed ({share})", usd(covered), usd(all));
    let unpriced = results.checks.len() - in_usd().count();
    if unpriced > 0 {
        line += &format!("; {} without a known price", plural(unpriced, "more conversation"));
    }
    Some(Covered { line, is_all: unpriced == 0 && in_usd().all(|check| check.priced) })
}

fn events(checks: &[CheckRow]) -> Option<String> {
    let sum = checks.iter().fold(EventCounts::default(), |sum, check| sum.plus(&check.events));
    let EventCounts { evicted, lived_on, extended, replayed } = sum;
    let conversations = checks.iter().filter(|check| check.events.total() > 0).count();
    let use_of_them =
        if replayed == 0 { "not replayed (--cache ideal)" } else { "replayed for every policy; --cache ideal ignores them" };
    (sum.total() > 0).then(|| {
        format!(
            "{} of the record in {}: {evicted} early evictions, {lived_on} prefixes that lived longer, {extended} larger reads; \
             {use_of_them}",
            plural(sum.total(), "cache event"),
            plural(conversations, "conversation")
        )
    })
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
        counted_cost: sum.counted_cost + check.counted_cost,
        usage_cost: sum.usage_cost + check.usage_cost,
        ideal_cost: sum.ideal_cost + check.ideal_cost,
        events: sum.events.plus(&check.events),
        ..sum
    })?;
    let error = |cost: f64| if sum.recorded_cost > 0.0 { cost / sum.recorded_cost - 1.0 } else { 0.0 };
    let (error, ideal_error) = (error(sum.simulated_cost), error(sum.ideal_cost));
    Some(CheckRow { conversation: "".into(), worst_call: None, why: None, error, ideal_error, ..sum })
}

fn check_row(check: &CheckRow, name: &str) -> Vec<String> {
    let unit = if check.in_usd { Unit::Usd } else { Unit::Tokens };
    let share = |part: u64, whole: u64| number_format::value(Unit::Share, Some(part as f64 / whole.max(1) as f64));
    vec![
        name.to_owned(),
        check.conversation.to_string(),
        share(check.counted_tokens, check.tokens),
        share(check.recorded_read, check.tokens),
        share(check.simulated_read, check.tokens),
        share(check.matching_calls as u64, check.calls as u64),
        number_format::value(unit, Some(check.recorded_cost)),
        number_format::value(unit, Some(check.simulated_cost)),
        number_format::value(Unit::Share, Some(check.error)),
        number_format::value(unit, Some(check.counted_cost)),
        check.events.total().to_string(),
        number_format::value(Unit::Share, Some(check.ideal_error)),
        check.worst_call.map_or(String::new(), |call| number_format::grouped(call as f64, 0)),
        check.why.clone().unwrap_or_default(),
    ]
}
