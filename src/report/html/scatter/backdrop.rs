//! What is behind the points: which side is cheaper, what policies are compared with as lines, and where it is better.

use maud::{Markup, html};

use super::super::plot;
use super::Axes;
use super::window::Window;
use crate::metrics::metric::retention;
use crate::results::saved::Direction;

/// The cost of the yardstick as a share of its own.
const SAME_COST: f64 = 1.0;
/// The share of facts that no compaction keeps.
const ALL_FACTS: f64 = 1.0;
/// A side of the plot has a name if it takes more than this percentage.
const NAMED: f64 = 10.0;

/// Tints the sides of the plot that are cheaper and dearer than what the answer compares with.
pub fn tints(axes: &Axes, window: &Window) -> Markup {
    if axes.yardstick.is_none() {
        return Markup::default();
    }
    let border = window.place((SAME_COST, 0.0)).0;
    let side = |class: &str, from: f64, to: f64| {
        html! { rect class={ "side " (class) } x={ (plot::percent(from)) "%" } width={ (plot::percent(to - from)) "%" } y="0" height="100%" {} }
    };
    html! {
        (side("cheaper", 0.0, border))
        (side("dearer", border, 100.0))
    }
}

/// Draws the cost of what the answer compares with, and all facts, as lines.
pub fn references(axes: &Axes, window: &Window) -> Markup {
    let (x, y) = window.place((SAME_COST, ALL_FACTS));
    html! {
        @if axes.yardstick.is_some() {
            (plot::line("reference", (x, 0.0), (x, 100.0)))
            @if x > NAMED { text class="side-name" x={ (plot::percent(x)) "%" } dx="-6" y="100%" dy="-8" text-anchor="end" { "cheaper" } }
            @if x < 100.0 - NAMED { text class="side-name" x={ (plot::percent(x)) "%" } dx="6" y="100%" dy="-8" { "dearer" } }
        }
        @if axes.y.id == retention::HIT { (plot::line("reference", (0.0, y), (100.0, y))) }
    }
}

/// Draws an arrow in the direction that is better in both columns.
pub fn better(x: Direction, y: Direction) -> Markup {
    let arrow = match (x, y) {
        (Direction::Lower, Direction::Higher) => "↖",
        (Direction::Higher, Direction::Higher) => "↗",
        (Direction::Lower, Direction::Lower) => "↙",
        (Direction::Higher, Direction::Lower) => "↘",
        _ => return Markup::default(),
    };
    html! {
        text class="better" x="100%" y="0" dy="-12" text-anchor="end" { tspan class="arrow" { (arrow) } " better" }
    }
}
