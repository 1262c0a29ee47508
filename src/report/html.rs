//! The html report: one self-contained page with style, script, drawings and all results.
//!
//! Its Content-Security-Policy forbids it to load anything or to run any other script. All plots and tables are drawn
//! here; the script only shows tooltips, pins, sorts, switches conversations and saves. The templates escape every text, so
//! none can begin a tag; texts of transcripts also go through [`terminal`], which shows invisible characters. The script
//! inserts texts only as text nodes.

mod calls;
mod conversations;
mod figure;
mod misses;
mod parameters;
mod plot;
mod policies;
mod recommended;
mod scatter;
mod sensitivity;
mod series;
mod shares;
mod stacked_bars;
mod table;

use std::collections::BTreeSet;
use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::escape::terminal;
use super::table_model::compare::{self, conversations_of};
use super::table_model::{retention, sweep};
use super::{Detail, Document, csv, json, number_format};
use crate::metrics::metric::tokens::CALLS;
use crate::results::saved::Results;
use crate::util::text::plural;
use series::PolicySeries;

const CSS: &str = include_str!("html/page.css");
const JS: &str = include_str!("html/page.js");

/// A section of the page: its anchor, its title, its short title in the navigation, a description and its markup.
/// Sections without markup are left out.
struct Section {
    id: &'static str,
    title: String,
    nav_title: &'static str,
    about: &'static str,
    markup: Markup,
}

pub fn write(results: &Results) -> Vec<u8> {
    let series = PolicySeries::new(results);
    let sections = sections(results, &series);
    let headline = headline(results);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(CSS),
        hash(JS)
    );
    // The style and the script are ours; they are the only texts that are not escaped.
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { "recompact: " (terminal(&headline)) }
                style { (PreEscaped(CSS)) }
            }
            body {
                a class="skip" href="#main" { "Skip to the results" }
                (plot::marks())
                (scatter::shapes())
                header {
                    div class="bar" {
                        p class="brand" { "recompact" }
                        nav aria-label="Sections of the page" {
                            @for section in &sections { a href={ "#" (section.id) } { (section.nav_title) } }
                        }
                        button type="button" id="theme" class="live" aria-pressed="false" { "Dark" }
                    }
                }
                main id="main" {
                    h1 { (terminal(&headline)) }
                    p class="lead" { "Recorded conversations, replayed through compaction policies. Numbers marked ~ are estimates." }
                    (tiles(results))
                    (recommended::recommendation(results, &series))
                    @for section in &sections { (section.draw()) }
                }
                footer {
                    p {
                        "This page loads nothing and sends nothing."
                        noscript { " Pinning, sorting, choosing a conversation and saving need JavaScript." }
                    }
                }
                div id="pins" class="live" role="group" aria-label="Pinned policies" hidden {}
                div id="tip" role="tooltip" hidden {}
                p id="live" class="heard" role="status" aria-live="polite" {}
                script type="text/plain" id="data" { (pack(&json::write(results))) }
                script { (PreEscaped(JS)) }
            }
        }
    };
    (page.0 + "\n").into_bytes()
}

