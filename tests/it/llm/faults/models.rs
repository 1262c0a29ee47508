//! Checks one question with one fault: how often it is asked, and the message.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use recompact::llm::client::AskError;
use serde_json::json;

use super::server::{Act, Server, nowhere, status};
use super::{Asks, KEY, answer, good, protocol_of, question};

/// Expectation for a permanent fault: how often the question is asked with two retries, and the final message.
enum Ends {
    Answered(&'static str),
    TooLong(&'static str),
    Unanswered(&'static str),
}
use Ends::{Answered, TooLong, Unanswered};

/// What a server does, by protocol.
type Does = Box<dyn Fn(&str) -> Act + Send + Sync>;
/// Name of the fault, what the server does, how often it is asked, and the result.
type Case = (&'static str, Does, usize, Ends);

fn check(name: &str, act: &Does, times: usize, ends: &Ends, protocol: &'static str) {
    let act = act(protocol);
    // Only questions that never get an answer have a short time-out, because a loaded machine is slow at all others too.
    let is_late = matches!(act, Act::Stall | Act::Slowly(..));
    let timeout = if is_late { Duration::from_millis(400) } else { Duration::from_secs(60) };
    let server = Server::start(move |_| act.clone());
    let asks = Asks { written: format!("{protocol}:m@{}", server.url()), timeout, ..Asks::default() };
    let asked = asks.model().expect("a model").ask(&question(1));
    assert_eq!(server.requests().len(), times, "{protocol}, {name}: {asked:?}");
    let said = format!("{asked:?} {}", asked.as_ref().err().map(ToString::to_string).unwrap_or_default());
    assert!(!said.contains(KEY) && !said.contains("very-secret"), "{protocol}, {name}: {said}");
    let is_told = |what: &str, words: &str| {
        assert!(what.contains(words), "{protocol}, {name}: {what}");
        assert!(what.chars().count() < 600 && !what.contains(char::is_control), "{protocol}, {name}: {what}");
    };
    match (asked, ends) {
        (Ok(answer), Answered(text)) => assert_eq!(answer.text, *text, "{protocol}, {name}"),
        (Err(AskError::TooLong(what)), TooLong(words)) | (Err(AskError::Unanswered(what)), Unanswered(words)) => {
            is_told(&what, words);
        }
        (asked, _) => panic!("{protocol}, {name}: {asked:?}"),
    }
}

/// Checks all cases at the same time, because they mostly wait.
fn each(cases: Vec<Case>) {
    thread::scope(|scope| {
        for (name, act, times, ends) in &cases {
            for protocol in ["openai", "anthropic"] {
                scope.spawn(move || check(name, act, *times, ends, protocol));
            }
        }
    });
}

/// An act that is the same in both protocols.
fn same(act: Act) -> Does {
    Box::new(move |_| act.clone())
}

#[test]
fn temporary_faults_are_retried() {
    let cut = Act::CutOff(b"{\"choices\": [".to_vec());
    let page = status(200, "<!DOCTYPE html><title>Welcome</title>");
    let error = r#"{"error": {"message": "upstream is down", "code": 502}}"#;
    each(vec![
        ("stall", same(Act::Stall), 3, Unanswered("no answer within 0.4 s; --timeout")),
        ("reset", same(Act::Reset), 3, Unanswered("the connection ended early")),
        ("cut off", same(cut), 3, Unanswered("the connection ended early")),
        ("no HTTP", same(Act::Raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n".to_vec())), 3, Unanswered("(attempt 3)")),
        ("nothing", same(Act::Raw(Vec::new())), 3, Unanswered("the connection ended early")),
        ("408", same(status(408, "")), 3, Unanswered("status 408 (attempt 3)")),
        ("409", same(status(409, "busy")), 3, Unanswered("status 409: busy")),
        ("429", same(status(429, error)), 3, Unanswered("status 429: upstream is down")),
        ("429, now", same(status(429, "").with("retry-after", "0")), 3, Unanswered("status 429")),
        ("500", same(status(500, "")), 3, Unanswered("status 500")),
        ("503", same(status(503, "<html>")), 3, Unanswered("status 503: a page of HTML")),
        ("504", same(status(504, "")), 3, Unanswered("status 504")),
        ("529", same(status(529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#)), 3, Unanswered("overloaded_error")),
        ("no JSON", same(status(200, "{\"choices\": [")), 3, Unanswered("its answer is not JSON")),
        ("a page", same(page), 3, Unanswered("it begins: `<!DOCTYPE html>")),
        ("nothing in it", same(status(200, "{}")), 3, Unanswered("its answer has no c")),
        ("a list", same(status(200, "[]")), 3, Unanswered("its answer has no c")),
        ("an error in it", same(status(200, error)), 3, Unanswered("it failed: upstream is down")),
        ("slow", Box::new(|of| Act::Slowly(good(of, "x"), Duration::from_millis(20))), 3, Unanswered("no answer within")),
        ("deep", same(status(200, "[".repeat(100_000))), 3, Unanswered("its answer is not JSON")),
    ]);
}

#[test]
fn permanent_faults_are_not_retried() {
    let elsewhere = Server::start(|_| status(200, ""));
    let redirect = status(307, "").with("location", format!("{}/chat/completions?key={KEY}", elsewhere.url()));
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}.","type":"invalid_request_error"}}}}"#);
    let quota = r#"{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}"#;
    let minute = r#"{"error":{"message":"Request too large for m on tokens per min (TPM)","code":"rate_limit_exceeded"}}"#;
    each(vec![
        (
            "400",
            same(status(400, r#"{"error":{"message":"temperature: range"}}"#)),
            1,
            Unanswered("status 400: temperature: range"),
        ),
        (
            "401",
            same(status(401, echo)),
            1,
            Unanswered("Incorrect API key provided: [key]. (invalid_request_error); the server rejects the key in THE_KEY"),
        ),
        ("402", same(status(402, "")), 1, Unanswered("status 402")),
        ("403", same(status(403, KEY)), 1, Unanswered("status 403: [key]; the server rejects the key in THE_KEY")),
        ("404", same(status(404, "")), 1, Unanswered("check the model name and the base URL")),
        ("422", same(status(422, r#"{"detail":[{"msg":"field required"}]}"#)), 1, Unanswered("status 422: field required")),
        ("quota", same(status(429, quota)), 1, Unanswered("waiting does not help")),
        ("minute", same(status(429, minute)), 1, Unanswered("status 429: Request too large")),
        ("redirect", same(redirect), 1, Unanswered("redirects are not followed")),
        ("huge error", same(status(400, vec![b'x'; 1 << 20])), 1, Unanswered("status 400: xxx")),
        ("unseen", same(status(400, "a\u{1b}[2J\r\nb\0c")), 1, Unanswered("status 400: a [2J b c")),
    ]);
    assert_eq!(elsewhere.requests().len(), 0, "no request went there, with a key or without");
}

#[test]
fn endless_answer_is_cut_at_32_mib() {
    let server = Server::start(|_| status(200, vec![b' '; (32 << 20) + 1]));
    let model = Asks { written: format!("openai:m@{}", server.url()), ..Asks::default() }.model().expect("a model");
    let said = model.ask(&question(1)).unwrap_err().to_string();
    assert!(said.contains("its answer is longer than 32 MiB"), "{said}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn too_long_prompts_are_recognised_in_every_providers_words() {
    let error = |message: &str, kind: &str| json!({"error": {"message": message, "type": kind, "code": 400}}).to_string();
    let anthropic = error("prompt is too long: 213462 tokens > 200000 maximum", "invalid_request_error");
    let llama = error("the request exceeds the available context size, try increasing it", "exceed_context_size_error");
    let openai = json!({"error": {"message": "Too big.", "code": "context_length_exceeded"}}).to_string();
    let vllm =
        json!({"object": "error", "message": "This model's maximum context length is 4096 tokens.", "code": 400}).to_string();
    each(vec![
        ("413", same(status(413, "<html>")), 1, TooLong("status 413: a page of HTML")),
        ("Anthropic", same(status(400, anthropic)), 1, TooLong("status 400: prompt is too long: 213462 tokens")),
        ("llama-server", same(status(400, llama)), 1, TooLong("exceed_context_size_error")),
        ("OpenAI", same(status(400, openai)), 1, TooLong("status 400: Too big. (context_length_exceeded)")),
        ("vLLM", same(status(400, vllm.clone())), 1, TooLong("maximum context length")),
        ("behind a router", same(status(200, json!({"error": vllm}).to_string())), 1, TooLong("maximum context length")),
        // The answer quotes our own request, which explains nothing.
        ("an echo", same(status(422, r#"{"input": "prompt is too long"}"#)), 1, Unanswered("status 422")),
    ]);
}

#[test]
fn slow_and_odd_answers_are_accepted() {
    each(vec![
        ("slow", Box::new(|of| Act::Slowly(good(of, "x"), Duration::from_micros(100))), 1, Answered("x")),
        ("late", Box::new(|of| Act::After(Duration::from_millis(50), good(of, "x"))), 1, Answered("x")),
        ("empty", Box::new(|of| answer(of, "")), 1, Answered("")),
        ("echo", Box::new(|of| answer(of, &format!("the key is {KEY}"))), 1, Answered("the key is [key]")),
    ]);
}

/// A date in the form of `retry-after`, this number of seconds from now.
fn date(seconds: i64) -> String {
    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    then.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

#[test]
fn retry_waits_as_the_server_asks_and_then_answers() {
    type Fault = fn() -> Act;
    // The fault, and the shortest wait before the next attempt.
    let faults: [(Fault, u64); 6] = [
        (|| status(429, "").with("retry-after", "0.2"), 200),
        (|| status(529, "").with("retry-after-ms", "150"), 150),
        // A date has only whole seconds.
        (|| status(503, "").with("retry-after", date(2)), 1_000),
        (|| status(500, ""), 0),
        (|| Act::Reset, 0),
        (|| status(200, "{"), 0),
    ];
    let ask = |(fault, at_least): (Fault, u64)| {
        let server = Server::start(move |request| match request.number {
            0 => fault(),
            _ => answer(protocol_of(&request.path), "four"),
        });
        let model = Asks { written: format!("openai:m@{}", server.url()), ..Asks::default() }.model().expect("a model");
        let began = Instant::now();
        let text = model.ask(&question(1)).map(|answer| answer.text);
        let (fault, waited) = (fault(), began.elapsed());
        assert_eq!((text.as_deref(), server.requests().len()), (Ok("four"), 2), "{fault:?}");
        assert!(waited >= Duration::from_millis(at_least), "{fault:?}: {waited:?}");
        // Far below the wait with a wrong unit.
        assert!(waited < Duration::from_millis(at_least) + Duration::from_secs(60), "{fault:?}: {waited:?}");
    };
    thread::scope(|scope| {
        for fault in faults {
            scope.spawn(move || ask(fault));
        }
    });
}

#[test]
fn unreachable_server_is_retried_for_the_first_question_only() {
    let asks = Asks { written: format!("openai:m@http://{}", nowhere()), ..Asks::default() };
    let model = asks.model().expect("a model");
    let first = model.ask(&question(1)).unwrap_err().to_string();
    assert!(first.contains("the server is not reachable") && first.contains("(attempt 3)"), "{first}");
    let second = model.ask(&question(2)).unwrap_err().to_string();
    assert!(second.contains("the server is not reachable") && !second.contains("(attempt"), "{second}");
}

#[test]
fn hanging_server_is_given_up_after_five_timeouts() {
    let server = Server::start(|_| Act::Stall);
    let written = format!("anthropic:m@{}", server.url());
    let model = Asks { written, timeout: Duration::from_millis(300), ..Asks::default() }.model().expect("a model");
    let said: Vec<String> = (0..10).map(|number| model.ask(&question(number)).unwrap_err().to_string()).collect();
    assert_eq!(server.requests().len(), 5);
    assert!(said[9].contains("3 questions in a row got no answer, the last: http://127.0.0.1"), "{}", said[9]);
}

#[test]
fn failed_question_does_not_stop_the_next_one() {
    for bad in [status(200, "{}"), status(400, ""), status(500, ""), Act::Reset] {
        let of_server = bad.clone();
        let server = Server::start(move |request| match request.body.contains("What is 1?") {
            true => of_server.clone(),
            false => answer("openai", "four"),
        });
        let model =
            Asks { written: format!("openai:m@{}", server.url()), retries: 0, ..Asks::default() }.model().expect("a model");
        assert!(model.ask(&question(1)).is_err(), "{bad:?}");
        assert_eq!(model.ask(&question(2)).map(|answer| answer.text).as_deref(), Ok("four"), "{bad:?}");
    }
}

static STOPPED: AtomicBool = AtomicBool::new(false);

#[test]
fn stop_interrupts_the_wait_for_a_retry() {
    let server = Server::start(|_| status(429, "").with("retry-after", "60"));
    let asks =
        Asks { written: format!("openai:m@{}", server.url()), stopped: || STOPPED.load(Ordering::SeqCst), ..Asks::default() };
    let model = asks.model().expect("a model");
    let began = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            STOPPED.store(true, Ordering::SeqCst);
        });
        let said = model.ask(&question(1)).unwrap_err().to_string();
        assert_eq!(said, "openai:m: interrupted before the model was asked");
    });
    assert!(began.elapsed() < Duration::from_secs(50), "{:?}", began.elapsed());
    assert!(model.ask(&question(2)).is_err());
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn api_key_is_not_sent_over_plain_http_to_other_hosts() {
    let refused = |url: &str, key| {
        let asks = Asks { written: format!("openai:m@{url}"), key, ..Asks::default() };
        asks.model().err()
    };
    for url in ["http://10.1.2.3:8000/v1", "http://example.com", "http://localhost.example.com/v1", "http://127.0.0.1@h/"] {
        let said = refused(url, Some(KEY)).expect("refused");
        assert!(said.contains("the key in THE_KEY would go there over plain http") || said.contains("in its URL"), "{said}");
        assert!(!said.contains(KEY), "{said}");
    }
    let said = refused("http://user:pass-word-1@example.com/v1?api_key=query-key-1", None).expect("refused");
    assert!(said.contains("http://example.com/v1") && !said.contains("pass-word-1") && !said.contains("query-key-1"), "{said}");
    assert_eq!(refused("http://10.1.2.3:8000/v1", None), None, "without a key, plain http is as good as any");
    assert_eq!(refused("https://example.com/v1", Some(KEY)), None);
    let said = refused("https://example.com/v1", Some("sk-\nbroken")).expect("refused");
    assert!(said.contains("THE_KEY") && !said.contains("broken"), "{said}");
}

#[test]
fn url_secrets_are_sent_but_not_shown() {
    let server = Server::start(|request| status(400, format!("no: {} {:?}", request.path, request.headers)));
    let written = format!("openai:m@http://user:pass-word-1@{}/v1?key=query-key-1", server.address);
    let said =
        Asks { written, key: None, ..Asks::default() }.model().expect("a model").ask(&question(1)).unwrap_err().to_string();
    assert_eq!(server.requests()[0].path, "/v1/chat/completions?key=query-key-1");
    assert!(said.contains("/v1/chat/completions: status 400: no: /v1/chat/completions?key=[key]"), "{said}");
    assert!(!said.contains("pass-word-1") && !said.contains("query-key-1"), "{said}");
}
