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

    /// Waits for a turn to make one call that costs so much at most; says which limit it would pass. Calls under way count for
    /// the most they may cost, so where they alone are in its way, it waits for what they do cost.
    pub(super) fn turn(&self, at_most: f64) -> Result<Turn<'_>, String> {
        let mut spent = self.lock();
        loop {
            if self.max_calls.is_some_and(|most| spent.calls >= most) {
                return Err(format!("--max-calls {}: as many were made", spent.calls));
            }
            let over = self.max_cost.filter(|most| spent.usd + at_most > *most);
            match over {
                Some(most) if spent.under_way == 0 => {
                    let usd = spent.usd;
                    return Err(format!("--max-cost {most}: ${usd:.4} is spent, and the next call may cost up to ${at_most:.4}"));
                }
                None if spent.under_way < self.concurrency => break,
                _ => spent = self.freed.wait(spent).unwrap_or_else(PoisonError::into_inner),
            }
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
    /// No call was made.
    pub fn unused(self) {
        self.limits.lock().calls -= 1;
        self.cost(0.0);
    }

    /// It cost so much.
    pub fn cost(mut self, usd: f64) {
        self.limits.lock().usd += usd - self.at_most;
        self.at_most = usd;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.limits.lock().under_way -= 1;
        // Those who wait do so for different reasons.
        self.limits.freed.notify_all();
    }
}