fn sections(results: &Results, series: &PolicySeries) -> Vec<Section> {
    let section = |id, title: &str, nav_title, about, markup| Section { id, title: title.to_owned(), nav_title, about, markup };
    let sections = vec![
        section(
            "front",
            scatter::heading(results),
            "Front",
            "Point at a policy to see its parameters and values. Click it, or press Enter, to pin it: pinned policies are highlighted on the whole page.",
            scatter::draw(results, series).map(|figure| figure.draw(series, "wide")).unwrap_or_default(),
        ),
        section(
            "parameters",
            "Effect of each parameter",
            "Parameters",
            "The mean of an objective at each value of a parameter, over all values of the other parameters; and the share of the objective's variance that the parameter explains alone.",
            sensitivity::draw(results, series).unwrap_or_default(),
        ),
        section(
            "policies",
            "Policies by column",
            "Comparison",
            comparison_scope(results),
            if results.summary.is_empty() { Markup::default() } else { table::comparison(results, series) },
        ),
        section(
            "differences",
            "Differences from the baseline",
            "Differences",
            "",
            stacked_bars::differences(results, series).unwrap_or_default(),
        ),
        section(
            "conversations",
            "One conversation, call by call",
            "Calls",
            "The size of each request, for each policy. Marks on a line are edits that removed at least a fifth of the context.",
            conversations::draw(results, series),
        ),
        section("kept", "Facts still in context", "Facts", "", shares(results, series)),
        section("costs", "Cost by part", "Cost", "", stacked_bars::costs(results, series).unwrap_or_default()),
        section(
            "misses",
            "Facts lost for good and used again",
            "Lost facts",
            "Facts that the recorded agent used again after this policy had lost both the fact and any handle to fetch it.",
            misses::by_policy(results, series),
        ),
        section("tables", "All tables", "Tables", "", collapsed_tables(results, series)),
        section("definitions", "Policies as replayed", "Policies", "", policies::definitions(results, series)),
        section("saved", "The data", "Save", "This page contains all results.", save()),
    ];
    sections.into_iter().filter(|section| !section.markup.0.is_empty()).collect()
}

impl Section {
    fn draw(&self) -> Markup {
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

/// Facts in context, by calls since seen and by summaries in between, beside each other.
fn shares(results: &Results, series: &PolicySeries) -> Markup {
    let halves: Vec<_> =
        [shares::GAP, shares::GENERATION].iter().filter_map(|by| Some((by.name, shares::draw(by, results, series)?))).collect();
    if halves.is_empty() {
        return Markup::default();
    }
    html! {
        div class="halves" {
            @for (name, figure) in halves {
                div {
                    h3 { (name) }
                    (figure.draw(series, ""))
                }
            }
        }
    }
}

fn save() -> Markup {
    html! {
        p class="saves live" {
            button type="button" id="save-json" { "Save as JSON" }
            button type="button" id="save-csv" { "Save all rows as CSV" }
        }
        p class="below" {
            "The JSON is the same as that of " code { "-o json" } "; " code { "recompact report" } " reads it. Each table also has a \
             CSV button."
        }
    }
}

/// The tables of the other reports, collapsed. Tables that are already drawn in full above are left out.
fn collapsed_tables(results: &Results, series: &PolicySeries) -> Markup {
    let of_sweep = [sweep::recommended, sweep::plot, sweep::sensitivity, sweep::chosen, sweep::toml];
    let drawn = of_sweep.into_iter().filter_map(|table| Some(table(results)?.title));
    let drawn: Vec<String> =
        drawn.chain([compare::summary(results, &Detail::WHOLE).title, retention::misses(results).title]).collect();
    let others = Results::SECTIONS.iter().flat_map(|section| (section.tables)(results, &Detail::WHOLE));
    let others = others.filter(|table| !table.rows.is_empty() && !drawn.contains(&table.title));
    html! {
        @for table in others {
            details {
                summary { (terminal(&table.title)) }
                (table::draw(&table, series, false))
            }
        }
    }
}

/// Says which policies and sessions the comparison covers.
fn comparison_scope(results: &Results) -> &'static str {
    match &results.sweep {
        Some(sweep) if sweep.held_out > 0 => {
            "The Pareto front, the current policies and the bounds, on the held-out sessions. Click a header to sort."
        }
        Some(_) => "The Pareto front, the current policies and the bounds. Click a header to sort.",
        None => "Click a header to sort.",
    }
}

/// Counts for the title and the tiles.
fn counts(results: &Results) -> Vec<(usize, &'static str)> {
    let transcripts: BTreeSet<&str> = results.rows.iter().map(|row| row.transcript.as_str()).collect();
    let transcripts = results.summary.iter().map(|summary| summary.transcripts).fold(transcripts.len(), usize::max);
    let sessions: BTreeSet<_> = results.rows.iter().map(|row| row.session()).collect();
    let calls = results.summary.iter().filter_map(|summary| summary.values.get(CALLS)).fold(0.0, f64::max);
    let policies = results.summary.iter().filter(|summary| summary.bound_of.is_none()).count();
    if let Some(sweep) = &results.sweep {
        let all = [
            (sweep.configurations.len(), "configuration"),
            (sweep.sessions, "session to choose on"),
            (sweep.held_out, "session held out"),
            (policies, "compared in full"),
        ];
        return all.into_iter().filter(|(count, _)| *count > 0).collect();
    }
    vec![
        (transcripts, "transcript"),
        (sessions.len(), "session"),
        (conversations_of(&results.rows).len(), "conversation"),
        (calls as usize, "call"),
        (policies, if policies == 1 { "policy" } else { "policies" }),
    ]
}

fn headline(results: &Results) -> String {
    let counts = counts(results);
    let count_of = |prefix: &str| counts.iter().find(|(_, name)| name.starts_with(prefix)).map_or(0, |(count, _)| *count);
    match &results.sweep {
        Some(sweep) => {
            let sessions = plural(sweep.sessions + sweep.held_out, "session");
            format!("{} on {sessions}", plural(count_of("configuration"), "configuration"))
        }
        None => {
            let policies = if count_of("polic") == 1 { "policy" } else { "policies" };
            format!("{} {policies} on {}", count_of("polic"), plural(count_of("transcript"), "transcript"))
        }
    }
}

fn tiles(results: &Results) -> Markup {
    let name = |count: usize, name: &str| {
        let (first, rest) = name.split_once(' ').map_or((name, String::new()), |(first, rest)| (first, format!(" {rest}")));
        let plural = if count == 1 || first.ends_with(['s', 'd']) { "" } else { "s" };
        format!("{first}{plural}{rest}")
    };
    html! {
        dl class="tiles" {
            @for (count, noun) in counts(results) {
                div {
                    dt { (name(count, noun)) }
                    dd { (number_format::grouped(count as f64, 0)) }
                }
            }
        }
    }
}

/// Compresses bytes and encodes them in Base64, which contains no markup.
fn pack(bytes: &[u8]) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes).expect(csv::IN_MEMORY);
    STANDARD.encode(packer.finish().expect(csv::IN_MEMORY))
}

