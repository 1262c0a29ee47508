use super::*;

/// Returns the log-probabilities of the continuation in a choice, as [`Completions::ask`] reads them.
fn found(choice: &Value, user: &str, continuation: &str) -> Option<Vec<f64>> {
    let prompt = format!("{user}{continuation}");
    let values = logprobs_after(choice, &tokens(choice)?, &prompt, user.len())?;
    values.into_iter().map(|value| logprob(value).ok()).collect()
}

/// Returns a choice in the shape of `echo`.
fn echoed(text: &str, tokens: &[(&str, f64)]) -> Value {
    let values = tokens.iter().enumerate().map(|(at, (_, value))| if at == 0 { Value::Null } else { json!(value) });
    let (texts, values): (Vec<_>, Vec<_>) = (tokens.iter().map(|(text, _)| text).collect(), values.collect());
    json!({"text": text, "logprobs": {"tokens": texts, "token_logprobs": values, "text_offset": [], "top_logprobs": null}})
}

#[test]
fn echoed_tokens_of_the_continuation_are_found() {
    let tokens = [("The", 0.0), (" path", -1.0), (" is", -2.0), (" src", -3.0), ("/", -4.0), ("lib", -5.0), (".", -6.0)];
    let choice = echoed("The path is src/lib.", &tokens);
    assert_eq!(found(&choice, "The path is ", "src/lib"), Some(vec![-3.0, -4.0, -5.0]), "a token across the beginning counts");
    assert_eq!(found(&choice, "The path is src", "/lib"), Some(vec![-4.0, -5.0]));
    assert_eq!(found(&choice, "The path is", " src/li"), None, "no token ends there");
    // `max_tokens=0`: nothing was written.
    let choice = echoed("The path is src/lib", &tokens[..6]);
    assert_eq!(found(&choice, "The path is ", "src/lib"), Some(vec![-3.0, -4.0, -5.0]));
    // A token that ends the text is not in the text.
    let ended: Vec<_> = tokens[..6].iter().copied().chain([("<|endoftext|>", -7.0)]).collect();
    assert_eq!(found(&echoed("The path is src/lib", &ended), "The path is ", "src/lib"), Some(vec![-3.0, -4.0, -5.0]));
    let ended: Vec<_> = tokens[..6].iter().copied().chain([("", -7.0)]).collect();
    assert_eq!(found(&echoed("The path is src/lib", &ended), "The path is ", "src/lib"), Some(vec![-3.0, -4.0, -5.0]));
    // The first token of a prompt has no log-probability.
    assert_eq!(found(&choice, "", "The path is src/lib"), None);
    // The server does not echo.
    assert_eq!(found(&echoed(".", &[(".", -6.0)]), "The path is ", "src/lib"), None);
    assert_eq!(found(&json!({"text": ".", "logprobs": {"content": []}}), "a", "b"), None);
    assert_eq!(found(&json!({"text": ".", "logprobs": null}), "a", "b"), None);
}

#[test]
fn tokens_within_characters_are_found_however_they_are_shown() {
    let shown: [&[&str]; 5] = [
        &["a", " \u{fffd}", "\u{fffd}", "\u{fffd}", "x"],
        &["a", " ", "\u{fffd}\u{fffd}", "\u{fffd}", "x"],
        &["a", "bytes: \\xf0\\x9f", "bytes:\\x92", "bytes:\\xbe", "x"],
        &["a", " ", "", "💾", "x"],
        &["a", "▁", "", "💾", "x"],
    ];
    for tokens in shown {
        let tokens: Vec<_> = tokens.iter().zip([0.0, -1.0, -2.0, -3.0, -4.0]).map(|(text, value)| (*text, value)).collect();
        let choice = echoed("a 💾x.", &[&tokens[..], &[(".", -5.0)]].concat());
        assert_eq!(found(&choice, "a", " 💾x"), Some(vec![-1.0, -2.0, -3.0, -4.0]), "{tokens:?}");
        assert_eq!(found(&choice, "a 💾", "x"), Some(vec![-4.0]), "{tokens:?}");
    }
    // Tokens that lost the space before them.
    let choice = echoed("at src/ lib.", &[("at", 0.0), ("src", -1.0), ("/", -2.0), ("lib", -3.0), (".", -4.0)]);
    assert_eq!(found(&choice, "at", " src/ lib"), Some(vec![-1.0, -2.0, -3.0]));
    assert_eq!(found(&choice, "at src/ ", "lib"), Some(vec![-3.0]));
}

#[test]
fn prompt_logprobs_are_read() {
    let token = |text: &str, value: f64| json!({"logprob": value, "rank": 1, "decoded_token": text});
    let choice = json!({"text": " then", "logprobs": null, "prompt_logprobs": [
        null,
        {"12": token(" path", -1.0)},
        {"99": token(" src", -2.0), "4": token(" is", -0.5)},
        {"7": token("/", -3.0)},
        // Another order than vLLM's, where the prompt's own token is first.
        {"4": token(" is", -0.5), "31": token("lib", -4.0)},
    ]});
    assert_eq!(found(&choice, "The path ", "src/lib"), Some(vec![-2.0, -3.0, -4.0]));
    assert_eq!(found(&choice, "The path src", "/lib"), Some(vec![-3.0, -4.0]));
    assert_eq!(found(&choice, "Another text ", "lib"), Some(vec![-4.0]));
    assert_eq!(found(&choice, "Another text ", "lab"), None);
}
