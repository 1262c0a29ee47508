//! Checks that limits of spending hold with many threads and with failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use recompact::llm::client::{Cassette, Limits, Model, Usage};

use super::server::{Act, Server, status};
use super::{Asks, answer, good, question};

/// Asks this number of questions, each in its own thread. Returns how many were answered.
fn all_at_once(model: &Model, questions: usize) -> usize {
    thread::scope(|scope| {
        let asked: Vec<_> = (0..questions).map(|number| scope.spawn(move || model.ask(&question(number)).is_ok())).collect();
        asked.into_iter().map(|asked| usize::from(asked.join().expect("no panic"))).sum()
    })
}

/// A token costs a dollar: the prompt has at most one token per two bytes, and the answer at most 100.
fn dollars(usage: &Usage) -> f64 {
    (usage.input + usage.cache_read + usage.cache_write + usage.output) as f64
}

/// What a question may cost at most: `Be brief.` and `What is 1?` are 19 bytes, 9 tokens of two bytes.
const AT_MOST: f64 = 9.0 + 100.0;

#[test]
fn concurrency_limit_bounds_parallel_calls() {
    let arrived = AtomicUsize::new(0);
    let server = Server::start(move |_| {
        // The first three wait for each other, for a minute at most.
        arrived.fetch_add(1, Ordering::SeqCst);
        for _ in 0..6_000 {
            if arrived.load(Ordering::SeqCst) >= 3 {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        Act::After(Duration::from_millis(20), good("openai", "four"))
    });
    let limits = Limits::new(None, None, 3);
    let asks =
        Asks { written: format!("openai:m@{}", server.url()), limits, timeout: Duration::from_secs(90), ..Asks::default() };
    assert_eq!(all_at_once(&asks.model().expect("a model"), 12), 12);
    assert_eq!((server.most_under_way(), server.requests().len()), (3, 12));
}

#[test]
fn max_calls_stops_asking_and_keeps_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Server::start(|request| match request.number {
        // A failed call counts, because it was sent.
        2 => status(500, ""),
        _ => answer("openai", "four"),
    });
    let asks = |max_calls| Asks {
        written: format!("openai:m@{}", server.url()),
        limits: Limits::new(max_calls, None, 4),
        cassette: Some(folder.path().to_owned()),
        ..Asks::default()
    };
    let answered = all_at_once(&asks(Some(5)).model().expect("a model"), 12);
    assert_eq!((server.requests().len(), answered), (5, 4));
    assert_eq!(Cassette::entries(folder.path()).expect("a cassette").len(), 4);
    // Another run continues from there.
    assert_eq!(all_at_once(&asks(None).model().expect("a model"), 12), 12);
    assert_eq!(server.requests().len(), 5 + 8);
}

#[test]
fn max_cost_reserves_the_highest_cost_until_the_answer() {
    // Each may cost $109 and costs $10: one at a time is within the limit, and all of them in the end.
    let server = Server::start(|_| Act::After(Duration::from_millis(5), good("openai", "four")));
    let asks = |max_cost| Asks {
        written: format!("openai:m@{}", server.url()),
        limits: Limits::new(None, Some(max_cost), 4),
        price: Some(Box::new(dollars)),
        ..Asks::default()
    };
    assert_eq!(all_at_once(&asks(AT_MOST + 50.0).model().expect("a model"), 6), 6);
    assert_eq!(all_at_once(&asks(AT_MOST + 20.0).model().expect("a model"), 6), 3, "10 $ each, and 109 $ to spare");
    assert_eq!(all_at_once(&asks(AT_MOST - 1.0).model().expect("a model"), 6), 0);
    assert_eq!(server.requests().len(), 9);
}

#[test]
fn failed_calls_that_may_be_billed_stay_counted() {
    let unsaid = r#"{"choices":[{"message":{"content":"four"}}]}"#;
    let declined = r#"{"choices":[{"message":{"refusal":"no"}}]}"#;
    // The result of the only attempt, and the calls counted for it.
    let cases = [
        (answer("openai", "four"), 10.0),
        (status(429, ""), 0.0),
        (status(529, ""), 0.0),
        (status(400, ""), 0.0),
        (status(413, ""), 0.0),
        (status(401, ""), 0.0),
        (status(504, ""), AT_MOST),
        (Act::Stall, AT_MOST),
        (Act::Reset, AT_MOST),
        (Act::CutOff(b"{".to_vec()), AT_MOST),
        (status(200, "{"), AT_MOST),
        (status(200, declined), AT_MOST),
        (status(200, unsaid), AT_MOST),
    ];
    for (act, usd) in cases {
        let of_server = act.clone();
        let server = Server::start(move |_| of_server.clone());
        let limits = Arc::new(Limits::new(None, Some(1000.0), 4));
        let asks = Asks {
            written: format!("openai:m@{}", server.url()),
            timeout: if matches!(act, Act::Stall) { Duration::from_millis(200) } else { Duration::from_secs(60) },
            price: Some(Box::new(dollars)),
            retries: 0,
            ..Asks::default()
        };
        let model = asks.model_within(&limits).expect("a model");
        let _ = model.ask(&question(1));
        assert_eq!((limits.spent().usd, limits.spent().calls), (usd, 1), "{act:?}");
    }
}
