//! Limits of a run: calls, dollars and concurrent calls.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Limits of one run, shared by all its models.
#[derive(Debug)]
pub struct Limits {
    /// Maximum calls, including failed attempts.
    pub max_calls: Option<u64>,
    /// Maximum cost in US dollars.
    pub max_cost: Option<f64>,
    /// Maximum concurrent calls.
    pub concurrency: usize,
    spent: Mutex<Spending>,
    freed: Condvar,
}

/// Calls and dollars spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spending {
    pub calls: u64,
    /// US dollars, including the maximum cost of calls in flight.
    pub usd: f64,
    in_flight: usize,
}

/// The permission to make one call. Its maximum cost is reserved until the real cost is known.
pub(super) struct Permit<'a> {
    limits: &'a Limits,
    /// US dollars counted for this call.
    reserved: f64,
}

impl Limits {
    /// Limits the number of calls, their total cost in USD, and how many run at once.
    pub fn new(max_calls: Option<u64>, max_cost: Option<f64>, concurrency: usize) -> Self {
        Self { max_calls, max_cost, concurrency: concurrency.max(1), spent: Mutex::default(), freed: Condvar::new() }
    }

    /// Returns what was spent so far.
    pub fn spent(&self) -> Spending {
        *self.lock()
    }

    /// Waits until one call of at most `max_cost` dollars may start; returns an error if the call would exceed a limit. Calls in
    /// flight count at their maximum cost, so if only they block the call, it waits for their real cost.
    pub(super) fn acquire(&self, max_cost: f64) -> Result<Permit<'_>, String> {
        let mut spent = self.lock();
        loop {
            if self.max_calls.is_some_and(|most| spent.calls >= most) {
                return Err(format!("--max-calls {}: the limit is reached", spent.calls));
            }
            let over = self.max_cost.filter(|most| spent.usd + max_cost > *most);
            match over {
                Some(most) if spent.in_flight == 0 => {
                    let usd = spent.usd;
                    return Err(format!(
                        "--max-cost {most}: ${usd:.4} is spent, and the next call may cost up to ${max_cost:.4}"
                    ));
                }
                None if spent.in_flight < self.concurrency => break,
                _ => spent = self.freed.wait(spent).unwrap_or_else(PoisonError::into_inner),
            }
        }
        spent.calls += 1;
        spent.usd += max_cost;
        spent.in_flight += 1;
        Ok(Permit { limits: self, reserved: max_cost })
    }

    fn lock(&self) -> MutexGuard<'_, Spending> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Permit<'_> {
    /// Releases the permit; no call was made.
    pub fn cancel(self) {
        self.limits.lock().calls -= 1;
        self.settle(0.0);
    }

    /// Releases the permit and counts the real cost of the call.
    pub fn settle(mut self, usd: f64) {
        self.limits.lock().usd += usd - self.reserved;
        self.reserved = usd;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limits.lock().in_flight -= 1;
        // Wake all threads: some wait for a free slot, others for money.
        self.limits.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn limits_refuse_calls_that_could_exceed_them() {
        let limits = Limits::new(Some(3), Some(1.0), 1);
        limits.acquire(0.6).expect("the first").settle(0.1);
        limits.acquire(0.9).expect("0.1 and 0.9 are 1").settle(0.3);
        let why = limits.acquire(0.7).err().expect("0.4 and 0.7 are more than 1");
        assert_eq!(why, "--max-cost 1: $0.4000 is spent, and the next call may cost up to $0.7000");
        drop(limits.acquire(0.2).expect("the third"));
        assert_eq!(limits.acquire(0.0).err().as_deref(), Some("--max-calls 3: the limit is reached"));
        // A call of unknown cost counts at its maximum.
        assert!((limits.spent().usd - 0.6).abs() < 1e-9 && limits.spent().calls == 3);
    }

    #[test]
    fn limits_bound_concurrent_calls() {
        let limits = Limits::new(None, None, 3);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..12 {
                threads.spawn(|| {
                    let _turn = limits.acquire(0.0).expect("no limit");
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)));
    }
}
