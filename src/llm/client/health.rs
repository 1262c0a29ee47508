//! What questions told of a provider: whether it is worth asking on.
//!
//! A key that is not taken is not taken for the next question either, and where nobody listens, nobody will: after that nothing
//! is asked. A single question that gets no answer says less, for another may be shorter; but when so many in a row got
//! none, the provider is taken for dead, and meanwhile a call that got lost is not repeated. So a server that hangs costs the
//! time of one question's attempts and two more, not of all questions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Rejection;

/// Questions in a row without an answer after which nothing is asked any more.
const MOST_UNANSWERED: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Health {
    unanswered: AtomicUsize,
    gone: Mutex<Option<String>>,
}

impl Health {
    /// Why nothing is asked any more.
    pub fn gone(&self) -> Option<String> {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nothing is asked any more; the first reason stands.
    pub fn end(&self, why: &str) {
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.to_owned());
    }

    /// Whether an attempt that failed so is worth another.
    pub fn may_retry(&self, refusal: &Rejection) -> bool {
        match refusal {
            Rejection::Again { .. } | Rejection::Unreachable(_) => true,
            Rejection::Lost(_) => self.unanswered.load(Ordering::Relaxed) == 0,
            Rejection::TooLong(_) | Rejection::Never(_) | Rejection::Declined(_) | Rejection::Gone(_) => false,
        }
    }

    /// The provider spoke of the question.
    pub fn answered(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// A question stays without an answer after all its attempts, the last of which failed so.
    pub fn unanswered(&self, refusal: &Rejection) {
        match refusal {
            Rejection::TooLong(_) | Rejection::Declined(_) => self.answered(),
            // It is turned away at once and costs nothing; the next one may be taken.
            Rejection::Never(_) => {}
            Rejection::Gone(what) | Rejection::Unreachable(what) => self.end(what),
            Rejection::Again { what, .. } | Rejection::Lost(what) => {
                if self.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_UNANSWERED {
                    self.end(&format!("{MOST_UNANSWERED} questions in a row got no answer, the last: {what}"));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost() -> Rejection {
        Rejection::Lost("lost".to_owned())
    }

    #[test]
    fn a_server_that_hangs_is_given_up() {
        let health = Health::default();
        assert!(health.may_retry(&lost()));
        health.unanswered(&lost());
        assert!(!health.may_retry(&lost()), "in doubt, once is enough");
        assert!(health.may_retry(&Rejection::Again { what: String::new(), after: None }), "it speaks, and may be waited for");
        health.answered();
        assert!(health.may_retry(&lost()));
        for _ in 0..MOST_UNANSWERED {
            assert_eq!(health.gone(), None);
            health.unanswered(&lost());
        }
        assert_eq!(health.gone().as_deref(), Some("3 questions in a row got no answer, the last: lost"));
    }

    #[test]
    fn one_failure_may_tell_of_all_or_of_one() {
        let what = || "what".to_owned();
        let of_all = [Rejection::Gone(what()), Rejection::Unreachable(what())];
        let of_one = [Rejection::TooLong(what()), Rejection::Never(what()), Rejection::Declined(what()), lost()];
        for (refusals, is_gone) in [(&of_all[..], true), (&of_one, false)] {
            for refusal in refusals {
                let health = Health::default();
                health.unanswered(refusal);
                assert_eq!(health.gone().is_some(), is_gone, "{refusal:?}");
            }
        }
    }
}
