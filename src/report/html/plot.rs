//! Drawing primitives of all plots: scales with round ticks, axes, lines and marks.
//!
//! Positions are percentages of the plot's SVG element and texts have a size in pixels, so a plot fills the available
//! width and its labels stay readable. Axis labels are drawn outside of the element; the style leaves room for them.

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use crate::results::saved::Unit;
use crate::util::text::head;

/// Approximate number of ticks on an axis.
const TICKS: usize = 5;
/// Maximum characters of a step's name.
const STEP: usize = 12;

/// Maps values to percentages of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    pub low: f64,
    pub high: f64,
    /// Ascending, all within the ends.
    pub ticks: Vec<f64>,
}

impl Scale {
    /// A scale that ends at the ticks around all values.
    pub fn around(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = ends(values);
        let (mantissa, exponent) = nice_step((high - low) / TICKS as f64);
        let step = mantissa * 10f64.powi(exponent);
        let (first, last) = ((low / step + 1e-9).floor() as i64, (high / step - 1e-9).ceil() as i64);
        let ticks: Vec<f64> = (first..=last.max(first + 1)).map(|count| tick(count, mantissa, exponent)).collect();
        Self { low: ticks[0], high: ticks[ticks.len() - 1], ticks }
    }

    /// A scale that ends at these values, with the ticks between them.
    pub fn exact(low: f64, high: f64) -> Self {
        let (low, high) = ends([low, high].into_iter());
        let (mantissa, exponent) = nice_step((high - low) / TICKS as f64);
        let step = mantissa * 10f64.powi(exponent);
        let (first, last) = ((low / step - 1e-9).ceil() as i64, (high / step + 1e-9).floor() as i64);
        Self { low, high, ticks: (first..=last).map(|count| tick(count, mantissa, exponent)).collect() }
    }

    /// Percentage of the way from the low end to the high end.
    pub fn position(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low) * 100.0
    }

    /// Percentage of the way from the high end to the low end, as SVG counts downwards.
    pub fn position_from_top(&self, value: f64) -> f64 {
        100.0 - self.position(value)
    }

    fn step(&self) -> f64 {
        self.ticks.windows(2).next().map_or(self.high - self.low, |two| two[1] - two[0])
    }

    /// Formats a tick label: `20k`, `60%`, `$0.5`, `0.8`.
    pub fn label(&self, unit: Unit, value: f64) -> String {
        let step = self.step();
        let digits = |size: f64| (-(step / size).log10() - 1e-9).ceil().clamp(0.0, 6.0) as usize;
        let plain = |size: f64| number_format::grouped(value / size, digits(size));
        match unit {
            Unit::Share => format!("{}%", plain(0.01)),
            Unit::Usd if value < 0.0 => format!("−${}", number_format::grouped(-value, digits(1.0))),
            Unit::Usd => format!("${}", plain(1.0)),
            Unit::Ratio => plain(1.0),
            Unit::Tokens | Unit::Count | Unit::Bytes => {
                let (size, letter) = [(1e9, "G"), (1e6, "M"), (1e3, "k")]
                    .into_iter()
                    .find(|(size, _)| self.high.abs().max(self.low.abs()) >= *size)
                    .unwrap_or((1.0, ""));
                if value == 0.0 { "0".to_owned() } else { format!("{}{letter}", plain(size)) }
            }
        }
    }
}

/// Returns the smallest and the largest value; if they are equal, a range around them.
fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    match high - low {
        span if span > 1e-12 * high.abs().max(low.abs()) && span.is_finite() => (low, high),
        _ if low.is_finite() && low.abs() < 1e300 => (low - low.abs().max(1.0) / 2.0, low + low.abs().max(1.0) / 2.0),
        _ => (0.0, 1.0),
    }
}

/// Returns the next step size that is 1, 2 or 5 times a power of ten, as factor and exponent.
fn nice_step(about: f64) -> (f64, i32) {
    let exponent = (about.log10() + 1e-9).floor();
    let mantissa = about / 10f64.powf(exponent);
    match [1.0, 2.0, 5.0].into_iter().find(|nice| *nice >= mantissa * (1.0 - 1e-9)) {
        Some(nice) => (nice, exponent as i32),
        None => (1.0, exponent as i32 + 1),
    }
}

