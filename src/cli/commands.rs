//! The subcommands: one file for each, with its arguments and its `run`.

pub mod audit;
pub mod catalog;
pub mod check;
pub mod completions;
pub mod convert;
pub mod demo;
pub mod diff;
pub mod export_settings;
pub mod guide;
pub mod inspect;
pub mod man;
pub mod merge;
pub mod policy;
pub mod probe;
#[cfg(feature = "models")]
pub mod record;
pub mod replay;
pub mod report;
pub mod show;
pub mod sweep;
