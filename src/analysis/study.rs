//! Studies: replays many transcripts through many policies, in parallel, with results in a fixed order.
//!
//! Sizes are computed once for all policies of a conversation. Results are ordered by the names of the transcripts, whatever thread
//! computed them, and contain nothing about the machine.

mod combine;
mod compare;
mod costs;
mod counter;
mod layers;
mod partial_totals;
mod policy_totals;
mod prepared;
mod retention;
mod size;
mod summarizer_variants;
mod summarizers;
mod trace;
mod transcript_result;
mod unknown_models;
mod window;

use std::sync::Arc;

use rayon::prelude::*;

use crate::engine::external::{ExternalPolicies, NoExternalPolicies};
use crate::engine::journal::Journal;
use crate::engine::policy::Policy;
use crate::engine::replay::{NoObserver, Observer, ReplaySetup, replay};
use crate::engine::summarizer::Extract;
use crate::findings::{self, Finding};
use crate::metrics::cost::Cost;
use crate::metrics::prices::Prices;
use crate::metrics::prompt_cache::CacheMode;
use crate::metrics::retention::oracle::Instance;
use crate::metrics::retention::{Bounds, Grain, Retention, bounds, evaluate, oracle_instance};
use crate::results::Role;
use crate::results::saved::{Recording, Results};
use crate::results::stats::{SEED, infer};
use crate::transcript::conversation::{Conversation, Thinking};
use crate::transcript::format::Reading;

pub use crate::engine::policy::KEEP_ALL;
pub use combine::NO_CALL;
pub use compare::unanswered_message;
pub use counter::{CounterError, DEFAULT_COUNTER, ResolvedCounter, TokenCounter};
pub(in crate::analysis) use layers::LayerWork;
pub use partial_totals::PartialTotals;
pub use prepared::Prepared;
pub use size::{SessionSize, TranscriptSize};
pub use summarizer_variants::{NamedSummarizer, expand_variants};
pub use transcript_result::TranscriptResult;
pub use window::{DEFAULT_WINDOW, KnownWindow};

use compare::{BaselineComparison, ComparedReplay};
use retention::ChanceSample;
use transcript_result::Details;
use unknown_models::UnknownFact;

/// Default for the largest accepted error of the cost check, as a share of the bill.
pub const MAX_RESIDUAL: f64 = 0.15;

/// What is replayed, and how.
pub struct Study {
    /// In the order of the reports.
    pub policies: Vec<Policy>,
    /// Names of policies that are replayed only because others are compared with them: they have no findings.
    pub references: Vec<String>,
    /// The policy that `tokens.saved` and `cost.ratio` compare with. It has rows only if it is one of the policies too.
    pub baseline: Policy,
    /// Token counter of the report.
    pub counter: TokenCounter,
    /// Context window in tokens; it and the next two settings replace what the record or the policy says.
    pub window: Option<u64>,
    pub overhead: Option<u64>,
    pub thinking: Option<Thinking>,
    /// Summarizers; each policy names one of them by its index.
    pub summarizers: Vec<NamedSummarizer>,
    /// Starts the programs of policies.
    pub external: Arc<dyn ExternalPolicies>,
    /// Number of the worst hard misses listed for each policy.
    pub misses: usize,
    /// Whether to compute the upper bound of retention too. Needs the cargo feature `exact`; slow on long sessions.
    pub exact: bool,
    pub prices: Prices,
    /// Prices every call as this model, whatever the record says.
    pub priced_as: Option<String>,
    /// Whether replays take over what happened to the recorded session's prompt cache.
    pub cache: CacheMode,
    /// Largest error of the cost check, as a share of the bill; a conversation beyond it is not priced.
    pub max_residual: f64,
    /// Number of the costliest cache invalidations listed for each policy.
    pub breaks: usize,
    /// Whether to detect findings.
    pub findings: bool,
    /// Whether secrets stay where results quote transcripts.
    pub show_secrets: bool,
    /// Random seed of the resamples of sessions.
    pub seed: u64,
}

