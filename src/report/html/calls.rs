//! Tokens per call over one conversation: a line a policy, what its layers took out, the window, the recorded compactions.

use std::collections::BTreeSet;

use super::super::table_model::{ColumnHeader, TableModel};
use super::super::{escape, number_format};
use super::figure::{area, numbers};
use super::plot::{self, Scale};
use super::series::{PolicySeries, SeriesStyle, is_end};
use crate::results::saved::{EventMark, TraceLine, TraceRow, Unit};

/// Steps of a line; a screen shows no more, and a page of a hundred conversations stays small.
const STEPS: usize = 160;
/// Pixels: of the plot, of one policy's lane of edits.
const HEIGHT: usize = 320;
const LANE: usize = 11;
/// A window this many times the largest request would press all lines to the floor: it is told, not drawn.
const FAR: f64 = 2.5;
/// An edit that took out this share of the context is marked on the line.
const LARGE: f64 = 0.2;
/// Marks on one line.
const MARKS: usize = 30;

/// Several calls that are drawn as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// From 1, both included.
    pub first: usize,
    pub last: usize,
    /// The most tokens any of them sent.
    pub tokens: u64,
}

/// At most `most` steps, each as high as the highest of its calls: no peak is lost.
pub fn decimate(tokens: &[u64], most: usize) -> Vec<Step> {
    let steps = tokens.len().min(most);
    let step = |at: usize| {
        let (from, to) = (at * tokens.len() / steps, (at + 1) * tokens.len() / steps);
        Step { first: from + 1, last: to, tokens: tokens[from..to].iter().copied().max().unwrap_or(0) }
    };
    (0..steps).map(step).collect()
}

