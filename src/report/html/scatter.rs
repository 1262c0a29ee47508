//! Scatter plot of cost and facts in context: one point per policy and per configuration of a sweep, with the Pareto
//! front.

mod labels;

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::compare::title;
use super::super::table_model::{ColumnHeader, TableModel};
use labels::{caption, legend, names};

use super::figure::{Figure, area};
use super::parameters::parameters;
use super::plot::{self, Scale};
use super::series::{self, COST, PolicySeries, RETENTION, TOOLTIP, first_with_values, is_bound};
use crate::results::saved::{Column, ConfigurationRow, Direction, Results, Summary, Values};

/// Height in pixels.
const HEIGHT: usize = 420;

/// A point: one policy or configuration.
struct Dot<'a> {
    policy: &'a str,
    /// Index among all policies: `data-p` in the page.
    index: usize,
    position: (f64, f64),
    /// Ends of the bootstrap intervals, if there are any.
    x_interval: Option<[f64; 2]>,
    y_interval: Option<[f64; 2]>,
    /// The vertical value that an oracle reaches with the same tokens.
    bound: Option<f64>,
    class: String,
    mark: Option<usize>,
    on_front: bool,
    recommended: bool,
    settings: Vec<(String, String)>,
    values: &'a Values,
}

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
    let x_scale = Scale::around(dots.iter().flat_map(|dot| dot.x_interval.into_iter().flatten().chain([dot.position.0])));
    let y_scale =
        Scale::around(dots.iter().flat_map(|dot| dot.y_interval.into_iter().flatten().chain(dot.bound).chain([dot.position.1])));
    let to_percent = |(x, y): (f64, f64)| (x_scale.position(x), y_scale.position_from_top(y));

    let mut front: Vec<&Dot> = dots.iter().filter(|dot| dot.on_front).collect();
    front.sort_by(|a, b| a.position.0.total_cmp(&b.position.0));
    let tooltip_columns = tooltip_columns(results, &axes);
    let whisker = |dot: &Dot, from, to| plot::line(&format!("whisker {}", dot.class), to_percent(from), to_percent(to));
    let drawing = html! {
        (plot::vertical_axis(&y_scale, axes.y.unit, &axis_name(axes.y)))
        (plot::horizontal_axis(&x_scale, axes.x.unit, &axis_name(axes.x), true))
        @if front.len() > 1 {
            (plot::path("front", front.iter().map(|dot| to_percent(dot.position))))
        }
        @for dot in &dots {
            @let (x, y) = dot.position;
            @if let Some([low, high]) = dot.x_interval { (whisker(dot, (low, y), (high, y))) }
            @if let Some([low, high]) = dot.y_interval { (whisker(dot, (x, low), (x, high))) }
            @if let Some(bound) = dot.bound {
                (plot::line("headroom", to_percent(dot.position), to_percent((x, bound))))
                (plot::place("ceiling", "#cap", to_percent((x, bound))))
            }
        }
        @for dot in &dots { (point(dot, to_percent(dot.position), &tooltip_columns)) }
        (names(&dots, to_percent))
    };
    let name = format!("{} and {}", title(axes.y), title(axes.x));
    let caption = caption(results, &dots);
    Some(Figure {
        drawing: area("scatter", HEIGHT, "group", &name, &caption, &drawing),
        legend: legend(&dots, results),
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

fn axis_name(column: &Column) -> String {
    let direction = match column.better {
        Direction::Lower => ", less is better",
        Direction::Higher => ", more is better",
        Direction::Neither => "",
    };
    format!("{}{direction}", title(column))
}

fn dots<'a>(results: &'a Results, series: &PolicySeries, axes: &Axes) -> Vec<Dot<'a>> {
    let position = |values: &Values| Some((values.get(&axes.x.id)?, values.get(&axes.y.id)?));
    let position = |values: &Values| position(values).filter(|(x, y)| x.is_finite() && y.is_finite());
    let replayed: Vec<&Summary> = results.summary.iter().filter(|summary| summary.bound_of.is_none()).collect();
    let known: HashSet<&str> = replayed.iter().map(|summary| summary.policy.as_str()).collect();
    let configurations: HashMap<&str, &ConfigurationRow> =
        results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|row| (row.policy.as_str(), row)).collect();
    let recommended = results.sweep.as_ref().and_then(|sweep| Some(sweep.recommended.as_ref()?.policy.as_str()));
    let others = results.sweep.iter().flat_map(|sweep| &sweep.configurations).filter(|row| !known.contains(row.policy.as_str()));
    let most_sessions = results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|row| row.sessions).max().unwrap_or(0);
    let held_out = results.sweep.as_ref().is_some_and(|sweep| sweep.held_out > 0);
    let mut dots: Vec<Dot> = Vec::new();
    dots.extend(others.filter_map(|row| {
        let class = match row {
            row if !row.allowed => "tried refused",
            row if row.sessions < most_sessions => "tried early",
            _ => "tried",
        };
        Some(Dot {
            policy: &row.policy,
            index: series.index_of(&row.policy)?,
            position: position(&row.values)?,
            x_interval: None,
            y_interval: None,
            bound: None,
            class: class.to_owned(),
            mark: None,
            on_front: row.front,
            recommended: recommended == Some(row.policy.as_str()),
            settings: row.settings.clone(),
            values: &row.values,
        })
    }));
    dots.extend(replayed.iter().filter_map(|summary| {
        let policy = summary.policy.as_str();
        let style = series.style(policy);
        let bounds = results.summary.iter().filter(|bound| bound.bound_of.as_deref() == Some(policy));
        let configuration = configurations.get(policy).copied();
        // A front was chosen on other sessions than the held-out ones, so all points use the sessions of the choice.
        let values = if held_out { &configuration?.values } else { &summary.values };
        let interval = |id: &str| summary.intervals.entry(id).copied().filter(|_| !held_out);
        Some(Dot {
            policy,
            index: series.index_of(policy)?,
            position: position(values)?,
            x_interval: interval(&axes.x.id),
            y_interval: interval(&axes.y.id),
            bound: bounds.filter_map(|bound| bound.values.get(&axes.y.id)).next().filter(|_| !held_out),
            class: style.map_or("other".to_owned(), |style| style.class.clone()),
            mark: Some(style.map_or(0, |style| style.mark)),
            on_front: configuration.is_some_and(|row| row.front),
            recommended: recommended == Some(policy),
            settings: configuration
                .filter(|row| row.policy != row.of)
                .map_or_else(|| parameters(results, policy), |row| row.settings.clone()),
            values,
        })
    }));
    if results.sweep.is_none() {
        let directions = (better(results, axes.x), better(results, axes.y));
        let on_front: Vec<bool> = dots.iter().map(|dot| is_on_front(dot, &dots, directions)).collect();
        dots.iter_mut().zip(on_front).for_each(|(dot, on_front)| dot.on_front = on_front);
    }
    dots
}

