//! The texts of the scatter plot: names beside points, the legend, the caption.

use maud::{Markup, html};

use super::super::super::escape::terminal;
use super::super::super::number_format;
use super::super::super::table_model::cut_to;
use super::super::plot;
use super::super::roles::Roles;
use super::super::series::is_bound;
use super::window::Window;
use super::{Axes, Dot, HEIGHT};
use crate::results::saved::{Results, Sweep};
use crate::util::text::plural;

/// Approximate width of the plot beside the answer, in pixels; names must not overlap at this width.
const WIDTH: f64 = 620.0;
/// With more policies than this, only those on the front, the recommended one and the two bounds have names.
const MAX_NAMED: usize = 20;
/// Most letters of a name; the settings of a configuration can be many.
const LONGEST: usize = 34;
/// Approximate width of a letter.
const LETTER: f64 = 7.2;

/// Places names beside points, if there is room.
pub fn names(dots: &[Dot], window: &Window, axes: &Axes, roles: &Roles) -> Markup {
    let mut candidates: Vec<&Dot> = dots.iter().filter(|dot| dot.mark.is_some() || dot.recommended).collect();
    // The recommended one and those that may be used get their place first.
    candidates.sort_by_key(|dot| (!dot.recommended, dot.flaw.is_some(), is_bound(dot.policy)));
    let pixels = |dot: &Dot| {
        let (x, y) = window.place(dot.position);
        (x / 100.0 * WIDTH, y / 100.0 * HEIGHT as f64)
    };
    // Boxes already in use: left, top, right, bottom.
    let mut taken: Vec<[f64; 4]> =
        candidates.iter().map(|dot| pixels(dot)).map(|(x, y)| [x - 7.0, y - 7.0, x + 7.0, y + 7.0]).collect();
    let mut labels = Vec::new();
    let named =
        candidates.iter().filter(|dot| candidates.len() <= MAX_NAMED || dot.on_front || dot.recommended || is_bound(dot.policy));
    for dot in named {
        let (x, y) = pixels(dot);
        let text = label(dot, window, axes, roles);
        let width = text.chars().count() as f64 * LETTER;
        let offsets = [
            (12.0, 4.0, "start"),
            (-12.0, 4.0, "end"),
            (0.0, -13.0, "middle"),
            (0.0, 22.0, "middle"),
            (12.0, -10.0, "start"),
            (12.0, 18.0, "start"),
            (-12.0, -10.0, "end"),
            (-12.0, 18.0, "end"),
        ];
        let free = offsets.into_iter().find_map(|(dx, dy, anchor)| {
            let left = x + dx
                - width
                    * match anchor {
                        "start" => 0.0,
                        "end" => 1.0,
                        _ => 0.5,
                    };
            let label_box = [left, y + dy - 12.0, left + width, y + dy + 3.0];
            let fits =
                label_box[0] > 0.0 && label_box[2] < WIDTH + 10.0 && label_box[1] > -12.0 && label_box[3] < HEIGHT as f64 - 2.0;
            let is_apart = |other: &[f64; 4]| {
                label_box[0] > other[2] || label_box[2] < other[0] || label_box[1] > other[3] || label_box[3] < other[1]
            };
            (fits && taken.iter().all(is_apart)).then_some((dx, dy, anchor, label_box))
        });
        let Some((dx, dy, anchor, label_box)) = free else { continue };
        taken.push(label_box);
        let (px, py) = window.place(dot.position);
        labels.push(html! {
            text class={ "name " (roles.class(dot.policy)) } data-p=(dot.index) x={ (plot::percent(px)) "%" }
                y={ (plot::percent(py)) "%" } dx=(dx) dy=(dy) text-anchor=(anchor) { (terminal(&text)) }
        });
    }
    html! {
        @for label in labels { (label) }
    }
}

/// The name of a point. One at the edge has an arrow and the values that do not fit: `lcc-s08 → 1.72`.
fn label(dot: &Dot, window: &Window, axes: &Axes, roles: &Roles) -> String {
    let (x, y) = dot.position;
    let outside = window.outside(dot.position);
    let mut text = cut_to(roles.label(dot.policy), LONGEST);
    if outside.right_or_left {
        let arrow = if x > window.x.high { "→" } else { "←" };
        text += &format!(" {arrow} {}", number_format::value(axes.x.unit, Some(x)));
    }
    if outside.below_or_above {
        let arrow = if y < window.y.low { "↓" } else { "↑" };
        text += &format!(" {arrow} {}", number_format::value(axes.y.unit, Some(y)));
    }
    text
}

