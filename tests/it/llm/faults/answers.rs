//! Checks the requests and the reading of good answers in each protocol.

use recompact::llm::client::{AskError, Usage};
use serde_json::{Map, Value, json};

use super::server::{Act, Server, status};
use super::{Asks, KEY, answer, question};

fn header<'r>(headers: &'r [(String, String)], name: &str) -> Option<&'r str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

#[test]
fn requests_follow_the_protocol() {
    let server = Server::start(|request| answer(super::protocol_of(&request.path), "four"));
    let params = Map::from_iter([("temperature".to_owned(), json!(0)), ("max_tokens".to_owned(), json!(55))]);
    for written in ["openai:m", "anthropic:m"].map(|model| format!("{model}@{}", server.url())) {
        let asks = Asks { written: written.clone(), params: params.clone(), ..Asks::default() };
        assert!(asks.model().expect("a model").ask(&question(1)).is_ok());
    }
    let [openai, anthropic] = server.requests().try_into().expect("two requests");
    let body = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
    assert_eq!((openai.path.as_str(), anthropic.path.as_str()), ("/v1/chat/completions", "/v1/messages"));
    assert_eq!(header(&openai.headers, "authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(header(&anthropic.headers, "x-api-key"), Some(KEY));
    assert_eq!(header(&anthropic.headers, "anthropic-version"), Some("2023-06-01"));
    let user = json!({"role": "user", "content": "What is 1?"});
    let system = json!({"role": "system", "content": "Be brief."});
    assert_eq!(body(&openai.body), json!({"model": "m", "messages": [system, user], "max_tokens": 55, "temperature": 0}));
    let expected = json!({"model": "m", "max_tokens": 55, "messages": [user], "system": "Be brief.", "temperature": 0});
    assert_eq!(body(&anthropic.body), expected);
}

/// Returns the answer read from one body: text, whether it is cut off, and usage; or the error.
fn read(protocol: &str, body: &Value) -> Result<(String, bool, Usage), String> {
    let body = body.to_string();
    let server = Server::start(move |_| status(200, body.clone()));
    let asks = Asks { written: format!("{protocol}:m@{}", server.url()), retries: 0, ..Asks::default() };
    match asks.model().expect("a model").ask(&question(1)) {
        Ok(answer) => Ok((answer.text, answer.cut_off, answer.usage)),
        Err(AskError::Unanswered(what) | AskError::TooLong(what)) => Err(what),
    }
}

fn usage(input: u64, cache_read: u64, cache_write: u64, output: u64) -> Usage {
    Usage { input, cache_read, cache_write, output }
}

#[test]
fn openai_answers_are_read() {
    let choice = |message: Value, reason: &str| json!({"choices": [{"message": message, "finish_reason": reason}]});
    let text = |content: Value| json!({"role": "assistant", "content": content});
    let mut counted = choice(text(json!("a")), "stop");
    counted["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 6}});
    let mut absurd = choice(text(json!("a")), "stop");
    absurd["usage"] = json!({"prompt_tokens": u64::MAX, "completion_tokens": -1, "prompt_tokens_details": null});
    let none = usage(0, 0, 0, 0);
    let good = [
        (counted, "a", false, usage(4, 6, 0, 4)),
        (absurd, "a", false, usage(u32::MAX.into(), 0, 0, 0)),
        (choice(text(json!("a")), "length"), "a", true, none),
        (choice(text(json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])), "stop"), "ab", false, none),
        (choice(json!({"content": "a", "reasoning_content": "hm", "refusal": null}), "stop"), "a", false, none),
        (choice(json!({"content": null, "reasoning_content": "hm"}), "length"), "", true, none),
    ];
    for (body, text, cut_off, usage) in good {
        assert_eq!(read("openai", &body), Ok((text.to_owned(), cut_off, usage)), "{body}");
    }
    let bad = [
        (choice(json!({"content": null, "refusal": "I will not."}), "stop"), "the model declines: I will not."),
        (choice(text(json!("half")), "content_filter"), "the model declines: content_filter"),
        (choice(json!({"content": null, "tool_calls": []}), "tool_calls"), "no text in choices[0].message.content"),
        (choice(json!({}), "stop"), "no text in choices[0].message.content"),
        (json!({"choices": []}), "no choices[0]"),
        (json!({"choices": "none"}), "no choices[0]"),
        (json!({"choices": [{"error": {"message": "gone"}, "finish_reason": "error"}]}), "it failed: gone"),
    ];
    for (body, words) in bad {
        let what = read("openai", &body).unwrap_err();
        assert!(what.contains(words), "{body}: {what}");
    }
}

#[test]
fn anthropic_answers_are_read() {
    let message = |content: Value, reason: &str| json!({"type": "message", "content": content, "stop_reason": reason});
    let text = |text: &str| json!({"type": "text", "text": text});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let mut counted = message(json!([thinking, text("a"), text("b")]), "end_turn");
    counted["usage"] = json!({
        "input_tokens": 10, "output_tokens": 4, "cache_read_input_tokens": 6, "cache_creation_input_tokens": 5,
    });
    let none = usage(0, 0, 0, 0);
    let good = [
        (counted, "ab", false, usage(10, 6, 5, 4)),
        (message(json!([text("a")]), "max_tokens"), "a", true, none),
        (message(json!([text("a")]), "model_context_window_exceeded"), "a", true, none),
        (message(json!([thinking]), "max_tokens"), "", true, none),
        (message(json!([]), "end_turn"), "", false, none),
    ];
    for (body, text, cut_off, usage) in good {
        assert_eq!(read("anthropic", &body), Ok((text.to_owned(), cut_off, usage)), "{body}");
    }
    let bad = [
        (message(json!([]), "refusal"), "the model declines"),
        (message(json!([thinking]), "end_turn"), "no text in content"),
        (message(json!([{"type": "tool_use", "id": "t", "name": "n", "input": {}}]), "tool_use"), "no text in content"),
        (json!({"choices": [{"message": {"content": "a"}}]}), "is this an endpoint for Anthropic's messages?"),
        (json!({"type": "error", "error": {"type": "api_error", "message": "oops"}}), "it failed: oops (api_error)"),
    ];
    for (body, words) in bad {
        let what = read("anthropic", &body).unwrap_err();
        assert!(what.contains(words), "{body}: {what}");
    }
}

#[test]
fn reasoning_model_is_asked_again_with_max_completion_tokens() {
    let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    let error = json!({"error": {"message": message, "type": "invalid_request_error", "code": "unsupported_parameter"}});
    let server = Server::start(move |request| match request.body.contains("\"max_tokens\"") {
        true => status(400, error.to_string()),
        false => answer("openai", "four"),
    });
    let asks = |params: Map<String, Value>| Asks { written: format!("openai:m@{}", server.url()), params, ..Asks::default() };
    let model = asks(Map::new()).model().expect("a model");
    assert!(model.ask(&question(1)).is_ok() && model.ask(&question(2)).is_ok());
    let limits = |requests: &[super::server::Request]| -> Vec<bool> {
        requests.iter().map(|request| request.body.contains("\"max_completion_tokens\":100")).collect()
    };
    assert_eq!(limits(&server.requests()), [false, true, true], "it is learnt once");
    let own = Map::from_iter([("max_completion_tokens".to_owned(), json!(9000))]);
    assert!(asks(own).model().expect("a model").ask(&question(1)).is_ok());
    let last = server.requests().pop().expect("a request");
    assert!(last.body.contains("\"max_completion_tokens\":9000") && last.number == 3, "{}", last.body);
}

#[test]
fn streamed_answers_are_refused_and_bad_utf8_is_replaced() {
    let params = Map::from_iter([("stream".to_owned(), json!(true))]);
    let asks = Asks { written: "openai:m@http://127.0.0.1:1/v1".to_owned(), params, ..Asks::default() };
    assert_eq!(asks.model().err().as_deref(), Some("--param stream: streaming is not supported; leave it out"));
    // Invalid UTF-8 is replaced.
    let server = Server::start(|_| Act::Answer {
        status: 200,
        headers: Vec::new(),
        body: b"{\"choices\":[{\"message\":{\"content\":\"a\xffb\"}}]}".to_vec(),
    });
    let asks = Asks { written: format!("openai:m@{}", server.url()), ..Asks::default() };
    assert_eq!(asks.model().expect("a model").ask(&question(1)).map(|a| a.text).as_deref(), Ok("a\u{fffd}b"));
}
