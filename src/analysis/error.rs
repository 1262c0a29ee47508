//! The one error of the library.

use super::audit::UnreadableFile;
use super::corpus::RunError;
use super::export::ExportError;
use super::gate::BaselineError;
use super::part::PartError;
use super::resume::ResumeError;
use super::spec::{ResourceError, SpecError};
use super::study::CounterError;
use super::sweep::{StageError, SweepError};
use super::{probe, show};
use crate::engine::external::ExternalError;
use crate::engine::summarizer::SummaryError;
use crate::llm::client::{AskError, CassetteError, ConnectError, EntryError, LineError};
use crate::results::saved::ResultsError;
use crate::tokens::meter::UnknownMeter;
use crate::transcript::source::SourceError;
use crate::util::ValueError;
use crate::util::toml_span::FileError;

/// Why the library cannot do what it was asked. Every error of a public function converts into it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of a study's description is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A value that a user wrote is wrong: a size, a setting, a condition, an address.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The transcripts cannot be analysed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is nothing to search.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// An earlier run cannot be continued.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// Parts of a study cannot be merged.
    #[error(transparent)]
    Part(#[from] PartError),
    /// A file that a user wrote is wrong: a policy, a price list, a suite.
    #[error(transparent)]
    File(#[from] FileError),
    /// A baseline cannot be read.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Saved results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A transcript cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A file beside a transcript cannot be read.
    #[error(transparent)]
    Audit(#[from] UnreadableFile),
    /// There is no such token counter.
    #[error(transparent)]
    Counter(#[from] CounterError),
    /// There is no such meter.
    #[error(transparent)]
    Meter(#[from] UnknownMeter),
    /// A policy cannot be written for a harness.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A request cannot be shown.
    #[error(transparent)]
    Show(#[from] show::Unanswered),
    /// A model or a program may not be used.
    #[error(transparent)]
    Resource(#[from] ResourceError),
    /// A model cannot be asked.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A question to a model has no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// A question of a probe has no answer.
    #[error(transparent)]
    Probe(#[from] probe::Unanswered),
    /// There is no summary.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// Recorded answers cannot be read or written.
    #[error(transparent)]
    Cassette(#[from] CassetteError),
    /// A recorded answer is none.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A program cannot be started, or did not answer.
    #[error(transparent)]
    Program(#[from] LineError),
    /// A policy from outside cannot be used.
    #[error(transparent)]
    External(#[from] ExternalError),
}

impl From<StageError> for Error {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Run(error) => error.into(),
            StageError::Part(error) => error.into(),
            StageError::Sweep(error) => error.into(),
        }
    }
}
