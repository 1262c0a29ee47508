//! Plot of tokens per call over one conversation: one line per policy, the edits of its layers, the context window, the
//! recorded compactions.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::super::escape::terminal;
use super::super::number_format;
use super::call_panel;
use super::figure::area;
use super::plot::{self, Scale};
use super::series::{PolicySeries, SeriesStyle};
use crate::results::Role;
use crate::results::saved::{EventMark, Results, TraceLine, TraceRow, Unit};

/// Maximum steps of one line. A screen shows no more, and a page with a hundred conversations stays small.
const MAX_STEPS: usize = 160;
/// Heights in pixels: the plot; one policy's lane of edits.
const HEIGHT: usize = 320;
const LANE_HEIGHT: usize = 11;
/// Units from the top of the plot to its bottom: two for each pixel.
const PATH_HEIGHT: f64 = 640.0;
/// The window is drawn only if it is at most this many times the largest request; a higher one would squeeze all lines,
/// so it is only written.
const MAX_WINDOW_RATIO: f64 = 2.5;
/// An edit that removes at least this share of the context gets a mark on the line.
const LARGE_EDIT: f64 = 0.2;
/// Maximum marks on one line.
const MAX_MARKS: usize = 30;

/// Consecutive calls drawn as one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallStep {
    /// First and last call, counted from 1, both included.
    pub first: usize,
    pub last: usize,
    /// Tokens of the largest request among these calls.
    pub tokens: u64,
}

/// Divides calls into at most `limit` steps. A step is as high as its largest call, so no peak is lost.
pub fn decimate(tokens: &[u64], largest: usize) -> Vec<CallStep> {
    let steps = tokens.len().min(largest);
    let step = |index: usize| {
        let (from, to) = (index * tokens.len() / steps, (index + 1) * tokens.len() / steps);
        CallStep { first: from + 1, last: to, tokens: tokens[from..to].iter().copied().max().unwrap_or(0) }
    };
    (0..steps).map(step).collect()
}

/// Draws the plot. `arguments` are those of [`call_panel::arguments`] for each policy that is drawn.
pub fn draw(row: &TraceRow, results: &Results, series: &PolicySeries, arguments: &[String]) -> Markup {
    let lines = row.lines.value();
    let lines = drawn_lines(&lines, series);
    let calls = lines.iter().map(|(_, line)| line.tokens.len()).max().unwrap_or(0);
    let largest = lines.iter().flat_map(|(_, line)| &line.tokens).copied().max().unwrap_or(0) as f64;
    if calls == 0 {
        return html! { p class="below" { "No call was replayed." } };
    }
    let window = row.window as f64;
    let window_fits = window > 0.0 && window <= largest * MAX_WINDOW_RATIO;
    let y_scale = Scale::around([0.0, largest, if window_fits { window } else { 0.0 }].into_iter());
    let x_scale = Scale::exact(1.0, calls.max(2) as f64);
    let scales = Scales { calls: calls.max(2), series, arguments, x: &x_scale, y: &y_scale };

    let label = format!("window {}", number_format::value(Unit::Tokens, Some(window)));
    let drawing = html! {
        (plot::vertical_axis(&y_scale, Unit::Tokens, "~tokens of the request"))
        (plot::grid(&x_scale))
        @for call in &row.recorded {
            @let x = x_scale.position(*call as f64);
            (plot::line("recorded", (x, 0.0), (x, 100.0)))
        }
        @if window_fits {
            @let y = y_scale.position_from_top(window);
            (plot::line("window", (0.0, y), (100.0, y)))
            // The axis name is above the plot, so a label near the top goes below its line.
            text class="remark" x="0" y={ (plot::percent(y)) "%" } dx="6" dy=(if y < 6.0 { 15 } else { -6 }) { (label) }
        } @else if window > 0.0 {
            text class="remark" x="100%" y="0" dy="-6" text-anchor="end" { (label) ": far above the plot" }
        }
        @for (at, (style, line)) in lines.iter().enumerate() { (scales.draw_line(at, style, line)) }
    };
    let edited = || lines.iter().filter(|(_, line)| !line.events.is_empty());
    let lanes = html! {
        (plot::horizontal_axis(&x_scale, Unit::Count, "call", false))
        @for (lane, (style, line)) in edited().enumerate() { (draw_edits(style, line, calls.max(2), lane)) }
    };
    let trace = results.traces.iter().position(|trace| std::ptr::eq(trace, row)).unwrap_or(0);
    let name = format!("Tokens per call, {} calls", number_format::grouped(calls as f64, 0));
    let about = "One line per policy; below, a tick at each call before which its layers made an edit.";
    html! {
        div class="plot calls" data-calls=(calls) data-trace=(trace) data-command=[(!arguments.is_empty()).then(|| call_panel::command(row))] {
            (area("over-time", HEIGHT, "img", &name, about, &drawing))
            (area("lanes", edited().count() * LANE_HEIGHT + 4, "img", "Edits", about, &lanes))
        }
    }
}