/// Creates an observer for each replay. With observers, replays run one after another.
pub trait Observers {
    /// Returns an observer of the replay of one policy over one conversation.
    fn observe<'a>(
        &'a mut self,
        transcript: &'a str,
        conversation: &'a Conversation,
        policy: &'a Policy,
    ) -> Box<dyn Observer + 'a>;

    /// All replays of a transcript are done. Its result is not usable if a summarizer had no answer.
    fn transcript_done(&mut self, _result: &TranscriptResult) {}
}

/// Replay of one conversation under one policy.
struct ReplayOutcome {
    journal: Journal,
    retention: Retention,
    /// Of an oracle that keeps whole blocks.
    bounds: Bounds,
    /// Of an oracle that keeps single lines, for a policy that keeps parts of blocks; only for an exact study.
    bounds_by_line: Option<Bounds>,
    cost: Option<Cost>,
}

impl Study {
    /// Creates a study that compares with no compaction and lists nothing except the columns.
    pub fn new(policies: Vec<Policy>) -> Self {
        Self {
            policies,
            references: Vec::new(),
            baseline: Policy::keep_all(),
            counter: TokenCounter::Own,
            window: None,
            overhead: None,
            thinking: None,
            summarizers: vec![NamedSummarizer::new("extract", Extract::default())],
            external: Arc::new(NoExternalPolicies),
            misses: 0,
            exact: false,
            prices: Prices::built_in(),
            priced_as: None,
            cache: CacheMode::Recorded,
            max_residual: MAX_RESIDUAL,
            breaks: 0,
            findings: false,
            show_secrets: false,
            seed: SEED,
        }
    }

    /// Replays all conversations of one transcript.
    pub fn transcript(&self, name: &str, reading: &Reading, mut observers: Option<&mut dyn Observers>) -> TranscriptResult {
        let (mut samples, mut details, mut unanswered) = (Vec::new(), Details::new(name, reading), None);
        let counters: Vec<_> = reading.conversations.par_iter().map(|conversation| self.counter.resolve(conversation)).collect();
        for (conversation, counter) in reading.conversations.iter().zip(&counters) {
            let prepared = Prepared::new(self, conversation, counter);
            details.calibrations.extend(counter.row(name, conversation));
            // All policies are compared with the baseline and become rows one by one, so that few journals are held in
            // memory.
            let baseline = self.replay_with_bounds(&prepared, &self.baseline, &mut NoObserver);
            let recording = Recording::new(name, conversation).into();
            let comparison =
                BaselineComparison { study: self, transcript: name, recording, prepared: &prepared, baseline: &baseline };
            let compared: Vec<ComparedReplay> = match &mut observers {
                None => {
                    let compare = |policy: &Policy| {
                        if *policy == self.baseline {
                            comparison.compare(policy, &baseline)
                        } else {
                            comparison.compare(policy, &self.replay_with_bounds(&prepared, policy, &mut NoObserver))
                        }
                    };
                    self.policies.par_iter().map(compare).collect()
                }
                Some(observers) => {
                    let compare = |policy| {
                        let mut observer = observers.observe(name, conversation, policy);
                        comparison.compare(policy, &self.replay_with_bounds(&prepared, policy, &mut *observer))
                    };
                    self.policies.iter().map(compare).collect()
                }
            };
            unanswered = unanswered.or(details.add(&comparison, compared));
            details.checks.extend(prepared.costs.row(name, &conversation.name));
            details.notes.extend(prepared.costs.refusal(name, conversation));
            details.unknown.extend(prepared.costs.unknown_models().iter().map(|model| (UnknownFact::Price, model.clone())));
            details.unknown.extend(prepared.costs.unpriced().map(|what| (UnknownFact::Service, what)));
            details.unknown.extend(counter.uncalibrated().map(|model| (UnknownFact::Tokenizer, model.to_owned())));
            samples.push(ChanceSample::new(name, &conversation.name, prepared.references.placebo));
        }
        TranscriptResult { unanswered, ..TranscriptResult::new(name, reading, samples, details) }
    }

    /// Combines the results of the transcripts, ordered by name, and computes confidence intervals of the totals.
    pub fn results(&self, transcripts: Vec<TranscriptResult>) -> Results {
        let mut results = combine::results(self, transcripts);
        let names = self.policies.iter().map(|policy| policy.name.as_str());
        let compared: Vec<&str> = names.filter(|name| !Role::of(name).is_bound()).collect();
        infer(&mut results, &self.baseline.name, &compared, self.seed);
        results
    }

