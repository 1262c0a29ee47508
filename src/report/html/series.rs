//! Which columns plots show, which policies have lines, and what each policy's line looks like.

use std::collections::{HashMap, HashSet};

use maud::{Markup, html};

use super::super::escape::terminal;
use super::super::table_model::compare::keep_all_first;
use super::roles::Roles;
use crate::analysis::verdict::HarnessVerdict;
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::Role;
use crate::results::saved::{Column, Results, Values};

/// Columns that plots use; of a list, the first column that has values.
pub const COST: [&str; 3] = [cost::RATIO, tokens::SAVED, tokens::SENT];
pub const RETENTION: [&str; 1] = [retention::HIT];
/// Columns in the tooltip of a point, besides the two axes.
pub const TOOLTIP: [&str; 4] = [cost::USD, tokens::SAVED, retention::HARD, retention::CONSTRAINTS];
/// Requests that an API would refuse: malformed ones, and ones larger than the window.
pub const REFUSED: [&str; 2] = [broken::REQUESTS, overflow::FAILED_CALLS];
/// The parts of a policy's cost with their labels, in the order of the bars.
pub const COST_PARTS: [(&str, &str); 4] = [
    (cost::READ, "cache read"),
    (cost::WRITE, "written, not cached"),
    (cost::OUTPUT, "output"),
    (cost::SUMMARIZER, "summarizer"),
];

/// Maximum lines in one plot; more are unreadable.
const MAX_LINES: usize = 16;
/// Number of line colours.
const COLOUR_COUNT: usize = 8;

/// All policies that can be pinned, and the line style of those that are drawn.
pub struct PolicySeries<'a> {
    indices: HashMap<&'a str, usize>,
    /// The policies that have a line in every line plot.
    pub drawn: Vec<SeriesStyle<'a>>,
    pub roles: Roles<'a>,
}

/// The look of a policy's line and mark.
#[derive(Debug, Clone)]
pub struct SeriesStyle<'a> {
    pub policy: &'a str,
    /// Index among all policies: `data-p` in the page.
    pub index: usize,
    /// CSS classes for colour and dashes.
    pub class: String,
    pub mark: usize,
}

impl<'a> PolicySeries<'a> {
    pub fn new(results: &'a Results, harnesses: &'a [HarnessVerdict<'a>]) -> Self {
        let replayed = keep_all_first(results).filter(|summary| summary.bound_of.is_none());
        let mut names: Vec<&str> = replayed.map(|summary| summary.policy.as_str()).collect();
        let roles = Roles::new(results, harnesses);
        let drawn = choose_drawn(results, &roles, &names);
        let tried = results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|tried| tried.policy.as_str());
        let mut known = HashSet::new();
        names.extend(tried);
        names.retain(|name| known.insert(*name));
        let indices: HashMap<&str, usize> = names.iter().enumerate().map(|(index, name)| (*name, index)).collect();
        let mut colours = 0;
        let style = |policy: &'a str| {
            let index = indices.get(policy).copied().unwrap_or(0);
            let end = match Role::of(policy) {
                Role::KeepAll => Some(0),
                Role::DropAll => Some(1),
                _ => None,
            };
            if let Some(end) = end {
                return SeriesStyle { policy, index, class: format!("e{end}"), mark: end };
            }
            let (colour, dash) = (colours % COLOUR_COUNT, colours / COLOUR_COUNT);
            colours += 1;
            SeriesStyle { policy, index, class: format!("s{colour} d{dash}"), mark: colour + dash }
        };
        let drawn = drawn.into_iter().map(style).collect();
        Self { indices, drawn, roles }
    }

    /// Returns a policy's index among all policies of the results.
    pub fn index_of(&self, policy: &str) -> Option<usize> {
        self.indices.get(policy).copied()
    }

    pub fn style(&self, policy: &str) -> Option<&SeriesStyle<'a>> {
        self.drawn.iter().find(|style| style.policy == policy)
    }

    /// Draws the name of a policy, struck if it must not be used.
    pub fn name(&self, policy: &str) -> Markup {
        html! {
            bdi class=(self.roles.class(policy)) { (terminal(self.roles.label(policy))) }
        }
    }

    /// Says how many policies have no line.
    pub fn left_out(&self, results: &Results) -> String {
        let all = results.summary.iter().filter(|summary| summary.bound_of.is_none()).count();
        match all.saturating_sub(self.drawn.len()) {
            0 => String::new(),
            left => format!(
                "{} of {all} policies are drawn{}; the other {left} are in the tables.",
                self.drawn.len(),
                if results.sweep.is_some() { ", those on the front first" } else { ", those that may be used first" }
            ),
        }
    }

    /// Renders buttons that show and hide the lines of a plot; `more` follows them.
    pub fn legend(&self, more: Option<Markup>) -> Markup {
        html! {
            div class="legend" role="group" aria-label="Lines shown" {
                @for style in &self.drawn {
                    button type="button" class={ "key " (style.class) } aria-pressed="true" data-k=(style.index) {
                        (sample(style))
                        (self.name(style.policy))
                    }
                }
                @if let Some(more) = more { (more) }
            }
        }
    }
}

/// Draws a short sample of a policy's line.
pub fn sample(style: &SeriesStyle) -> Markup {
    html! {
        svg class={ "sample " (style.class) } width="30" height="12" aria-hidden="true" {
            line class="stroke" x1="0" y1="6" x2="30" y2="6" {}
            use class="mark" href={ "#m" (style.mark % 8) } x="15" y="6" {}
        }
    }
}

/// Selects the policies to draw: all if they fit, else the recommended one, the bounds, and those on the sweep's front or fit to be
/// used before the others.
fn choose_drawn<'a>(results: &'a Results, roles: &Roles, names: &[&'a str]) -> Vec<&'a str> {
    if names.len() <= MAX_LINES {
        return names.to_vec();
    }
    let front: HashSet<&str> = match &results.sweep {
        Some(sweep) => sweep.configurations.iter().filter(|tried| tried.front).map(|tried| tried.policy.as_str()).collect(),
        None => names.iter().copied().filter(|name| roles.flaw(name).is_none()).collect(),
    };
    let rank = |name: &str| match name {
        _ if roles.is_chosen(name) => 0,
        _ if Role::of(name).is_bound() => 1,
        _ if front.contains(name) => 2,
        _ => 3,
    };
    let mut chosen: Vec<usize> = (0..names.len()).collect();
    chosen.sort_by_key(|index| rank(names[*index]));
    chosen.truncate(MAX_LINES);
    chosen.sort_unstable();
    chosen.into_iter().map(|index| names[index]).collect()
}

/// Counts the requests that an API would refuse.
pub fn refused(values: &Values) -> Option<f64> {
    REFUSED.iter().filter_map(|id| values.get(id)).reduce(|all, next| all + next)
}

/// Returns the first of these columns in which some policy has a value.
pub fn first_with_values<'a>(results: &'a Results, ids: &[&str]) -> Option<&'a Column> {
    ids.iter().find_map(|id| results.column(id).filter(|_| results.summary.iter().any(|s| s.values.get(id).is_some())))
}