pub fn legend(dots: &[Dot], results: &Results, window: &Window) -> Markup {
    let sample = |drawing: Markup, name: &str| {
        html! {
            span class="key still" {
                svg class="sample" width="30" height="14" aria-hidden="true" { (drawing) }
                (name)
            }
        }
    };
    let shape = |class: &str, shape: &str| html! { use class=(class) href=(shape) x="15" y="7" {} };
    let any = |is: fn(&Dot) -> bool| dots.iter().any(is);
    let level = results.statistics.as_ref().map_or(95.0, |statistics| statistics.level * 100.0);
    html! {
        div class="legend" {
            @if dots.iter().filter(|dot| dot.on_front).count() > 1 {
                (sample(html! { line class="front" x1="0" x2="30" y1="7" y2="7" {} }, "Pareto front"))
            }
            @if any(|dot| dot.mark.is_none()) {
                (sample(shape("mark tried", "#tried"), "configuration"))
            }
            @if any(|dot| dot.class.contains("early")) {
                (sample(shape("mark tried early", "#tried"), "dropped after fewer sessions"))
            }
            @if any(|dot| dot.class.contains("refused")) {
                (sample(shape("mark tried refused", "#tried"), "breaks a condition"))
            }
            @if any(|dot| dot.recommended) {
                (sample(shape("ring", "#ring"), "recommended"))
            }
            @if any(|dot| dot.flaw.is_some() && dot.mark.is_some()) {
                @let drawing = html! {
                    use class="mark other hollow" href="#m0" x="15" y="7" {}
                    use class="strike other" href="#strike" x="15" y="7" {}
                };
                (sample(drawing, "do not use"))
            }
            @if dots.iter().any(|dot| dot.cost_range.is_some() && !window.outside(dot.position).is_any()) {
                @let drawing = html! { line class="range other" x1="2" x2="28" y1="7" y2="7" {} };
                (sample(drawing, "cost by cache breakpoints, best to ends of requests"))
            }
            @if any(|dot| dot.bound.is_some()) {
                @let drawing = html! {
                    line class="headroom" x1="15" x2="15" y1="14" y2="3" {}
                    use class="ceiling" href="#cap" x="15" y="3" {}
                };
                (sample(drawing, "oracle at the same tokens (point at a policy)"))
            }
            @if any(|dot| dot.x_interval.is_some() || dot.y_interval.is_some()) {
                @let drawing = html! { line class="whisker other" x1="2" x2="28" y1="7" y2="7" {} };
                (sample(drawing, &format!("{} % interval", number_format::grouped(level, 0))))
            }
        }
    }
}

pub fn caption(results: &Results, dots: &[Dot], window: &Window) -> String {
    let outside = dots.iter().filter(|dot| window.outside(dot.position).is_any()).count();
    let edge = match outside {
        0 => String::new(),
        1 => " One point is farther away than the plot is wide; it is at the edge, beside an arrow.".to_owned(),
        many => format!(" {many} points are farther away than the plot is wide; they are at the edge, beside an arrow."),
    };
    let front = match &results.sweep {
        Some(sweep) => of_sweep(sweep, dots),
        None => "Point at a policy to see its values; click it, or press Enter, to highlight it on the whole page. No policy on the                  Pareto front is beaten in both columns by another."
            .to_owned(),
    };
    front + &edge
}

fn of_sweep(sweep: &Sweep, dots: &[Dot]) -> String {
    let allowed = sweep.configurations.iter().filter(|row| row.allowed).count();
    let sessions = match sweep.held_out {
        0 => plural(sweep.sessions, "session"),
        held => format!(
            "the {} they were chosen on; the table shows the front on the {held} held out",
            plural(sweep.sessions, "session")
        ),
    };
    let conditions = match sweep.conditions.len() {
        0 => "There are no conditions".to_owned(),
        _ => format!("{allowed} meet the conditions ({})", sweep.conditions.join(", ")),
    };
    format!(
        "{} on {sessions}. {conditions}; {} on the Pareto front: no other is as good in all objectives and better in one.",
        plural(sweep.configurations.len(), "configuration"),
        dots.iter().filter(|dot| dot.on_front).count()
    )
}
