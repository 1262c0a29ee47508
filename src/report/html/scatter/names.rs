//! The names beside the points of the scatter plot, where there is room.

use maud::{Markup, html};

use super::super::super::escape::terminal;
use super::super::super::number_format;
use super::super::super::table_model::cut_to;
use super::super::plot;
use super::super::roles::Roles;
use super::window::Window;
use super::{Axes, Dot, HEIGHT};
use crate::results::Role;

/// Approximate width of the plot beside the answer, in pixels; names must not overlap at this width.
pub const WIDTH: f64 = 620.0;
/// With more policies than this, only those on the front, the recommended one and the two bounds have names.
const MAX_NAMED: usize = 20;
/// Most letters of a name; the settings of a configuration can be many.
const LONGEST: usize = 34;
/// Approximate width of a letter.
const LETTER: f64 = 7.2;
/// Places of a name beside its point, the best first: distance to the right and downwards, and which end of the text is there.
const PLACES: [(f64, f64, &str); 8] = [
    (12.0, 4.0, "start"),
    (-12.0, 4.0, "end"),
    (0.0, -13.0, "middle"),
    (0.0, 22.0, "middle"),
    (12.0, -10.0, "start"),
    (12.0, 18.0, "start"),
    (-12.0, -10.0, "end"),
    (-12.0, 18.0, "end"),
];

/// A part of the plot, in pixels.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    /// The part that a point takes.
    fn of_point((x, y): (f64, f64)) -> Self {
        Self { left: x - 7.0, top: y - 7.0, right: x + 7.0, bottom: y + 7.0 }
    }

    /// The part that a name takes at a place beside its point.
    fn of_name((x, y): (f64, f64), width: f64, (right, down, anchor): (f64, f64, &str)) -> Self {
        let left = match anchor {
            "start" => x + right,
            "end" => x + right - width,
            _ => x + right - width / 2.0,
        };
        Self { left, top: y + down - 12.0, right: left + width, bottom: y + down + 3.0 }
    }

    /// The part of the names of the two sides: they are at the bottom, beside a line.
    fn of_sides(x: f64) -> Self {
        let height = HEIGHT as f64;
        Self { left: x - 60.0, top: height - 22.0, right: x + 55.0, bottom: height }
    }

    fn is_inside(&self) -> bool {
        self.left > 0.0 && self.right < WIDTH + 10.0 && self.top > -12.0 && self.bottom < HEIGHT as f64 - 2.0
    }

    fn is_apart(&self, other: &Self) -> bool {
        self.left > other.right || self.right < other.left || self.top > other.bottom || self.bottom < other.top
    }
}

/// Places names beside points, if there is room.
pub fn names(dots: &[Dot], window: &Window, axes: &Axes, roles: &Roles) -> Markup {
    let mut named: Vec<&Dot> = dots.iter().filter(|dot| dot.mark.is_some() || dot.recommended).collect();
    // The recommended one and those that may be used get their place first.
    named.sort_by_key(|dot| (!dot.recommended, dot.flaw.is_some(), Role::of(dot.policy).is_bound()));
    let pixels = |dot: &Dot| {
        let (x, y) = window.place(dot.position);
        (x / 100.0 * WIDTH, y / 100.0 * HEIGHT as f64)
    };
    let mut taken: Vec<Area> = named.iter().map(|dot| Area::of_point(pixels(dot))).collect();
    if axes.yardstick.is_some() {
        taken.push(Area::of_sides(window.place((1.0, 0.0)).0 / 100.0 * WIDTH));
    }
    if named.len() > MAX_NAMED {
        named.retain(|dot| dot.on_front || dot.recommended || Role::of(dot.policy).is_bound());
    }
    let mut drawn = Vec::new();
    for dot in named {
        let text = name(dot, window, axes, roles);
        let width = text.chars().count() as f64 * LETTER;
        let mut places = PLACES.into_iter().map(|place| (place, Area::of_name(pixels(dot), width, place)));
        let free = places.find(|(_, area)| area.is_inside() && taken.iter().all(|other| area.is_apart(other)));
        let Some(((dx, dy, anchor), area)) = free else { continue };
        taken.push(area);
        let (x, y) = window.place(dot.position);
        drawn.push(html! {
            text class={ "name " (roles.class(dot.policy)) } data-p=(dot.index) x={ (plot::percent(x)) "%" }
                y={ (plot::percent(y)) "%" } dx=(dx) dy=(dy) text-anchor=(anchor) { (terminal(&text)) }
        });
    }
    html! {
        @for name in drawn { (name) }
    }
}

/// The name of a point. One at the edge has an arrow and the values that do not fit: `lcc-s08 → 1.72`.
fn name(dot: &Dot, window: &Window, axes: &Axes, roles: &Roles) -> String {
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
