//! The fuzz targets, without a fuzzer: on their seeds, on inputs that once broke a law, and on mutations of both.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::support::effort;

#[path = "../../fuzz/src/mutate.rs"]
mod mutate;
#[path = "../../fuzz/src/targets/mod.rs"]
mod targets;

/// Mutations of mutations: each input is followed this far from its seed.
const GENERATIONS: u64 = 4;

fn inputs(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz").join(kind).join(target);
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = files.map(|file| file.expect("a readable folder").path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.display().to_string(), fs::read(path).expect("a readable file"))).collect()
}

fn holds(run: fn(&[u8]), name: &str, input: &[u8]) {
    let outcome = catch_unwind(AssertUnwindSafe(|| run(input)));
    assert!(outcome.is_ok(), "{name} breaks a law with this input:\n{}", String::from_utf8_lossy(input));
}

fn check(target: &str) {
    let (_, run) = targets::TARGETS.iter().find(|(name, _)| *name == target).expect("a target");
    let (seeds, broken) = (inputs("seeds", target), inputs("regressions", target));
    assert!(!seeds.is_empty(), "{target} has no seeds");
    for (name, input) in seeds.iter().chain(&broken) {
        holds(*run, name, input);
        for seed in 0..effort::of(8, 2_000) {
            let mut mutated = input.clone();
            for generation in 0..GENERATIONS {
                mutated = mutate::mutate(&mutated, seed * GENERATIONS + generation);
                holds(*run, name, &mutated);
            }
        }
    }
}

#[test]
fn every_target_is_a_program_of_cargo_fuzz() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/Cargo.toml")).expect("a manifest");
    for (target, _) in targets::TARGETS {
        assert!(manifest.contains(&format!("name = \"{target}\"\npath = \"fuzz_targets/{target}.rs\"")), "{target}");
    }
    assert_eq!(manifest.matches("[[bin]]").count(), targets::TARGETS.len());
}

/// One test a target, so that they run beside each other.
macro_rules! targets {
    ($($target:ident)*) => {
        $(#[test] fn $target() { check(stringify!($target)) })*
    };
}

targets! { cassette folders grammar pipeline policy prices protocol readers results stores suite }
