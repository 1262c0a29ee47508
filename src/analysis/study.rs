//! Many transcripts × many policies, in parallel, in order.
//!
//! Sizes are computed once for all policies of a conversation. Results come in the order of the input, whatever thread made
//! them, and hold nothing of the machine.

mod compare;
mod costs;
mod counter;
mod layers;
mod partial_totals;
mod policy_totals;
mod prepared;
mod retention;
mod summarizer_variants;
mod summarizers;
mod trace;
mod transcript_result;
mod unknown_models;

use rayon::prelude::*;

use crate::engine::journal::Journal;
use crate::engine::policy::{Policy, preset};
use crate::engine::replay::{NoObserver, Observer, Setup, replay};
use crate::engine::summarizer::Extract;
use crate::findings::{self, Finding};
use crate::metrics::cost::Cost;
use crate::metrics::prices::Prices;
use crate::metrics::retention::oracle::Problem;
use crate::metrics::retention::{Bounds, Grain, Kept, bounds, look_up, wishes};
use crate::results::saved::Results;
use crate::results::stats::{SEED, certainty};
use crate::transcript::conversation::{Conversation, Thinking};
use crate::transcript::format::Reading;

pub use compare::no_summary;
pub use counter::{Counter, Counting, DEFAULT_COUNTER, NoCounter};
pub use partial_totals::Tally;
pub use prepared::Prepared;
pub use summarizer_variants::{Writer, written_by};
pub use transcript_result::Part;

use compare::{Against, Replayed};
use retention::Compared;
use unknown_models::Gap;

/// The window of a model nobody named: what most models of the recorded agents had.
const USUAL_WINDOW: u64 = 200_000;

/// How much the replayed record may cost more or less than was billed, where nobody chose another share.
pub const MAX_RESIDUAL: f64 = 0.15;

/// What is replayed, and how.
pub struct Study {
    /// In the order of the reports.
    pub policies: Vec<Policy>,
    /// Index of the policy that `tokens.saved` and `cost.ratio` compare with.
    pub baseline: usize,
    /// The report's own count of tokens.
    pub counter: Counter,
    /// In place of what the record or the policy says.
    pub window: Option<u64>,
    pub overhead: Option<u64>,
    pub thinking: Option<Thinking>,
    /// Who writes summaries; each policy names one of them by its index.
    pub writers: Vec<Writer>,
    /// How many of the worst hard misses are listed for each policy.
    pub misses: usize,
    /// Whether the upper bound of what could be kept is computed too, which takes the cargo feature `exact`; long sessions take
    /// a while.
    pub exact: bool,
    pub prices: Prices,
    /// Prices every call as this model's, whatever the record says.
    pub priced_as: Option<String>,
    /// The largest share by which the replayed record may cost more or less than was billed; beyond it nothing is priced.
    pub max_residual: f64,
    /// How many of the dearest breaks of the cached prefix are listed for each policy.
    pub breaks: usize,
    /// Whether findings are looked for.
    pub findings: bool,
    /// Of the draws of sessions.
    pub seed: u64,
}

/// Gives an observer for each replay. With observers, replays run one after another.
pub trait Observers {
    fn observe<'a>(
        &'a mut self,
        transcript: &'a str,
        conversation: &'a Conversation,
        policy: &'a Policy,
    ) -> Box<dyn Observer + 'a>;
}

/// One conversation under one policy.
struct Outcome {
    journal: Journal,
    kept: Kept,
    grain: Grain,
    bounds: Bounds,
    cost: Option<Cost>,
}

impl Study {
    /// Compares with the first policy, and lists nothing beside the columns.
    pub fn new(policies: Vec<Policy>) -> Self {
        Self {
            policies,
            baseline: 0,
            counter: Counter::Own,
            window: None,
            overhead: None,
            thinking: None,
            writers: vec![Writer::new("extract", Extract::default())],
            misses: 0,
            exact: false,
            prices: Prices::built_in(),
            priced_as: None,
            max_residual: MAX_RESIDUAL,
            breaks: 0,
            findings: false,
            seed: SEED,
        }
    }

