//! One page that needs nothing else: style, script, drawings and all of the results are in it, and its policy
//! (Content-Security-Policy) forbids it to load anything or to run any other script.
//!
//! Everything is drawn here; the script only shows what is pointed at, pins, sorts, chooses a conversation and saves. Texts of
//! transcripts go through [`escape::html`] into the page, and the script puts texts in as texts.

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
use sha2::{Digest, Sha256};

use super::table_model::compare::{self, conversations_of};
use super::table_model::{retention, sheets, sweep};
use super::{Style, csv, escape, json, number_format};
use crate::results::saved::Results;
use crate::util::text::plural;
use series::PolicySeries;

const CSS: &str = include_str!("html/page.css");
const JS: &str = include_str!("html/page.js");

/// A part of the page: its place, what it is called there and in the list of parts, its markup. Empty parts are left out.
struct Part {
    id: &'static str,
    title: String,
    short: &'static str,
    about: &'static str,
    inside: String,
}

pub fn render(results: &Results, _: &Style) -> Vec<u8> {
    let cast = PolicySeries::new(results);
    let parts = parts(results, &cast);
    let links: String = parts.iter().map(|part| format!("<a href=\"#{}\">{}</a>", part.id, part.short)).collect();
    let sections: String = parts.iter().map(section).collect();
    let title = escape::html(&format!("recompact: {}", counted(results)));
    let page = format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{CSS}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the results</a>
{}{}
<header><div class="bar"><p class="brand">recompact</p><nav aria-label="Parts of the page">{links}</nav><button type="button" id="theme" class="live" aria-pressed="false">Dark</button></div></header>
<main id="main">
<h1>{}</h1>
<p class="lead">Recorded conversations, replayed through policies that compact them. Numbers marked ~ are estimates.</p>
{}
{}
{sections}
</main>
<footer><p>This page loads nothing and sends nothing.<noscript> Pinning, sorting, choosing a conversation and saving need its script.</noscript></p></footer>
<div id="pins" class="live" role="group" aria-label="Pinned policies" hidden></div>
<div id="tip" role="tooltip" hidden></div>
<p id="live" class="heard" role="status" aria-live="polite"></p>
<script type="text/plain" id="data">{}</script>
<script>{JS}</script>
</body>
</html>
"##,
        hash(CSS),
        hash(JS),
        plot::marks(),
        scatter::shapes(),
        escape::html(&counted(results)),
        tiles(results),
        recommended::recommendation(results, &cast),
        pack(&json::write(results)),
    );
    page.into_bytes()
}

