//! The table of a replay's screen: policies, the chosen one first.

use super::super::ScreenTable;
use super::answer::is_too_wide;
use super::{SAME, change, errors, money};
use crate::analysis::limits::Flaw;
use crate::analysis::verdict::{Choice, HarnessVerdict, Standing, Verdict};
use crate::metrics::metric::{cost, retention, tokens};
use crate::report::number_format::{MISSING, count, value};
use crate::report::table_model::compare::title;
use crate::report::table_model::{ColumnHeader, TableModel, Tone};
use crate::report::{Layout, escape};
use crate::results::Role;
use crate::results::saved::{Column, Results, Unit, Values};

/// A column: its header, how soon it is left out, and its cells.
struct ScreenColumn {
    header: ColumnHeader,
    rank: u8,
    cell: fn(&Standing) -> String,
}

const fn column(header: ColumnHeader, rank: u8, cell: fn(&Standing) -> String) -> ScreenColumn {
    ScreenColumn { header, rank, cell }
}

fn columns() -> Vec<ScreenColumn> {
    let numbers = ColumnHeader::numbers;
    vec![
        column(numbers("cost"), 4, |standing| standing.summary.values.get(cost::USD).map_or(MISSING.to_owned(), money)),
        column(numbers("change"), 1, |standing| against(standing, |values| values.get(cost::RATIO))),
        column(ColumnHeader::words("95% interval"), 7, interval),
        column(numbers("at best breakpoints"), 9, |standing| against(standing, |values| values.get(cost::BEST_BREAKPOINTS))),
        column(numbers("tokens sent"), 10, |standing| {
            against(standing, |values| values.get(tokens::SAVED).map(|saved| 1.0 - saved))
        }),
        column(numbers("facts in context"), 2, |standing| {
            let star = if standing.summary.role() == Role::Recorded { "*" } else { "" };
            share(standing, retention::HIT) + star
        }),
        column(numbers("may be fetched"), 8, may_be_fetched),
        column(numbers("lost"), 6, |standing| share(standing, retention::HARD)),
        column(numbers("refused"), 5, |standing| count(standing.refused())),
    ]
}

pub fn table(results: &Results, verdict: &Verdict, harnesses: &[HarnessVerdict], layout: &Layout) -> ScreenTable {
    let chosen = chosen(verdict, harnesses);
    let mut standings: Vec<&Standing> = verdict.standings.iter().collect();
    if let Some(column) = layout.sort.as_ref().and_then(|id| results.column(id)) {
        standings.sort_by(|a, b| column.better.compare(a.summary.values.get(&column.id), b.summary.values.get(&column.id)));
    }
    let (mut headers, mut ranks) = (vec![ColumnHeader::names("policy")], vec![0]);
    let mut rows: Vec<Vec<String>> = standings.iter().map(|standing| vec![name(standing, &chosen)]).collect();
    if layout.columns.is_empty() {
        for ScreenColumn { header, rank, cell } in columns() {
            headers.push(header);
            ranks.push(rank);
            rows.iter_mut().zip(&standings).for_each(|(row, standing)| row.push(cell(standing)));
        }
    }
    for column in layout.columns.iter().filter_map(|id| results.column(id)) {
        headers.push(ColumnHeader::numbers(&title(column)));
        ranks.push(0);
        rows.iter_mut().zip(&standings).for_each(|(row, standing)| row.push(chosen_value(column, standing)));
    }
    headers.push(ColumnHeader::words("remark"));
    ranks.push(3);
    rows.iter_mut().zip(&standings).for_each(|(row, standing)| row.push(remark(standing).to_owned()));
    let tones = standings.iter().map(|standing| tone(standing, &chosen)).collect();
    let footnotes = vec![footnote(results, verdict)];
    let model = TableModel { title: "Policies".to_owned(), subject: String::new(), headers, rows, footnotes };
    ScreenTable { model, tones, ranks, section: "policies" }
}

fn chosen_value(column: &Column, standing: &Standing) -> String {
    value(column.unit, standing.summary.values.get(&column.id))
}

/// The policies that the answers name.
pub fn chosen<'v>(verdict: &'v Verdict, harnesses: &'v [HarnessVerdict]) -> Vec<&'v str> {
    let one = harnesses.is_empty().then_some(verdict);
    let verdicts = one.into_iter().chain(harnesses.iter().map(|harness| &harness.verdict));
    verdicts.filter_map(|verdict| Some(verdict.chosen()?.policy())).collect()
}

