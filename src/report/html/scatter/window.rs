//! Which part of the plane is drawn: the policies that may be used fill it, and far points are moved to its edge.

use super::super::plot::Scale;
use super::dots::Dot;
use crate::results::Role;

/// Points that must not be used are within the window if they are at most this many of its widths away.
const NEAR: f64 = 1.5;
/// Smallest width of the window, as a share of the largest value; a smaller one would show noise as a difference.
const MIN_WIDTH: f64 = 0.1;

/// The scales of the drawn part.
pub struct Window {
    pub x: Scale,
    pub y: Scale,
}

/// The edge at which a point is drawn, because it is farther away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside {
    pub right_or_left: bool,
    pub below_or_above: bool,
}

impl Window {
    pub fn around(dots: &[Dot]) -> Self {
        let scale = |value: fn(&Dot) -> f64| {
            let of = |is: &dyn Fn(&Dot) -> bool| dots.iter().filter(|dot| is(dot)).map(value).collect::<Vec<f64>>();
            let needed = of(&|dot| dot.flaw.is_none() && !is_lower_bound(dot));
            let others = of(&|dot| dot.flaw.is_some() || is_lower_bound(dot));
            let all = of(&|_| true);
            // Only unfit policies, or only the baseline: all of them are drawn.
            let has_fit = dots.iter().any(|dot| dot.flaw.is_none() && !Role::of(dot.policy).is_bound());
            if has_fit { zoomed(&needed, &others) } else { Scale::around(all.into_iter()) }
        };
        Self { x: scale(|dot| dot.position.0), y: scale(|dot| dot.position.1) }
    }

    /// The place of a value in percent of the plot, moved to its edge if it is outside.
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.position(x).clamp(0.0, 100.0), self.y.position_from_top(y).clamp(0.0, 100.0))
    }

    /// Whether a value is outside.
    pub fn outside(&self, (x, y): (f64, f64)) -> Outside {
        let is_within = |scale: &Scale, value: f64| (scale.low..=scale.high).contains(&value);
        Outside { right_or_left: !is_within(&self.x, x), below_or_above: !is_within(&self.y, y) }
    }
}

impl Outside {
    pub fn is_any(self) -> bool {
        self.right_or_left || self.below_or_above
    }
}

/// The lower bound is far below all policies.
fn is_lower_bound(dot: &Dot) -> bool {
    Role::of(dot.policy) == Role::DropAll
}

/// A scale around the needed values and the other ones that are near.
fn zoomed(needed: &[f64], others: &[f64]) -> Scale {
    let ends = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        (low, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let (low, high) = ends(needed);
    let width = (high - low).max(MIN_WIDTH * high.abs());
    let is_near = |value: &f64| *value >= low - NEAR * width && *value <= high + NEAR * width;
    let near: Vec<f64> = needed.iter().chain(others.iter().filter(|value| is_near(value))).copied().collect();
    let (low, high) = ends(&near);
    let margin = (MIN_WIDTH * high.abs() - (high - low)).max(0.0) / 2.0;
    // Points at an edge are beside the needed ones, not among them.
    let beside = |is_outside: &dyn Fn(f64) -> bool| if others.iter().copied().any(is_outside) { width / 5.0 } else { 0.0 };
    Scale::around([low - margin - beside(&|value| value < low), high + margin + beside(&|value| value > high)].into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_holds_needed_and_near_values() {
        let ends = |scale: Scale| (scale.low, scale.high);
        assert_eq!(ends(zoomed(&[0.7, 1.0], &[1.2, 6.0])), (0.6, 1.4));
        assert_eq!(ends(zoomed(&[0.8, 1.0], &[0.0])), (0.75, 1.0));
        assert_eq!(ends(zoomed(&[1.0], &[])), (0.94, 1.06));
    }
}
