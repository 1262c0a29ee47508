//! The points of the scatter plot: where each policy and configuration is, and what is drawn with it.

use std::collections::{HashMap, HashSet};

use super::super::parameters::parameters;
use super::super::series::PolicySeries;
use super::{Axes, better};
use crate::metrics::metric::cost;
use crate::results::Role;
use crate::results::saved::{ConfigurationRow, Direction, Results, Summary, Values};

/// A point: one policy or configuration.
pub struct Dot<'a> {
    pub policy: &'a str,
    /// Index among all policies: `data-p` in the page.
    pub index: usize,
    pub position: (f64, f64),
    /// Ends of the bootstrap intervals, if there are any.
    pub x_interval: Option<[f64; 2]>,
    pub y_interval: Option<[f64; 2]>,
    /// The vertical value that an oracle reaches with the same tokens.
    pub bound: Option<f64>,
    pub class: String,
    pub mark: Option<usize>,
    pub on_front: bool,
    pub recommended: bool,
    pub settings: Vec<(String, String)>,
    pub values: &'a Values,
    /// The cost if every policy set its cache breakpoints at the best places, and if it set them at the ends of requests.
    pub cost_range: Option<[f64; 2]>,
    /// Why it must not be used.
    pub flaw: Option<&'static str>,
}

/// Returns the configurations that were only tried, then the policies.
pub fn dots<'a>(results: &'a Results, series: &PolicySeries, axes: &Axes) -> Vec<Dot<'a>> {
    let position = |values: &Values| Some((axes.x_of(values)?, values.get(&axes.y.id)?));
    let position = |values: &Values| position(values).filter(|(x, y)| x.is_finite() && y.is_finite());
    let replayed: Vec<&Summary> = results.summary.iter().filter(|summary| summary.bound_of.is_none()).collect();
    let known: HashSet<&str> = replayed.iter().map(|summary| summary.policy.as_str()).collect();
    let configurations: HashMap<&str, &ConfigurationRow> =
        results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|row| (row.policy.as_str(), row)).collect();
    let others = results.sweep.iter().flat_map(|sweep| &sweep.configurations).filter(|row| !known.contains(row.policy.as_str()));
    let most_sessions = results.sweep.iter().flat_map(|sweep| &sweep.configurations).map(|row| row.sessions).max().unwrap_or(0);
    let held_out = results.sweep.as_ref().is_some_and(|sweep| sweep.held_out > 0);
    let mut dots: Vec<Dot> = Vec::new();
    dots.extend(others.filter_map(|row| {
        let class = match row {
            row if !row.allowed => "tried refused",
            row if row.sessions < most_sessions => "tried early",
            _ => "tried",
        };
        Some(Dot {
            policy: &row.policy,
            index: series.index_of(&row.policy)?,
            position: position(&row.values)?,
            x_interval: None,
            y_interval: None,
            bound: None,
            class: class.to_owned(),
            mark: None,
            on_front: row.front,
            recommended: series.roles.is_chosen(&row.policy),
            settings: row.settings.clone(),
            values: &row.values,
            cost_range: None,
            flaw: series.roles.flaw(&row.policy),
        })
    }));
    dots.extend(replayed.iter().filter_map(|summary| {
        let policy = summary.policy.as_str();
        let style = series.style(policy);
        let bounds = results.summary.iter().filter(|bound| bound.bound_of.as_deref() == Some(policy));
        let configuration = configurations.get(policy).copied();
        // A front was chosen on other sessions than the held-out ones, so all points use the sessions of the choice.
        let values = if held_out { &configuration?.values } else { &summary.values };
        let saved = |id: &str| summary.intervals.entry(id);
        let of_cost = if axes.yardstick.is_some() { series.roles.cost_interval(policy) } else { saved(&axes.x.id) };
        Some(Dot {
            policy,
            index: series.index_of(policy)?,
            position: position(values)?,
            x_interval: of_cost.filter(|_| !held_out),
            y_interval: saved(&axes.y.id).filter(|_| !held_out),
            bound: bounds.filter_map(|bound| bound.values.get(&axes.y.id)).next().filter(|_| !held_out),
            class: style.map_or("other".to_owned(), |style| style.class.clone()),
            mark: Some(style.map_or(0, |style| style.mark)),
            on_front: configuration.is_some_and(|row| row.front),
            recommended: series.roles.is_chosen(policy),
            settings: configuration
                .filter(|row| row.policy != row.of)
                .map_or_else(|| parameters(results, policy), |row| row.settings.clone()),
            values,
            cost_range: cost_range(axes, values).filter(|_| axes.yardstick.is_some_and(|(yardstick, _)| yardstick != policy)),
            flaw: series.roles.flaw(policy),
        })
    }));
    if results.sweep.is_none() {
        let directions = (better(results, axes.x), better(results, axes.y));
        let on_front: Vec<bool> = dots.iter().map(|dot| is_on_front(dot, &dots, directions)).collect();
        dots.iter_mut().zip(on_front).for_each(|(dot, on_front)| dot.on_front = on_front);
    }
    dots
}

fn cost_range(axes: &Axes, values: &Values) -> Option<[f64; 2]> {
    let [best, ends] = [cost::BEST_BREAKPOINTS, cost::AT_ENDS].map(|id| axes.share(id, values).filter(|share| share.is_finite()));
    let (best, ends, own) = (best?, ends?, axes.x_of(values)?);
    let (low, high) = (best.min(own).min(ends), ends.max(own).max(best));
    (low < high).then_some([low, high])
}

/// Whether no other policy is at least as good in both columns and better in one. The two bounds are not compared, because all
/// policies lie between them; nor are policies that must not be used.
fn is_on_front(dot: &Dot, dots: &[Dot], (x, y): (Direction, Direction)) -> bool {
    let goodness = |value: f64, direction: Direction| if direction == Direction::Lower { -value } else { value };
    let both = |dot: &Dot| (goodness(dot.position.0, x), goodness(dot.position.1, y));
    let this = both(dot);
    let beats = |other: &Dot| {
        let other = both(other);
        other.0 >= this.0 && other.1 >= this.1 && other != this
    };
    let can_be_used = |dot: &Dot| !Role::of(dot.policy).is_bound() && dot.flaw.is_none();
    can_be_used(dot) && !dots.iter().any(|other| can_be_used(other) && beats(other))
}
