//! The commands that answer questions: audit, check, inspect, probe, replay, sweep.

pub mod audits;
pub mod first_suite;
pub mod gate;
pub mod inspections;
pub mod parts;
pub mod probes;
pub mod resumed;
pub mod specs;
pub mod summarizers;
pub mod surprises;
pub mod sweeps;
