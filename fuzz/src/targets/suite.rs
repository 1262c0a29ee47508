//! Suite files of the gate, and its baselines: what was read can be written and read again.

use recompact::analysis::gate::{Baseline, Gate};

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(gate) = Gate::parse(&text, "fuzz") {
        for suite in &gate.suites {
            suite.columns();
            for rule in &suite.rules {
                rule.describe();
            }
        }
    }
    if let Ok(baseline) = Baseline::parse(&text) {
        for (suite, policy) in baseline.policies() {
            for transcript in baseline.transcripts(suite, policy) {
                let _ = baseline.value(suite, policy, "kept.hit", Some(transcript));
            }
        }
        let written = serde_json::to_string(&baseline).expect("plain data");
        assert_eq!(baseline, Baseline::parse(&written).unwrap_or_else(|error| panic!("{error}\n{written}")));
    }
}
