//! Conditions that every recommendation meets unless the user sets others: a policy must not make requests that an API refuses,
//! or that do not fit the context window.

use crate::metrics::metric::{broken, overflow};
use crate::results::condition::Condition;

/// Columns that count requests that cannot be sent. What was recorded malformed is no configuration's fault.
pub const UNSENDABLE: [&str; 2] = [broken::CAUSED, overflow::FAILED_CALLS];

/// Largest share of requests that cannot be sent. One in two hundred is about one in a long session.
const MAX_SHARE: f64 = 0.005;

/// Returns whether few enough of the requests cannot be sent.
pub fn is_sendable(count: u64, requests: u64) -> bool {
    count as f64 <= MAX_SHARE * requests as f64
}

/// Returns the columns that have a condition by default: those for which the user sets none. A condition on all malformed requests
/// also replaces the one on those that the policy caused.
pub fn default_columns(conditions: &[Condition]) -> impl Iterator<Item = &'static str> + '_ {
    let is_set = |column: &str| conditions.iter().any(|condition| condition.column == column);
    let is_free = move |column: &&str| !is_set(column) && (*column != broken::CAUSED || !is_set(broken::REQUESTS));
    UNSENDABLE.into_iter().filter(is_free)
}

/// Returns the condition on a column for reports; it begins with the id of the column, as a written condition does.
pub fn describe(column: &str) -> String {
    format!("{column} <= {}% of requests and of the unchanged policy", MAX_SHARE * 100.0)
}

/// Returns how far a configuration is from the condition, in steps of the largest share; 0 if it meets it. `count` and
/// `unchanged` are the totals of the configuration and of the policy with its own settings.
pub fn missed_by(count: Option<f64>, unchanged: Option<f64>, requests: u64) -> f64 {
    let step = MAX_SHARE * requests as f64;
    let limit = unchanged.map_or(step, |unchanged| unchanged.min(step));
    let over = count.unwrap_or(0.0) - limit;
    if over > 0.0 { over / step.max(f64::MIN_POSITIVE) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_half_a_percent_and_the_unchanged_policy() {
        for (count, unchanged, expected) in [
            (Some(5.0), Some(9.0), 0.0),
            (Some(6.0), Some(9.0), 0.2),
            (Some(1.0), Some(0.0), 0.2),
            (Some(0.0), Some(0.0), 0.0),
            (Some(500.0), Some(500.0), 99.0),
            (None, None, 0.0),
        ] {
            assert!((missed_by(count, unchanged, 1_000) - expected).abs() < 1e-9, "{count:?} {unchanged:?}");
        }
    }

    #[test]
    fn conditions_of_the_user_replace_the_default() {
        let own: Vec<Condition> = vec!["broken.requests <= 9".parse().expect("a condition")];
        assert!(default_columns(&own).eq(["failed_calls"]));
        assert!(default_columns(&[]).eq(UNSENDABLE));
    }
}
