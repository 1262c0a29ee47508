//! Saved results: every report can show them, and JSON gives them back.

use recompact::report::{Document, Layout, REPORTS, Style};
use recompact::results::saved::Results;

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(results) = Results::from_json(&text) else { return };
    for report in REPORTS {
        for width in [20, 100] {
            let bytes = report.render(&results, &Layout::full(Style { width, color: false })).expect("results have every report");
            assert!(!bytes.contains(&0x1b), "{}: an escape character", report.name);
        }
    }
    let written = results.json();
    let again = Results::from_json(&String::from_utf8_lossy(&written)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(written, again.json());
}
