//! Many transcripts × many policies, in parallel, in order.
//!
//! Sizes are computed once for all policies of a conversation. Results come in the order of the input, whatever thread made
//! them, and hold nothing of the machine.

mod counter;
mod kept;
mod layers;
mod money;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::context::Cause;
use crate::conversation::{Conversation, Thinking};
use crate::cost::Cost;
use crate::format::Reading;
use crate::journal::Journal;
use crate::kept::bound::Problem;
use crate::kept::{Bounds, Grain, Kept, bounds, look_up, wishes};
use crate::measure::{self, Replayed};
use crate::meter::Meter;
use crate::policy::{Policy, preset};
use crate::prices::Prices;
use crate::references::References;
use crate::replay::{NoObserver, Observer, RecordedRequests, Setup, replay};
use crate::results::{CalibrationRow, CheckRow, DearBreak, MissRow, PolicyText, ResultNote, Results, Row, VERSION, summarise};
use crate::sizes::Sizes;
use crate::summarizer::{Extract, Summarizer};
use crate::text::many;

pub use counter::{Counter, Counting, DEFAULT_COUNTER, NoCounter};

use kept::Compared;
use layers::LayerWork;
use money::{Breaks, Money};

/// The window of a model nobody named: what most models of the recorded agents had.
const USUAL_WINDOW: u64 = 200_000;

/// What is replayed, and how.
pub struct Study {
    /// In the order of the reports.
    pub policies: Vec<Policy>,
    /// Index of the policy that `tokens.saved` compares with.
    pub baseline: usize,
    /// The report's own count of tokens.
    pub counter: Counter,
    /// In place of what the record or the policy says.
    pub window: Option<u64>,
    pub overhead: Option<u64>,
    pub thinking: Option<Thinking>,
    pub summarizer: Box<dyn Summarizer>,
    /// How many of the worst hard misses are listed for each policy.
    pub misses: usize,
    /// Whether the upper bound of what could be kept is computed too; long sessions take a while.
    pub exact: bool,
    pub prices: Prices,
    /// Prices every call as this model's, whatever the record says.
    pub priced_as: Option<String>,
    /// The largest share by which the replayed record may cost more or less than was billed; beyond it nothing is priced.
    pub max_residual: f64,
    /// How many of the dearest breaks of the cached prefix are listed for each policy.
    pub breaks: usize,
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

/// What one transcript gave.
#[derive(Debug, Default)]
pub struct Part {
    rows: Vec<Row>,
    notes: Vec<ResultNote>,
    /// In the order of the policies.
    policies: Vec<OfPolicy>,
    compared: Vec<Compared>,
    checks: Vec<CheckRow>,
    calibrations: Vec<CalibrationRow>,
}

/// What one policy did over the conversations of a transcript, or of all.
#[derive(Debug, Clone, Default)]
struct OfPolicy {
    layers: LayerWork,
    kept: Kept,
    misses: Vec<MissRow>,
    breaks: Breaks,
    dear: Vec<DearBreak>,
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
            summarizer: Box::new(Extract::default()),
            misses: 0,
            exact: false,
            prices: Prices::built_in(),
            priced_as: None,
            max_residual: MAX_RESIDUAL,
            breaks: 0,
        }
    }

    /// What all replays of a conversation have in common; the policy is the baseline's until another is put in.
    fn setup<'b>(&'b self, conversation: &'b Conversation, sizes: &'b Sizes, counter: Meter, overhead: u64) -> Setup<'b> {
        Setup {
            conversation,
            sizes,
            policy: &self.policies[self.baseline],
            counter,
            window: USUAL_WINDOW,
            overhead,
            thinking: self.thinking.unwrap_or(conversation.thinking),
            summarizer: &*self.summarizer,
            recorded: None,
        }
    }

    /// Replays all conversations of one transcript.
    pub fn transcript(&self, name: &str, reading: &Reading, mut observers: Option<&mut dyn Observers>) -> Part {
        let mut part = Part { notes: notes(name, reading), ..Part::default() };
        let countings: Vec<_> = reading.conversations.par_iter().map(|conversation| self.counter.of(conversation)).collect();
        part.notes.extend(counter::stand_ins(name, &countings));
        let mut unpriced = BTreeSet::new();
        for (conversation, counting) in reading.conversations.iter().zip(&countings) {
            let prepared = Prepared::new(self, conversation, counting);
            part.calibrations.extend(counting.row(name, conversation));
            let outcomes: Vec<Outcome> = match &mut observers {
                None => self.policies.par_iter().map(|policy| self.replay(&prepared, policy, &mut NoObserver)).collect(),
                Some(observers) => {
                    let observed = |policy| {
                        let mut observer = observers.observe(name, conversation, policy);
                        self.replay(&prepared, policy, &mut *observer)
                    };
                    self.policies.iter().map(observed).collect()
                }
            };
            part.add(self, name, &prepared, &outcomes);
            part.checks.extend(prepared.money.row(name, &conversation.name));
            part.notes.extend(prepared.money.refusal(name, conversation));
            unpriced.extend(prepared.money.unknown_models().iter().cloned());
            part.compared.push(Compared::new(name, &conversation.name, prepared.references.placebo));
        }
        part.notes.extend(money::unpriced(name, &unpriced));
        part
    }

    /// Puts the parts together, in the order of the transcripts.
    pub fn results(&self, parts: Vec<Part>) -> Results {
        let columns = measure::columns();
        let (mut rows, mut notes, mut compared) = (Vec::new(), Vec::new(), Vec::new());
        let (mut checks, mut calibrations) = (Vec::new(), Vec::new());
        let mut policies = vec![OfPolicy::default(); self.policies.len()];
        for part in parts {
            rows.extend(part.rows);
            notes.extend(part.notes);
            compared.extend(part.compared);
            checks.extend(part.checks);
            calibrations.extend(part.calibrations);
            for (sum, of_part) in policies.iter_mut().zip(part.policies) {
                sum.add(of_part);
            }
        }
        kept::fill_in_chance(&mut rows, &compared);
        let text =
            |policy: &Policy| PolicyText { name: policy.name.clone(), toml: policy.to_toml(), quirks: policy.quirks.clone() };
        let mut results = Results {
            version: VERSION,
            summary: summarise(&columns, &rows),
            columns,
            rows,
            checks,
            calibrations,
            policies: self.policies.iter().map(text).collect(),
            notes,
            ..Results::default()
        };
        for (policy, OfPolicy { layers, kept, misses, breaks, dear }) in self.policies.iter().zip(policies) {
            results.layers.extend(layers.rows(policy));
            results.kept.extend(kept::rows(&policy.name, &kept));
            results.misses.extend(kept::worst(self.misses, misses));
            results.breaks.extend(breaks.rows(policy));
            results.dear_breaks.extend(money::dearest(self.breaks, dear));
        }
        results
    }

    fn replay(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> Outcome {
        let conversation = prepared.conversation;
        let window = self.window.or(conversation.window).or(policy.window).unwrap_or(USUAL_WINDOW);
        let setup = Setup { policy, window, ..prepared.setup(self) };
        let setup = Setup { recorded: prepared.recorded.as_ref(), ..setup };
        let journal = replay(&setup, observer);
        let tokens = |block| prepared.counter.apply(prepared.sizes.size(block, prepared.counter.measure));
        let kept = look_up(conversation, &prepared.references, &journal, &tokens);
        let grain = kept::grain(policy);
        let wishes = prepared.wishes[grain as usize].get_or_init(|| wishes(conversation, &prepared.references, grain, &tokens));
        let bounds = bounds(wishes, &journal, self.exact);
        let cost = prepared.money.cost(&setup, &journal, &kept);
        Outcome { journal, kept, grain, bounds, cost }
    }
}

