//! The sections of the page below the answer, in order.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::table_model::{compare, findings as finding_tables, retention, sweep};
use super::super::{Detail, Document, Invocation};
use super::figure::inner;
use super::series::PolicySeries;
use super::words::plain;
use super::{comparison, conversations, findings, misses, policies, recommended, sensitivity, shares, stacked_bars, table};
use crate::results::saved::Results;

/// A section of the page: its anchor, its title, its short title in the navigation, a description and its markup.
/// Sections without markup are left out.
pub struct PageSection {
    pub id: &'static str,
    pub nav_title: &'static str,
    title: &'static str,
    about: &'static str,
    markup: Markup,
}

/// Returns the sections that show something.
pub fn sections(results: &Results, series: &PolicySeries, invocation: &Invocation) -> Vec<PageSection> {
    let section = |id, title, nav_title, about, markup| PageSection { id, nav_title, title, about, markup };
    let sections = vec![
        section("recommended", "The recommendation in full", "Recommendation", "", recommended::recommendation(results, series)),
        section("policies", "Policies", "Policies", comparison_scope(results), comparison::draw(results, series)),
        section(
            "parameters",
            "Effect of each parameter",
            "Parameters",
            "The mean of an objective at each value of a parameter, over all values of the other parameters; and the share of the objective's variance that the parameter explains alone.",
            sensitivity::draw(results, series).unwrap_or_default(),
        ),
        section(
            "conversations",
            "One conversation, call by call",
            "Calls",
            "The size of each request, for each policy. Marks on a line are edits that removed at least a fifth of the context. Click a call to see what was edited before it.",
            conversations::draw(results, series, !invocation.is_demo()),
        ),
        section(
            "misses",
            "Facts lost for good and used again",
            "Lost facts",
            "Facts that the recorded agent used again after this policy had lost both the fact and any handle to fetch it.",
            misses::by_policy(results, series),
        ),
        section("findings", "What is wrong", "Findings", "", findings::draw(results, series)),
        section("kept", "Facts still in context", "Facts", "", shares::both(results, series)),
        section("costs", "Cost by part", "Cost", "", stacked_bars::costs(results, series).unwrap_or_default()),
        section("definitions", "Policies as replayed", "Files", "", policies::definitions(results, series)),
        section("tables", "All tables", "Tables", "", collapsed_tables(results, series)),
    ];
    sections.into_iter().filter(|section| !section.markup.0.is_empty()).collect()
}

impl PageSection {
    /// The number of requests whose text it holds.
    pub fn requests(&self) -> usize {
        self.markup.0.matches("class=\"request\"").count()
    }

    pub fn draw(&self) -> Markup {
        let Self { id, title, about, markup, .. } = self;
        html! {
            section id=(id) aria-labelledby={ (id) "-title" } {
                h2 id={ (id) "-title" } { (title) }
                @if !about.is_empty() { p class="about" { (about) } }
                (markup)
            }
        }
    }
}

/// The anchor of the part of the page that shows a section of the other reports: a section of the page, else a collapsed table.
pub fn anchor(section: &str, sections: &[PageSection]) -> Option<String> {
    match section {
        "policies" | "misses" | "findings" => Some(section.to_owned()),
        "choice" | "front" => Some("recommended".to_owned()),
        _ => {
            let id = format!("table-{section}");
            let attribute = format!("id=\"{id}\"");
            sections.iter().any(|section| section.markup.0.contains(&attribute)).then_some(id)
        }
    }
}

/// The tables of the other reports, collapsed. Tables that are already drawn in full above are left out.
fn collapsed_tables(results: &Results, series: &PolicySeries) -> Markup {
    let of_sweep = [sweep::recommended, sweep::plot, sweep::sensitivity, sweep::chosen, sweep::toml];
    let drawn = of_sweep.into_iter().filter_map(|table| Some(table(results)?.title));
    let of_replay = [
        compare::summary(results, &Detail::WHOLE),
        retention::misses(results),
        finding_tables::counts(results),
        finding_tables::worst(results),
    ];
    let drawn: Vec<String> = drawn.chain(of_replay.map(|table| table.title)).collect();
    html! {
        @for section in Results::SECTIONS {
            @let tables = (section.tables)(results, &Detail::WHOLE);
            @for (index, table) in tables.iter().filter(|table| !table.rows.is_empty() && !drawn.contains(&table.title)).enumerate() {
                details id=[(index == 0).then(|| format!("table-{}", section.id))] {
                    summary { (terminal(&plain(&table.title))) }
                    (inner(&table::draw(table, series, false)))
                }
            }
        }
    }
}

/// Says which policies and sessions the comparison covers.
fn comparison_scope(results: &Results) -> &'static str {
    match &results.sweep {
        Some(sweep) if sweep.held_out > 0 => {
            "The Pareto front, the policies as they are and the bounds, on the held-out sessions. Click a header to sort; the buttons show more columns."
        }
        Some(_) => {
            "The Pareto front, the policies as they are and the bounds. Click a header to sort; the buttons show more columns."
        }
        None => "Click a header to sort; the buttons show more columns.",
    }
}
