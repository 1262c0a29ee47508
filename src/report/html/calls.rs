//! Plot of tokens per call over one conversation: one line per policy, the edits of its layers, the context window, the
//! recorded compactions.

use std::collections::BTreeSet;

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::number_format;
use super::super::table_model::{ColumnHeader, TableModel};
use super::call_panel;
use super::figure::{area, data_details};
use super::plot::{self, Scale};
use super::series::{PolicySeries, SeriesStyle};
use crate::results::Role;
use crate::results::saved::{EventMark, Results, TraceLine, TraceRow, Unit};

/// Maximum steps of one line. A screen shows no more, and a page with a hundred conversations stays small.
const MAX_STEPS: usize = 160;
/// Heights in pixels: the plot; one policy's lane of edits.
const HEIGHT: usize = 320;
const LANE_HEIGHT: usize = 11;
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

/// Draws the plot and its data table. `arguments` are those of [`call_panel::arguments`] for each policy that is drawn.
pub fn draw(row: &TraceRow, results: &Results, series: &PolicySeries, arguments: &[String]) -> Markup {
    let lines: Vec<(&SeriesStyle, &TraceLine)> = series
        .drawn
        .iter()
        .filter_map(|style| Some((style, row.lines.iter().find(|line| line.policy == style.policy)?)))
        .collect();
    let calls = lines.iter().map(|(_, line)| line.tokens.len()).max().unwrap_or(0);
    let largest = lines.iter().flat_map(|(_, line)| &line.tokens).copied().max().unwrap_or(0) as f64;
    if calls == 0 {
        return html! { p class="below" { "No call was replayed." } };
    }
    let window = row.window as f64;
    let window_fits = window > 0.0 && window <= largest * MAX_WINDOW_RATIO;
    let y_scale = Scale::around([0.0, largest, if window_fits { window } else { 0.0 }].into_iter());
    let x_scale = Scale::exact(1.0, calls.max(2) as f64);
    let scales = Scales { row, series, arguments, x: &x_scale, y: &y_scale };

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
        @for (style, line) in &lines { (scales.draw_line(style, line)) }
    };
    let edited = || lines.iter().filter(|(_, line)| !line.events.is_empty());
    let lanes = html! {
        (plot::horizontal_axis(&x_scale, Unit::Count, "call", false))
        @for (lane, (style, line)) in edited().enumerate() { (draw_edits(style, line, &x_scale, lane)) }
    };
    let trace = results.traces.iter().position(|trace| std::ptr::eq(trace, row)).unwrap_or(0);
    let name = format!("Tokens per call, {} calls", number_format::grouped(calls as f64, 0));
    let about = "One line per policy; below, a tick at each call before which its layers made an edit.";
    html! {
        div class="plot calls" data-calls=(calls) data-trace=(trace) data-command=(call_panel::command(row)) {
            (area("over-time", HEIGHT, "img", &name, about, &drawing))
            (area("lanes", edited().count() * LANE_HEIGHT + 4, "img", "Edits", about, &lanes))
        }
        (data_details(&data_table(&lines), series))
    }
}

/// What all lines of a plot share.
struct Scales<'a> {
    row: &'a TraceRow,
    series: &'a PolicySeries<'a>,
    arguments: &'a [String],
    x: &'a Scale,
    y: &'a Scale,
}

