//! Arguments that several subcommands share.

pub mod fail_on;
pub mod models;
pub mod output;
pub mod pricing;
pub mod programs;
pub mod settings;
pub mod study;
pub mod suggestions;
pub mod summarizers;
