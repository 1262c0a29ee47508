//! Who is drawn, and how: which columns the plots are of, which policies have lines, and what tells them apart.

use std::collections::{HashMap, HashSet};

use super::super::escape;
use super::super::table_model::compare::{KEEP_ALL, keep_all_first};
use crate::results::saved::{Column, Results};

/// The columns that plots are of, the first one that has values. All else on the page knows no column by name.
pub const CALLS: &str = "calls";
pub const COST: [&str; 3] = ["cost.ratio", "tokens.saved", "tokens.sent"];
pub const KEPT: [&str; 1] = ["kept.hit"];
/// Told beside the two a point is placed by.
pub const TOLD: [&str; 6] = ["tokens.saved", "cost.usd", "kept.hard", "kept.constraints", "overflows", "broken.requests"];
/// Differences that are drawn.
pub const DIFFERENCES: [&str; 4] = ["cost.ratio", "kept.hit", "kept.constraints", "tokens.saved"];
/// The parts of a policy's cost, in the order of the bars, and what they are called.
pub const PARTS: [(&str, &str); 4] = [
    ("cost.read", "cache read"),
    ("cost.write", "written, not cached"),
    ("cost.output", "output"),
    ("cost.summarizer", "summarizer"),
];

/// Lines in one plot; more are a tangle.
const LINES: usize = 16;
/// Colours there are.
const COLOURS: usize = 8;
/// The policies that are bounds themselves: they are drawn in grey.
const ENDS: [&str; 2] = [KEEP_ALL, "drop-all"];

/// Every policy that can be pinned, and the look of each.
pub struct PolicySeries<'a> {
    places: HashMap<&'a str, usize>,
    /// Those that have a line in every plot of lines.
    pub drawn: Vec<SeriesStyle<'a>>,
}

/// What a policy's line and mark look like.
#[derive(Debug, Clone)]
pub struct SeriesStyle<'a> {
    pub policy: &'a str,
    /// Its place among all policies: `data-p` in the page.
    pub place: usize,
    /// The style's classes for its colour and dashes.
    pub class: String,
    pub mark: usize,
}

impl<'a> PolicySeries<'a> {
    pub fn new(results: &'a Results) -> Self {
        let replayed = keep_all_first(results).filter(|summary| summary.bound_of.is_none());
        let mut names: Vec<&str> = replayed.map(|summary| summary.policy.as_str()).collect();
        let drawn = drawn(results, &names);
        let tried = results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|tried| tried.policy.as_str());
        let mut known = HashSet::new();
        names.extend(tried);
        names.retain(|name| known.insert(*name));
        let places: HashMap<&str, usize> = names.iter().enumerate().map(|(place, name)| (*name, place)).collect();
        let mut colours = 0;
        let look = |policy: &'a str| {
            let place = places.get(policy).copied().unwrap_or(0);
            if let Some(end) = ENDS.iter().position(|end| *end == policy) {
                return SeriesStyle { policy, place, class: format!("e{end}"), mark: end };
            }
            let (colour, dash) = (colours % COLOURS, colours / COLOURS);
            colours += 1;
            SeriesStyle { policy, place, class: format!("s{colour} d{dash}"), mark: colour + dash }
        };
        let drawn = drawn.into_iter().map(look).collect();
        Self { places, drawn }
    }

    /// A policy's place, if it is one of the results.
    pub fn place(&self, policy: &str) -> Option<usize> {
        self.places.get(policy).copied()
    }

    /// ` data-p="3"` for a policy, nothing for another text.
    pub fn tag(&self, policy: &str) -> String {
        self.place(policy).map_or(String::new(), |place| format!(r#" data-p="{place}""#))
    }

    pub fn look(&self, policy: &str) -> Option<&SeriesStyle<'a>> {
        self.drawn.iter().find(|look| look.policy == policy)
    }

    /// What to say of those that have no line.
    pub fn left_out(&self, results: &Results) -> String {
        let all = results.summary.iter().filter(|summary| summary.bound_of.is_none()).count();
        match all.saturating_sub(self.drawn.len()) {
            0 => String::new(),
            left => format!(
                "Drawn are {} of {all} policies{}; {left} others are in the tables and in the saved data.",
                self.drawn.len(),
                if results.sweep.is_some() { ", those on the front first" } else { ", the first ones" }
            ),
        }
    }

    /// Buttons that show and hide the lines of a plot.
    pub fn legend(&self, more: &str) -> String {
        let key = |look: &SeriesStyle| {
            format!(
                r#"<button type="button" class="key {}" aria-pressed="true" data-k="{}">{}<bdi>{}</bdi></button>"#,
                look.class,
                look.place,
                sample(look),
                escape::html(look.policy)
            )
        };
        let keys: String = self.drawn.iter().map(key).collect();
        format!(r#"<div class="legend" role="group" aria-label="Lines shown">{keys}{more}</div>"#)
    }
}

/// A short piece of a policy's line.
pub fn sample(look: &SeriesStyle) -> String {
    format!(
        r##"<svg class="sample {}" width="30" height="12" aria-hidden="true"><line class="stroke" x1="0" y1="6" x2="30" y2="6"/><use class="mark" href="#m{}" x="15" y="6"/></svg>"##,
        look.class,
        look.mark % 8
    )
}

/// All, or those on the sweep's front and the ends before the others.
fn drawn<'a>(results: &'a Results, names: &[&'a str]) -> Vec<&'a str> {
    if names.len() <= LINES {
        return names.to_vec();
    }
    let front: HashSet<&str> = match &results.sweep {
        Some(sweep) => sweep.configurations.iter().filter(|tried| tried.front).map(|tried| tried.policy.as_str()).collect(),
        None => HashSet::new(),
    };
    let recommended = results.sweep.as_ref().and_then(|sweep| Some(sweep.recommended.as_ref()?.policy.as_str()));
    let rank = |name: &str| match name {
        _ if Some(name) == recommended => 0,
        _ if ENDS.contains(&name) => 1,
        _ if front.contains(name) => 2,
        _ => 3,
    };
    let mut first: Vec<usize> = (0..names.len()).collect();
    first.sort_by_key(|at| rank(names[*at]));
    first.truncate(LINES);
    first.sort_unstable();
    first.into_iter().map(|at| names[at]).collect()
}

/// Whether a policy is a bound that is drawn in grey.
pub fn is_end(policy: &str) -> bool {
    ENDS.contains(&policy)
}

/// The first of these columns in which some policy has a value.
pub fn first_with_values<'a>(results: &'a Results, ids: &[&str]) -> Option<&'a Column> {
    ids.iter().find_map(|id| results.column(id).filter(|_| results.summary.iter().any(|s| s.values.get(id).is_some())))
}