    /// Returns everything that is replayed.
    pub(in crate::analysis) fn replayed(&self) -> impl Iterator<Item = &Policy> {
        self.policies.iter().chain([&self.baseline])
    }

    fn replay_with_bounds(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> ReplayOutcome {
        let (journal, retention, cost) = self.replay_with_cost(prepared, policy, observer);
        let by_line = self.exact && retention::keeps_parts(policy);
        let bounds_of = |grain: Grain, exact: bool| bounds(oracle_instance_of(prepared, grain), &journal, exact);
        let bounds = bounds_of(Grain::Blocks, self.exact && !by_line);
        let bounds_by_line = by_line.then(|| bounds_of(Grain::Lines, true));
        ReplayOutcome { journal, retention, bounds, bounds_by_line, cost }
    }

    /// Replays without computing bounds.
    fn replay_with_cost(
        &self,
        prepared: &Prepared,
        policy: &Policy,
        observer: &mut dyn Observer,
    ) -> (Journal, Retention, Option<Cost>) {
        let setup = self.setup(prepared, policy);
        let (journal, retention) = replay_and_evaluate(&setup, prepared, observer);
        let cost = prepared.costs.cost(&setup, &journal, &retention);
        (journal, retention, cost)
    }

    /// Prepares a conversation for several replays.
    pub fn prepare<'a>(&self, conversation: &'a Conversation) -> Prepared<'a> {
        Prepared::new(self, conversation, &self.counter.resolve(conversation))
    }

    /// Returns the findings of one replay.
    pub fn detect_findings(&self, transcript: &str, prepared: &Prepared, policy: &Policy) -> Vec<Finding> {
        let (journal, retention, cost) = self.replay_with_cost(prepared, policy, &mut NoObserver);
        let window = prepared.window.of(policy);
        prepared.with_replay_view(policy, (&journal, &retention, cost.as_ref()), window, |replay| {
            let mut findings = findings::detect(transcript, replay);
            prepared.hide_secrets(&mut findings);
            findings
        })
    }

    /// Replays one conversation. Returns its journal, and what happened to later uses of earlier facts.
    pub fn evaluate(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> (Journal, Retention) {
        replay_and_evaluate(&self.setup(prepared, policy), prepared, observer)
    }

    /// Replays one conversation. Returns its journal.
    pub fn journal(&self, prepared: &Prepared, policy: &Policy) -> Journal {
        replay(&self.setup(prepared, policy), &mut NoObserver)
    }

    fn setup<'a>(&'a self, prepared: &'a Prepared, policy: &'a Policy) -> ReplaySetup<'a> {
        ReplaySetup {
            policy,
            window: prepared.window.of(policy),
            recorded: prepared.recorded.as_ref(),
            summarizer: &*self.summarizers[policy.summarizer].summarizer,
            external: &*self.external,
            ..prepared.setup(self)
        }
    }
}

/// Returns what an oracle chooses from.
fn oracle_instance_of<'a>(prepared: &'a Prepared, grain: Grain) -> &'a Instance {
    let build = || oracle_instance(prepared.conversation, &prepared.references, grain, &|block| prepared.tokens(block));
    prepared.oracle_instances[grain as usize].get_or_init(build)
}

fn replay_and_evaluate(setup: &ReplaySetup, prepared: &Prepared, observer: &mut dyn Observer) -> (Journal, Retention) {
    let journal = replay(setup, observer);
    let retention = evaluate(setup.conversation, &prepared.references, &journal, &|block| prepared.tokens(block));
    (journal, retention)
}

/// Returns the policies of a comparison: keep-all first, then the requested ones, drop-all last.
pub fn with_bounds(asked: Vec<Policy>) -> Vec<Policy> {
    let is_missing = |bound: &Policy| asked.iter().all(|policy| policy.name != bound.name);
    let first = Some(Policy::keep_all()).filter(is_missing);
    let last = Some(Policy::drop_all()).filter(is_missing);
    first.into_iter().chain(asked).chain(last).collect()
}
