//! Why a command failed, and the exit code that says so.

use super::interrupt;

/// Why a command failed: wrong use, unreadable input, or nothing could be analysed; or somebody stopped it.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    /// Some input could not be used; what could be was reported.
    #[error("{}", .0.join("\nrecompact: "))]
    Input(Vec<String>),
    /// Everything was analysed and reported, and what was found is as bad as the caller said it must not be.
    #[error("{0}")]
    Found(String),
    /// What was finished was reported.
    #[error("stopped: {done} of {transcripts} transcripts are done{}", if *.can_go_on { "; --resume goes on" } else { "" })]
    Stopped { done: usize, transcripts: usize, can_go_on: bool },
    #[error(transparent)]
    File(#[from] recompact::util::toml_span::FileError),
    #[error(transparent)]
    Sweep(#[from] recompact::analysis::sweep::SweepError),
    #[error(transparent)]
    Output(#[from] crate::cli::output::OutputError),
}

impl Failure {
    /// A stopped study of which all was saved.
    pub fn that_can_go_on(self, is_saved: bool) -> Self {
        match self {
            Failure::Stopped { done, transcripts, .. } => Failure::Stopped { done, transcripts, can_go_on: is_saved },
            other => other,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Found(_) => 1,
            Failure::Stopped { .. } => interrupt::INTERRUPTED,
            _ => 2,
        }
    }
}
