//! The conditions that every recommendation meets unless the user sets others: the limits of a [verdict](crate::analysis::verdict), and
//! no more losses and refused requests than the policy as it is.

use crate::analysis::limits::{Flaw, Limit, MAX_LOST, MAX_REFUSED, limits};
use crate::metrics::metric::{broken, cost, overflow, retention};
use crate::results::Role;
use crate::results::condition::Condition;

/// Columns that count requests that cannot be sent. What was recorded malformed is no configuration's fault.
pub const UNSENDABLE: [&str; 2] = [broken::CAUSED, overflow::FAILED_CALLS];

/// What a policy misses that its user cannot switch on: in place of a column, the key of its file.
pub const DECIDED_BY: &str = "decided_by";

/// How much more of the facts than the unchanged policy a configuration may lose for good: less than what a report shows.
const SAME_LOSS: f64 = 0.0005;

/// A step of a share, as wide as the tolerances of the objectives.
const STEP: f64 = 0.01;

/// A default condition on one column, over some sessions.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    limit: Limit,
    /// Size of a step: what is missed by more is further from the condition.
    step: f64,
}

/// What the default conditions are about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Against<'a> {
    /// Name of the policy whose cost is to be beaten; `None` if nothing is known that could run.
    pub yardstick: Option<&'a str>,
    /// Whether there is a policy as it is: only one policy is swept.
    pub has_unchanged: bool,
}

/// Returns the default conditions for sessions with this number of requests; `yardstick` is the `cost.ratio` of the yardstick there.
fn rules(requests: u64, yardstick: Option<f64>) -> impl Iterator<Item = Rule> {
    limits(requests, yardstick).map(|limit| {
        let step = if UNSENDABLE.contains(&limit.column) { limit.most.max(f64::MIN_POSITIVE) } else { STEP };
        Rule { limit, step }
    })
}

impl Rule {
    pub fn column(&self) -> &'static str {
        self.limit.column
    }

    /// Whether it must also hold on the held-out sessions before a configuration is compared there.
    pub fn holds_everywhere(&self) -> bool {
        UNSENDABLE.contains(&self.limit.column)
    }

    /// Returns how far a total is from the condition, in steps; 0 if it meets it. `unchanged` is the total of the policy as it is.
    fn missed_by(&self, total: Option<f64>, unchanged: Option<f64>) -> f64 {
        let Some(total) = total else { return 0.0 };
        let Limit { flaw, most, .. } = self.limit;
        let unchanged = match flaw {
            Flaw::CostsMore => f64::INFINITY,
            Flaw::LosesFacts => unchanged.map_or(f64::INFINITY, |lost| lost + SAME_LOSS),
            _ => unchanged.unwrap_or(f64::INFINITY),
        };
        let limit = Limit { most: most.min(unchanged), ..self.limit };
        if limit.is_exceeded_by(total) { ((total - limit.most) / self.step).max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// Returns the default conditions on some sessions that the user does not replace, and by how many steps a policy misses each; 0 if it
/// meets it. `total` and `unchanged` return the totals of the policy and of the policy as it is by column.
pub fn missed<'a>(
    requests: u64,
    yardstick: Option<f64>,
    conditions: &'a [Condition],
    total: impl Fn(&str) -> Option<f64> + 'a,
    unchanged: impl Fn(&str) -> Option<f64> + 'a,
) -> impl Iterator<Item = (Rule, f64)> + 'a {
    let free = rules(requests, yardstick).filter(|rule| !is_replaced(rule.column(), conditions));
    free.map(move |rule| (rule, rule.missed_by(total(rule.column()), unchanged(rule.column()))))
}

/// Returns whether the user sets a condition of his own on a column. One on all malformed requests also replaces the one on those that
/// the policy caused.
fn is_replaced(column: &str, conditions: &[Condition]) -> bool {
    let is_set = |column: &str| conditions.iter().any(|condition| condition.column == column);
    is_set(column) || column == broken::CAUSED && is_set(broken::REQUESTS)
}

/// Returns the default conditions for reports; each begins with the id of its column, as a written condition does.
pub fn describe(conditions: &[Condition], against: Against) -> Vec<String> {
    let unchanged = if against.has_unchanged { " and of the unchanged policy" } else { "" };
    let refused = |column: &str| format!("{column} <= {}% of requests{unchanged}", MAX_REFUSED * 100.0);
    let cost = against.yardstick.map(|policy| (cost::RATIO, format!("{} < {}", cost::RATIO, named(policy))));
    let lost = format!("{} <= {}%{unchanged}", retention::HARD, MAX_LOST * 100.0);
    let all = UNSENDABLE
        .map(|column| (column, refused(column)))
        .into_iter()
        .chain(cost)
        .chain([(retention::HARD, lost), (retention::RULES_CUT, format!("{} == 0", retention::RULES_CUT))]);
    all.filter(|(column, _)| !is_replaced(column, conditions)).map(|(_, text)| text).collect()
}

/// What a yardstick is called.
fn named(policy: &str) -> String {
    Role::of(policy).words().map_or_else(|| format!("`{policy}`"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(column: &str, total: f64, unchanged: Option<f64>) -> f64 {
        let rule = rules(1_000, Some(0.8)).find(|rule| rule.column() == column).expect(column);
        rule.missed_by(Some(total), unchanged)
    }

    #[test]
    fn limit_of_refused_requests_is_half_a_percent_and_the_unchanged_policy() {
        for (count, unchanged, expected) in [
            (5.0, Some(9.0), 0.0),
            (6.0, Some(9.0), 0.2),
            (1.0, Some(0.0), 0.2),
            (0.0, Some(0.0), 0.0),
            (500.0, Some(500.0), 99.0),
            (6.0, None, 0.2),
        ] {
            for column in UNSENDABLE {
                assert!((missed(column, count, unchanged) - expected).abs() < 1e-9, "{count} {unchanged:?}");
            }
        }
    }

    /// The unchanged policy may cost more than the yardstick; what costs less than both of them is still too dear if it is not below .8.
    #[test]
    fn cost_of_the_yardstick_is_too_much() {
        assert_eq!(missed(cost::RATIO, 0.79, Some(0.5)), 0.0);
        assert!(missed(cost::RATIO, 0.8, Some(0.9)) > 0.0);
        assert!((missed(cost::RATIO, 0.9, None) - 10.0).abs() < 1e-9);
        assert!(rules(1_000, None).all(|rule| rule.column() != cost::RATIO));
    }

    #[test]
    fn losses_are_at_most_five_percent_and_do_not_rise() {
        assert_eq!(missed(retention::HARD, 0.05, None), 0.0);
        assert!((missed(retention::HARD, 0.07, Some(0.3)) - 2.0).abs() < 1e-9);
        assert_eq!(missed(retention::HARD, 0.0204, Some(0.02)), 0.0, "both are 2.0%");
        assert!(missed(retention::HARD, 0.021, Some(0.02)) > 0.0);
    }

    #[test]
    fn conditions_of_the_user_replace_the_default() {
        let columns = |conditions: &[&str]| {
            let own: Vec<Condition> = conditions.iter().map(|written| written.parse().expect("a condition")).collect();
            let texts = describe(&own, Against { yardstick: Some("recorded"), has_unchanged: true });
            texts.iter().map(|text| text.split(' ').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(columns(&[]), ["broken.caused", "failed_calls", "cost.ratio", "kept.hard", "kept.rules_cut"]);
        assert_eq!(columns(&["broken.requests <= 9", "kept.hard <= 1%"]), ["failed_calls", "cost.ratio", "kept.rules_cut"]);
    }
}