/// The lines that are drawn, in the order of the legend.
pub fn drawn_lines<'a, 'b>(lines: &'a [TraceLine], series: &'b PolicySeries) -> Vec<(&'b SeriesStyle<'b>, &'a TraceLine)> {
    let line = |style: &'b SeriesStyle| Some((style, lines.iter().find(|line| line.policy == style.policy)?));
    series.drawn.iter().filter_map(line).collect()
}

/// The exact numbers of all lines, for the script: differences from call to call, because they are packed to half of the size.
pub fn exact(results: &Results, series: &PolicySeries) -> Value {
    let of_trace = |row: &TraceRow| {
        drawn_lines(&row.lines.value(), series).into_iter().map(|(_, line)| exact_line(line)).collect::<Vec<_>>()
    };
    json!(results.traces.iter().map(of_trace).collect::<Vec<_>>())
}

/// Tokens of each call as the difference from the call before; for each edit the difference from the call of the one before, the index
/// of its layer, and the tokens that it added.
fn exact_line(line: &TraceLine) -> Value {
    let names = layers(line);
    let (mut tokens, mut edits) = (Vec::new(), Vec::new());
    line.tokens.iter().fold(0, |before, now| {
        tokens.push(*now as i64 - before);
        *now as i64
    });
    line.events.iter().fold(0, |before, event| {
        let layer = names.iter().position(|name| *name == event.layer).unwrap_or(0);
        edits.extend([event.call as i64 - before, layer as i64, event.after as i64 - event.before as i64]);
        event.call as i64
    });
    let names: Vec<_> = names.into_iter().map(terminal).collect();
    json!({ "tokens": tokens, "layers": names, "edits": edits })
}

/// What all lines of a plot share.
struct Scales<'a> {
    calls: usize,
    series: &'a PolicySeries<'a>,
    arguments: &'a [String],
    x: &'a Scale,
    y: &'a Scale,
}

impl Scales<'_> {
    fn draw_line(&self, at: usize, style: &SeriesStyle, line: &TraceLine) -> Markup {
        let drawn = self.series.drawn.iter().position(|drawn| drawn.policy == style.policy);
        let arguments = drawn.and_then(|drawn| self.arguments.get(drawn));
        let steps = decimate(&line.tokens, MAX_STEPS);
        let position = |step: &CallStep| {
            (self.x.position((step.first + step.last) as f64 / 2.0), self.y.position_from_top(step.tokens as f64))
        };
        let mut large: Vec<&EventMark> =
            line.events.iter().filter(|event| removed_share(event) >= LARGE_EDIT && !Role::of(style.policy).is_bound()).collect();
        large.sort_by_key(|event| std::cmp::Reverse(event.before.saturating_sub(event.after)));
        let step_of = |event: &&EventMark| steps.iter().find(|step| (step.first..=step.last).contains(&event.call));
        let mut marked: Vec<&CallStep> = large.iter().take(MAX_MARKS).filter_map(step_of).collect();
        marked.sort_by_key(|step| step.first);
        marked.dedup();
        html! {
            g class={ "series " (style.class) } data-p=(style.index) data-line=(style.index) data-at=(at)
                data-name=(terminal(self.series.roles.label(style.policy))) data-arguments=[arguments] {
                (self.path(&steps))
                @for step in &marked { (plot::mark("event", style.mark, position(step))) }
            }
        }
    }

    /// The line through the steps, in half calls and from point to point: most differences are those of other lines too, so that
    /// they pack well.
    fn path(&self, steps: &[CallStep]) -> Markup {
        let place = |step: &CallStep| {
            let y = self.y.position_from_top(step.tokens as f64) / 100.0 * PATH_HEIGHT;
            ((step.first + step.last) as i64, y.round() as i64)
        };
        let mut path = String::new();
        steps.iter().map(place).fold(None, |before, (x, y)| {
            path += &match before {
                None => format!("M{x} {y}"),
                Some((x0, y0)) => format!("l{} {}", x - x0, y - y0),
            };
            Some((x, y))
        });
        let view = format!("2 0 {} {PATH_HEIGHT}", 2 * (self.calls - 1));
        html! {
            svg class="stretched" viewBox=(view) preserveAspectRatio="none" width="100%" height="100%" { path class="stroke" d=(path) {} }
        }
    }
}

