//! Scatter plot of cost and facts in context: one point per policy and per configuration of a sweep, with the Pareto
//! front.

mod backdrop;
mod dots;
mod legend;
mod names;
mod window;

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::compare::title;
use super::super::table_model::{ColumnHeader, TableModel};
use super::figure::{Figure, area};
use super::plot;
use super::roles::Roles;
use super::series::{COST, PolicySeries, RETENTION, TOOLTIP, first_with_values, refused};
use super::words::{axis_name, words};
use crate::results::saved::{Column, Direction, Results, Unit};
use dots::{Dot, dots};
use legend::{caption, legend};
use names::names;
use window::Window;

/// Height in pixels: with the answer beside it, the whole plot is on the first screen of a browser.
const HEIGHT: usize = 420;

struct Axes<'a> {
    x: &'a Column,
    y: &'a Column,
}

pub fn draw(results: &Results, series: &PolicySeries) -> Option<Figure> {
    let axes = axes(results)?;
    let dots = dots(results, series, &axes);
    if dots.is_empty() {
        return None;
    }
    let roles = &series.roles;
    let window = Window::around(&dots);
    let at = |place: (f64, f64)| window.place(place);
    let mut front: Vec<&Dot> = dots.iter().filter(|dot| dot.on_front).collect();
    front.sort_by(|a, b| a.position.0.total_cmp(&b.position.0));
    let tooltip_columns = tooltip_columns(results, &axes);
    let drawing = html! {
        (backdrop::tints(&axes, &window, roles.yardstick_cost()))
        (plot::vertical_axis(&window.y, axes.y.unit, &axis_name(axes.y, roles)))
        (plot::horizontal_axis(&window.x, axes.x.unit, &axis_name(axes.x, roles), true))
        (backdrop::references(&axes, &window, roles.yardstick_cost()))
        (backdrop::better(better(results, axes.x), better(results, axes.y)))
        @if front.len() > 1 {
            (plot::path("front", front.iter().map(|dot| at(dot.position))))
        }
        @for dot in &dots { (surroundings(dot, &window)) }
        @for dot in &dots { (point(dot, &window, &tooltip_lines(dot, &tooltip_columns, roles), roles)) }
        (names(&dots, &window, &axes, roles))
    };
    let name = format!("{} and {}", words(axes.y, roles), words(axes.x, roles));
    let caption = caption(results, &dots, &window);
    Some(Figure {
        drawing: area("scatter", HEIGHT, "group", &name, &caption, &drawing),
        legend: legend(&dots, results, &window, series.roles.praise_of_all()),
        caption,
        data: data_table(&dots, &tooltip_columns, name),
    })
}

/// Returns the first two objectives of a sweep; without a sweep, cost and facts in context.
fn axes(results: &Results) -> Option<Axes<'_>> {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    let mut objectives = objectives.filter_map(|objective| results.column(&objective.column));
    match (objectives.next(), objectives.next()) {
        (Some(x), Some(y)) => Some(Axes { x, y }),
        _ => Some(Axes { x: first_with_values(results, &COST)?, y: first_with_values(results, &RETENTION)? }),
    }
}

fn better(results: &Results, column: &Column) -> Direction {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    objectives.filter(|objective| objective.column == column.id).map(|objective| objective.better).next().unwrap_or(column.better)
}

/// Draws what belongs to a point: the range of its cost, its intervals, and what an oracle would keep.
fn surroundings(dot: &Dot, window: &Window) -> Markup {
    let (x, y) = dot.position;
    if window.outside(dot.position).is_any() {
        return Markup::default();
    }
    let line = |class: &str, from, to| plot::line(&format!("{class} {}", dot.class), window.place(from), window.place(to));
    html! {
        g data-p=(dot.index) class="around" {
            @if let Some([low, high]) = dot.cost_range { (line("range", (low, y), (high, y))) }
            @if let Some([low, high]) = dot.x_interval { (line("whisker", (low, y), (high, y))) }
            @if let Some([low, high]) = dot.y_interval { (line("whisker", (x, low), (x, high))) }
            @if let Some(bound) = dot.bound {
                (plot::line("headroom", window.place(dot.position), window.place((x, bound))))
                (plot::place("ceiling", "#cap", window.place((x, bound))))
            }
        }
    }
}

/// Returns the columns in a point's tooltip: the axes, the other objectives, and some more.
fn tooltip_columns<'a>(results: &'a Results, axes: &Axes<'a>) -> Vec<&'a Column> {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    let more = objectives.map(|objective| &*objective.column).chain(TOOLTIP).filter_map(|id| results.column(id));
    let mut tooltip_columns = vec![axes.x, axes.y];
    for column in more {
        if !tooltip_columns.iter().any(|known| known.id == column.id) {
            tooltip_columns.push(column);
        }
    }
    tooltip_columns
}