fn tone(standing: &Standing, chosen: &[&str]) -> Tone {
    match standing.role {
        Role::Candidate if chosen.contains(&standing.policy()) => Tone::Chosen,
        Role::Candidate if !standing.flaws.is_empty() => Tone::Unfit,
        Role::Candidate => Tone::Plain,
        _ => Tone::Reference,
    }
}

/// `> claude-code`, `x lcc-s08`, `  no compaction`
fn name(standing: &Standing, chosen: &[&str]) -> String {
    let mark = match tone(standing, chosen) {
        Tone::Chosen => ">",
        Tone::Unfit => "x",
        Tone::Plain | Tone::Reference => "\u{a0}",
    };
    format!("{mark}\u{a0}{}", Role::name_of(standing.policy()))
}

/// What is gone but not lost for good: with the facts in context and the lost ones it is all of them.
fn may_be_fetched(standing: &Standing) -> String {
    let part = |column| standing.summary.values.get(column);
    value(Unit::Share, part(retention::SOFT).zip(part(retention::STALE)).map(|(soft, stale)| soft + stale))
}

fn share(standing: &Standing, column: &str) -> String {
    value(Unit::Share, standing.summary.values.get(column))
}

/// The change of a total against the yardstick; none of requests that could not be sent.
fn against(standing: &Standing, total: fn(&Values) -> Option<f64>) -> String {
    change(standing.against_yardstick(|summary| total(&summary.values)).filter(|_| can_run(standing)))
}

/// Whether it is no compaction that does not fit the window.
fn can_run(standing: &Standing) -> bool {
    standing.role != Role::KeepAll || standing.overflows() == 0
}

/// `-47 … -13%`
fn interval(standing: &Standing) -> String {
    let ends = standing.interval.filter(|_| standing.role != Role::Baseline && can_run(standing));
    ends.map_or(MISSING.to_owned(), |[low, high]| {
        if is_too_wide([low, high]) {
            return "too wide".to_owned();
        }
        format!("{} … {}", change(Some(low)).trim_end_matches('%'), change(Some(high)))
    })
}

/// Why a policy is not shipped, in a word or two.
pub fn remark(standing: &Standing) -> &'static str {
    match standing.flaws.first() {
        Some(Flaw::NotYours) => "not yours",
        Some(Flaw::Malformed) => "malformed",
        Some(Flaw::Overflows) => "overflows",
        Some(Flaw::NoCost) => "no price",
        Some(Flaw::CostsMore) if standing.cost_ratio().is_some_and(|ratio| ratio < 1.0 + SAME) => "no saving",
        Some(Flaw::CostsMore) => "costs more",
        Some(Flaw::LosesFacts) => "loses facts",
        Some(Flaw::CutsInstructions) => "cuts rules",
        None if standing.role == Role::Candidate && standing.cost_ratio().is_some() && !standing.is_proven() => "not proven",
        None if !can_run(standing) => "does not fit",
        None => "",
    }
}

fn footnote(results: &Results, verdict: &Verdict) -> String {
    let mut parts = Vec::new();
    if verdict.candidates().any(|standing| !standing.flaws.is_empty()) {
        parts.push("x: do not ship, see remark.".to_owned());
    }
    if verdict.candidates().any(|standing| standing.flaws.contains(&Flaw::NotYours)) {
        parts.push("not yours: if the provider did this; you cannot switch it on.".to_owned());
    }
    if verdict.choice != Choice::NothingToChoose {
        let estimates = format!("are estimates: {}.", errors::of_costs(results));
        let than = verdict
            .yardstick
            .policy
            .map(|policy| Role::of(policy).words().map_or_else(|| format!("`{}`", escape::terminal(policy)), str::to_owned));
        parts.push(match than {
            Some(than) => format!("change: of the cost, against {than}; costs {estimates}"),
            None => format!("Costs {estimates}"),
        });
        parts.push(errors::of_tokens(results));
        parts.push("facts: of those that the agent used again; lost: for good, at least. refused: requests.".to_owned());
    }
    if verdict.standings.iter().any(|standing| standing.summary.role() == Role::Recorded) {
        parts.push("*: at most, as what the recorded agent missed and never fetched again is in no record.".to_owned());
    }
    if results.checks.is_empty() {
        parts.push("The recording holds no usage, so costs follow the provider's cache rules.".to_owned());
    }
    parts.join(" ")
}