fn removed_share(event: &EventMark) -> f64 {
    event.before.saturating_sub(event.after) as f64 / event.before.max(1) as f64
}

/// Returns the layers that made edits, in the order of their first edit.
fn layers(line: &TraceLine) -> Vec<&str> {
    let mut layers: Vec<&str> = Vec::new();
    for event in &line.events {
        if !layers.contains(&event.layer.as_str()) {
            layers.push(&event.layer);
        }
    }
    layers
}

/// Draws the ticks of one policy, with its mark before them.
fn draw_edits(style: &SeriesStyle, line: &TraceLine, calls: usize, lane: usize) -> Markup {
    let (y, height) = (lane * LANE_HEIGHT + 2, LANE_HEIGHT - 4);
    let mut edited: Vec<usize> = line.events.iter().map(|event| event.call).collect();
    edited.dedup();
    let mut ticks = String::new();
    edited.iter().fold(None, |before, call| {
        ticks += &match before {
            None => format!("M{call} 0v{height}"),
            Some(before) => format!("m{} -{height}v{height}", call - before),
        };
        Some(*call)
    });
    html! {
        g class={ "lane " (style.class) } data-p=(style.index) data-line=(style.index) {
            use class="mark" href={ "#m" (style.mark % 8) } x="-14" y=(y + height / 2) {}
            svg class="stretched" y=(y) width="100%" height=(height) viewBox={ "1 0 " (calls - 1) " " (height) } preserveAspectRatio="none" {
                path class="tick" d=(ticks) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimation_keeps_peaks() {
        let step = |first, last, tokens| CallStep { first, last, tokens };
        assert_eq!(decimate(&[5, 9, 2, 7, 1], 2), [step(1, 2, 9), step(3, 5, 7)]);
        assert_eq!(decimate(&[5, 9], 160), [step(1, 1, 5), step(2, 2, 9)]);
        assert_eq!(decimate(&[], 160), []);
        let long: Vec<u64> = (0..1_000).collect();
        let steps = decimate(&long, 160);
        assert_eq!((steps.len(), steps[0].first, steps[159].last, steps[159].tokens), (160, 1, 1_000, 999));
        assert!(steps.windows(2).all(|two| two[0].last + 1 == two[1].first));
    }

    #[test]
    fn exact_numbers_are_differences() {
        let event = |call, layer: &str, before, after| EventMark { call, layer: layer.into(), before, after };
        let events = vec![event(1, "micro", 10, 4), event(2, "auto", 9, 8), event(5, "micro", 3, 5)];
        let line = TraceLine { tokens: vec![10, 15, 7], events, ..TraceLine::default() };
        assert_eq!(
            exact_line(&line).to_string(),
            r#"{"tokens":[10,5,-8],"layers":["micro","auto"],"edits":[1,0,-6,1,1,-1,3,0,2]}"#
        );
    }
}
