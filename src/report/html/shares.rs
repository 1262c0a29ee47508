//! Facts in context, by calls since a fact was last seen and by summaries in between: one line per policy.

use std::collections::HashMap;

use maud::{Markup, html};

use super::super::number_format;
use super::super::table_model::{ColumnHeader, TableModel};
use super::figure::{Figure, area};
use super::plot::{self, Scale};
use super::series::{PolicySeries, SeriesStyle};
use crate::results::saved::{KeptRow, Results, Unit};

/// A plot of one grouping of uses.
struct Grouping {
    /// The grouping's id in the rows.
    by: &'static str,
    name: &'static str,
    /// Label of the horizontal axis.
    axis: &'static str,
    caption: &'static str,
}

const GAP: Grouping = Grouping {
    by: "gap",
    name: "By calls since seen",
    axis: "calls since the fact was last seen",
    caption: "The weighted share of later uses whose fact was still in the request.",
};

const GENERATION: Grouping = Grouping {
    by: "generation",
    name: "By summaries in between",
    axis: "summaries between the fact and its use",
    caption: "The same share after none, one, two … summaries of the policy. A policy without summaries has one point.",
};

/// Height in pixels.
const HEIGHT: usize = 250;

/// Draws both groupings beside each other.
pub fn both(results: &Results, series: &PolicySeries) -> Markup {
    let halves: Vec<_> = [GAP, GENERATION].iter().filter_map(|by| Some((by.name, draw(by, results, series)?))).collect();
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

fn draw(grouping: &Grouping, results: &Results, series: &PolicySeries) -> Option<Figure> {
    let rows: Vec<&KeptRow> =
        results.retention.iter().filter(|row| row.grouped_by == grouping.by && row.hit.is_finite()).collect();
    let mut steps: Vec<&str> = Vec::new();
    for row in &rows {
        if !steps.contains(&&*row.group) {
            steps.push(&row.group);
        }
    }
    if steps.is_empty() {
        return None;
    }
    let shares: HashMap<(&str, &str), &KeptRow> = rows.iter().map(|row| ((row.policy.as_str(), &*row.group), *row)).collect();
    let scale = Scale::around([0.0, 1.0].into_iter());
    let line = |style: &SeriesStyle| {
        let point = |(index, step): (usize, &&str)| {
            let row = shares.get(&(style.policy, *step))?;
            Some((plot::step_middle(index, steps.len()), scale.position_from_top(row.hit)))
        };
        let points: Vec<(f64, f64)> = steps.iter().enumerate().filter_map(point).collect();
        html! {
            g class={ "series " (style.class) } data-p=(style.index) data-line=(style.index) {
                (plot::path("stroke", points.iter().copied()))
                @for point in &points { (plot::mark("", style.mark, *point)) }
            }
        }
    };
    let drawing = html! {
        (plot::vertical_axis(&scale, Unit::Share, "in context"))
        (plot::step_axis(&steps, grouping.axis))
        @for style in &series.drawn { (line(style)) }
    };
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(steps.iter().map(|step| ColumnHeader::numbers(step)));
    let share = |policy: &str, step: &str| number_format::value(Unit::Share, shares.get(&(policy, step)).map(|row| row.hit));
    let mut policies: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if policies.last() != Some(&row.policy.as_str()) && !policies.contains(&row.policy.as_str()) {
            policies.push(&row.policy);
        }
    });
    let row = |policy: &&str| std::iter::once((*policy).to_owned()).chain(steps.iter().map(|step| share(policy, step))).collect();
    let data = TableModel {
        title: format!("{}, {}", grouping.name, grouping.axis),
        subject: String::new(),
        headers,
        rows: policies.iter().map(row).collect(),
        footnotes: vec![],
    };
    Some(Figure {
        drawing: area(grouping.by, HEIGHT, "img", grouping.name, grouping.caption, &drawing),
        legend: series.legend(None),
        caption: format!("{} {}", grouping.caption, series.left_out(results)).trim_end().to_owned(),
        data,
    })
}
