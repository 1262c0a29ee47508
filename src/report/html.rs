//! The html report: one self-contained page with style, script, drawings and the numbers that they need.
//!
//! Its Content-Security-Policy forbids it to load anything or to run any other script. All plots and tables are drawn
//! here; the script only shows tooltips and calls, pins, sorts, filters, switches conversations, opens packed parts and saves tables. The templates escape every text, so
//! none can begin a tag; texts of transcripts also go through [`terminal`], which shows invisible characters. The script
//! inserts texts only as text nodes.

mod answer;
mod call_panel;
mod calls;
mod comparison;
mod conversations;
mod figure;
mod findings;
mod fragments;
mod misses;
mod numbers;
mod parameters;
mod plot;
mod policies;
mod recommended;
mod requests;
mod roles;
mod scatter;
mod sections;
mod sensitivity;
mod series;
mod shares;
mod stacked_bars;
mod table;
mod words;

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::escape::terminal;
use super::{Layout, csv, screen};
use crate::analysis::verdict::{by_harness, harness_verdicts};
use crate::results::saved::Results;
use crate::util::text::plural;
use sections::PageSection;
use series::PolicySeries;

pub use fragments::{first_screen, picture};

const CSS: &str = concat!(include_str!("html/page.css"), include_str!("html/plot.css"), include_str!("html/parts.css"));
/// The parts of the script, in the order in which they need each other.
const JS: &str = concat!(
    include_str!("html/script/base.js"),
    include_str!("html/script/pins.js"),
    include_str!("html/script/front.js"),
    include_str!("html/script/call.js"),
    include_str!("html/script/calls.js"),
    include_str!("html/script/conversations.js"),
    include_str!("html/script/findings.js"),
    include_str!("html/script/tables.js"),
    include_str!("html/script/buttons.js"),
);
/// What the page says if nothing was replayed.
const NOTHING: &str = "Nothing was replayed";

pub fn write(results: &Results, layout: &Layout) -> Vec<u8> {
    let parts = if results.sweep.is_none() { by_harness(results) } else { Vec::new() };
    let harnesses = harness_verdicts(&parts);
    let series = PolicySeries::new(results, &harnesses);
    let screen = screen::of_results(results, layout);
    let sections = sections::sections(results, &series, &layout.invocation);
    let front = scatter::draw(results, &series);
    let title = screen.as_ref().and_then(|screen| screen.answer.first());
    let title = title.map_or_else(|| NOTHING.to_owned(), |answer| answer.text(str::to_owned));
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
                title { "recompact: " (terminal(&title)) }
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
                        button type="button" id="theme" class="live" { "Dark theme" }
                    }
                }
                p class="notice" role="note" { (notice(results, sections.iter().map(PageSection::requests).sum())) }
                main id="main" {
                    div class="opening" {
                        @match &screen {
                            Some(screen) => (answer::answer(screen, results, (&series.roles, &harnesses), |section| sections::anchor(section, &sections))),
                            None => h1 { (NOTHING) },
                        }
                        @if let Some(front) = front {
                            section id="front" aria-labelledby="front-title" {
                                h2 id="front-title" { (scatter::heading(results)) }
                                (front.draw(&series, "wide"))
                            }
                        }
                    }
                    @for section in &sections { (section.draw()) }
                }
                footer {
                    p {
                        "This page loads nothing and sends nothing. Numbers marked ~ are estimates. The same command with "
                        code { "-o json" } " or " code { "-o csv" } " writes all results."
                        noscript { " Collapsed tables, pinning, sorting and choosing a conversation need JavaScript." }
                    }
                }
                div id="pins" class="live" role="group" aria-label="Pinned policies" hidden {}
                div id="tip" role="tooltip" hidden {}
                p id="live" class="heard" role="status" aria-live="polite" {}
                script type="text/plain" id="data" { (pack(calls::exact(results, &series).to_string().as_bytes())) }
                script { (PreEscaped(JS)) }
            }
        }
    };
    (page.0 + "\n").into_bytes()
}

/// Says what of the sessions is on the page, before anyone gives it to others.
fn notice(results: &Results, requests: usize) -> String {
    let lines = match results.misses.len() {
        0 => String::new(),
        misses => format!(", the lines around {}", plural(misses, "lost fact")),
    };
    let requests = match requests {
        0 => String::new(),
        requests => format!(", the text of {}", plural(requests, "request")),
    };
    format!("Read before you share: this page holds text of the sessions: names of files and conversations{lines}{requests}.")
}

/// Compresses bytes and encodes them in Base64, which contains no markup.
fn pack(bytes: &[u8]) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes).expect(csv::IN_MEMORY);
    STANDARD.encode(packer.finish().expect(csv::IN_MEMORY))
}

/// Packs markup that the script draws later.
fn packed(class: &str, markup: &Markup) -> Markup {
    html! {
        script type="text/plain" class=(class) { (pack(markup.0.as_bytes())) }
    }
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
