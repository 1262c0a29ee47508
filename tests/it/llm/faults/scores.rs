//! Checks the protocols that say how probable a given text is: requests, answers, and the cassette.

use recompact::llm::client::{Answer, AskError, CassetteEntry, Question, Usage};
use serde_json::{Map, Value, json};

use super::server::{Act, Request, Server, status};
use super::{Asks, KEY, answer, question};

/// A question about a text of five tokens: ` src`, `/`, two tokens of `💾`, `.rs`.
fn scored() -> Question {
    Question {
        system: String::new(),
        user: "The path is".to_owned(),
        max_tokens: 12,
        continuation: Some(" src/💾.rs".to_owned()),
    }
}

fn body(request: &Request) -> Value {
    serde_json::from_str(&request.body).expect("JSON")
}

/// Answers as llama.cpp's server does, whose token 1 begins every text.
fn llama_server(request: &Request) -> Act {
    if request.path == "/tokenize" {
        let piece = |id: u64, piece: Value| json!({"id": id, "piece": piece});
        let tokens = [
            piece(1, json!("")),
            piece(2, json!("The path")),
            piece(3, json!(" is")),
            piece(4, json!(" src")),
            piece(5, json!("/")),
            piece(6, json!([240, 159])),
            piece(7, json!([146, 190])),
            piece(8, json!(".rs")),
        ];
        return status(200, json!({"tokens": tokens}).to_string());
    }
    let asked = body(request);
    let token =
        |id: u64, text: &str| json!({"id": id, "token": text, "bytes": text.as_bytes(), "logprob": -(id as f64) - 0.00001});
    let (content, tokens) = match asked["grammar"].as_str() {
        Some("root ::= <[4]> <[5]>") => (" src/", vec![token(4, " src"), token(5, "/")]),
        Some("root ::= <[8]>") => (".rs", vec![token(8, ".rs"), token(0, "")]),
        _ => {
            let mut written = token(64, "a");
            written["top_logprobs"] = json!([token(9, "x"), {"id": 6, "logprob": -6}, {"id": 7, "logprob": -7}]);
            ("a", vec![written])
        }
    };
    let wanted = if content == ".rs" { &tokens[..1] } else { &tokens[..] };
    let answer = json!({
        "content": content, "completion_probabilities": wanted, "truncated": false,
        "tokens_evaluated": asked["prompt"].as_array().map(Vec::len), "tokens_predicted": wanted.len(), "tokens_cached": 99,
        "timings": {"cache_n": 2},
    });
    status(200, answer.to_string())
}

#[test]
fn llama_server_writes_the_tokens_of_a_text() {
    let server = Server::start(llama_server);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let asks = |written: &str| Asks {
        written: format!("{written}@{}", server.url()),
        cassette: Some(folder.path().to_owned()),
        params: Map::from_iter([("id_slot".to_owned(), json!(0))]),
        ..Asks::default()
    };
    let answer = asks("llama-server:m").model().expect("a model").ask(&scored()).expect("an answer");
    // Prompts of 3, 5, 6 and 7 tokens, of which 2 were in the cache each time; 2, 1, 1 and 1 tokens were written.
    let usage = Usage { input: 13, cache_read: 8, cache_write: 0, output: 5 };
    let expected = Answer {
        text: " src/💾.rs".to_owned(),
        logprobs: vec![-4.0, -5.0, -6.0, -7.0, -8.0],
        cut_off: false,
        usage,
        seconds: answer.seconds,
    };
    assert_eq!(answer, expected);
    let requests = server.requests();
    assert_eq!(
        requests.iter().map(|request| request.path.as_str()).collect::<Vec<_>>(),
        ["/tokenize", "/completion", "/completion", "/completion", "/completion"]
    );
    let (tokenize, completion) = (body(&requests[0]), body(&requests[1]));
    assert_eq!((&tokenize["content"], &tokenize["parse_special"]), (&json!("The path is src/💾.rs"), &json!(false)));
    let expected = json!({
        "model": "m", "prompt": [1, 2, 3], "n_predict": 2, "temperature": 0, "n_probs": 1, "cache_prompt": true,
        "post_sampling_probs": false, "grammar": "root ::= <[4]> <[5]>", "id_slot": 0,
    });
    assert_eq!(completion, expected);
    // The cassette has the answer, in a form that people can read.
    let entry = std::fs::read_dir(folder.path()).expect("a folder").next().expect("an entry").expect("a file").path();
    let written = std::fs::read_to_string(&entry).expect("an entry");
    let saved: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!((&saved["continuation"], &saved["logprobs"]), (&json!([" src/💾.rs"]), &json!([-4.0, -5.0, -6.0, -7.0, -8.0])));
    assert_eq!(asks("llama-server:m").model().expect("a model").ask(&scored()), Ok(answer));
    assert_eq!(server.requests().len(), 5, "nothing more is asked");
    let key = entry.file_stem().and_then(|name| name.to_str()).expect("a key");
    for (part, without) in [("logprobs", "logprob"), ("continuation", "continued")] {
        let broken = written.replace(&format!("\"{part}\""), &format!("\"{without}\""));
        assert!(
            CassetteEntry::parse(broken.as_bytes(), key).is_err_and(|what| what.to_string().contains("only one of")),
            "{part}"
        );
    }
}

