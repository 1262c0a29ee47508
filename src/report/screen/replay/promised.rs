//! What the answer says about sessions to come, and how sure it is.

use super::super::Prose;
use super::answer::{cost_with, is_too_wide, range};
use super::{money, named};
use crate::analysis::verdict::{Choice, Promise, Standing, Ties, Verdict, Winner, ties};
use crate::report::number_format::{grouped, value};
use crate::results::saved::{Results, Unit};
use crate::results::stats::{MIN_SESSIONS, Samples};
use crate::util::text::plural;

/// From this share on, sessions that may be unlike these are worth a word.
const FEW_UNLIKE: f64 = 0.1;

/// `25% less than … ($174, not $232; …; 3 to 54% less for your next 20 sessions; saves an estimated $41 a month at this rate)`
pub fn cost(standing: &Standing, verdict: &Verdict, promise: &Promise) -> Prose {
    let sessions = plural(promise.sessions, "session");
    let next = promise.cost.map(|ends| {
        let ends = if is_too_wide(ends) { "anything".to_owned() } else { range(ends) };
        format!("{ends} for your next {sessions}")
    });
    let month = promise.usd_a_month.filter(|usd| *usd > 0.0);
    let month = month.map(|usd| format!("saves an estimated {} a month at this rate", money(usd)));
    cost_with(standing, verdict, next.into_iter().chain(month).collect())
}

/// ` (91.0 to 98.5% of those of your next 20 sessions)`
pub fn facts(promise: &Promise) -> String {
    promise.facts.map_or(String::new(), |[low, high]| {
        let ends = format!("{} to {}", grouped(low * 100.0, 1), value(Unit::Share, Some(high)));
        format!(" ({ends} of those of your next {})", plural(promise.sessions, "session"))
    })
}

/// `In 3 of 10 halves of the sessions `qwen-code` wins, in 1 none does; of 100 resamples, 31 have another winner.`
pub fn stability(results: &Results, verdict: &Verdict) -> Prose {
    let Some(Ties { halves, resamples, others, unlike }) = ties(results, verdict) else {
        let few = Samples::new(&results.rows).sessions() < MIN_SESSIONS;
        let is_missing = few && verdict.choice != Choice::Unproven;
        return if is_missing { Prose::new("Too few sessions to be sure.") } else { Prose::default() };
    };
    let elsewhere: usize = others.iter().map(|other| other.resamples).sum();
    let in_halves: Vec<&Winner> = others.iter().filter(|other| other.halves > 0).collect();
    let winner = |(at, other): (usize, &&Winner)| {
        let times = if at == 0 {
            format!("In {} of {halves} halves of the sessions ", other.halves)
        } else {
            format!("in {} ", other.halves)
        };
        let winner = other.policy.as_deref().map_or_else(|| Prose::new("none of them"), named);
        Prose::new(times).join(winner).words(" wins")
    };
    let list = in_halves.iter().enumerate().map(winner).reduce(|all, next| all.words(", ").join(next));
    match (list, elsewhere) {
        (None, 0) => {
            let percent = grouped(unlike * 100.0, 0);
            let unlike = if unlike < FEW_UNLIKE {
                String::new()
            } else {
                format!("; but up to {percent}% of the next may be unlike these")
            };
            Prose::new(format!("All {halves} halves of the sessions and all {resamples} resamples agree{unlike}."))
        }
        (None, _) => Prose::new(format!(
            "All {halves} halves of the sessions give this answer, and {} of {resamples} resamples.",
            resamples - elsewhere
        )),
        (Some(list), _) => list.words(format!("; {elsewhere} of {resamples} resamples have another winner.")),
    }
}