impl Scales<'_> {
    fn draw_line(&self, style: &SeriesStyle, line: &TraceLine) -> Markup {
        let at = self.row.lines.iter().position(|other| std::ptr::eq(other, line));
        let drawn = self.series.drawn.iter().position(|drawn| drawn.policy == style.policy);
        let arguments = drawn.and_then(|drawn| self.arguments.get(drawn));
        let steps = decimate(&line.tokens, MAX_STEPS);
        let position = |step: &CallStep| {
            (self.x.position((step.first + step.last) as f64 / 2.0), self.y.position_from_top(step.tokens as f64))
        };
        let tokens: Vec<String> = steps.iter().map(|step| step.tokens.to_string()).collect();
        let mut large: Vec<&EventMark> =
            line.events.iter().filter(|event| removed_share(event) >= LARGE_EDIT && !Role::of(style.policy).is_bound()).collect();
        large.sort_by_key(|event| std::cmp::Reverse(event.before.saturating_sub(event.after)));
        let step_of = |event: &&EventMark| steps.iter().find(|step| (step.first..=step.last).contains(&event.call));
        let mut marked: Vec<&CallStep> = large.iter().take(MAX_MARKS).filter_map(step_of).collect();
        marked.sort_by_key(|step| step.first);
        marked.dedup();
        let layers: Vec<_> = layers(line).into_iter().map(terminal).collect();
        html! {
            g class={ "series " (style.class) } data-p=(style.index) data-line=(style.index) data-at=[at]
                data-name=(terminal(self.series.roles.label(style.policy))) data-arguments=[arguments]
                data-tokens=(tokens.join(" ")) data-layers=(layers.join("\n")) data-events=(events(line, &steps)) {
                (plot::path("stroke", steps.iter().map(position)))
                @for step in &marked { (plot::mark("event", style.mark, position(step))) }
            }
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

/// Returns `step:edits:tokens:layers` for each step with edits: the number of edits, the tokens they removed together,
/// and indices into [`layers`] (`0,2`).
fn events(line: &TraceLine, steps: &[CallStep]) -> String {
    let known = layers(line);
    let mut sums: Vec<(usize, usize, i64, BTreeSet<usize>)> = Vec::new();
    for event in &line.events {
        let step = steps.partition_point(|step| step.last < event.call);
        let freed = event.before as i64 - event.after as i64;
        let layer = known.iter().position(|known| *known == event.layer);
        match sums.last_mut() {
            Some(last) if last.0 == step => {
                (last.1, last.2) = (last.1 + 1, last.2 + freed);
                last.3.extend(layer);
            }
            _ => sums.push((step, 1, freed, layer.into_iter().collect())),
        }
    }
    let label = |(step, edits, freed, layers): &(usize, usize, i64, BTreeSet<usize>)| {
        let layers: Vec<String> = layers.iter().map(usize::to_string).collect();
        format!("{step}:{edits}:{freed}:{}", layers.join(","))
    };
    sums.iter().map(label).collect::<Vec<_>>().join(" ")
}

/// Draws the ticks of one policy, with its mark before them.
fn draw_edits(style: &SeriesStyle, line: &TraceLine, x_scale: &Scale, lane: usize) -> Markup {
    let y = lane * LANE_HEIGHT + 2;
    let mut calls: Vec<i64> =
        line.events.iter().map(|event| (x_scale.position(event.call as f64) * 10.0).round() as i64).collect();
    calls.dedup();
    let ticks: String = calls.iter().map(|x| format!("M{x} 0v{}", LANE_HEIGHT - 4)).collect();
    let height = LANE_HEIGHT - 4;
    html! {
        g class={ "lane " (style.class) } data-p=(style.index) data-line=(style.index) {
            use class="mark" href={ "#m" (style.mark % 8) } x="-14" y=(y + height / 2) {}
            svg class="stretched" y=(y) width="100%" height=(height) viewBox={ "0 0 1000 " (height) } preserveAspectRatio="none" {
                path class="tick" d=(ticks) {}
            }
        }
    }
}

fn data_table(lines: &[(&SeriesStyle, &TraceLine)]) -> TableModel {
    let row = |(style, line): &(&SeriesStyle, &TraceLine)| {
        let tokens = |tokens: Option<u64>| number_format::value(Unit::Tokens, tokens.map(|tokens| tokens as f64));
        let mut sorted = line.tokens.clone();
        sorted.sort_unstable();
        let freed: i64 = line.events.iter().map(|event| event.before as i64 - event.after as i64).sum();
        vec![
            style.policy.to_owned(),
            number_format::grouped(line.tokens.len() as f64, 0),
            tokens(line.tokens.first().copied()),
            tokens(sorted.get(sorted.len() / 2).copied()),
            tokens(sorted.last().copied()),
            tokens(line.tokens.last().copied()),
            number_format::grouped(line.events.len() as f64, 0),
            number_format::grouped(freed as f64, 0),
        ]
    };
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(["calls", "~first", "~median", "~largest", "~last", "edits", "~tokens removed"].map(ColumnHeader::numbers));
    let rows = lines.iter().map(row).collect();
    TableModel { title: "Tokens per call".to_owned(), subject: String::new(), headers, rows, footnotes: vec![] }
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
    fn decimation_sums_edits_of_a_step() {
        let event = |call, layer: &str, before, after| EventMark { call, layer: layer.into(), before, after };
        let events_of = vec![event(1, "micro", 10, 4), event(2, "auto", 9, 8), event(5, "auto", 3, 5)];
        let line = TraceLine { events: events_of, ..TraceLine::default() };
        assert_eq!(layers(&line), ["micro", "auto"]);
        assert_eq!(events(&line, &decimate(&[1, 2, 3, 4, 5], 2)), "0:2:7:0,1 1:1:-2:1");
    }
}
