//! The one error of the library.

use super::corpus::RunError;
use super::gate::BaselineError;
use super::resume::ResumeError;
use super::spec::SpecError;
use super::sweep::SweepError;
use crate::results::saved::ResultsError;
use crate::util::toml_span::FileError;

/// Why the library cannot do what it was asked. Every error of a public function converts into it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A field of a study's description is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The transcripts cannot be analysed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// There is nothing to search.
    #[error(transparent)]
    Sweep(#[from] SweepError),
    /// An earlier run cannot be continued.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// A file that a user wrote is wrong: a policy, a price list, a suite.
    #[error(transparent)]
    File(#[from] FileError),
    /// A baseline cannot be read.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Saved results cannot be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
}
