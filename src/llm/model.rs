//! A model that is asked: from the cassette, else from its provider, within the limits.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use backon::{BlockingRetryable, ExponentialBuilder};
use serde_json::{Map, Value};

use super::cassette::{Cassette, Entry, Mode, Outcome};
use super::key::key;
use super::limits::Limits;
use super::{Answer, Provider, Question, Refusal, Trouble, Usage};
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
    /// Somebody wants an end: nothing is asked any more.
    pub stopped: fn() -> bool,
}

/// Answers questions. Of the same question it gives the same answer, however many threads ask.
pub struct Model {
    setup: Setup,
    asked: Mutex<HashMap<String, Arc<Once>>>,
    /// The first failure that further calls would only repeat.
    gone: OnceLock<String>,
}

/// What came of a question that was asked at least once in this run.
type Once = OnceLock<Result<Asked, Trouble>>;

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

/// The first wait before another attempt, and the longest where the provider names none.
const WAITS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];
/// Longer than this is not waited, whatever the provider says.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// Bytes of a prompt a token has at the least, for what it may cost: code and JSON have three and more.
const FEWEST_BYTES: u64 = 2;

impl Model {
    pub fn new(setup: Setup) -> Self {
        Self { setup, asked: Mutex::default(), gone: OnceLock::new() }
    }

    pub fn name(&self) -> &str {
        &self.setup.name
    }

    pub fn ask(&self, question: &Question) -> Result<Answer, Trouble> {
        self.look_up(question)?.outcome.map_err(Trouble::TooLong)
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
    pub fn look_up(&self, question: &Question) -> Result<Asked, Trouble> {
        let key = self.key(question);
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let cell = asked.entry(key.clone()).or_default().clone();
        drop(asked);
        cell.get_or_init(|| self.outcome(&key, question).map(|outcome| Asked { key, outcome })).clone()
    }

    fn outcome(&self, key: &str, question: &Question) -> Result<Outcome, Trouble> {
        let Setup { name, params, replicate, cassette, .. } = &self.setup;
        let broken = |error: super::CassetteError| Trouble::Unanswered(error.to_string());
        if cassette.mode() != Mode::Record
            && let Some(outcome) = cassette.get(key).map_err(broken)?
        {
            return Ok(outcome);
        }
        let Some(provider) = self.setup.provider.as_deref().filter(|_| cassette.mode() != Mode::Replay) else {
            let folder = cassette.folder().map_or("none".to_owned(), |folder| folder.display().to_string());
            let what = format!("the cassette {folder} holds no answer of {name} to this question ({key})");
            return Err(Trouble::Unanswered(what));
        };
        let outcome = self.answered(provider, question)?;
        let entry = Entry::new(name, params, *replicate, question, &outcome);
        Ok(cassette.put(key, &entry).map_err(broken)?.unwrap_or(outcome))
    }

    /// Asks the provider, as often as it takes.
    fn answered(&self, provider: &dyn Provider, question: &Question) -> Result<Outcome, Trouble> {
        let Setup { name, limits, retries, stopped, .. } = &self.setup;
        let wait = Rc::new(Cell::new(None::<Duration>));
        let waited = Rc::clone(&wait);
        let attempt = || {
            let stop = |what: &str| Refusal::Never(what.to_owned());
            if stopped() {
                return Err(stop("stopped before it was asked"));
            }
            if let Some(why) = self.gone.get() {
                return Err(stop(why));
            }
            let turn = limits.turn(self.at_most(question)).map_err(|why| stop(&why))?;
            let answer = provider.ask(question)?;
            turn.cost(self.cost(&answer.usage));
            Ok(answer)
        };
        let waits = ExponentialBuilder::default().with_jitter().with_min_delay(WAITS[0]).with_max_delay(WAITS[1]);
        let answered = attempt
            .retry(waits.with_max_times(*retries))
            .sleep(move |usual: Duration| std::thread::sleep(waited.take().unwrap_or(usual).min(LONGEST_WAIT)))
            .when(|refusal| matches!(refusal, Refusal::Again { .. }))
            .notify(|refusal, _| wait.set(if let Refusal::Again { after, .. } = refusal { *after } else { None }))
            .call();
        match answered {
            Ok(answer) => Ok(Ok(answer)),
            Err(Refusal::TooLong(what)) => Ok(Err(what)),
            Err(Refusal::Again { what, .. } | Refusal::Never(what)) => {
                Err(Trouble::Unanswered(format!("{name}: {}", self.gone.get_or_init(|| what))))
            }
        }
    }

    /// The most that a question may cost.
    fn at_most(&self, question: &Question) -> f64 {
        let input = (question.system.len() + question.user.len()) as u64 / FEWEST_BYTES;
        self.cost(&Usage { input, output: question.max_tokens, ..Usage::default() })
    }

    fn cost(&self, usage: &Usage) -> f64 {
        self.setup.price.as_ref().map_or(0.0, |price| price(usage))
    }
}
