//! How many cases a test tries, and which trials replay each: by default what runs in about a second, and all with `RECOMPACT_LONG=1`,
//! as `.ci/run` does in turn.

use std::cell::Cell;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// In the usual run, each conversation is replayed by one trial in this many.
const TURNS: usize = 4;

/// Returns `usual` by default, and `full` in a long run.
pub fn of<T>(usual: T, full: T) -> T {
    if std::env::var_os("RECOMPACT_LONG").is_some() { full } else { usual }
}

/// Returns the trials for a case: a quarter of them, which take turns from case to case, and all in a long run.
pub fn in_turn<T>(trials: &[T], case: usize) -> Vec<&T> {
    let turns = of(TURNS, 1);
    trials.iter().skip(case % turns).step_by(turns).collect()
}

/// Checks a law for `cases` drawn values, and for four times as many in a long run. A failing value is made smaller before it is shown.
/// The law also gets the number of the case, which stays while a value is made smaller.
pub fn check<S: Strategy>(cases: u32, values: S, law: impl Fn(S::Value, usize)) {
    let cases = of(cases, 4 * cases);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let (case, has_failed) = (Cell::new(0), Cell::new(false));
    let outcome = runner.run(&values, |value| {
        // A law that fails does not return.
        let is_made_smaller = has_failed.replace(true);
        law(value, case.get());
        if !is_made_smaller {
            has_failed.set(false);
            case.set(case.get() + 1);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
