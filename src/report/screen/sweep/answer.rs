//! The answer of a sweep in sentences: which configuration to take, or why none.

use super::super::Prose;
use super::super::replay::{cost, money, named, settings};
use super::View;
use crate::analysis::limits::Flaw;
use crate::analysis::verdict::{Decision, Standing, decision, formats, way};
use crate::metrics::metric::{self, broken, overflow, retention};
use crate::report::number_format;
use crate::results::saved::{ConfigurationRow, Objective, Recommendation, Unit};
use crate::util::text::plural;

pub fn answer(view: &View) -> Vec<Prose> {
    let Some(best) = &view.sweep.recommended else { return none(view) };
    let name = best.policy.as_str();
    let last = [described(view, name), excluded(view)].into_iter().flatten();
    if view.sweep.keeps_unchanged() {
        let first = Prose::new("Keep ").name(name).words(" as it is: none of the others ").words(better(view)).words(".");
        return [first].into_iter().chain(last).chain(cheaper(view)).collect();
    }
    // Who has no settings for it reads this first.
    let first = [taken(view, best)].into_iter().chain(by_settings(view, name)).reduce(|all, next| all.words(" ").join(next));
    first.into_iter().chain(last).collect()
}

/// What the settings of each harness that recorded can do, if they do not express the recommendation.
fn by_settings(view: &View, chosen: &str) -> Vec<Prose> {
    let is_allowed = |standing: &&Standing| view.sweep.configuration(standing.policy()).is_some_and(|row| row.allowed);
    let label = |policy: &str| Prose::default().name(view.sweep.label(policy));
    let of_harness = |format| {
        let way = way(view.results, format, chosen, view.verdict.candidates().filter(is_allowed));
        settings(&view.verdict, format, chosen, way, label)
    };
    formats(view.results).into_iter().filter_map(of_harness).collect()
}

/// `Take `keep_recent=5`: it costs 12% less than your recorded runs ($80, not $91), and is better than `lcc-s08` as it is.`
fn taken(view: &View, best: &Recommendation) -> Prose {
    let label = view.sweep.label(&best.policy);
    let standing = view.verdict.standing(&best.policy).filter(|standing| standing.cost_ratio().is_some());
    let has_yardstick = view.verdict.yardstick.policy.is_some();
    let costs = standing.filter(|_| has_yardstick).map(|standing| Prose::new("it costs ").join(cost(standing, &view.verdict)));
    let own = best.instead_of.as_deref().map(|own| Prose::new("it is better than ").name(own).words(" as it is"));
    let reasons = [costs, own].into_iter().flatten().reduce(|all, next| all.words(", and ").join(next));
    let first = match decision(view.results, &view.verdict).0 {
        Decision::Unconfirmed => "Nothing is confirmed, because no session was held out. The best on these sessions is ",
        Decision::Unproven => "Nothing is proven, because the saving may be chance. The best of these is ",
        _ => "Take ",
    };
    let first = Prose::new(first).name(label);
    reasons.map_or_else(|| first.clone().words("."), |reasons| first.clone().words(": ").join(reasons).words("."))
}

/// Why none is worth shipping, and which comes nearest.
fn none(view: &View) -> Vec<Prose> {
    let configurations = &view.sweep.configurations;
    let missed = |row: &ConfigurationRow| row.missed.first().cloned();
    let mut reasons: Vec<String> = configurations.iter().filter_map(missed).collect();
    reasons.sort();
    reasons.dedup();
    let count =
        |reason: &str| configurations.iter().filter(|row| row.missed.first().is_some_and(|first| first == reason)).count();
    let mut counted: Vec<(usize, String)> = reasons.into_iter().map(|reason| (count(&reason), reason)).collect();
    counted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let met: Vec<&ConfigurationRow> = configurations.iter().filter(|row| row.missed.is_empty()).collect();
    let listed = counted.iter().map(|(count, reason)| Prose::new(format!("{count} ")).join(reason_of(view, reason)));
    let unconfirmed = (!met.is_empty()).then(|| Prose::new(format!("{} not better on the held-out sessions", met.len())));
    let listed = listed.chain(unconfirmed).reduce(|all, next| all.words("; ").join(next)).unwrap_or_default();
    let beginning = format!("None of these {} is worth shipping: ", plural(configurations.len(), "configuration"));
    let nearest = view.sweep.nearest.as_deref().map(|policy| {
        let first = Prose::new("Nearest to the conditions is ").name(view.sweep.label(policy));
        let standing = view.verdict.standing(policy).filter(|standing| standing.cost_ratio().is_some());
        match standing {
            Some(standing) => first.words(", which costs ").join(cost(standing, &view.verdict)).words("."),
            None => first.words("."),
        }
    });
    [Prose::new(beginning).join(listed).words(".")].into_iter().chain(nearest).collect()
}

/// `cost as much as your recorded runs or more`
fn reason_of(view: &View, column: &str) -> Prose {
    let own = view.sweep.conditions.iter().find(|condition| condition.split(' ').next() == Some(column));
    let flaw = match column {
        broken::CAUSED => Flaw::Malformed,
        overflow::FAILED_CALLS => Flaw::Overflows,
        metric::cost::RATIO => {
            let yardstick = view.sweep.yardstick.as_ref().map(|yardstick| named(&yardstick.policy));
            return Prose::new("cost as much as ").join(yardstick.unwrap_or_default()).words(", or more");
        }
        "decided_by" => Flaw::NotYours,
        _ => {
            let miss = |own: &String| Prose::new("miss ").name(own.as_str()).words(best_of_the_others(view, column));
            return own.map_or_else(Prose::default, miss);
        }
    };
    Prose::new(format!("have {}", flaw.of_several()))
}