/// What all replays of a conversation share.
struct Prepared<'a> {
    conversation: &'a Conversation,
    counter: Meter,
    sizes: Sizes,
    references: References,
    /// For the bounds, by grain; made when the first policy needs them.
    wishes: [OnceLock<Problem>; 2],
    overhead: u64,
    recorded: Option<RecordedRequests>,
    money: Money,
}

impl<'a> Prepared<'a> {
    fn new(study: &Study, conversation: &'a Conversation, counting: &Counting) -> Self {
        let measures = study.policies.iter().flat_map(Policy::measures);
        let (counter, sizes) = (counting.meter, counting.sizes(conversation, measures));
        let overhead = study.overhead.unwrap_or_else(|| overhead(conversation, &sizes, counter));
        let references = References::new(conversation, |block| counter.apply(sizes.size(block, counter.measure)));
        let setup = study.setup(conversation, &sizes, counter, overhead);
        let recorded = study.policies.iter().any(Policy::goes_by_usage).then(|| RecordedRequests::of(&setup));
        let money = Money::new(&setup, study);
        Self { conversation, counter, sizes, references, wishes: Default::default(), overhead, recorded, money }
    }

    fn setup<'b>(&'b self, study: &'b Study) -> Setup<'b> {
        study.setup(self.conversation, &self.sizes, self.counter, self.overhead)
    }
}

