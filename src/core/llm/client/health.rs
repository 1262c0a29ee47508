//! The health of a provider: whether it makes sense to ask it again.
//!
//! If the provider rejects the key or is unreachable, the next question would fail too, so nothing more is asked. One question
//! without an answer proves less, because the next one may be shorter. After [`MAX_UNANSWERED`] such questions in a row the
//! provider counts as failed, and after the first of them lost calls are not repeated. So a server that hangs costs the time of
//! one question's attempts and two more, not the time of all questions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Rejection;

/// After this number of consecutive questions without an answer, nothing more is asked.
const MAX_UNANSWERED: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Health {
    /// Consecutive questions without an answer.
    unanswered: AtomicUsize,
    failure: Mutex<Option<String>>,
}

impl Health {
    /// Returns why nothing more is asked; `None` while the provider is usable.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Marks the provider as failed. The first reason is kept.
    pub fn fail(&self, why: &str) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| why.to_owned());
    }

    /// Whether another attempt makes sense after this rejection.
    pub fn may_retry(&self, rejection: &Rejection) -> bool {
        match rejection {
            Rejection::RetryLater { .. } | Rejection::Unreachable(_) => true,
            Rejection::Lost(_) => self.unanswered.load(Ordering::Relaxed) == 0,
            Rejection::TooLong(_) | Rejection::Invalid(_) | Rejection::Declined(_) | Rejection::ProviderFailed(_) => false,
        }
    }

    /// Records that the provider responded to a question.
    pub fn record_answer(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Records that a question got no answer; `rejection` is that of the last attempt.
    pub fn record_failure(&self, rejection: &Rejection) {
        match rejection {
            Rejection::TooLong(_) | Rejection::Declined(_) => self.record_answer(),
            // The provider rejects it at once and at no cost, and may accept the next question.
            Rejection::Invalid(_) => {}
            Rejection::ProviderFailed(message) | Rejection::Unreachable(message) => self.fail(message),
            Rejection::RetryLater { message, .. } | Rejection::Lost(message) => {
                if self.unanswered.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_UNANSWERED {
                    self.fail(&format!("{MAX_UNANSWERED} questions in a row got no answer, the last: {message}"));
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
    fn hanging_server_is_given_up() {
        let health = Health::default();
        assert!(health.may_retry(&lost()));
        health.record_failure(&lost());
        assert!(!health.may_retry(&lost()), "the second lost call is not repeated");
        let busy = Rejection::RetryLater { message: String::new(), after: None };
        assert!(health.may_retry(&busy), "the provider responds, so waiting makes sense");
        health.record_answer();
        assert!(health.may_retry(&lost()));
        for _ in 0..MAX_UNANSWERED {
            assert_eq!(health.failure(), None);
            health.record_failure(&lost());
        }
        assert_eq!(health.failure().as_deref(), Some("3 questions in a row got no answer, the last: lost"));
    }

    #[test]
    fn rejections_end_all_questions_or_only_one() {
        let message = || "message".to_owned();
        let of_all = [Rejection::ProviderFailed(message()), Rejection::Unreachable(message())];
        let of_one = [Rejection::TooLong(message()), Rejection::Invalid(message()), Rejection::Declined(message()), lost()];
        for (rejections, has_failed) in [(&of_all[..], true), (&of_one, false)] {
            for rejection in rejections {
                let health = Health::default();
                health.record_failure(rejection);
                assert_eq!(health.failure().is_some(), has_failed, "{rejection:?}");
            }
        }
    }
}