/// Whether no other policy is at least as good in both columns and better in one. The two bounds are not compared: all
/// policies lie between them.
fn is_on_front(dot: &Dot, dots: &[Dot], (x, y): (Direction, Direction)) -> bool {
    let goodness = |value: f64, direction: Direction| if direction == Direction::Lower { -value } else { value };
    let both = |dot: &Dot| (goodness(dot.position.0, x), goodness(dot.position.1, y));
    let this = both(dot);
    let beats = |other: &Dot| {
        let other = both(other);
        other.0 >= this.0 && other.1 >= this.1 && other != this
    };
    !is_bound(dot.policy) && !dots.iter().any(|other| !is_bound(other.policy) && beats(other))
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

fn point(dot: &Dot, (x, y): (f64, f64), tooltip_columns: &[&Column]) -> Markup {
    let mut lines: Vec<(String, String)> = tooltip_columns
        .iter()
        .filter_map(|column| Some((title(column), number_format::value(column.unit, Some(dot.values.get(&column.id)?)))))
        .collect();
    for (column, ends) in [(0, dot.x_interval), (1, dot.y_interval)] {
        if let (Some([low, high]), Some(line)) = (ends, lines.get_mut(column)) {
            let unit = tooltip_columns[column].unit;
            line.1 += &format!(" ({} … {})", number_format::value(unit, Some(low)), number_format::value(unit, Some(high)));
        }
    }
    lines.extend(dot.settings.iter().cloned());
    let aria_texts: Vec<String> = lines.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let tooltip: Vec<_> = lines.iter().flat_map(|(name, value)| [terminal(name), terminal(value)]).collect();
    let (name, aria_text) = (terminal(dot.policy), aria_texts.join(", "));
    let shape = dot.mark.map_or("#tried".to_owned(), |mark| format!("#m{}", mark % 8));
    html! {
        @if dot.recommended { (plot::place("ring", "#ring", (x, y))) }
        use class={ "dot mark " (dot.class) @if dot.on_front { " onfront" } @if dot.recommended { " best" } } href=(shape)
            x={ (plot::percent(x)) "%" } y={ (plot::percent(y)) "%" } role="button" tabindex="-1" aria-pressed="false"
            data-p=(dot.index) data-pin=(dot.index) data-name=(name) data-tip=(tooltip.join("\n"))
            aria-label={ (name) ": " (terminal(&aria_text)) } {}
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
            }
        }
    }
}

/// The section's title: cost if it is known, else tokens.
pub fn heading(results: &Results) -> &'static str {
    let by_cost = first_with_values(results, &series::COST[..1]).is_some();
    if by_cost || results.sweep.is_some() { "Cost and facts in context" } else { "Tokens and facts in context" }
}
