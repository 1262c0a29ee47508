//! Many transcripts × many policies, in parallel, in order.
//!
//! Sizes are computed once for all policies of a conversation. Results come in the order of the input, whatever thread made
//! them, and hold nothing of the machine.

mod layers;

use rayon::prelude::*;

use crate::context::Cause;
use crate::conversation::{Conversation, Thinking};
use crate::format::Reading;
use crate::journal::Journal;
use crate::measure::{self, Replayed};
use crate::meter::{Measure, Meter};
use crate::policy::{Policy, preset};
use crate::replay::{NoObserver, Observer, RecordedRequests, Setup, replay};
use crate::results::{PolicyText, ResultNote, Results, Row, VERSION, summarise};
use crate::sizes::Sizes;
use crate::summarizer::Summarizer;
use crate::text::many;

use layers::LayerWork;

/// The window of a model nobody named: what most models of the recorded agents had.
const USUAL_WINDOW: u64 = 200_000;

/// What is replayed, and how.
pub struct Study {
    /// In the order of the reports.
    pub policies: Vec<Policy>,
    /// Index of the policy that `tokens.saved` compares with.
    pub baseline: usize,
    /// The report's own count of tokens.
    pub counter: Meter,
    /// In place of what the record or the policy says.
    pub window: Option<u64>,
    pub overhead: Option<u64>,
    pub thinking: Option<Thinking>,
    pub summarizer: Box<dyn Summarizer>,
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
    layers: Vec<LayerWork>,
}

impl Study {
    /// Replays all conversations of one transcript.
    pub fn transcript(&self, name: &str, reading: &Reading, mut observers: Option<&mut dyn Observers>) -> Part {
        let mut part = Part { notes: notes(name, reading), ..Part::default() };
        for conversation in &reading.conversations {
            let prepared = Prepared::new(self, conversation);
            let journals: Vec<Journal> = match &mut observers {
                None => self.policies.par_iter().map(|policy| self.replay(&prepared, policy, &mut NoObserver)).collect(),
                Some(observers) => {
                    let observed = |policy| {
                        let mut observer = observers.observe(name, conversation, policy);
                        self.replay(&prepared, policy, &mut *observer)
                    };
                    self.policies.iter().map(observed).collect()
                }
            };
            part.add(self, name, conversation, &journals);
        }
        part
    }

    /// Puts the parts together, in the order of the transcripts.
    pub fn results(&self, parts: Vec<Part>) -> Results {
        let columns = measure::columns();
        let (mut rows, mut notes, mut layers) = (Vec::new(), Vec::new(), vec![LayerWork::default(); self.policies.len()]);
        for part in parts {
            rows.extend(part.rows);
            notes.extend(part.notes);
            for (sum, of_part) in layers.iter_mut().zip(part.layers) {
                sum.add(of_part);
            }
        }
        let text =
            |policy: &Policy| PolicyText { name: policy.name.clone(), toml: policy.to_toml(), quirks: policy.quirks.clone() };
        Results {
            version: VERSION,
            summary: summarise(&columns, &rows),
            columns,
            rows,
            kept: Vec::new(),
            misses: Vec::new(),
            layers: self.policies.iter().zip(layers).flat_map(|(policy, work)| work.rows(policy)).collect(),
            policies: self.policies.iter().map(text).collect(),
            notes,
        }
    }

    fn replay(&self, prepared: &Prepared, policy: &Policy, observer: &mut dyn Observer) -> Journal {
        let conversation = prepared.conversation;
        let window = self.window.or(conversation.window).or(policy.window).unwrap_or(USUAL_WINDOW);
        let setup = Setup { policy, window, ..prepared.setup(self) };
        replay(&Setup { recorded: prepared.recorded.as_ref(), ..setup }, observer)
    }
}

/// What all replays of a conversation share.
struct Prepared<'a> {
    conversation: &'a Conversation,
    sizes: Sizes,
    overhead: u64,
    recorded: Option<RecordedRequests>,
}

impl<'a> Prepared<'a> {
    fn new(study: &Study, conversation: &'a Conversation) -> Self {
        let measures = study.policies.iter().flat_map(Policy::measures);
        let sizes = Sizes::new(conversation, measures.chain([study.counter.measure]));
        let overhead = study.overhead.unwrap_or_else(|| overhead(conversation, &sizes, study.counter));
        let mut prepared = Self { conversation, sizes, overhead, recorded: None };
        if study.policies.iter().any(Policy::goes_by_usage) {
            prepared.recorded = Some(RecordedRequests::of(&prepared.setup(study)));
        }
        prepared
    }

    fn setup<'b>(&'b self, study: &'b Study) -> Setup<'b> {
        Setup {
            conversation: self.conversation,
            sizes: &self.sizes,
            policy: &study.policies[study.baseline],
            counter: study.counter,
            window: USUAL_WINDOW,
            overhead: self.overhead,
            thinking: study.thinking.unwrap_or(self.conversation.thinking),
            summarizer: &*study.summarizer,
            recorded: None,
        }
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

/// The counter a report uses where nobody chose another.
pub const DEFAULT_COUNTER: Meter = Meter::of(Measure::O200k);

fn notes(transcript: &str, reading: &Reading) -> Vec<ResultNote> {
    let note = |note: &crate::format::Note| ResultNote { path: transcript.to_owned(), line: note.line, what: note.what.clone() };
    reading.notes.iter().map(note).collect()
}

impl Part {
    fn add(&mut self, study: &Study, transcript: &str, conversation: &Conversation, journals: &[Journal]) {
        let baseline = &journals[study.baseline];
        self.layers.resize(study.policies.len(), LayerWork::default());
        for ((policy, journal), work) in study.policies.iter().zip(journals).zip(&mut self.layers) {
            if journal.requests.is_empty() {
                continue;
            }
            work.add_journal(journal);
            self.rows.push(Row {
                transcript: transcript.to_owned(),
                conversation: conversation.name.clone(),
                policy: policy.name.clone(),
                bound_of: None,
                values: measure::values(&Replayed { conversation, journal, baseline }),
            });
        }
        self.notes.extend(broken_in_the_record(transcript, conversation, baseline));
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

/// The policies of a comparison: keep-all first and drop-all last, the bounds, and between them what was asked for.
pub fn with_bounds(asked: Vec<Policy>) -> Vec<Policy> {
    let bound = |name: &str| preset(name).and_then(|preset| preset.policy(&[]).ok());
    let is_asked = |name: &str| asked.iter().any(|policy| policy.name == name);
    let first = bound("keep-all").filter(|_| !is_asked("keep-all"));
    let last = bound("drop-all").filter(|_| !is_asked("drop-all"));
    first.into_iter().chain(asked).chain(last).collect()
}
