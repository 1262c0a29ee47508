//! Cost against what is kept: every policy and every configuration of a sweep as a point, the front joined.

mod labels;

use std::collections::{HashMap, HashSet};

use super::super::table_model::compare::title;
use super::super::table_model::{ColumnHeader, TableModel};
use super::super::{escape, number_format};
use labels::{caption, legend, names};

use super::figure::{Figure, area};
use super::parameters::parameters;
use super::plot::{self, Scale};
use super::series::{self, COST, KEPT, PolicySeries, TOLD, first_with_values, is_end};
use crate::results::saved::{Column, ConfigurationRow, Direction, Results, Summary, Values};

/// Pixels.
const HEIGHT: usize = 420;

/// One policy or configuration.
struct Dot<'a> {
    policy: &'a str,
    place: usize,
    at: (f64, f64),
    /// Where they were drawn.
    across: Option<[f64; 2]>,
    up: Option<[f64; 2]>,
    /// What a clairvoyant hits in as many tokens.
    bound: Option<f64>,
    class: String,
    mark: Option<usize>,
    on_front: bool,
    recommended: bool,
    settings: Vec<(String, String)>,
    values: &'a Values,
}

struct Axes<'a> {
    across: &'a Column,
    up: &'a Column,
}

pub fn draw(results: &Results, cast: &PolicySeries) -> Option<Figure> {
    let axes = axes(results)?;
    let dots = dots(results, cast, &axes);
    if dots.is_empty() {
        return None;
    }
    let across = Scale::around(dots.iter().flat_map(|dot| dot.across.into_iter().flatten().chain([dot.at.0])));
    let up = Scale::around(dots.iter().flat_map(|dot| dot.up.into_iter().flatten().chain(dot.bound).chain([dot.at.1])));
    let place = |(x, y): (f64, f64)| (across.at(x), up.down(y));

    let mut inside = plot::upright(&up, axes.up.unit, &axis_name(axes.up));
    inside += &plot::level(&across, axes.across.unit, &axis_name(axes.across), true);
    let mut front: Vec<&Dot> = dots.iter().filter(|dot| dot.on_front).collect();
    front.sort_by(|a, b| a.at.0.total_cmp(&b.at.0));
    if front.len() > 1 {
        inside += &plot::path("front", "", front.iter().map(|dot| place(dot.at)));
    }
    for dot in &dots {
        let whisker = |from, to| plot::line(&format!("whisker {}", dot.class), place(from), place(to));
        inside += &dot.across.map_or(String::new(), |[low, high]| whisker((low, dot.at.1), (high, dot.at.1)));
        inside += &dot.up.map_or(String::new(), |[low, high]| whisker((dot.at.0, low), (dot.at.0, high)));
        if let Some(bound) = dot.bound {
            let top = place((dot.at.0, bound));
            inside += &plot::line("headroom", place(dot.at), top);
            inside += &format!(r##"<use class="ceiling" href="#cap" x="{}%" y="{}%"/>"##, plot::place(top.0), plot::place(top.1));
        }
    }
    let told = told(results, &axes);
    inside += &dots.iter().map(|dot| point(dot, place(dot.at), &told)).collect::<String>();
    inside += &names(&dots, place);
    let name = format!("{} against {}", title(axes.up), title(axes.across));
    let caption = caption(results, &dots);
    Some(Figure {
        drawing: area("scatter", HEIGHT, "group", &name, &caption, &inside),
        legend: legend(&dots, results),
        caption,
        data: data(&dots, &told, name),
    })
}

/// The first two objectives of a sweep, else cost and what is kept.
fn axes(results: &Results) -> Option<Axes<'_>> {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    let mut objectives = objectives.filter_map(|objective| results.column(&objective.column));
    match (objectives.next(), objectives.next()) {
        (Some(across), Some(up)) => Some(Axes { across, up }),
        _ => Some(Axes { across: first_with_values(results, &COST)?, up: first_with_values(results, &KEPT)? }),
    }
}

