//! What is wrong: how many findings of each kind, and a list that is filtered by kind, policy, severity and text.
//!
//! The rows of the list are packed; the script draws the first ones that the filter lets through. So a page with thousands of
//! findings is as short as one with ten.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::table_model::{common_folder, findings as tables};
use super::numbers::Numbers;
use super::series::PolicySeries;
use super::table;
use crate::findings::{FINDINGS, Finding, Level};
use crate::results::saved::Results;
use crate::util::text::{are, plural};

/// Most findings in the list, the worst first.
const MAX_LISTED: usize = 1_000;

pub fn draw(results: &Results, series: &PolicySeries) -> Markup {
    if results.findings.is_empty() {
        return Markup::default();
    }
    let folder = common_folder(results.findings.iter().map(|finding| finding.path.as_str()));
    let numbers = Numbers::new(results);
    let mut findings: Vec<&Finding> = results.findings.iter().collect();
    // The chosen policy's findings are what matters first.
    findings
        .sort_by_key(|finding| (!finding.policy.as_deref().is_some_and(|policy| series.roles.is_chosen(policy)), finding.level));
    findings.truncate(MAX_LISTED);
    let left_out = results.findings.len() - findings.len();
    let rows = html! {
        table {
            tbody {
                @for finding in &findings { (row(finding, folder, series, &numbers)) }
            }
        }
    };
    html! {
        (table::draw(&tables::counts(results), series, true))
        div class="filter live" role="group" aria-label="Filter of the findings" {
            (choice("kind", "All kinds", kinds(results).into_iter().map(|kind| (kind.to_owned(), kind.to_owned()))))
            (choice("policy", "All policies", policies(results, series)))
            (choice("level", "All severities", Level::ALL.map(|level| (level.name().to_owned(), level.name().to_owned()))))
            input type="search" id="filter-text" placeholder="Text" aria-label="Text in a finding";
            span id="found" class="below" role="status" {}
        }
        div class="sheet live" {
            div class="scroll tall" tabindex="0" role="region" aria-label="Findings" {
                table id="found-rows" {
                    thead {
                        tr {
                            @for name in ["severity", "kind", "policy", "place", "message"] { th scope="col" { (name) } }
                        }
                    }
                    tbody {}
                }
            }
            button type="button" id="more-found" { "Show 50 more" }
        }
        p class="below" {
            @if !folder.is_empty() { "All in " bdi { (terminal(folder)) } ". " }
            "The command " code { "recompact catalog findings KIND" } " explains a kind."
            @if left_out > 0 { " " (plural(left_out, "more finding")) " " (are(left_out)) " only in -o json." }
        }
        (super::packed("findings", &rows))
    }
}

/// Renders a choice of one value.
fn choice(id: &str, all: &str, values: impl IntoIterator<Item = (String, String)>) -> Markup {
    html! {
        select id={ "filter-" (id) } aria-label=(all) {
            option value="" { (all) }
            @for (value, name) in values { option value=(terminal(&value)) { (terminal(&name)) } }
        }
    }
}

/// The kinds that were found, in the order of the catalog.
fn kinds(results: &Results) -> Vec<&str> {
    let mut kinds: Vec<&str> = FINDINGS.iter().map(|kind| kind.id).collect();
    kinds.retain(|kind| results.findings.iter().any(|finding| finding.id == *kind));
    for finding in &results.findings {
        if !kinds.contains(&finding.id.as_str()) {
            kinds.push(&finding.id);
        }
    }
    kinds
}

/// The policies with findings, by their index on the page, and their names.
fn policies(results: &Results, series: &PolicySeries) -> Vec<(String, String)> {
    let has_findings = |policy: &str| results.findings.iter().any(|finding| finding.policy.as_deref() == Some(policy));
    let policies = series.roles.in_order.iter().map(|summary| summary.policy.as_str()).filter(|policy| has_findings(policy));
    let indexed =
        policies.filter_map(|policy| Some((series.index_of(policy)?.to_string(), series.roles.label(policy).to_owned())));
    indexed.collect()
}

fn row(finding: &Finding, folder: &str, series: &PolicySeries, numbers: &Numbers) -> Markup {
    let policy = finding.policy.as_deref();
    let path = &finding.path[folder.len()..];
    let location = finding.line.map_or_else(|| path.to_owned(), |line| format!("{path}:{line}"));
    let conversation = finding.conversation.as_deref().and_then(|name| numbers.of(&finding.path, name));
    html! {
        tr data-kind=(terminal(&finding.id)) data-level=(finding.level.name()) data-p=[policy.and_then(|policy| series.index_of(policy))] {
            td class={ "level " (finding.level.name()) } { (finding.level.name()) }
            td { bdi { (terminal(&finding.id)) } }
            td { @if let Some(policy) = policy { (series.name(policy)) } }
            td {
                bdi { (terminal(&location)) }
                @if let Some(call) = finding.call {
                    " "
                    (super::misses::go_to(conversation, call, policy.and_then(|policy| series.index_of(policy))))
                }
            }
            td class="prose" { bdi { (terminal(&finding.message)) } }
        }
    }
}
