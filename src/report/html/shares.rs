//! What was kept, by how long ago a fact was said and by how many summaries came between: a line a policy.

use std::collections::HashMap;

use super::super::number_format;
use super::super::table_model::{ColumnHeader, TableModel};
use super::figure::{Figure, area};
use super::plot::{self, Scale};
use super::series::{PolicySeries, SeriesStyle};
use crate::results::saved::{KeptRow, Results, Unit};

/// What is drawn of one side of the uses.
pub struct Side {
    /// As in the rows.
    pub by: &'static str,
    pub name: &'static str,
    /// Under the horizontal axis.
    pub axis: &'static str,
    pub caption: &'static str,
}

pub const GAP: Side = Side {
    by: "gap",
    name: "Survival by gap",
    axis: "calls since the fact was last said",
    caption: "The share of later uses, by weight, whose fact was still in the request.",
};

pub const GENERATION: Side = Side {
    by: "generation",
    name: "Decay by generation",
    axis: "summaries between the fact and its use",
    caption: "What came through none, one, two summaries of the policy. A policy without summaries has one point.",
};

/// Pixels.
const HEIGHT: usize = 250;

pub fn draw(side: &Side, results: &Results, cast: &PolicySeries) -> Option<Figure> {
    let rows: Vec<&KeptRow> = results.kept.iter().filter(|row| row.by == side.by && row.hit.is_finite()).collect();
    let mut steps: Vec<&str> = Vec::new();
    for row in &rows {
        if !steps.contains(&&*row.of) {
            steps.push(&row.of);
        }
    }
    if steps.is_empty() {
        return None;
    }
    let hits: HashMap<(&str, &str), &KeptRow> = rows.iter().map(|row| ((row.policy.as_str(), &*row.of), *row)).collect();
    let scale = Scale::around([0.0, 1.0].into_iter());
    let series = |look: &SeriesStyle| {
        let hit = |(at, step): (usize, &&str)| {
            let row = hits.get(&(look.policy, *step))?;
            Some((plot::step_middle(at, steps.len()), scale.down(row.hit)))
        };
        let places: Vec<(f64, f64)> = steps.iter().enumerate().filter_map(hit).collect();
        let marks: String = places.iter().map(|place| plot::mark("", look.mark, *place)).collect();
        let line = plot::path("stroke", "", places.into_iter());
        format!(r#"<g class="series {}" data-p="{}" data-line="{}">{line}{marks}</g>"#, look.class, look.place, look.place)
    };
    let lines: String = cast.drawn.iter().map(series).collect();
    let inside = format!("{}{}{lines}", plot::upright(&scale, Unit::Share, "kept"), plot::steps(&steps, side.axis));
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(steps.iter().map(|step| ColumnHeader::numbers(step)));
    let share = |policy: &str, step: &str| number_format::value(Unit::Share, hits.get(&(policy, step)).map(|row| row.hit));
    let mut policies: Vec<&str> = Vec::new();
    rows.iter().for_each(|row| {
        if policies.last() != Some(&row.policy.as_str()) && !policies.contains(&row.policy.as_str()) {
            policies.push(&row.policy);
        }
    });
    let row = |policy: &&str| std::iter::once((*policy).to_owned()).chain(steps.iter().map(|step| share(policy, step))).collect();
    let data = TableModel {
        title: format!("{}, {}", side.name, side.axis),
        measure: String::new(),
        heads,
        rows: policies.iter().map(row).collect(),
        below: vec![],
    };
    Some(Figure {
        drawing: area(side.by, HEIGHT, "img", side.name, side.caption, &inside),
        legend: cast.legend(""),
        caption: format!("{} {}", side.caption, cast.left_out(results)).trim_end().to_owned(),
        data,
    })
}