fn better(results: &Results, column: &Column) -> Direction {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    objectives.filter(|objective| objective.column == column.id).map(|objective| objective.better).next().unwrap_or(column.better)
}

fn axis_name(column: &Column) -> String {
    let way = match column.better {
        Direction::Lower => ", less is better",
        Direction::Higher => ", more is better",
        Direction::Neither => "",
    };
    format!("{}{way}", title(column))
}

fn dots<'a>(results: &'a Results, cast: &PolicySeries, axes: &Axes) -> Vec<Dot<'a>> {
    let at = |values: &Values| Some((values.get(&axes.across.id)?, values.get(&axes.up.id)?));
    let at = |values: &Values| at(values).filter(|(x, y)| x.is_finite() && y.is_finite());
    let replayed: Vec<&Summary> = results.summary.iter().filter(|summary| summary.bound_of.is_none()).collect();
    let known: HashSet<&str> = replayed.iter().map(|summary| summary.policy.as_str()).collect();
    let tried: HashMap<&str, &ConfigurationRow> =
        results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|row| (row.policy.as_str(), row)).collect();
    let recommended = results.sweep.as_ref().and_then(|sweep| Some(sweep.recommended.as_ref()?.policy.as_str()));
    let small = results.sweep.iter().flat_map(|sweep| &sweep.configurations).filter(|row| !known.contains(row.policy.as_str()));
    let most = results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|row| row.sessions).max().unwrap_or(0);
    let apart = results.sweep.as_ref().is_some_and(|sweep| sweep.held_out > 0);
    let mut dots: Vec<Dot> = Vec::new();
    dots.extend(small.filter_map(|row| {
        let class = match row {
            row if !row.allowed => "tried refused",
            row if row.sessions < most => "tried early",
            _ => "tried",
        };
        Some(Dot {
            policy: &row.policy,
            place: cast.place(&row.policy)?,
            at: at(&row.values)?,
            across: None,
            up: None,
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
        let look = cast.look(policy);
        let bounds = results.summary.iter().filter(|bound| bound.bound_of.as_deref() == Some(policy));
        let own = tried.get(policy).copied();
        // A front was chosen on other sessions than those held out: all points are of the same ones.
        let values = if apart { &own?.values } else { &summary.values };
        let interval = |id: &str| summary.intervals.entry(id).copied().filter(|_| !apart);
        Some(Dot {
            policy,
            place: cast.place(policy)?,
            at: at(values)?,
            across: interval(&axes.across.id),
            up: interval(&axes.up.id),
            bound: bounds.filter_map(|bound| bound.values.get(&axes.up.id)).next().filter(|_| !apart),
            class: look.map_or("other".to_owned(), |look| look.class.clone()),
            mark: Some(look.map_or(0, |look| look.mark)),
            on_front: own.is_some_and(|row| row.front),
            recommended: recommended == Some(policy),
            settings: own
                .filter(|row| row.policy != row.of)
                .map_or_else(|| parameters(results, policy), |row| row.settings.clone()),
            values,
        })
    }));
    if results.sweep.is_none() {
        let ways = (better(results, axes.across), better(results, axes.up));
        let on_front: Vec<bool> = dots.iter().map(|dot| is_on_front(dot, &dots, ways)).collect();
        dots.iter_mut().zip(on_front).for_each(|(dot, on_front)| dot.on_front = on_front);
    }
    dots
}

/// No other policy is as good in both and better in one. The ends take no part: they are what policies lie between.
fn is_on_front(dot: &Dot, dots: &[Dot], (across, up): (Direction, Direction)) -> bool {
    let good = |value: f64, way: Direction| if way == Direction::Lower { -value } else { value };
    let goods = |dot: &Dot| (good(dot.at.0, across), good(dot.at.1, up));
    let own = goods(dot);
    let beats = |other: &Dot| {
        let other = goods(other);
        other.0 >= own.0 && other.1 >= own.1 && other != own
    };
    !is_end(dot.policy) && !dots.iter().any(|other| !is_end(other.policy) && beats(other))
}

/// What the tooltip of a point tells: the axes, the other objectives, and some more.
fn told<'a>(results: &'a Results, axes: &Axes<'a>) -> Vec<&'a Column> {
    let objectives = results.sweep.iter().flat_map(|sweep| &sweep.objectives);
    let more = objectives.map(|objective| &*objective.column).chain(TOLD).filter_map(|id| results.column(id));
    let mut told = vec![axes.across, axes.up];
    for column in more {
        if !told.iter().any(|known| known.id == column.id) {
            told.push(column);
        }
    }
    told
}

fn point(dot: &Dot, (x, y): (f64, f64), told: &[&Column]) -> String {
    let mut lines: Vec<(String, String)> = told
        .iter()
        .filter_map(|column| Some((title(column), number_format::value(column.unit, Some(dot.values.get(&column.id)?)))))
        .collect();
    for (column, ends) in [(0, dot.across), (1, dot.up)] {
        if let (Some([low, high]), Some(line)) = (ends, lines.get_mut(column)) {
            let unit = told[column].unit;
            line.1 += &format!(" ({} … {})", number_format::value(unit, Some(low)), number_format::value(unit, Some(high)));
        }
    }
    lines.extend(dot.settings.iter().cloned());
    let spoken: Vec<String> = lines.iter().map(|(name, value)| format!("{name} {value}")).collect();
    let told: Vec<String> = lines.iter().flat_map(|(name, value)| [escape::html(name), escape::html(value)]).collect();
    let flags = [(dot.on_front, " onfront"), (dot.recommended, " best")];
    let flags: String = flags.into_iter().filter(|(is, _)| *is).map(|(_, class)| class).collect();
    let name = escape::html(dot.policy);
    let ring = if dot.recommended {
        format!(r##"<use class="ring" href="#ring" x="{}%" y="{}%"/>"##, plot::place(x), plot::place(y))
    } else {
        String::new()
    };
    format!(
        r##"{ring}<use class="dot mark {}{flags}" href="#{}" x="{}%" y="{}%" role="button" tabindex="-1" aria-pressed="false" data-p="{place}" data-pin="{place}" data-name="{name}" data-tip="{}" aria-label="{name}: {}"/>"##,
        dot.class,
        dot.mark.map_or("tried".to_owned(), |mark| format!("m{}", mark % 8)),
        plot::place(x),
        plot::place(y),
        told.join("\n"),
        escape::html(&spoken.join(", ")),
        place = dot.place,
    )
}

fn data(dots: &[Dot], told: &[&Column], title_of_plot: String) -> TableModel {
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(told.iter().map(|column| ColumnHeader::numbers(&title(column))));
    heads.push(ColumnHeader::words("front"));
    heads.push(ColumnHeader::prose("parameters"));
    let row = |dot: &Dot| {
        let mut cells = vec![dot.policy.to_owned()];
        cells.extend(told.iter().map(|column| number_format::value(column.unit, dot.values.get(&column.id))));
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
    TableModel { title: title_of_plot, measure: String::new(), heads, rows: dots.iter().map(row).collect(), below: vec![] }
}

/// The shapes only this plot needs, once a page.
pub fn shapes() -> &'static str {
    r#"<svg class="defs" width="0" height="0" aria-hidden="true"><defs><circle id="tried" r="2.8"/><circle id="ring" r="10"/><path id="cap" d="M-5 0H5"/></defs></svg>"#
}

/// Whether there is anything to draw a front of.
pub fn heading(results: &Results) -> &'static str {
    let by_cost = first_with_values(results, &series::COST[..1]).is_some();
    if by_cost || results.sweep.is_some() { "Cost against what is kept" } else { "Tokens against what is kept" }
}
