//! The fuzz targets: one file each, with the laws that hold for every input.

pub mod cassette;
pub mod folders;
pub mod grammar;
pub mod pipeline;
pub mod policy;
pub mod prices;
pub mod protocol;
pub mod readers;
pub mod results;
pub mod stores;
pub mod suite;

/// A target: its name, which is also the name of its folder of seeds, and what it does with an input.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("cassette", cassette::run),
    ("folders", folders::run),
    ("grammar", grammar::run),
    ("pipeline", pipeline::run),
    ("policy", policy::run),
    ("prices", prices::run),
    ("protocol", protocol::run),
    ("readers", readers::run),
    ("results", results::run),
    ("stores", stores::run),
    ("suite", suite::run),
];