    /// Replays all conversations of one transcript.
    pub fn transcript(&self, name: &str, reading: &Reading, mut observers: Option<&mut dyn Observers>) -> Part {
        let mut part = Part::new(name, reading);
        let countings: Vec<_> = reading.conversations.par_iter().map(|conversation| self.counter.of(conversation)).collect();
        for (conversation, counting) in reading.conversations.iter().zip(&countings) {
            let prepared = Prepared::new(self, conversation, counting);
            part.calibrations.extend(counting.row(name, conversation));
            // All are compared with the baseline and become rows one by one, so that few journals are held at a time.
            let baseline = self.replay(&prepared, &self.policies[self.baseline], &mut NoObserver);
            let against = Against { study: self, transcript: name, prepared: &prepared, baseline: &baseline };
            let replayed: Vec<Replayed> = match &mut observers {
                None => {
                    let replayed = |(index, policy)| match index == self.baseline {
                        true => against.replayed(policy, &baseline),
                        false => against.replayed(policy, &self.replay(&prepared, policy, &mut NoObserver)),
                    };
                    self.policies.par_iter().enumerate().map(replayed).collect()
                }
                Some(observers) => {
                    let observed = |policy| {
                        let mut observer = observers.observe(name, conversation, policy);
                        against.replayed(policy, &self.replay(&prepared, policy, &mut *observer))
                    };
                    self.policies.iter().map(observed).collect()
                }
            };
            part.add(&against, replayed);
            part.checks.extend(prepared.money.row(name, &conversation.name));
            part.notes.extend(prepared.money.refusal(name, conversation));
            part.unknown.extend(prepared.money.unknown_models().iter().map(|model| (Gap::Price, model.clone())));
            part.unknown.extend(counting.uncalibrated().map(|model| (Gap::Tokenizer, model.to_owned())));
            part.compared.push(Compared::new(name, &conversation.name, prepared.references.placebo));
        }
        part
    }

    /// Puts the parts together, in the order of the transcripts, and says how sure the totals are.
    pub fn results(&self, parts: Vec<Part>) -> Results {
        let mut results = transcript_result::results(self, parts);
        let names = self.policies.iter().map(|policy| policy.name.as_str());
        let asked: Vec<&str> = names.filter(|name| !BOUNDS.contains(name)).collect();
        certainty(&mut results, &self.policies[self.baseline].name, &asked, self.seed);
        results
    }

    fn window_of(&self, conversation: &Conversation, policy: &Policy) -> u64 {
        self.window.or(conversation.window).or(policy.window).unwrap_or(USUAL_WINDOW)
    }

    fn replay(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> Outcome {
        let (journal, kept, cost) = self.replayed(prepared, policy, observer);
        let (grain, wishes) = self.wishes(prepared, policy);
        let bounds = bounds(wishes, &journal, self.exact);
        Outcome { journal, kept, grain, bounds, cost }
    }

    /// A replay without its bounds.
    fn replayed(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> (Journal, Kept, Option<Cost>) {
        let setup = self.setup(prepared, policy);
        let (journal, kept) = looked_up(&setup, prepared, observer);
        let cost = prepared.money.cost(&setup, &journal, &kept);
        (journal, kept, cost)
    }

    /// A conversation as one replay after another needs it.
    pub fn prepare<'a>(&self, conversation: &'a Conversation) -> Prepared<'a> {
        Prepared::new(self, conversation, &self.counter.of(conversation))
    }

    /// What is wrong with one replay by itself.
    pub fn look(&self, transcript: &str, prepared: &Prepared, policy: &Policy) -> Vec<Finding> {
        let (journal, kept, cost) = self.replayed(prepared, policy, &mut NoObserver);
        let window = self.window_of(prepared.conversation, policy);
        prepared.look(policy, (&journal, &kept, cost.as_ref()), window, |replay| findings::look(transcript, replay))
    }

    /// One replay by itself: what was sent, and what became of the uses of earlier facts.
    pub fn look_up(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> (Journal, Kept) {
        looked_up(&self.setup(prepared, policy), prepared, observer)
    }

    fn setup<'a>(&'a self, prepared: &'a Prepared, policy: &'a Policy) -> Setup<'a> {
        Setup {
            policy,
            window: self.window_of(prepared.conversation, policy),
            recorded: prepared.recorded.as_ref(),
            summarizer: &*self.writers[policy.summarizer].summarizer,
            ..prepared.setup(self)
        }
    }

    /// What the clairvoyant that a policy is compared with chooses from.
    fn wishes<'a>(&self, prepared: &'a Prepared, policy: &Policy) -> (Grain, &'a Problem) {
        let grain = retention::grain(policy);
        let make = || wishes(prepared.conversation, &prepared.references, grain, &|block| prepared.tokens(block));
        (grain, prepared.wishes[grain as usize].get_or_init(make))
    }
}

fn looked_up(setup: &Setup, prepared: &Prepared, observer: &mut dyn Observer) -> (Journal, Kept) {
    let journal = replay(setup, observer);
    let kept = look_up(setup.conversation, &prepared.references, &journal, &|block| prepared.tokens(block));
    (journal, kept)
}

/// The policies that are bounds themselves: no bounds are shown for them, and no misses.
pub const BOUNDS: [&str; 2] = ["keep-all", "drop-all"];

/// The policies of a comparison: keep-all first and drop-all last, the bounds, and between them what was asked for.
pub fn with_bounds(asked: Vec<Policy>) -> Vec<Policy> {
    let bound = |name: &str| preset(name).and_then(|preset| preset.policy(&[]).ok());
    let is_asked = |name: &str| asked.iter().any(|policy| policy.name == name);
    let first = bound("keep-all").filter(|_| !is_asked("keep-all"));
    let last = bound("drop-all").filter(|_| !is_asked("drop-all"));
    first.into_iter().chain(asked).chain(last).collect()
}
