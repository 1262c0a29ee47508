//! The whole way: a policy and a transcript, replayed, measured, compared and reported. The two are separated by a line `---`.
//!
//! Laws: a policy sees every recorded call; keep-all saves nothing and loses nothing; the shares of facts add up to one; every value is
//! a number; the same input gives the same bytes; saved results can be read again.

use recompact::analysis::study::{Study, with_bounds};
use recompact::engine::policy::Policy;
use recompact::report::Document;
use recompact::results::saved::{Results, Row};
use recompact::transcript::format::{Branches, FORMATS, ReadOptions, Reading, sniff};

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some((policy, transcript)) = text.split_once("\n---\n") else { return };
    let Ok(policy) = Policy::parse(policy, "fuzz", &[]) else { return };
    let format = sniff(transcript.as_bytes()).unwrap_or(&FORMATS[FORMATS.len() - 1]);
    let reading = (format.read)(transcript.as_bytes(), &ReadOptions { branches: Branches::All, ..ReadOptions::default() });
    let results = replayed(policy.clone(), &reading);
    for row in &results.rows {
        check(row);
    }
    let written = results.json();
    assert_eq!(written, replayed(policy, &reading).json(), "another result for the same input");
    let again = Results::from_json(&String::from_utf8_lossy(&written)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(written, again.json());
}

fn replayed(policy: Policy, reading: &Reading) -> Results {
    let counter = "chars/4".parse().expect("a counter");
    let study = Study { counter, findings: true, misses: 3, breaks: 3, ..Study::new(with_bounds(vec![policy])) };
    study.results(vec![study.transcript("fuzz", reading, None)])
}

fn check(row: &Row) {
    for id in row.values.ids() {
        assert!(row.values.get(id).is_none_or(f64::is_finite), "{} {id}: {:?}", row.policy, row.values.get(id));
    }
    let share = |id: &str| row.values.get(id);
    if let (Some(hit), Some(soft), Some(stale), Some(hard)) =
        (share("kept.hit"), share("kept.soft"), share("kept.stale"), share("kept.hard"))
    {
        assert!((hit + soft + stale + hard - 1.0).abs() < 1e-6, "{}: {hit} {soft} {stale} {hard}", row.policy);
    }
    if &*row.policy == "keep-all" {
        assert!(share("tokens.saved").is_none_or(|saved| saved == 0.0));
        assert!(share("kept.hard").is_none_or(|hard| hard == 0.0));
    }
}
