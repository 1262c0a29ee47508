//! Why parts cannot be read or merged.

use std::io;

use super::VERSION;
use crate::results::saved::Program;

/// Why parts cannot be read or merged.
#[derive(Debug, thiserror::Error)]
pub enum PartError {
    #[error("there is no part to merge")]
    None,
    #[error("not a part: the first line has no \"recompact_part\" (is it of `recompact replay … --part`?)")]
    NoPart,
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    #[error("the results of many transcripts wait in a temporary file, which cannot be written: {0} (TMPDIR names its folder)")]
    NoSpill(io::Error),
    #[error("a part of version {0}; this program reads version {VERSION}")]
    OtherVersion(u32),
    #[error("it was written by {} {}, which may count otherwise than this program, {} {}", .0.name, .0.version, Program::this().name, Program::this().version)]
    OtherProgram(Program),
    #[error("line {line}: not a row of a part: {why}")]
    Row { line: usize, why: serde_json::Error },
    #[error("it has {found} of {rows} rows: the file is cut off; replay its transcripts again")]
    CutOff { found: usize, rows: usize },
    #[error("the parts are of several studies: one has {0}")]
    OtherStudy(String),
    #[error("{0}: two parts have different bytes of it: it was changed between their runs; replay it again")]
    Changed(String),
    #[error("the part was made with {0}: finish it with the same policies and prices")]
    OtherFiles(String),
    #[error("it is a part of a sweep, and not of a replay")]
    OfSweep,
    #[error("it is a part of a replay, and not of a sweep")]
    OfReplay,
    #[error("it holds inspections, and no replays")]
    OfInspections,
    #[error("the sweep is complete: `recompact merge` prints its results")]
    Complete,
}
