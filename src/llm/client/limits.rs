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
    spent: Mutex<Budget>,
    freed: Condvar,
}

/// What was spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    pub calls: u64,
    /// US dollars, with the most that calls under way may cost.
    pub usd: f64,
    under_way: usize,
}

/// A call that may be made. What it was thought to cost at most is corrected when it is known.
pub(super) struct Permit<'a> {
    limits: &'a Limits,
    at_most: f64,
}

impl Limits {
    pub fn new(max_calls: Option<u64>, max_cost: Option<f64>, concurrency: usize) -> Self {
        Self { max_calls, max_cost, concurrency: concurrency.max(1), spent: Mutex::default(), freed: Condvar::new() }
    }

    pub fn spent(&self) -> Budget {
        *self.lock()
    }

    /// Waits for a turn to make one call that costs so much at most; says which limit it would pass. Calls under way count for
    /// the most they may cost, so where they alone are in its way, it waits for what they do cost.
    pub(super) fn turn(&self, at_most: f64) -> Result<Permit<'_>, String> {
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
        Ok(Permit { limits: self, at_most })
    }

    fn lock(&self) -> MutexGuard<'_, Budget> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
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

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limits.lock().under_way -= 1;
        // Those who wait do so for different reasons.
        self.limits.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_call_is_made_that_could_pass_a_limit() {
        let limits = Limits::new(Some(3), Some(1.0), 1);
        limits.turn(0.6).expect("the first").cost(0.1);
        limits.turn(0.9).expect("0.1 and 0.9 are 1").cost(0.3);
        let why = limits.turn(0.7).err().expect("0.4 and 0.7 are more than 1");
        assert_eq!(why, "--max-cost 1: $0.4000 is spent, and the next call may cost up to $0.7000");
        drop(limits.turn(0.2).expect("the third"));
        assert_eq!(limits.turn(0.0).err().as_deref(), Some("--max-calls 3: as many were made"));
        // What nobody knows the cost of counts in full.
        assert!((limits.spent().usd - 0.6).abs() < 1e-9 && limits.spent().calls == 3);
    }

    #[test]
    fn no_more_calls_are_made_at_a_time() {
        let limits = Limits::new(None, None, 3);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..12 {
                threads.spawn(|| {
                    let _turn = limits.turn(0.0).expect("no limit");
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
    }
}
