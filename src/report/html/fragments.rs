//! Parts of the page by themselves, for a notebook: the first screen, and the scatter plot as a picture.

use maud::{Markup, PreEscaped, html};

use super::super::Layout;
use super::super::escape::terminal;
use super::super::screen::{self, CHANGES_TITLE, CHECKS_TITLE, Check, ScreenTable};
use super::super::table_model::{CellKind, Tone};
use super::answer::prose;
use super::series::PolicySeries;
use super::{CSS, plot, scatter};
use crate::analysis::verdict::{by_harness, harness_verdicts};
use crate::results::saved::Results;

const PLOT_CSS: &str = include_str!("plot.css");
/// The class of the picture. A notebook has one style for all that it shows, so each rule begins with it.
const CLASS: &str = "recompact-plot";
/// Width and height of the plotting area in pixels: names do not overlap at this width.
const AREA: [usize; 2] = [scatter::WIDTH as usize, scatter::HEIGHT];
/// Room for labels around it: left, above, right, below.
const MARGINS: [usize; 4] = [66, 40, 60, 56];

/// Returns the answer, the table and what to check as markup without a style, a script or a command; `None` if nothing was replayed.
pub fn first_screen(results: &Results, layout: &Layout) -> Option<String> {
    let screen = screen::of_results(results, layout)?;
    let markup = html! {
        div class="recompact" {
            p { (prose(&screen.scope)) }
            @for (index, sentences) in screen.answer.iter().enumerate() {
                p { @if index == 0 { strong { (prose(sentences)) } } @else { (prose(sentences)) } }
            }
            (table(&screen.table))
            (points(CHECKS_TITLE, &screen.checks))
            (points(CHANGES_TITLE, &screen.changes))
        }
    };
    Some(markup.0)
}

fn table(ScreenTable { model, tones, .. }: &ScreenTable) -> Markup {
    let align = |column: usize| match model.headers[column].kind {
        CellKind::Numbers | CellKind::Words => "text-align: right",
        _ => "text-align: left",
    };
    let weight = |row: usize| if tones.get(row) == Some(&Tone::Chosen) { "font-weight: bold" } else { "" };
    html! {
        table {
            thead {
                tr { @for (column, header) in model.headers.iter().enumerate() { th style=(align(column)) { (terminal(&header.text)) } } }
            }
            tbody {
                @for (at, row) in model.rows.iter().enumerate() {
                    tr style=(weight(at)) {
                        @for (column, cell) in row.iter().enumerate() { td style=(align(column)) { (terminal(cell)) } }
                    }
                }
            }
        }
        @for line in &model.footnotes { p { small { (terminal(line)) } } }
    }
}

fn points(title: &str, points: &[Check]) -> Markup {
    html! {
        @if !points.is_empty() {
            p { (title) }
            ul { @for point in points { li { (prose(&point.text)) } } }
        }
    }
}

/// Returns the page's scatter plot as an SVG file; `None` if no policy has both values.
pub fn picture(results: &Results) -> Option<String> {
    let parts = by_harness(results);
    let harnesses = harness_verdicts(&parts);
    let series = PolicySeries::new(results, &harnesses);
    let figure = scatter::draw(results, &series)?;
    let ([width, height], [left, above, right, below]) = (AREA, MARGINS);
    let (all_width, all_height) = (left + width + right, above + height + below);
    // The style is ours; all texts of the drawing are escaped.
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" class=(CLASS) width=(all_width) height=(all_height)
            viewBox={ "0 0 " (all_width) " " (all_height) } font-family="system-ui, sans-serif" {
            title { (scatter::heading(results)) }
            style { (PreEscaped(style())) }
            rect width="100%" height="100%" fill=(colour("card")) {}
            (plot::marks())
            (scatter::shapes())
            svg x=(left) y=(above) width=(width) height=(height) overflow="visible" { (figure.drawing) }
        }
    };
    Some(picture.0 + "\n")
}

/// Returns the light colour of a variable of the style.
fn colour(variable: &str) -> &'static str {
    let value = CSS.split(&format!("  --{variable}: light-dark(")).nth(1);
    value.and_then(|rest| rest.split(',').next()).unwrap_or("black")
}

/// Returns the rules of plots, each for the picture only. Colours are in place of the page's variables, and a policy's colour is the
/// current one: few programs besides browsers know variables.
fn style() -> String {
    let rules = PLOT_CSS.split_inclusive('}').filter_map(|rule| rule.split_once('{'));
    let scoped = |(selectors, declarations): (&str, &str)| {
        let selectors: Vec<String> = selectors.split(',').map(|selector| format!(".{CLASS} {}", selector.trim())).collect();
        format!("{} {{{declarations}\n", selectors.join(", "))
    };
    let css: String = rules.map(scoped).collect();
    let css = css.replace("--c:", "color:").replace("var(--c)", "currentColor").replace("var(--dash, none)", "none");
    let mut parts = css.split("var(--");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (variable, rest) = part.split_once(')').unwrap_or((part, ""));
        out += colour(variable);
        out += rest;
    }
    out
}