#[test]
fn completions_echo_the_prompt() {
    let echo = json!({
        "choices": [{"text": "The path is src/💾.rs:", "finish_reason": "length", "logprobs": {
            "tokens": ["The path", " is", " src", "/", "\u{fffd}", "\u{fffd}", ".rs", ":"],
            "token_logprobs": [null, -3, -4.123456, -5, -6, -7, -8, -9],
            "text_offset": [0, 8, 11, 15, 16, 17, 18, 21],
        }}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 1},
    });
    let server = Server::start(move |_| status(200, echo.to_string()));
    let asks = || Asks { written: format!("completions:m@{}", server.url()), ..Asks::default() };
    let answer = asks().model().expect("a model").ask(&scored()).expect("an answer");
    assert_eq!(answer.logprobs, [-4.1235, -5.0, -6.0, -7.0, -8.0]);
    assert_eq!((answer.text.as_str(), answer.usage), (" src/💾.rs", Usage { input: 7, output: 1, ..Usage::default() }));
    let params = Map::from_iter([("echo".to_owned(), json!(false)), ("prompt_logprobs".to_owned(), json!(0))]);
    assert!(Asks { params, ..asks() }.model().expect("a model").ask(&scored()).is_ok());
    let [first, second] = server.requests().try_into().expect("two requests");
    assert_eq!(first.path, "/v1/completions");
    assert!(first.headers.contains(&("authorization".to_owned(), format!("Bearer {KEY}"))));
    let expected = json!({
        "model": "m", "prompt": "The path is src/💾.rs", "max_tokens": 1, "temperature": 0, "echo": true, "logprobs": 1,
    });
    assert_eq!(body(&first), expected);
    assert_eq!((&body(&second)["echo"], &body(&second)["prompt_logprobs"]), (&json!(false), &json!(0)));
}

/// Returns the error of one answer.
fn error(protocol: &str, question: &Question, answer: impl Fn(&Request) -> Act + Send + Sync + 'static) -> String {
    let server = Server::start(answer);
    let asks = Asks { written: format!("{protocol}:m@{}", server.url()), retries: 0, ..Asks::default() };
    match asks.model().expect("a model").ask(question) {
        Ok(answer) => panic!("{answer:?}"),
        Err(AskError::Unanswered(what) | AskError::TooLong(what)) => what,
    }
}

#[test]
fn wrong_scores_are_refused() {
    let choice = |logprobs: Value| json!({"choices": [{"text": "The path is src/💾.rs", "logprobs": logprobs}]});
    let tokens = |value: Value| json!({"tokens": ["The path is", " src/💾.rs"], "token_logprobs": [null, value]});
    let cases = [
        ("completions", choice(Value::Null), "returns no log-probabilities of the prompt (`echo`)"),
        ("completions", choice(json!({"content": [{"token": "a", "logprob": -1}]})), "use llama-server:MODEL for llama-server"),
        ("completions", choice(tokens(json!(0.5))), "a log-probability is positive"),
        ("completions", choice(tokens(Value::Null)), "a log-probability is missing"),
        ("completions", choice(json!({"tokens": ["a", "b", "c"], "token_logprobs": [null, -1, -1]})), "do not make up the text"),
        ("completions", json!({"choices": []}), "no choices[0]"),
        ("completions", json!({"error": {"message": "oops"}}), "it failed: oops"),
        ("llama-server", json!({"tokens": [1, 2]}), "no tokens with their texts"),
        ("llama-server", json!({"tokens": [{"id": 1, "piece": "another text"}]}), "the model's tokenizer changes it"),
        ("llama-server", json!({"tokens": [{"id": 1, "piece": " src/💾.rs"}]}), "no completion_probabilities"),
    ];
    for (protocol, body, words) in cases {
        let shown = body.to_string();
        let what = error(protocol, &scored(), move |_| status(200, body.to_string()));
        assert!(what.contains(words), "{shown}: {what}");
    }
    let other_text = |request: &Request| match request.path.as_str() {
        "/tokenize" => llama_server(request),
        _ => status(200, json!({"content": format!("not {KEY}"), "completion_probabilities": [{"id": 4}]}).to_string()),
    };
    let what = error("llama-server", &scored(), other_text);
    assert!(what.contains("it wrote `not [key]` and not the tokens of `src/`"), "{what}");
    let cut = json!({"content": " s", "truncated": true, "completion_probabilities": []}).to_string();
    let what = error("llama-server", &scored(), move |request| match request.path.as_str() {
        "/tokenize" => llama_server(request),
        _ => status(200, cut.clone()),
    });
    assert!(what.contains("exceed the available context size"), "{what}");
}

#[test]
fn question_of_the_other_kind_is_refused_and_not_sent() {
    let none = Question { continuation: Some(String::new()), ..scored() };
    let with_system = Question { system: "Be brief.".to_owned(), ..scored() };
    let cases = [
        ("openai", scored(), "returns no log-probabilities of a given text; use one of completions:MODEL"),
        ("anthropic", scored(), "use one of completions:MODEL[@BASE-URL], llama-server:MODEL[@BASE-URL]"),
        ("completions", question(1), "writes no answer; use one of anthropic:MODEL"),
        ("llama-server", question(1), "writes no answer; use one of anthropic:MODEL"),
        ("completions", none, "an empty text has no probability"),
        ("llama-server", with_system, "has no system prompt"),
    ];
    for (protocol, question, words) in cases {
        let what = error(protocol, &question, |request| panic!("sent: {request:?}"));
        assert!(what.contains(words), "{protocol}: {what}");
    }
    let program = Asks { written: "command:cat".to_owned(), retries: 0, ..Asks::default() }.model().expect("a model");
    assert!(program.ask(&scored()).is_err_and(|error| error.to_string().contains("no log-probabilities of a given text")));
    // A server that answers a question in words is not asked about a text, and its answers have no log-probabilities.
    let server = Server::start(|_| answer("openai", "four"));
    let asks = Asks { written: format!("openai:m@{}", server.url()), ..Asks::default() };
    assert!(asks.model().expect("a model").ask(&question(1)).is_ok_and(|answer| answer.logprobs.is_empty()));
}
