//! What users type: sizes, conditions, ranges, settings, counters, addresses of models. What is shown again can be read again.

use std::fmt::Display;
use std::str::FromStr;

use recompact::analysis::study::TokenCounter;
use recompact::analysis::sweep::Parameter;
use recompact::engine::policy::Setting;
use recompact::engine::size::{Limits, Size};
use recompact::llm::client::Address;
use recompact::results::condition::Condition;
use recompact::tokens::meter::{Meter, SizeUnit};

pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        shown_again::<Size>(line);
        shown_again::<Condition>(line);
        shown_again::<Meter>(line);
        shown_again::<SizeUnit>(line);
        let _ = line.parse::<TokenCounter>();
        let _ = line.parse::<Setting>();
        let _ = Address::parse(line);
        if let Ok(size) = line.parse::<Size>() {
            for limits in [Limits { window: 0, max_output: 0 }, Limits { window: u64::MAX, max_output: 8_000 }] {
                size.resolve(limits);
            }
        }
        if let Ok(condition) = line.parse::<Condition>() {
            assert!(!condition.holds(None));
            assert_eq!(condition.holds(Some(0.5)), condition.headroom(0.5) >= 0.0 && condition.holds(Some(0.5)));
        }
        if let Ok(parameter) = line.parse::<Parameter>() {
            let count = parameter.values.count();
            assert!(count > 0);
            for at in [0, count / 2, count - 1] {
                parameter.setting(at).unwrap_or_else(|error| panic!("{line}: {error}"));
            }
        }
    }
}

fn shown_again<T: FromStr + Display>(text: &str) {
    let Ok(parsed) = text.parse::<T>() else { return };
    let shown = parsed.to_string();
    let again = shown.parse::<T>().unwrap_or_else(|_| panic!("{text} is shown as {shown}, which cannot be read"));
    assert_eq!(shown, again.to_string());
}