/// The plot and its numbers.
pub fn draw(row: &TraceRow, cast: &PolicySeries) -> String {
    let lines: Vec<(&SeriesStyle, &TraceLine)> =
        cast.drawn.iter().filter_map(|look| Some((look, row.lines.iter().find(|line| line.policy == look.policy)?))).collect();
    let calls = lines.iter().map(|(_, line)| line.tokens.len()).max().unwrap_or(0);
    let most = lines.iter().flat_map(|(_, line)| &line.tokens).copied().max().unwrap_or(0) as f64;
    if calls == 0 {
        return r#"<p class="below">No call was replayed.</p>"#.to_owned();
    }
    let window = row.window as f64;
    let near = window > 0.0 && window <= most * FAR;
    let up = Scale::around([0.0, most, if near { window } else { 0.0 }].into_iter());
    let across = Scale::exact(1.0, calls.max(2) as f64);

    let mut inside = plot::upright(&up, Unit::Tokens, "~tokens of the request");
    inside += &across
        .ticks
        .iter()
        .map(|tick| plot::line("grid", (across.at(*tick), 0.0), (across.at(*tick), 100.0)))
        .collect::<String>();
    for call in &row.recorded {
        let x = across.at(*call as f64);
        inside += &plot::line("recorded", (x, 0.0), (x, 100.0));
    }
    let told = format!("window {}", number_format::value(Unit::Tokens, Some(window)));
    if near {
        let y = up.down(window);
        // Above the topmost line stands the name of the axis.
        let dy = if y < 6.0 { 15 } else { -6 };
        inside += &plot::line("window", (0.0, y), (100.0, y));
        inside += &format!(r#"<text class="told" x="0" y="{}%" dx="6" dy="{dy}">{told}</text>"#, plot::place(y));
    } else if window > 0.0 {
        inside += &format!(r#"<text class="told" x="100%" y="0" dy="-6" text-anchor="end">{told}: far above</text>"#);
    }
    let (mut lanes, mut lane) = (String::new(), 0);
    for (look, line) in &lines {
        let steps = decimate(&line.tokens, STEPS);
        inside += &series(look, line, &steps, &across, &up);
        if !line.events.is_empty() {
            lanes += &edits(look, line, &across, lane);
            lane += 1;
        }
    }
    let name = format!("Tokens per call, {} calls", number_format::grouped(calls as f64, 0));
    let about = "A line a policy; below it, a tick at every call before which its layers made an edit.";
    let height = lane * LANE + 4;
    let lanes = plot::level(&across, Unit::Count, "call", false) + &lanes;
    format!(
        r#"<div class="plot calls" data-calls="{calls}">{}{}</div>{}"#,
        area("over-time", HEIGHT, "img", &name, about, &inside),
        area("lanes", height, "img", "Edits", about, &lanes),
        numbers(&data(&lines), cast)
    )
}

fn series(look: &SeriesStyle, line: &TraceLine, steps: &[Step], across: &Scale, up: &Scale) -> String {
    let at = |step: &Step| (across.at((step.first + step.last) as f64 / 2.0), up.down(step.tokens as f64));
    let tokens: Vec<String> = steps.iter().map(|step| step.tokens.to_string()).collect();
    let path = plot::path("stroke", "", steps.iter().map(at));
    let mut large: Vec<&EventMark> =
        line.events.iter().filter(|event| share_out(event) >= LARGE && !is_end(look.policy)).collect();
    large.sort_by_key(|event| std::cmp::Reverse(event.before.saturating_sub(event.after)));
    let of = |event: &&EventMark| steps.iter().find(|step| (step.first..=step.last).contains(&event.call));
    let mut marked: Vec<&Step> = large.iter().take(MARKS).filter_map(of).collect();
    marked.sort_by_key(|step| step.first);
    marked.dedup();
    let marks: String = marked.iter().map(|step| plot::mark("event", look.mark, at(step))).collect();
    format!(
        r#"<g class="series {}" data-p="{place}" data-line="{place}" data-name="{}" data-tokens="{}" data-layers="{}" data-events="{}">{path}{marks}</g>"#,
        look.class,
        escape::html(look.policy),
        tokens.join(" "),
        layers(line).into_iter().map(escape::html).collect::<Vec<_>>().join("\n"),
        events(line, steps),
        place = look.place,
    )
}

fn share_out(event: &EventMark) -> f64 {
    event.before.saturating_sub(event.after) as f64 / event.before.max(1) as f64
}

/// The layers that made edits, in the order of their first.
fn layers(line: &TraceLine) -> Vec<&str> {
    let mut layers: Vec<&str> = Vec::new();
    for event in &line.events {
        if !layers.contains(&event.layer.as_str()) {
            layers.push(&event.layer);
        }
    }
    layers
}

/// `step:edits:tokens:layers` for every step with edits: how many, what they took out together, and which of [`layers`] made
/// them (`0,2`).
fn events(line: &TraceLine, steps: &[Step]) -> String {
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
    let told = |(step, edits, freed, layers): &(usize, usize, i64, BTreeSet<usize>)| {
        let layers: Vec<String> = layers.iter().map(usize::to_string).collect();
        format!("{step}:{edits}:{freed}:{}", layers.join(","))
    };
    sums.iter().map(told).collect::<Vec<_>>().join(" ")
}

/// One policy's ticks, its mark before them.
fn edits(look: &SeriesStyle, line: &TraceLine, across: &Scale, lane: usize) -> String {
    let y = lane * LANE + 2;
    let mut calls: Vec<i64> = line.events.iter().map(|event| (across.at(event.call as f64) * 10.0).round() as i64).collect();
    calls.dedup();
    let ticks: String = calls.iter().map(|x| format!("M{x} 0v{}", LANE - 4)).collect();
    format!(
        r##"<g class="lane {}" data-p="{place}" data-line="{place}"><use class="mark" href="#m{}" x="-14" y="{}"/><svg class="stretched" y="{y}" width="100%" height="{h}" viewBox="0 0 1000 {h}" preserveAspectRatio="none"><path class="tick" d="{ticks}"/></svg></g>"##,
        look.class,
        look.mark % 8,
        y + (LANE - 4) / 2,
        place = look.place,
        h = LANE - 4,
    )
}

fn data(lines: &[(&SeriesStyle, &TraceLine)]) -> TableModel {
    let row = |(look, line): &(&SeriesStyle, &TraceLine)| {
        let tokens = |tokens: Option<u64>| number_format::value(Unit::Tokens, tokens.map(|tokens| tokens as f64));
        let mut sorted = line.tokens.clone();
        sorted.sort_unstable();
        let freed: i64 = line.events.iter().map(|event| event.before as i64 - event.after as i64).sum();
        vec![
            look.policy.to_owned(),
            number_format::grouped(line.tokens.len() as f64, 0),
            tokens(line.tokens.first().copied()),
            tokens(sorted.get(sorted.len() / 2).copied()),
            tokens(sorted.last().copied()),
            tokens(line.tokens.last().copied()),
            number_format::grouped(line.events.len() as f64, 0),
            number_format::grouped(freed as f64, 0),
        ]
    };
    let mut heads = vec![ColumnHeader::names("policy")];
    heads.extend(["calls", "~first", "~median", "~largest", "~last", "edits", "~tokens taken out"].map(ColumnHeader::numbers));
    let rows = lines.iter().map(row).collect();
    TableModel { title: "Tokens per call".to_owned(), measure: String::new(), heads, rows, below: vec![] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_peak_is_lost() {
        let step = |first, last, tokens| Step { first, last, tokens };
        assert_eq!(decimate(&[5, 9, 2, 7, 1], 2), [step(1, 2, 9), step(3, 5, 7)]);
        assert_eq!(decimate(&[5, 9], 160), [step(1, 1, 5), step(2, 2, 9)]);
        assert_eq!(decimate(&[], 160), []);
        let long: Vec<u64> = (0..1_000).collect();
        let steps = decimate(&long, 160);
        assert_eq!((steps.len(), steps[0].first, steps[159].last, steps[159].tokens), (160, 1, 1_000, 999));
        assert!(steps.windows(2).all(|two| two[0].last + 1 == two[1].first));
    }

    #[test]
    fn edits_of_one_step_are_added_up() {
        let event = |call, layer: &str, before, after| EventMark { call, layer: layer.into(), before, after };
        let events_of = vec![event(1, "micro", 10, 4), event(2, "auto", 9, 8), event(5, "auto", 3, 5)];
        let line = TraceLine { events: events_of, ..TraceLine::default() };
        assert_eq!(layers(&line), ["micro", "auto"]);
        assert_eq!(events(&line, &decimate(&[1, 2, 3, 4, 5], 2)), "0:2:7:0,1 1:1:-2:1");
    }
}