/// Returns the SHA-256 of a text in Base64, as the Content-Security-Policy needs it.
fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::CSS;

    /// Returns the WCAG luminance of a CSS variable's light and dark colour.
    fn luminances(variable: &str) -> [f64; 2] {
        let begin = format!("  --{variable}: light-dark(");
        let value = CSS.split(&begin).nth(1).and_then(|rest| rest.split(')').next()).expect("a colour of the style");
        let [light, dark] = [0, 1].map(|index| value.split(", #").nth(index).expect("two colours").trim_start_matches('#'));
        [light, dark].map(|colour| {
            let channel = |start: usize| {
                let value = f64::from(u8::from_str_radix(&colour[start..start + 2], 16).expect("hexadecimal")) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
        })
    }

    #[test]
    fn html_colours_have_enough_contrast() {
        let assert_contrast = |front: &str, back: &str, least: f64| {
            for (a, b) in luminances(front).into_iter().zip(luminances(back)) {
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= least, "{front} on {back}: {contrast:.2}");
            }
        };
        for back in ["page", "card", "wash", "pin"] {
            ["ink", "soft", "accent"].into_iter().for_each(|front| assert_contrast(front, back, 4.5));
        }
        assert_contrast("warn", "card", 4.5);
        for line in ["end", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"] {
            assert_contrast(line, "card", 3.0);
        }
    }

    /// A script that inserts texts as markup would undo the escaping done here.
    #[test]
    fn html_script_writes_no_markup() {
        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http:", "</script"] {
            assert!(!super::JS.replace("http://www.w3.org/2000/svg", "").contains(word), "{word}");
        }
    }
}
