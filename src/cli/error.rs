//! Why a command failed, and its exit code.

use recompact::analysis::corpus::RunError;
use recompact::analysis::sweep::StageError;

use super::interrupt;

/// Why a command failed: wrong usage, unreadable input, nothing to analyse, or an interrupt.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),
    /// The command line cannot be parsed, or asks for help or the version.
    #[error("{0}")]
    CommandLine(#[from] clap::Error),
    /// Some input could not be used; the rest was reported.
    #[error("{}", .0.join("\nrecompact: "))]
    Input(Vec<String>),
    /// The agent that was recorded failed; what it asked was recorded.
    #[cfg(feature = "models")]
    #[error("the recorded program ended: {0}")]
    Program(std::process::ExitStatus),
    /// Everything was analysed and reported, and a finding or a rule fails the command.
    #[error("{0}")]
    Found(String),
    /// The user stopped the program; finished work was reported.
    #[error("stopped: {done} of {transcripts} transcripts are done{}", if *.can_resume { "; --resume continues" } else { "" })]
    Stopped { done: usize, transcripts: usize, can_resume: bool },
    #[error(transparent)]
    Value(#[from] recompact::util::ValueError),
    #[error(transparent)]
    File(#[from] recompact::util::toml_span::FileError),
    #[error(transparent)]
    Spec(#[from] recompact::analysis::spec::SpecError),
    #[error(transparent)]
    Sweep(#[from] recompact::analysis::sweep::SweepError),
    #[error(transparent)]
    Part(#[from] recompact::analysis::part::PartError),
    #[error(transparent)]
    Output(#[from] crate::cli::output::OutputError),
}

impl Failure {
    /// Adds the hint that `--resume` continues the study, if its results were saved.
    pub fn with_resume_hint(self, is_saved: bool) -> Self {
        match self {
            Failure::Stopped { done, transcripts, .. } => Failure::Stopped { done, transcripts, can_resume: is_saved },
            other => other,
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Failure::Found(_) => 1,
            // As a shell does: the program's own code.
            #[cfg(feature = "models")]
            Failure::Program(status) => status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX),
            Failure::Stopped { .. } => interrupt::INTERRUPTED,
            _ => 2,
        }
    }
}

impl From<StageError> for Failure {
    fn from(error: StageError) -> Self {
        match error {
            StageError::Run(error) => error.into(),
            StageError::Part(error) => error.into(),
            StageError::Sweep(error) => error.into(),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Input(errors) => Failure::Input(errors),
            RunError::Nothing(why) => Failure::Usage(why),
            RunError::Stopped { done, transcripts } => Failure::Stopped { done, transcripts, can_resume: false },
        }
    }
}
