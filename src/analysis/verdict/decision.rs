//! What to do: the answer of a replay or of a sweep in a word, for programs and for the first sentence of a screen.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Choice, Standing, Verdict};
use crate::results::saved::{Results, Sweep};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Take this policy: its saving is proven.
    Ship,
    /// This policy is the best, but its saving may be chance.
    Unproven,
    /// This configuration is the best of a sweep, and no session was held out to confirm it.
    Unconfirmed,
    /// This policy is the best, and there is nothing to compare its cost with.
    NoYardstick,
    /// A sweep found nothing better than this policy as it is.
    Keep,
    /// No policy may be shipped: keep what you have.
    NoneFit,
    /// Only bounds and the recorded sessions were replayed.
    NothingToChoose,
    /// Each harness has an answer of its own.
    PerHarness,
}

/// Returns what to do, and with which policy.
pub fn decision<'a>(results: &'a Results, verdict: &Verdict<'a>) -> (Decision, Option<&'a str>) {
    match &results.sweep {
        Some(sweep) => of_sweep(sweep, verdict),
        None => (of_choice(verdict.choice), verdict.chosen().map(Standing::policy)),
    }
}

fn of_choice(choice: Choice) -> Decision {
    match choice {
        Choice::Ship => Decision::Ship,
        Choice::Unproven => Decision::Unproven,
        Choice::NoYardstick => Decision::NoYardstick,
        Choice::NoneFit => Decision::NoneFit,
        Choice::NothingToChoose => Decision::NothingToChoose,
    }
}

fn of_sweep<'a>(sweep: &'a Sweep, verdict: &Verdict) -> (Decision, Option<&'a str>) {
    let Some(best) = &sweep.recommended else { return (Decision::NoneFit, None) };
    let is_proven = verdict.standing(&best.policy).is_some_and(Standing::is_proven);
    let decision = match sweep.held_out {
        _ if sweep.keeps_unchanged() => Decision::Keep,
        0 => Decision::Unconfirmed,
        _ if verdict.yardstick.policy.is_none() => Decision::NoYardstick,
        _ if is_proven => Decision::Ship,
        _ => Decision::Unproven,
    };
    (decision, Some(&best.policy))
}