/// Tokens of system prompt and tools: what the first recorded usage holds beyond the messages of its request, else the system
/// prompt, where the transcript has it.
pub fn overhead(conversation: &Conversation, sizes: &Sizes, counter: Meter) -> u64 {
    let known = conversation.calls.iter().filter_map(|call| Some((call.response, call.usage?.request())));
    match known.into_iter().find(|(_, usage)| *usage > 0) {
        Some((response, usage)) => {
            let blocks = conversation.messages[..response].iter().flat_map(|message| &message.blocks);
            let counted = blocks.map(|block| sizes.size(*block, counter.measure)).sum();
            usage.saturating_sub(counter.apply(counted))
        }
        None => conversation.system.as_deref().map_or(0, |system| counter.apply(counter.measure.text(system))),
    }
}

/// How much the replayed record may cost more or less than was billed, where nobody chose another share.
pub const MAX_RESIDUAL: f64 = 0.15;

fn notes(transcript: &str, reading: &Reading) -> Vec<ResultNote> {
    let note = |note: &crate::format::Note| ResultNote { path: transcript.to_owned(), line: note.line, what: note.what.clone() };
    reading.notes.iter().map(note).collect()
}

impl Part {
    fn add(&mut self, study: &Study, transcript: &str, prepared: &Prepared, outcomes: &[Outcome]) {
        let (conversation, baseline) = (prepared.conversation, &outcomes[study.baseline]);
        self.policies.resize_with(study.policies.len(), OfPolicy::default);
        for ((policy, outcome), sum) in study.policies.iter().zip(outcomes).zip(&mut self.policies) {
            let Outcome { journal, kept, grain, bounds, cost } = outcome;
            if journal.requests.is_empty() {
                continue;
            }
            let replayed = Replayed {
                conversation,
                journal,
                baseline: &baseline.journal,
                kept,
                cost: cost.as_ref(),
                baseline_cost: baseline.cost.as_ref(),
                bound: Some(bounds.weight),
            };
            let row = Row {
                transcript: transcript.to_owned(),
                conversation: conversation.name.clone(),
                policy: policy.name.clone(),
                bound_of: None,
                values: measure::values(&replayed),
            };
            let is_bound = BOUNDS.contains(&policy.name.as_str());
            sum.layers.add_journal(journal);
            sum.kept.add_shares(kept);
            if !is_bound {
                let of = (transcript, conversation);
                sum.misses.extend(kept::misses(study.misses, of, policy, &prepared.references, kept));
            }
            if let Some(cost) = cost {
                sum.breaks.add_cost(cost);
                sum.dear.extend(money::dear(study.breaks, (transcript, conversation), policy, cost));
            }
            self.rows.push(row.clone());
            if !is_bound {
                self.rows.extend(kept::bounds_of(&row, &replayed, bounds, *grain));
                if study.exact && bounds.upper.is_none() {
                    let what = format!("conversation {}: no upper bound for {} was found", conversation.name, policy.name);
                    self.notes.push(ResultNote { path: transcript.to_owned(), line: None, what });
                }
            }
        }
        self.notes.extend(broken_in_the_record(transcript, conversation, &baseline.journal));
    }
}

impl OfPolicy {
    fn add(&mut self, other: Self) {
        self.layers.add(other.layers);
        self.kept.add_shares(&other.kept);
        self.misses.extend(other.misses);
        self.breaks.add(other.breaks);
        self.dear.extend(other.dear);
    }
}

/// Says so where the record itself holds requests an API would refuse: no policy is to blame for those.
fn broken_in_the_record(transcript: &str, conversation: &Conversation, journal: &Journal) -> Option<ResultNote> {
    let mut faults = journal.requests.iter().filter_map(|request| request.faults.iter().find(|f| f.cause == Cause::Record));
    let first = faults.next()?;
    let line = conversation.blocks.get(first.block.index()).map(|block| block.line);
    let what = format!(
        "conversation {}: {} broken in the record itself, no policy is to blame; the first fault: {}",
        conversation.name,
        many(faults.count() + 1, "request"),
        first.kind.name()
    );
    Some(ResultNote { path: transcript.to_owned(), line, what })
}

/// The policies that are bounds themselves: no bounds are shown for them, and no misses.
const BOUNDS: [&str; 2] = ["keep-all", "drop-all"];

/// The policies of a comparison: keep-all first and drop-all last, the bounds, and between them what was asked for.
pub fn with_bounds(asked: Vec<Policy>) -> Vec<Policy> {
    let bound = |name: &str| preset(name).and_then(|preset| preset.policy(&[]).ok());
    let is_asked = |name: &str| asked.iter().any(|policy| policy.name == name);
    let first = bound("keep-all").filter(|_| !is_asked("keep-all"));
    let last = bound("drop-all").filter(|_| !is_asked("drop-all"));
    first.into_iter().chain(asked).chain(last).collect()
}
