//! Models: answers from the cassette or else from the provider, with retries and within the limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use serde_json::{Map, Value};

use super::cassette::{Cassette, CassetteEntry, CassetteError, CassetteMode, Outcome};
use super::health::Health;
use super::key::question_key;
use super::limits::Limits;
use super::{Answer, AskError, Provider, Question, Rejection, Usage};

/// Computes the cost of a usage in US dollars.
pub type Price = Box<dyn Fn(&Usage) -> f64 + Send + Sync>;

/// Configuration of a [`Model`].
pub struct ModelConfig {
    /// Protocol and model: `openai:gpt-5.5`.
    pub name: String,
    /// Extra fields of every request. Must be sorted, because they are part of a question's key.
    pub params: Map<String, Value>,
    /// Number of the answer among several to the same question; the first is 1.
    pub replicate: u32,
    /// `None`: only the cassette answers.
    pub provider: Option<Box<dyn Provider>>,
    pub cassette: Arc<Cassette>,
    pub limits: Arc<Limits>,
    /// Without it, every call counts as free, and `--max-cost` has no effect.
    pub price: Option<Price>,
    /// Maximum retries after a failed attempt.
    pub retries: usize,
    /// Wait before the second attempt if the provider names none; it doubles with each further attempt.
    pub first_wait: Duration,
    /// Returns `true` when the user interrupts the run; then nothing more is asked.
    pub stopped: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// Answers questions. The same question gets the same answer, even if several threads ask at once.
pub struct Model {
    setup: ModelConfig,
    /// Outcomes of this run by key.
    outcomes: Mutex<HashMap<String, Arc<OutcomeCell>>>,
    health: Health,
}

/// The outcome of a question; empty while the first thread is asking.
type OutcomeCell = OnceLock<Result<KeyedOutcome, AskError>>;

/// The key of a question and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedOutcome {
    pub key: String,
    pub outcome: Outcome,
}

impl KeyedOutcome {
    /// Returns the tokens and seconds of the answer; zeros if the question was too long.
    pub fn took(&self) -> (Usage, f64) {
        self.outcome.as_ref().map_or((Usage::default(), 0.0), |answer| (answer.usage, answer.seconds))
    }
}

/// Default of [`ModelConfig::first_wait`].
pub const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Maximum wait if the provider names none.
const MAX_DEFAULT_WAIT: Duration = Duration::from_secs(60);
/// Maximum wait, even if the provider asks for more.
const MAX_WAIT: Duration = Duration::from_secs(300);
/// Time between two checks for an interrupt during a wait.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Minimum bytes of prompt per token, to compute the maximum cost: code and JSON have three and more.
const MIN_BYTES_PER_TOKEN: u64 = 2;

impl Model {
    /// Builds a model from its configuration; asks nothing yet.
    pub fn new(setup: ModelConfig) -> Self {
        Self { setup, outcomes: Mutex::default(), health: Health::default() }
    }

    /// Returns the address without secrets, such as `openai:gpt-5`.
    pub fn name(&self) -> &str {
        &self.setup.name
    }

    /// Asks a question, or takes the answer from the cassette.
    ///
    /// # Errors
    ///
    /// Fails if a limit is reached, if the cassette has no answer and must not ask, or if the server does not answer.
    pub fn ask(&self, question: &Question) -> Result<Answer, AskError> {
        self.look_up(question)?.outcome.map_err(AskError::TooLong)
    }

    /// Returns the key of a question and its recorded outcome, without asking the provider.
    pub fn known(&self, question: &Question) -> (String, Option<Outcome>) {
        let key = self.question_key(question);
        let outcome = self.setup.cassette.get(&key).ok().flatten();
        (key, outcome)
    }

    fn question_key(&self, question: &Question) -> String {
        let ModelConfig { name, params, replicate, .. } = &self.setup;
        question_key(name, params, *replicate, question)
    }

    /// Like [`Self::ask`], but returns the key too, and "too long" as an outcome instead of an error.
    pub fn look_up(&self, question: &Question) -> Result<KeyedOutcome, AskError> {
        let key = self.question_key(question);
        let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let cell = outcomes.entry(key.clone()).or_default().clone();
        drop(outcomes);
        cell.get_or_init(|| self.outcome(&key, question).map(|outcome| KeyedOutcome { key, outcome })).clone()
    }

