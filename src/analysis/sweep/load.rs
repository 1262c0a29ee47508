//! Turns the description of a sweep into what the search needs.

use super::{Candidate, Criteria, Parameter, SweepError, TriedSpace, candidates, spaces};
use crate::analysis::spec::{Loaded, Resources, SpecError, StudySpec, SweepSpec, record};
use crate::analysis::study::Study;
use crate::engine::policy::{KEEP_ALL, Policy};
use crate::llm::client::Address;
use crate::results::condition::Condition;
use crate::results::saved::StudyRecord;

/// A sweep with the files that its description names.
pub struct LoadedSweep {
    /// A study without policies: each round sets its own.
    pub study: Study,
    pub candidates: Vec<Candidate>,
    /// The baseline; with that of no compaction also the recorded runs, for sessions whose agents compacted.
    pub references: Vec<Policy>,
    pub spaces: Vec<TriedSpace>,
    pub criteria: Criteria,
    /// Whether the candidates are a sample, so that bad ones are dropped early.
    pub is_sampled: bool,
    /// Share of the sessions to hold out; `None` for the default.
    pub holdout: Option<f64>,
    pub record: StudyRecord,
}

impl LoadedSweep {
    /// Reads the files and checks all values.
    ///
    /// # Errors
    ///
    /// Fails if the description is wrong, if nothing is varied, or if it asks for several summarizers.
    pub fn new(spec: &StudySpec, resources: &dyn Resources) -> Result<Self, SweepError> {
        let whole = SweepSpec::default();
        let search = spec.sweep.as_ref().unwrap_or(&whole);
        let conditions: Result<Vec<Condition>, _> = search.conditions.iter().map(|written| written.parse()).collect();
        let criteria = Criteria::new(&search.minimize, &search.maximize, conditions?)?;
        let parameters: Result<Vec<Parameter>, _> = spec.set.iter().map(|written| written.parse()).collect();
        let spaces = spaces(&spec.sources(resources)?, &parameters?)?;
        let asks_models = spec.summarizer.iter().any(|written| Address::parse(written).is_some());
        if asks_models || spec.references || spec.summarizer.len() > 1 {
            let message = "a sweep takes one summarizer and no model, which would have to write thousands of summaries; sweep with `extract`, then \
                        `recompact replay` the recommended policy with --summarizer";
            return Err(SpecError::value("summarizer", message.to_owned()).into());
        }
        let plain = StudySpec { set: Vec::new(), bounds: false, ..spec.clone() };
        let Loaded { study, record: StudyRecord { files, .. }, .. } = plain.load(resources)?;
        let (candidates, spaces) = candidates(spaces, &study.baseline.name, search.sample, study.seed)?;
        let recorded = (study.baseline.name == KEEP_ALL).then(Policy::recorded);
        Ok(Self {
            references: [study.baseline.clone()].into_iter().chain(recorded).collect(),
            study: Study { policies: Vec::new(), ..study },
            candidates,
            spaces,
            criteria,
            is_sampled: search.sample.is_some(),
            holdout: search.holdout,
            record: record(spec, files),
        })
    }
}
