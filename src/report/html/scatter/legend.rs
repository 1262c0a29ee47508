//! The legend and the caption of the scatter plot.

use maud::{Markup, html};

use super::super::super::number_format;
use super::super::words::plain;
use super::Dot;
use super::window::Window;
use crate::analysis::verdict::formats;
use crate::results::saved::{Results, Sweep};
use crate::util::text::plural;

pub fn legend(dots: &[Dot], results: &Results, window: &Window, praise: &str) -> Markup {
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
                (sample(shape("ring", "#ring"), praise))
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
    let has_front = dots.iter().filter(|dot| dot.on_front).count() > 1;
    let front = if has_front { " No policy on the Pareto front is beaten in both columns by another." } else { "" };
    let what = match &results.sweep {
        Some(sweep) => of_sweep(sweep, dots),
        None => {
            let together =
                if formats(results).len() > 1 { " The points are of the sessions of all harnesses together." } else { "" };
            format!(
                "Point at a policy to see its values; click it, or press Enter, to highlight it on the whole page.{front}{together}"
            )
        }
    };
    plain(&(what + &edge))
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
