//! What the status of an answer means, and what servers say with it.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use ureq::http::HeaderMap;

use super::Endpoint;
use crate::llm::client::Rejection;
use crate::llm::client::too_long::is_too_long;

/// What a status other than success means.
pub fn refusal(endpoint: &Endpoint, status: u16, headers: &HeaderMap, body: &str) -> Rejection {
    let said = said(body);
    let told = endpoint.secrets.told(if said.is_empty() { body } else { &said });
    let told = if told.is_empty() { String::new() } else { format!(": {told}") };
    let with = |advice: &str| endpoint.says(&format!("status {status}{told}{advice}"));
    match status {
        300..400 => {
            let place = headers.get("location").and_then(|place| place.to_str().ok()).unwrap_or("elsewhere");
            let place = endpoint.secrets.told(place.split('?').next().unwrap_or_default());
            Rejection::Gone(with(&format!(" (see `{place}`): a key does not follow; give the right base URL")))
        }
        401 | 403 => Rejection::Gone(with(&about_key(endpoint))),
        402 => Rejection::Gone(with("; it wants to be paid first")),
        404 | 405 => Rejection::Gone(with("; is the model's name right, and the base URL?")),
        429 if said.contains("insufficient_quota") => Rejection::Gone(with("; waiting does not help")),
        // Of OpenAI: more than the account may send in a minute.
        429 if said.contains("Request too large") => Rejection::Never(with("")),
        413 => Rejection::TooLong(format!("status 413{told}")),
        400.. if status != 429 && is_too_long(&said) => Rejection::TooLong(format!("status {status}{told}")),
        // Who stands before the server gave up on it; it may still be at work.
        504 | 524 => Rejection::Lost(with("")),
        408 | 409 | 429 | 500.. => Rejection::Again { what: with(""), after: after(headers, Timestamp::now()) },
        _ => Rejection::Never(with("")),
    }
}

fn about_key(endpoint: &Endpoint) -> String {
    let variable = &endpoint.key.variable;
    match endpoint.key.is_sent {
        true => format!("; the key in {variable} is not taken (--key-env names another variable)"),
        false => format!("; it wants a key, and {variable} holds none (--key-env names another variable)"),
    }
}

/// What a server says of a failure; of JSON only its error.
fn said(body: &str) -> String {
    match serde_json::from_str(body) {
        Ok(value) => error(&value),
        Err(_) if body.trim_start().starts_with('<') => "a page of HTML".to_owned(),
        Err(_) => body.to_owned(),
    }
}

/// The error in a body, as the protocols put it, with its codes; empty: there is none. Nothing else is looked at, for servers
/// show us there what we sent.
pub fn error(value: &Value) -> String {
    let error = if value["error"].is_null() { value } else { &value["error"] };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    // So do servers made with FastAPI.
    let details = value["detail"].as_array().into_iter().flatten().filter_map(|detail| text(&detail["msg"]));
    let message = text(error).or_else(|| ["message", "detail"].iter().find_map(|field| text(&error[field])));
    let kinds =
        ["code", "type"].iter().filter_map(|field| text(&error[field])).filter(|kind| !kind.is_empty() && kind != "error");
    let kind = kinds.fold(String::new(), |kinds, kind| if kinds.is_empty() { kind } else { format!("{kinds}, {kind}") });
    let message = message.unwrap_or_else(|| details.collect::<Vec<_>>().join("; "));
    match (message.is_empty(), kind.is_empty()) {
        (_, true) => message,
        (true, false) => kind,
        (false, false) => format!("{message} ({kind})"),
    }
}

/// How long a server wants us to wait: `retry-after` in seconds or until a date, or OpenAI's `retry-after-ms`.
fn after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str, unit: f64| Some(header(name)?.parse::<f64>().ok()? * unit);
    let seconds = number("retry-after-ms", 1e-3).or_else(|| number("retry-after", 1.0)).or_else(|| {
        let date = jiff::fmt::rfc2822::parse(header("retry-after")?).ok()?;
        Some(date.timestamp().duration_since(now).as_secs_f64())
    })?;
    // What is no time, as `NaN`, is none; what is past is now.
    Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).ok().filter(|_| !seconds.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_seconds_milliseconds_or_dates() {
        let now = "2026-01-02T03:04:05Z".parse().unwrap();
        let cases = [
            (&[("retry-after", "7")][..], Some(7.0)),
            (&[("retry-after", "0.5")], Some(0.5)),
            (&[("retry-after", " 0 ")], Some(0.0)),
            (&[("retry-after", "-3")], Some(0.0)),
            (&[("retry-after", "7"), ("retry-after-ms", "1500")], Some(1.5)),
            (&[("retry-after", "Fri, 02 Jan 2026 03:04:35 GMT")], Some(30.0)),
            (&[("retry-after", "Fri, 02 Jan 2026 03:00:00 GMT")], Some(0.0)),
            (&[("retry-after", "1e300")], Some(1e9)),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ];
        for (headers, expected) in cases {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            assert_eq!(after(&headers, now).map(|wait| wait.as_secs_f64()), expected, "{headers:?}");
        }
    }

    #[test]
    fn of_a_failure_the_error_is_told() {
        let cases = [
            (r#"{"error":{"message":"No.","type":"invalid_request_error","code":"c"}}"#, "No. (c, invalid_request_error)"),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded (overloaded_error)"),
            (r#"{"error":"no such model"}"#, "no such model"),
            (r#"{"object":"error","message":"too much","code":400}"#, "too much"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"detail":[{"msg":"field required","input":"prompt is too long"}]}"#, "field required"),
            (r#"{"error":{"code":503},"prompt":"prompt is too long"}"#, ""),
            ("upstream gone", "upstream gone"),
            ("\n<!DOCTYPE html><p>Bad gateway", "a page of HTML"),
        ];
        for (body, expected) in cases {
            assert_eq!(said(body), expected);
        }
    }
}