/// ` (the best that meets the other conditions has 97.2%)`, of those that miss only the condition on this column.
fn best_of_the_others(view: &View, column: &str) -> String {
    let of_whole = view.sweep.rounds.last().map_or(0, |round| round.sessions);
    let misses_only_it = |row: &&ConfigurationRow| row.missed.len() == 1 && row.missed[0] == column && row.sessions == of_whole;
    let values = view.sweep.configurations.iter().filter(misses_only_it).filter_map(|row| row.values.get(column));
    let known = view.results.column(column);
    let best = known.and_then(|known| Some((known.unit, values.min_by(|a, b| known.better.compare(Some(*a), Some(*b)))?)));
    best.map_or_else(String::new, |(unit, best)| {
        format!(" (the best that meets the other conditions has {})", number_format::value(unit, Some(best)))
    })
}

/// What a better configuration would do.
fn better(view: &View) -> &'static str {
    let columns: Vec<&str> = view.sweep.objectives.iter().map(|Objective { column, .. }| &**column).collect();
    match columns[..] {
        [metric::cost::RATIO, retention::HIT] => "costs less and keeps as many facts, or keeps more at the same cost",
        _ => "is better in one objective and not worse in the others",
    }
}

/// The next cheaper configuration on the front, for those who can do with fewer facts.
fn cheaper(view: &View) -> Option<Prose> {
    let mut neighbours = view.sweep.recommended.iter().flat_map(|recommended| &recommended.neighbours);
    let policy = neighbours.find(|next| next.by == metric::cost::RATIO)?.policy.as_str();
    let (usd, hit) = (view.value(policy, metric::cost::USD)?, view.value(policy, retention::HIT)?);
    let values = format!(" costs {} and keeps {}.", money(usd), number_format::value(Unit::Share, Some(hit)));
    Some(Prose::new("If fewer facts are enough: ").name(view.sweep.label(policy)).words(values))
}

/// `The conditions exclude 12 configurations that cost less. The cheapest, `keep_recent=1` ($2.82), misses `kept.hard <= 5%` (7.2%).`
fn excluded(view: &View) -> Option<Prose> {
    let cheaper = view.sweep.cheaper_excluded();
    let row = cheaper.first()?;
    let column = row.missed.first()?;
    let others = match cheaper.len() {
        1 => "The conditions exclude one configuration that costs less: ".to_owned(),
        some => format!("The conditions exclude {some} configurations that cost less. The cheapest, "),
    };
    let usd =
        row.values.get(metric::cost::USD).map_or(String::new(), |usd| format!(" ({} on the sessions to choose on)", money(usd)));
    let first = Prose::new(others).name(view.sweep.label(&row.policy)).words(usd);
    let condition = view.sweep.conditions.iter().find(|condition| condition.split(' ').next() == Some(column));
    let unit = view.results.column(column).map(|known| known.unit);
    let value_of = |row: &ConfigurationRow| Some(number_format::value(unit?, Some(row.values.get(column)?)));
    let unchanged = view.sweep.configuration(&row.of).filter(|own| own.policy != row.policy).and_then(value_of);
    let value = value_of(row).map_or_else(Prose::default, |value| match unchanged {
        Some(own) => Prose::new(format!(" ({value}; ")).name(row.of.as_str()).words(format!(" as it is: {own})")),
        None => Prose::new(format!(" ({value})")),
    });
    Some(match condition {
        Some(condition) => first.words(", misses ").name(condition.as_str()).join(value).words("."),
        None => first.words(", acts only when the provider decides so."),
    })
}

/// What the recommended configuration costs and keeps, and what the policy that it is to replace does.
fn described(view: &View, policy: &str) -> Option<Prose> {
    let instead_of = view.sweep.recommended.as_ref().and_then(|best| best.instead_of.as_deref());
    let own = instead_of.or(view.sweep.only_policy()).filter(|own| *own != policy);
    let other = |column: &str| own.and_then(|own| view.value(own, column));
    let mut parts: Vec<String> = Vec::new();
    if let Some(usd) = view.value(policy, metric::cost::USD) {
        parts.push(format!("it costs {}", not(&money(usd), "", other(metric::cost::USD).map(money))));
    }
    let share = |share: f64| number_format::value(Unit::Share, Some(share));
    if let Some(hit) = view.value(policy, retention::HIT) {
        let kept = not(&share(hit), " of the facts that the agent used again", other(retention::HIT).map(share));
        parts.push(format!("keeps {kept}"));
    }
    if let Some(lost) = view.value(policy, retention::HARD) {
        parts.push(format!("loses {} for good", not(&share(lost), "", other(retention::HARD).map(share))));
    }
    let last = match view.refused(policy) {
        0 => "no request is refused".to_owned(),
        some => {
            let caused = view.reported(policy).and_then(|values| values.get(broken::CAUSED));
            let blame = if caused == Some(0.0) { ", as they were recorded" } else { "" };
            format!("{} would be refused{blame}", plural(some, "request"))
        }
    };
    let sessions = match view.sweep.held_out {
        0 => format!("On the {} it was chosen on", plural(view.sweep.sessions, "session")),
        held_out => format!("On the {}", plural(held_out, "held-out session")),
    };
    let parts = if parts.is_empty() { last } else { format!("{}, and {last}", parts.join(", ")) };
    Some(Prose::new(format!("{sessions}, {parts}.")))
}

/// `98.0% of the facts (not 99.4%)`; without the other value if there is none, or if both look the same.
fn not(own: &str, of: &str, other: Option<String>) -> String {
    let other = other.filter(|other| other != own).map(|other| format!(" (not {other})"));
    format!("{own}{of}{}", other.unwrap_or_default())
}
