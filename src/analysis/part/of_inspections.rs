//! Inspections of a corpus, in the part of an earlier run or anew.

use super::{CachedPart, Given, PartError};
use crate::analysis::corpus::{self, Corpus, Monitor, Processed, Source};
use crate::analysis::inspect::{Inspection, KeptInspection};
use crate::analysis::resume::{Checkpoint, ONE_ROUND};
use crate::analysis::spec::{LoadedPrices, StudySpec};
use crate::transcript::format::Reading;

impl Given {
    fn of_inspections(inspections: Vec<Inspection>) -> Self {
        Self::Inspections(inspections.into_iter().map(KeptInspection::from).collect())
    }

    fn into_inspections(self) -> Result<Vec<Inspection>, PartError> {
        match self {
            Self::Inspections(kept) => Ok(kept.into_iter().map(Inspection::from).collect()),
            Self::Replay(_) | Self::Size(_) | Self::Totals(_) => Err(PartError::OfReplay),
        }
    }
}

/// Inspects every transcript of a corpus, or takes its inspections from the part of an earlier run. The spec has the token counter.
pub fn inspect_corpus(
    corpus: &dyn Corpus,
    monitor: &dyn Monitor,
    (spec, prices): (&StudySpec, &LoadedPrices),
    cached: Option<&CachedPart>,
) -> Processed<Vec<Inspection>> {
    let work = |source: Source, reading: &Reading| {
        let inspections = Inspection::all(source.name, reading, spec.tokenizer, &prices.prices, prices.priced_as.as_deref());
        Checkpoint::new(source, ONE_ROUND, inspections)
    };
    let saved = |source: Source| cached?.take_row(source, Given::into_inspections);
    let outcomes = corpus::outcomes(corpus, monitor, saved, work);
    let outcomes = match cached {
        Some(cached) => cached.keep_rows(outcomes, monitor, Given::of_inspections, Given::into_inspections),
        None => outcomes,
    };
    Processed::new(outcomes).map(|checkpoint| checkpoint.result)
}
