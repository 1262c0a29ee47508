//! A model that is asked: from the cassette, else from its provider, within the limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use backon::{BackoffBuilder, ExponentialBuilder};
use serde_json::{Map, Value};

use super::cassette::{Cassette, CassetteError, Entry, Mode, Outcome};
use super::health::Health;
use super::key::key;
use super::limits::Limits;
use super::{Answer, AskError, Provider, Question, Rejection, Usage};

/// What a usage costs, in US dollars.
pub type Price = Box<dyn Fn(&Usage) -> f64 + Send + Sync>;

/// Everything a model is made of.
pub struct Setup {
    /// Protocol and model: `openai:gpt-5.5`.
    pub name: String,
    /// What goes into every request beside the question; in one order, for it is a part of the key.
    pub params: Map<String, Value>,
    /// Which of several answers to the same questions; the first is 1.
    pub replicate: u32,
    /// None: only the cassette answers.
    pub provider: Option<Box<dyn Provider>>,
    pub cassette: Arc<Cassette>,
    pub limits: Arc<Limits>,
    /// US dollars that a usage costs; without it, `--max-cost` cannot be kept.
    pub price: Option<Price>,
    /// How often a failed attempt is tried again.
    pub retries: usize,
    /// How long is waited before the second attempt where the provider does not say; before each further one twice as long.
    pub first_wait: Duration,
    /// Somebody wants an end: nothing is asked any more.
    pub stopped: fn() -> bool,
}

/// Answers questions. Of the same question it gives the same answer, however many threads ask.
pub struct Model {
    setup: Setup,
    asked: Mutex<HashMap<String, Arc<InFlight>>>,
    health: Health,
}

/// What came of a question that was asked at least once in this run.
type InFlight = OnceLock<Result<Asked, AskError>>;

/// What came of a question, and what it is known by.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub key: String,
    pub outcome: Outcome,
}

impl Asked {
    /// Tokens and seconds that the answer took; of a refusal none.
    pub fn took(&self) -> (Usage, f64) {
        self.outcome.as_ref().map_or((Usage::default(), 0.0), |answer| (answer.usage, answer.seconds))
    }
}

/// The usual [`Setup::first_wait`].
pub const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait where the provider names none.
const LONGEST_USUAL_WAIT: Duration = Duration::from_secs(60);
/// Longer than this is not waited, whatever the provider says.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Who waits looks so often whether somebody wants an end.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of a prompt a token has at the least, for what it may cost: code and JSON have three and more.
const FEWEST_BYTES: u64 = 2;

impl Model {
    pub fn new(setup: Setup) -> Self {
        Self { setup, asked: Mutex::default(), health: Health::default() }
    }

    pub fn name(&self) -> &str {
        &self.setup.name
    }

    pub fn ask(&self, question: &Question) -> Result<Answer, AskError> {
        self.look_up(question)?.outcome.map_err(AskError::TooLong)
    }

    /// The key of a question, and what the cassette has of it; nobody is asked.
    pub fn known(&self, question: &Question) -> (String, Option<Outcome>) {
        let key = self.key(question);
        let outcome = self.setup.cassette.get(&key).ok().flatten();
        (key, outcome)
    }

    fn key(&self, question: &Question) -> String {
        let Setup { name, params, replicate, .. } = &self.setup;
        key(name, params, *replicate, question)
    }

    /// The same, with its key, and what was refused for its length.
    pub fn look_up(&self, question: &Question) -> Result<Asked, AskError> {
        let key = self.key(question);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let cell = asked.entry(key.clone()).or_default().clone();
        drop(asked);
        cell.get_or_init(|| self.outcome(&key, question).map(|outcome| Asked { key, outcome })).clone()
    }

