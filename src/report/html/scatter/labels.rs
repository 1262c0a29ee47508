//! What stands beside the points: names, the legend, the caption.

use super::super::super::{escape, number_format};
use super::super::plot;
use super::super::series::is_end;
use super::{Dot, HEIGHT};
use crate::results::saved::Results;
use crate::util::text::plural;

/// About how wide a plot is on a wide screen, in pixels: names are kept from overlapping there.
const WIDTH: f64 = 960.0;
/// Policies before only those on the front are named.
const NAMED: usize = 20;

/// Names beside the points, where there is room on a wide screen.
pub fn names(dots: &[Dot], place: impl Fn((f64, f64)) -> (f64, f64)) -> String {
    let large: Vec<&Dot> = dots.iter().filter(|dot| dot.mark.is_some() || dot.recommended).collect();
    let pixels = |dot: &Dot| {
        let (x, y) = place(dot.at);
        (x / 100.0 * WIDTH, y / 100.0 * HEIGHT as f64)
    };
    // Boxes that are taken: left, top, right, bottom.
    let mut taken: Vec<[f64; 4]> =
        large.iter().map(|dot| pixels(dot)).map(|(x, y)| [x - 7.0, y - 7.0, x + 7.0, y + 7.0]).collect();
    let mut out = String::new();
    let named = large.iter().filter(|dot| large.len() <= NAMED || dot.on_front || dot.recommended || is_end(dot.policy));
    for dot in named {
        let (x, y) = pixels(dot);
        let wide = dot.policy.chars().count() as f64 * 7.2;
        let tries = [(12.0, 4.0, "start"), (-12.0, 4.0, "end"), (0.0, -13.0, "middle"), (0.0, 22.0, "middle")];
        let free = tries.into_iter().find_map(|(dx, dy, anchor)| {
            let left = x + dx
                - wide
                    * match anchor {
                        "start" => 0.0,
                        "end" => 1.0,
                        _ => 0.5,
                    };
            let wanted = [left, y + dy - 12.0, left + wide, y + dy + 3.0];
            let fits = wanted[0] > -40.0 && wanted[2] < WIDTH + 10.0 && wanted[1] > -12.0;
            let apart =
                |other: &[f64; 4]| wanted[0] > other[2] || wanted[2] < other[0] || wanted[1] > other[3] || wanted[3] < other[1];
            (fits && taken.iter().all(apart)).then_some((dx, dy, anchor, wanted))
        });
        let Some((dx, dy, anchor, wanted)) = free else { continue };
        taken.push(wanted);
        let (px, py) = place(dot.at);
        out += &format!(
            r#"<text class="name{}" data-p="{}" x="{}%" y="{}%" dx="{dx}" dy="{dy}" text-anchor="{anchor}">{}</text>"#,
            if dot.recommended { " best" } else { "" },
            dot.place,
            plot::place(px),
            plot::place(py),
            escape::html(dot.policy)
        );
    }
    out
}

pub fn legend(dots: &[Dot], results: &Results) -> String {
    let sample = |drawing: &str, name: &str| {
        format!(
            r#"<span class="key still"><svg class="sample" width="30" height="14" aria-hidden="true">{drawing}</svg>{name}</span>"#
        )
    };
    let mut keys = String::new();
    if dots.iter().filter(|dot| dot.on_front).count() > 1 {
        keys += &sample(r#"<line class="front" x1="0" x2="30" y1="7" y2="7"/>"#, "the front");
    }
    if dots.iter().any(|dot| dot.mark.is_none()) {
        keys += &sample(r##"<use class="mark tried" href="#tried" x="15" y="7"/>"##, "a configuration");
    }
    if dots.iter().any(|dot| dot.class.contains("early")) {
        keys += &sample(r##"<use class="mark tried early" href="#tried" x="15" y="7"/>"##, "left behind on fewer sessions");
    }
    if dots.iter().any(|dot| dot.class.contains("refused")) {
        keys += &sample(r##"<use class="mark tried refused" href="#tried" x="15" y="7"/>"##, "violates a condition");
    }
    if dots.iter().any(|dot| dot.recommended) {
        keys += &sample(r##"<use class="ring" href="#ring" x="15" y="7"/>"##, "recommended");
    }
    if dots.iter().any(|dot| dot.bound.is_some()) {
        let drawing =
            r##"<line class="headroom" x1="15" x2="15" y1="14" y2="3"/><use class="ceiling" href="#cap" x="15" y="3"/>"##;
        keys += &sample(drawing, "what a clairvoyant would keep in as many tokens");
    }
    if dots.iter().any(|dot| dot.across.is_some() || dot.up.is_some()) {
        let level = results.statistics.as_ref().map_or(95.0, |statistics| statistics.level * 100.0);
        let name = format!("{} % interval", number_format::grouped(level, 0));
        keys += &sample(r#"<line class="whisker other" x1="2" x2="28" y1="7" y2="7"/>"#, &name);
    }
    format!(r#"<div class="legend">{keys}</div>"#)
}

pub fn caption(results: &Results, dots: &[Dot]) -> String {
    let points = dots.len();
    match &results.sweep {
        Some(sweep) => {
            let allowed = sweep.configurations.iter().filter(|row| row.allowed).count();
            let on = match sweep.held_out {
                0 => plural(sweep.sessions, "session"),
                held => format!(
                    "the {} they were chosen on; what the {held} held out say of the front is in the comparison",
                    plural(sweep.sessions, "session")
                ),
            };
            let conditions = match sweep.conditions.len() {
                0 => "There are no conditions".to_owned(),
                _ => format!("{allowed} meet the conditions ({})", sweep.conditions.join(", ")),
            };
            format!(
                "{} on {on}. {conditions}; {} on the front: no other is as good in all objectives and better in one.",
                plural(sweep.configurations.len(), "configuration"),
                dots.iter().filter(|dot| dot.on_front).count()
            )
        }
        None => format!(
            "{points} policies over all conversations. The front joins those that no other beats in both; keep-all and drop-all are the ends all lie between."
        ),
    }
}