/// Names and values in a point's tooltip: why it must not be used, its numbers, the settings that are not those of its preset.
fn tooltip_lines(dot: &Dot, columns: &[&Column], roles: &Roles) -> Vec<(String, String)> {
    let interval = |unit: Unit, ends: Option<[f64; 2]>| {
        ends.and_then(|ends| number_format::interval(unit, ends)).map_or(String::new(), |ends| format!(" ({ends})"))
    };
    let of_column = |(index, column): (usize, &&Column)| {
        let value = number_format::value(column.unit, Some(dot.values.get(&column.id)?));
        let ends = [dot.x_interval, dot.y_interval].get(index).copied().flatten();
        Some((words(column, roles), value + &interval(column.unit, ends)))
    };
    let mut lines: Vec<(String, String)> = dot.flaw.map(|flaw| ("do not use".to_owned(), flaw.to_owned())).into_iter().collect();
    lines.extend(columns.iter().enumerate().filter_map(of_column));
    if let Some([best, ends]) = dot.cost_range {
        let range = number_format::interval(Unit::Ratio, [best, ends]);
        lines.extend(range.map(|range| ("cost by cache breakpoints".to_owned(), range)));
    }
    let refused = refused(dot.values).filter(|count| *count > 0.0);
    lines.extend(refused.map(|count| ("requests refused".to_owned(), number_format::value(Unit::Count, Some(count)))));
    lines.extend(dot.settings.iter().cloned());
    lines
}

fn point(dot: &Dot, window: &Window, lines: &[(String, String)], roles: &Roles) -> Markup {
    let (x, y) = window.place(dot.position);
    let aria_texts: Vec<String> = lines.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let tooltip: Vec<_> = lines.iter().flat_map(|(name, value)| [terminal(name), terminal(value)]).collect();
    let (name, aria_text) = (terminal(roles.label(dot.policy)), aria_texts.join(", "));
    let shape = dot.mark.map_or("#tried".to_owned(), |mark| format!("#m{}", mark % 8));
    html! {
        @if dot.recommended { (plot::place("ring", "#ring", (x, y))) }
        use class={ "dot mark " (dot.class) @if dot.on_front { " onfront" } @if dot.recommended { " best" } @if dot.flaw.is_some() { " hollow" } }
            href=(shape) x={ (plot::percent(x)) "%" } y={ (plot::percent(y)) "%" } role="button" tabindex="-1" aria-pressed="false"
            data-p=(dot.index) data-pin=(dot.index) data-name=(name) data-tip=(tooltip.join("\n"))
            aria-label={ (name) ": " (terminal(&aria_text)) } {}
        @if dot.flaw.is_some() && dot.mark.is_some() { (plot::place(&format!("strike {}", dot.class), "#strike", (x, y))) }
    }
}

fn data_table(dots: &[Dot], tooltip_columns: &[&Column], title_of_plot: String) -> TableModel {
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(tooltip_columns.iter().map(|column| ColumnHeader::numbers(&title(column))));
    headers.push(ColumnHeader::words("front"));
    headers.push(ColumnHeader::prose("parameters"));
    let row = |dot: &Dot| {
        let mut cells = vec![dot.policy.to_owned()];
        cells.extend(tooltip_columns.iter().map(|column| number_format::value(column.unit, dot.values.get(&column.id))));
        cells.push(
            if dot.recommended {
                "recommended"
            } else if dot.on_front {
                "yes"
            } else {
                ""
            }
            .to_owned(),
        );
        let settings: Vec<String> = dot.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        cells.push(settings.join("; "));
        cells
    };
    TableModel { title: title_of_plot, subject: String::new(), headers, rows: dots.iter().map(row).collect(), footnotes: vec![] }
}

/// Defines the shapes that only this plot uses, once per page.
pub fn shapes() -> Markup {
    html! {
        svg class="defs" width="0" height="0" aria-hidden="true" {
            defs {
                circle id="tried" r="2.8" {}
                circle id="ring" r="10" {}
                path id="cap" d="M-5 0H5" {}
                path id="strike" d="M-8 8 8-8" {}
            }
        }
    }
}

/// The section's title: cost if it is known, else tokens.
pub fn heading(results: &Results) -> &'static str {
    let by_cost = first_with_values(results, &COST[..1]).is_some();
    if by_cost || results.sweep.is_some() { "Cost and facts in context" } else { "Tokens and facts in context" }
}
