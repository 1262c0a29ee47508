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
use super::super::table_model::{ColumnHeader, TableModel};
use super::figure::{Figure, area};
use super::plot;
use super::roles::Roles;
use super::series::{COST, PolicySeries, RETENTION, TOOLTIP, first_with_values, refused};
use super::words::{cost_share, direction, words};
use crate::metrics::metric::cost;
use crate::results::saved::{Column, Direction, Results, Unit, Values};
use dots::{Dot, dots};
use legend::{caption, legend};
pub use names::WIDTH;
use names::names;
use window::Window;

/// Height in pixels: with the answer beside it, the whole plot is on the first screen of a browser.
pub const HEIGHT: usize = 420;

struct Axes<'a> {
    x: &'a Column,
    y: &'a Column,
    /// What the answer compares costs with and its totals, if the horizontal axis shows costs as shares of it.
    yardstick: Option<(&'a str, &'a Values)>,
}

impl Axes<'_> {
    /// The horizontal value: a cost as a share of the yardstick's, as in the answer.
    fn x_of(&self, values: &Values) -> Option<f64> {
        self.share(&self.x.id, values)
    }

    /// A column of these totals, or its share of the yardstick's.
    fn share(&self, column: &str, values: &Values) -> Option<f64> {
        let theirs = self.yardstick.map_or(Some(1.0), |(_, totals)| totals.get(column))?;
        Some(values.get(column)? / theirs)
    }

    fn x_words(&self, roles: &Roles) -> String {
        self.yardstick.map_or_else(|| words(self.x, roles), |(policy, _)| cost_share(roles.label(policy)))
    }

    /// What a column in a tooltip or a table is called, and its value.
    fn named(&self, column: &Column, values: &Values, roles: &Roles) -> (String, Option<f64>) {
        if column.id == self.x.id {
            return (self.x_words(roles), self.x_of(values));
        }
        (words(column, roles), values.get(&column.id))
    }
}

pub fn draw(results: &Results, series: &PolicySeries) -> Option<Figure> {
    let roles = &series.roles;
    let axes = axes(results, roles)?;
    let dots = dots(results, series, &axes);
    if dots.is_empty() {
        return None;
    }
    let window = Window::around(&dots);
    let at = |place: (f64, f64)| window.place(place);
    let mut front: Vec<&Dot> = dots.iter().filter(|dot| dot.on_front).collect();
    front.sort_by(|a, b| a.position.0.total_cmp(&b.position.0));
    let tooltip_columns = tooltip_columns(results, &axes);
    let drawing = html! {
        (backdrop::tints(&axes, &window))
        (plot::vertical_axis(&window.y, axes.y.unit, &(words(axes.y, roles) + direction(axes.y.better))))
        (plot::horizontal_axis(&window.x, axes.x.unit, &(axes.x_words(roles) + direction(axes.x.better)), true))
        (backdrop::references(&axes, &window))
        (backdrop::better(better(results, axes.x), better(results, axes.y)))
        @if front.len() > 1 {
            (plot::path("front", front.iter().map(|dot| at(dot.position))))
        }
        @for dot in &dots { (surroundings(dot, &window)) }
        @for dot in &dots { (point(dot, &window, &tooltip_lines(dot, &tooltip_columns, &axes, roles), roles)) }
        (names(&dots, &window, &axes, roles))
    };
    let name = format!("{} and {}", words(axes.y, roles), axes.x_words(roles));
    let caption = caption(results, &dots, &window);
    Some(Figure {
        drawing: area("scatter", HEIGHT, "group", &name, &caption, &drawing),
        legend: legend(&dots, results, &window, roles.praise_of_all()),
        caption,
        data: data_table(&dots, &tooltip_columns, (&axes, roles), name),
    })
}

/// Returns the first two objectives of a sweep; without a sweep, cost and facts in context.
fn axes<'a>(results: &'a Results, roles: &Roles<'a>) -> Option<Axes<'a>> {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    let mut objectives = objectives.filter_map(|objective| results.column(&objective.column));
    let (x, y) = match (objectives.next(), objectives.next()) {
        (Some(x), Some(y)) => (x, y),
        _ => (first_with_values(results, &COST)?, first_with_values(results, &RETENTION)?),
    };
    let has_cost = |totals: &&Values| totals.get(cost::RATIO).is_some_and(|theirs| theirs > 0.0);
    let yardstick = roles.yardstick.zip(roles.plotted_yardstick.filter(has_cost)).filter(|_| x.id == cost::RATIO);
    Some(Axes { x, y, yardstick })
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
fn tooltip_lines(dot: &Dot, columns: &[&Column], axes: &Axes, roles: &Roles) -> Vec<(String, String)> {
    let interval = |unit: Unit, ends: Option<[f64; 2]>| {
        ends.and_then(|ends| number_format::interval(unit, ends)).map_or(String::new(), |ends| format!(" ({ends})"))
    };
    let of_column = |(index, column): (usize, &&Column)| {
        let (name, value) = axes.named(column, dot.values, roles);
        let value = number_format::value(column.unit, Some(value?));
        let ends = [dot.x_interval, dot.y_interval].get(index).copied().flatten();
        Some((name, value + &interval(column.unit, ends)))
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

fn data_table(dots: &[Dot], columns: &[&Column], (axes, roles): (&Axes, &Roles), title_of_plot: String) -> TableModel {
    let mut headers = vec![ColumnHeader::names("policy")];
    let named = |column: &Column, values: &Values| axes.named(column, values, roles);
    headers.extend(columns.iter().map(|column| ColumnHeader::numbers(&named(column, dots[0].values).0)));
    headers.push(ColumnHeader::words("front"));
    headers.push(ColumnHeader::prose("parameters"));
    let row = |dot: &Dot| {
        let mut cells = vec![dot.policy.to_owned()];
        cells.extend(columns.iter().map(|column| number_format::value(column.unit, named(column, dot.values).1)));
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