/// A multiple of a step, rounded only once: 0.3, not 0.30000000000000004.
fn tick(count: i64, mantissa: f64, exponent: i32) -> f64 {
    let multiple = count as f64 * mantissa;
    if exponent < 0 { multiple / 10f64.powi(-exponent) } else { multiple * 10f64.powi(exponent) }
}

/// Formats a percentage for an attribute; two decimals are a hundredth of a percent.
pub fn percent(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Draws the grid and the labels of the vertical axis, its name above it.
pub fn vertical_axis(scale: &Scale, unit: Unit, name: &str) -> Markup {
    html! {
        @for value in &scale.ticks {
            @let y = percent(scale.position_from_top(*value));
            line class="grid" x1="0" x2="100%" y1={ (y) "%" } y2={ (y) "%" } {}
            text class="tick" x="-9" y={ (y) "%" } dy=".32em" text-anchor="end" { (scale.label(unit, *value)) }
        }
        text class="axis" x="-50" y="-14" { (terminal(name)) }
    }
}

/// Draws the labels of the horizontal axis, its name below them; `grid` also draws grid lines.
pub fn horizontal_axis(scale: &Scale, unit: Unit, name: &str, grid: bool) -> Markup {
    html! {
        @for value in &scale.ticks {
            @let x = percent(scale.position(*value));
            @if grid { line class="grid" x1={ (x) "%" } x2={ (x) "%" } y1="0" y2="100%" {} }
            (below(&x, &scale.label(unit, *value)))
        }
        (name_below(name))
    }
}

/// Draws names of steps in place of a horizontal scale, each in the middle of its part.
pub fn step_axis(names: &[&str], name: &str) -> Markup {
    html! {
        @for (index, name) in names.iter().enumerate() {
            (below(&percent(step_middle(index, names.len())), head(name, STEP)))
        }
        (name_below(name))
    }
}

/// Draws a label of the horizontal axis.
fn below(x: &str, label: &str) -> Markup {
    html! {
        text class="tick" x={ (x) "%" } y="100%" dy="19" text-anchor="middle" { (terminal(label)) }
    }
}

fn name_below(name: &str) -> Markup {
    html! {
        text class="axis" x="100%" y="100%" dy="39" text-anchor="end" { (terminal(name)) }
    }
}

/// The middle of one of several equal parts, as a percentage.
pub fn step_middle(index: usize, parts: usize) -> f64 {
    (index as f64 + 0.5) / parts as f64 * 100.0
}

/// Draws a straight line between two positions.
pub fn line(class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Markup {
    let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(percent);
    html! {
        line class=(class) x1={ (x1) "%" } y1={ (y1) "%" } x2={ (x2) "%" } y2={ (y2) "%" } {}
    }
}

/// Draws the vertical grid lines of a scale.
pub fn grid(scale: &Scale) -> Markup {
    html! {
        @for tick in &scale.ticks { (line("grid", (scale.position(*tick), 0.0), (scale.position(*tick), 100.0))) }
    }
}

/// Draws a line through positions. SVG paths take no percentages, so the line has its own stretched element; its stroke
/// is not stretched.
pub fn path(class: &str, places: impl Iterator<Item = (f64, f64)>) -> Markup {
    let points: Vec<String> = places.map(|(x, y)| format!("{},{}", (x * 10.0).round(), (y * 10.0).round())).collect();
    html! {
        svg class="stretched" viewBox="0 0 1000 1000" preserveAspectRatio="none" width="100%" height="100%" {
            polyline class=(class) points=(points.join(" ")) {}
        }
    }
}

/// Draws one of the marks that [`marks`] defines.
pub fn mark(class: &str, shape: usize, position: (f64, f64)) -> Markup {
    place(&format!("mark {class}"), &format!("#m{}", shape % MARKS.len()), position)
}

/// Draws a shape that the page defines at a position.
pub fn place(class: &str, shape: &str, (x, y): (f64, f64)) -> Markup {
    html! {
        use class=(class) href=(shape) x={ (percent(x)) "%" } y={ (percent(y)) "%" } {}
    }
}

/// Outlines of shapes that differ without colour, about nine pixels wide.
const MARKS: [&str; 8] = [
    "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z",
    "M-4-4h8v8h-8z",
    "M0-5.2 5 3.6H-5z",
    "M0-5.6 5.6 0 0 5.6-5.6 0z",
    "M0 5.2 5-3.6H-5z",
    "M-1.7-5h3.4v3.3H5v3.4H1.7V5h-3.4V1.7H-5v-3.4h3.3z",
    "M-2.5-4.6h5L5 0 2.5 4.6h-5L-5 0z",
    "M-4.7-2.3-2.3-4.7 0-2.4l2.3-2.3 2.4 2.4L2.4 0l2.3 2.3-2.4 2.4L0 2.4l-2.3 2.3-2.4-2.4L-2.4 0z",
];

/// Defines the marks' shapes, once per page.
pub fn marks() -> Markup {
    html! {
        svg class="defs" width="0" height="0" aria-hidden="true" {
            defs {
                @for (index, outline) in MARKS.iter().enumerate() {
                    g id={ "m" (index) } { path d=(outline) {} }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_ticks_are_round_numbers() {
        let cases: [(f64, f64, &[f64]); 6] = [
            (0.0, 1.0, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
            (0.36, 1.18, &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2]),
            (0.0, 163_000.0, &[0.0, 50_000.0, 100_000.0, 150_000.0, 200_000.0]),
            (-0.3, 0.1, &[-0.3, -0.2, -0.1, 0.0, 0.1]),
            (3.0, 3.0, &[1.0, 2.0, 3.0, 4.0, 5.0]),
            (7.0, 288.0, &[0.0, 100.0, 200.0, 300.0]),
        ];
        for (low, high, ticks) in cases {
            assert_eq!(Scale::around([low, high].into_iter()).ticks, ticks, "{low} to {high}");
        }
        assert_eq!(Scale::exact(1.0, 288.0).ticks, [100.0, 200.0]);
        assert_eq!(Scale::exact(1.0, 288.0).low, 1.0);
        assert_eq!(Scale::around(std::iter::empty()).ticks.len(), 6);
    }

    #[test]
    fn plot_positions_are_percentages() {
        let scale = Scale::around([0.36, 1.18].into_iter());
        assert_eq!(
            (percent(scale.position(0.7)), percent(scale.position_from_top(0.7)), percent(scale.position(0.2))),
            ("50".into(), "50".into(), "0".into())
        );
        assert_eq!((percent(33.333), percent(-0.001), percent(12.5)), ("33.33".into(), "0".into(), "12.5".into()));
        assert_eq!([0, 1, 2, 3].map(|index| step_middle(index, 4)), [12.5, 37.5, 62.5, 87.5]);
    }

    #[test]
    fn tick_labels_have_the_precision_of_the_ticks() {
        let labels = |unit, low, high| {
            let scale = Scale::around([low, high].into_iter());
            scale.ticks.iter().map(|tick| scale.label(unit, *tick)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(Unit::Share, 0.0, 1.0), "0% 20% 40% 60% 80% 100%");
        assert_eq!(labels(Unit::Share, 0.99, 1.0), "99.0% 99.2% 99.4% 99.6% 99.8% 100.0%");
        assert_eq!(labels(Unit::Tokens, 0.0, 163_000.0), "0 50k 100k 150k 200k");
        assert_eq!(labels(Unit::Tokens, 0.0, 2_300_000.0), "0 0.5M 1.0M 1.5M 2.0M 2.5M");
        assert_eq!(labels(Unit::Ratio, 0.36, 1.18), "0.2 0.4 0.6 0.8 1.0 1.2");
        assert_eq!(labels(Unit::Usd, -2.0, 6.0), "−$2 $0 $2 $4 $6");
    }
}