fn parts(results: &Results, cast: &PolicySeries) -> Vec<Part> {
    let part = |id, title: &str, short, about, inside| Part { id, title: title.to_owned(), short, about, inside };
    let figure = |figure: Option<figure::Figure>, class| figure.map_or(String::new(), |figure| figure.draw(cast, class));
    let halves = [shares::GAP, shares::GENERATION].map(|side| {
        let drawn = figure(shares::draw(&side, results, cast), "");
        if drawn.is_empty() { drawn } else { format!("<div><h3>{}</h3>{drawn}</div>", side.name) }
    });
    let kept = halves.concat();
    let parts = vec![
        part(
            "front",
            scatter::heading(results),
            "Front",
            "Point at a policy to see its parameters and values. Click it, or press Enter on it, to pin it: it then stands out on the whole page.",
            figure(scatter::draw(results, cast), "wide"),
        ),
        part(
            "parameters",
            "What the parameters do",
            "Parameters",
            "The mean of an objective at each value of a parameter, whatever the others are; and what part of the objective's variance goes with the parameter alone.",
            sensitivity::draw(results, cast).unwrap_or_default(),
        ),
        part(
            "policies",
            "Policies by columns",
            "Comparison",
            compared(results),
            if results.summary.is_empty() { String::new() } else { table::comparison(results, cast) },
        ),
        part(
            "differences",
            "Differences from the baseline",
            "Differences",
            "",
            stacked_bars::differences(results, cast).unwrap_or_default(),
        ),
        part(
            "conversations",
            "One conversation, call by call",
            "Calls",
            "What each request held, policy by policy. Edits that took out a fifth of the context or more are marked on the line.",
            conversations::draw(results, cast),
        ),
        part(
            "kept",
            "What was still in sight",
            "Kept",
            "",
            if kept.is_empty() { kept } else { format!(r#"<div class="halves">{kept}</div>"#) },
        ),
        part("costs", "Cost by part", "Cost", "", stacked_bars::costs(results, cast).unwrap_or_default()),
        part(
            "misses",
            "Worst hard misses",
            "Misses",
            "Facts the recorded agent went on to use when this policy no longer had them, nor a handle to fetch them by.",
            misses::all(results, cast),
        ),
        part("tables", "All tables", "Tables", "", tables(results, cast)),
        part("definitions", "The policies as they were replayed", "Policies", "", policies::definitions(results, cast)),
        part("saved", "The numbers", "Save", "All of the results are in this page.", SAVE.to_owned()),
    ];
    parts.into_iter().filter(|part| !part.inside.is_empty()).collect()
}

const SAVE: &str = r#"<p class="saves live"><button type="button" id="save-json">Save as JSON</button><button type="button" id="save-csv">Save all rows as CSV</button></p><p class="below">The JSON is what <code>-o json</code> writes, and <code>recompact report</code> reads it again. Every table has a button of its own.</p>"#;

fn section(part: &Part) -> String {
    let Part { id, title, about, inside, .. } = part;
    let about = if about.is_empty() { String::new() } else { format!(r#"<p class="about">{about}</p>"#) };
    format!(r#"<section id="{id}" aria-labelledby="{id}-title"><h2 id="{id}-title">{title}</h2>{about}{inside}</section>"#)
}

/// The sheets of the other reports, folded; those that are drawn above in full are left out.
fn tables(results: &Results, cast: &PolicySeries) -> String {
    let found = [sweep::recommended, sweep::plot, sweep::sensitivity, sweep::chosen, sweep::toml];
    let drawn = found.into_iter().filter_map(|sheet| Some(sheet(results)?.title));
    let drawn: Vec<String> = drawn.chain([compare::summary(results).title, retention::misses(results).title]).collect();
    let others = sheets(results).into_iter().filter(|sheet| !drawn.contains(&sheet.title));
    let folded = others.map(|sheet| {
        format!("<details><summary>{}</summary>{}</details>", escape::html(&sheet.title), table::sheet(&sheet, cast, false))
    });
    folded.collect()
}

/// What the comparison is of, where a sweep tells two things apart.
fn compared(results: &Results) -> &'static str {
    match &results.sweep {
        Some(sweep) if sweep.held_out > 0 => {
            "The front, the policies as they are and the bounds, on the sessions held out. A head sorts by its column."
        }
        Some(_) => "The front, the policies as they are and the bounds. A head sorts by its column.",
        None => "A head sorts by its column.",
    }
}

/// How much there is of everything.
fn numbers(results: &Results) -> Vec<(usize, &'static str)> {
    let transcripts: BTreeSet<&str> = results.rows.iter().map(|row| row.transcript.as_str()).collect();
    let transcripts = results.summary.iter().map(|summary| summary.transcripts).fold(transcripts.len(), usize::max);
    let sessions: BTreeSet<_> = results.rows.iter().map(|row| row.session()).collect();
    let calls = results.summary.iter().filter_map(|summary| summary.values.get(series::CALLS)).fold(0.0, f64::max);
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

fn counted(results: &Results) -> String {
    let numbers = numbers(results);
    let of = |what: &str| numbers.iter().find(|(_, name)| name.starts_with(what)).map_or(0, |(count, _)| *count);
    match &results.sweep {
        Some(sweep) => {
            let sessions = plural(sweep.sessions + sweep.held_out, "session");
            format!("{} on {sessions}", plural(of("configuration"), "configuration"))
        }
        None => {
            let policies = if of("polic") == 1 { "policy" } else { "policies" };
            format!("{} {policies} on {}", of("polic"), plural(of("transcript"), "transcript"))
        }
    }
}

fn tiles(results: &Results) -> String {
    let tile = |(count, what): (usize, &str)| {
        let (first, rest) = what.split_once(' ').map_or((what, String::new()), |(first, rest)| (first, format!(" {rest}")));
        let plural = if count == 1 || first.ends_with(['s', 'd']) { "" } else { "s" };
        format!("<div><dt>{first}{plural}{rest}</dt><dd>{}</dd></div>", number_format::grouped(count as f64, 0))
    };
    let tiles: String = numbers(results).into_iter().map(tile).collect();
    format!(r#"<dl class="tiles">{tiles}</dl>"#)
}

/// Compressed, in letters that are no markup.
fn pack(bytes: &[u8]) -> String {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(bytes).expect(csv::IN_MEMORY);
    STANDARD.encode(packer.finish().expect(csv::IN_MEMORY))
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::CSS;

    /// The two colours of a variable of the style, light and dark: their luminance as WCAG defines it.
    fn luminances(variable: &str) -> [f64; 2] {
        let begin = format!("  --{variable}: light-dark(");
        let value = CSS.split(&begin).nth(1).and_then(|rest| rest.split(')').next()).expect("a colour of the style");
        let [light, dark] = [0, 1].map(|at| value.split(", #").nth(at).expect("two colours").trim_start_matches('#'));
        [light, dark].map(|colour| {
            let part = |at: usize| {
                let part = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).expect("hexadecimal")) / 255.0;
                if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(0) + 0.7152 * part(2) + 0.0722 * part(4)
        })
    }

    #[test]
    fn texts_and_lines_stand_out_from_what_is_behind_them() {
        let assert_contrast = |front: &str, back: &str, least: f64| {
            for (one, other) in luminances(front).into_iter().zip(luminances(back)) {
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
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

    /// A script that puts texts in as markup would undo what is escaped here.
    #[test]
    fn the_script_writes_no_markup() {
        for word in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "http:", "</script"] {
            assert!(!super::JS.replace("http://www.w3.org/2000/svg", "").contains(word), "{word}");
        }
    }
}