    fn outcome(&self, key: &str, question: &Question) -> Result<Outcome, AskError> {
        let Setup { name, params, replicate, cassette, .. } = &self.setup;
        let broken = |error: CassetteError| AskError::Unanswered(error.to_string());
        if cassette.mode() != Mode::Record
            && let Some(outcome) = cassette.get(key).map_err(broken)?
        {
            return Ok(outcome);
        }
        let Some(provider) = self.setup.provider.as_deref().filter(|_| cassette.mode() != Mode::Replay) else {
            let folder = cassette.folder().map_or("none".to_owned(), |folder| folder.display().to_string());
            let what = format!("the cassette {folder} holds no answer of {name} to this question ({key})");
            return Err(AskError::Unanswered(what));
        };
        let outcome = self.answered(provider, question)?;
        let entry = Entry::new(name, params, *replicate, question, &outcome);
        // Whatever is asked after this would be paid and lost.
        let unkept = |error: CassetteError| {
            self.health.end(&error.to_string());
            broken(error)
        };
        Ok(cassette.put(key, &entry).map_err(unkept)?.unwrap_or(outcome))
    }

    /// Asks the provider, as often as it takes.
    fn answered(&self, provider: &dyn Provider, question: &Question) -> Result<Outcome, AskError> {
        let Setup { name, retries, first_wait, .. } = &self.setup;
        let unanswered = |what: String| AskError::Unanswered(format!("{name}: {what}"));
        let waits = ExponentialBuilder::default().with_jitter().with_min_delay(*first_wait);
        let mut waits = waits.with_max_delay(LONGEST_USUAL_WAIT).with_max_times(*retries).build();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let refusal = match self.attempt(provider, question).map_err(unanswered)? {
                Ok(answer) => {
                    self.health.answered();
                    return Ok(Ok(answer));
                }
                Err(refusal) => refusal,
            };
            match waits.next().filter(|_| self.health.may_retry(&refusal)) {
                Some(usual) => self.wait(if let Rejection::Again { after: Some(after), .. } = refusal { after } else { usual }),
                None => {
                    self.health.unanswered(&refusal);
                    return match refusal {
                        Rejection::TooLong(what) => Ok(Err(what)),
                        other if attempts == 1 => Err(unanswered(other.what().to_owned())),
                        other => Err(unanswered(format!("{} (attempt {attempts})", other.what()))),
                    };
                }
            }
        }
    }

    /// One attempt, in its turn, and what is paid for it; or why none is made.
    fn attempt(&self, provider: &dyn Provider, question: &Question) -> Result<Result<Answer, Rejection>, String> {
        self.may_ask()?;
        let turn = self.setup.limits.turn(self.at_most(question))?;
        // It may have been long in coming.
        if let Err(why) = self.may_ask() {
            turn.unused();
            return Err(why);
        }
        let answer = provider.ask(question);
        match &answer {
            Ok(answer) if answer.usage != Usage::default() => turn.cost(self.cost(&answer.usage)),
            Err(refusal) if !refusal.may_cost() => turn.cost(0.0),
            // What it cost is not known: the most that it may be stays counted.
            _ => drop(turn),
        }
        Ok(answer)
    }

    /// Whether anything is asked at all.
    fn may_ask(&self) -> Result<(), String> {
        match (self.setup.stopped)() {
            true => Err("stopped before it was asked".to_owned()),
            false => self.health.gone().map_or(Ok(()), Err),
        }
    }

    /// Waits, unless there is nothing left to wait for.
    fn wait(&self, so_long: Duration) {
        let end = Instant::now() + so_long.min(LONGEST_WAIT);
        while self.may_ask().is_ok()
            && let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        {
            thread::sleep(left.min(LOOK));
        }
    }

    /// The most that a question may cost.
    fn at_most(&self, question: &Question) -> f64 {
        let input = (question.system.len() + question.user.len()) as u64 / FEWEST_BYTES;
        // Parameters of one's own may allow more.
        let limits = ["max_tokens", "max_completion_tokens"].map(|field| self.setup.params.get(field).and_then(Value::as_u64));
        let output = limits.into_iter().flatten().fold(question.max_tokens, u64::max);
        self.cost(&Usage { input, output, ..Usage::default() })
    }

    fn cost(&self, usage: &Usage) -> f64 {
        self.setup.price.as_ref().map_or(0.0, |price| price(usage))
    }
}
