//! What may be spent: calls and dollars, and how many calls at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What may be spent in one run, by all of its models together.
#[derive(Debug)]
pub struct Limits {
    /// Calls that may be sent, attempts that failed included.
    pub max_calls: Option<u64>,
    /// US dollars.
    pub max_cost: Option<f64>,
    /// Calls at a time.
    pub concurrency: usize,
    spent: Mutex<Spent>,
    freed: Condvar,
}

/// What was spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spent {
    pub calls: u64,
    /// US dollars, with the most that calls under way may cost.
    pub usd: f64,
    under_way: usize,
}

/// A call that may be made. What it was thought to cost at most is corrected when it is known.
pub(super) struct Turn<'a> {
    limits: &'a Limits,
    at_most: f64,
}

impl Limits {
    pub fn new(max_calls: Option<u64>, max_cost: Option<f64>, concurrency: usize) -> Self {
        Self { max_calls, max_cost, concurrency: concurrency.max(1), spent: Mutex::default(), freed: Condvar::new() }
    }

    pub fn spent(&self) -> Spent {
        *self.lock()
    }

    /// Waits for a turn to make one call that costs so much at most; says which limit it would pass.
    pub(super) fn turn(&self, at_most: f64) -> Result<Turn<'_>, String> {
        let mut spent = self.lock();
        while spent.under_way >= self.concurrency {
            spent = self.freed.wait(spent).unwrap_or_else(PoisonError::into_inner);
        }
        if self.max_calls.is_some_and(|most| spent.calls >= most) {
            return Err(format!("--max-calls {}: as many were made", spent.calls));
        }
        if let Some(most) = self.max_cost.filter(|most| spent.usd + at_most > *most) {
            let what = format!("--max-cost {most}: ${:.4} is spent, and the next call may cost up to ${at_most:.4}", spent.usd);
            return Err(what);
        }
        spent.calls += 1;
        spent.usd += at_most;
        spent.under_way += 1;
        Ok(Turn { limits: self, at_most })
    }

    fn lock(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// It cost so much.
    pub fn cost(mut self, usd: f64) {
        self.limits.lock().usd += usd - self.at_most;
        self.at_most = usd;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.limits.lock().under_way -= 1;
        self.limits.freed.notify_one();
    }
}