    fn outcome(&self, key: &str, question: &Question) -> Result<Outcome, AskError> {
        let ModelConfig { name, params, replicate, cassette, .. } = &self.setup;
        let broken = |error: CassetteError| AskError::Unanswered(error.to_string());
        if cassette.mode() != CassetteMode::Record
            && let Some(outcome) = cassette.get(key).map_err(broken)?
        {
            return Ok(outcome);
        }
        let Some(provider) = self.setup.provider.as_deref().filter(|_| cassette.mode() != CassetteMode::Replay) else {
            let folder = cassette.folder().map_or("none".to_owned(), |folder| folder.display().to_string());
            let message = format!("the cassette {folder} holds no answer of {name} to this question ({key})");
            return Err(AskError::Unanswered(message));
        };
        // Stop asking: further answers would be paid for and not recorded.
        let not_recorded = |error: CassetteError| {
            self.health.fail(&error.to_string());
            broken(error)
        };
        cassette.check_writable().map_err(not_recorded)?;
        let outcome = self.ask_with_retries(provider, question)?;
        let entry = CassetteEntry::new(name, params, *replicate, question, &outcome);
        Ok(cassette.put(key, &entry).map_err(not_recorded)?.unwrap_or(outcome))
    }

    /// Asks the provider until it answers or a retry makes no sense.
    fn ask_with_retries(&self, provider: &dyn Provider, question: &Question) -> Result<Outcome, AskError> {
        let ModelConfig { name, retries, first_wait, .. } = &self.setup;
        let unanswered = |message: String| AskError::Unanswered(format!("{name}: {message}"));
        let waits = ExponentialBuilder::default().with_jitter().with_min_delay(*first_wait);
        let mut waits = waits.with_max_delay(MAX_DEFAULT_WAIT).with_max_times(*retries).build();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let rejection = match self.attempt(provider, question).map_err(unanswered)? {
                Ok(answer) => {
                    self.health.record_answer();
                    return Ok(Ok(answer));
                }
                Err(rejection) => rejection,
            };
            match waits.next().filter(|_| self.health.may_retry(&rejection)) {
                Some(default) => {
                    self.wait(if let Rejection::RetryLater { after: Some(after), .. } = rejection { after } else { default });
                }
                None => {
                    self.health.record_failure(&rejection);
                    return match rejection {
                        Rejection::TooLong(message) => Ok(Err(message)),
                        other if attempts == 1 => Err(unanswered(other.message().to_owned())),
                        other => Err(unanswered(format!("{} (attempt {attempts})", other.message()))),
                    };
                }
            }
        }
    }

    /// Waits for a permit, makes one attempt and counts its cost. The outer error is the reason if no attempt may be made.
    fn attempt(&self, provider: &dyn Provider, question: &Question) -> Result<Result<Answer, Rejection>, String> {
        self.may_ask()?;
        let permit = self.setup.limits.acquire(self.max_cost(question))?;
        // Check again, because `acquire` may have waited a long time.
        if let Err(why) = self.may_ask() {
            permit.cancel();
            return Err(why);
        }
        let began = Instant::now();
        let answer =
            provider.ask(question).and_then(|answer| match answer.logprobs.is_empty() == question.continuation.is_none() {
                true => Ok(answer),
                false => Err(Rejection::Lost("the answer is not what was asked for: a text, or log-probabilities".to_owned())),
            });
        let (name, seconds) = (&self.setup.name, began.elapsed().as_secs_f64());
        match &answer {
            Ok(_) => log::info!("asked {name}, which answered in {seconds:.1} s"),
            Err(rejection) => log::info!("asked {name}, which failed after {seconds:.1} s: {}", rejection.message()),
        }
        match &answer {
            Ok(answer) if answer.usage != Usage::default() => permit.settle(self.cost(&answer.usage)),
            Err(rejection) if !rejection.may_cost() => permit.settle(0.0),
            // The cost is unknown, so the maximum stays counted.
            _ => drop(permit),
        }
        Ok(answer)
    }

    /// Returns an error if the run was interrupted or the provider has failed.
    fn may_ask(&self) -> Result<(), String> {
        if (self.setup.stopped)() {
            Err("interrupted before the model was asked".to_owned())
        } else {
            self.health.failure().map_or(Ok(()), Err)
        }
    }

    /// Sleeps, but returns early once nothing may be asked any more.
    fn wait(&self, duration: Duration) {
        let end = Instant::now() + duration.min(MAX_WAIT);
        while self.may_ask().is_ok()
            && let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        {
            thread::sleep(left.min(POLL_INTERVAL));
        }
    }

    /// Returns an upper bound of the cost of a question in US dollars.
    fn max_cost(&self, question: &Question) -> f64 {
        let continuation = question.continuation.as_ref().map_or(0, String::len);
        let input = (question.system.len() + question.user.len() + continuation) as u64 / MIN_BYTES_PER_TOKEN;
        // The user's parameters may allow longer answers.
        let limits = ["max_tokens", "max_completion_tokens"].map(|field| self.setup.params.get(field).and_then(Value::as_u64));
        let output = limits.into_iter().flatten().fold(question.max_tokens, u64::max);
        self.cost(&Usage { input, output, ..Usage::default() })
    }

    fn cost(&self, usage: &Usage) -> f64 {
        self.setup.price.as_ref().map_or(0.0, |price| price(usage))
    }
}
