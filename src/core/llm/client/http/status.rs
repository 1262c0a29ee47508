//! The meaning of HTTP status codes, and the error messages in response bodies.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use ureq::http::HeaderMap;

use super::Endpoint;
use crate::llm::client::Rejection;
use crate::llm::client::too_long::is_too_long;

/// Converts a response without a success status to a rejection.
pub fn rejection(endpoint: &Endpoint, status: u16, headers: &HeaderMap, body: &str) -> Rejection {
    let error = error_text(body);
    let detail = endpoint.secrets.one_line(if error.is_empty() { body } else { &error });
    let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
    let message = |advice: &str| endpoint.message(&format!("status {status}{detail}{advice}"));
    match status {
        300..400 => {
            let target = headers.get("location").and_then(|target| target.to_str().ok()).unwrap_or("elsewhere");
            let target = endpoint.secrets.one_line(target.split('?').next().unwrap_or_default());
            let advice = format!(" (redirects to `{target}`); redirects are not followed: give the right base URL");
            Rejection::ProviderFailed(message(&advice))
        }
        401 | 403 => Rejection::ProviderFailed(message(&key_advice(endpoint))),
        402 => Rejection::ProviderFailed(message("; the provider requires payment first")),
        404 | 405 => Rejection::ProviderFailed(message("; check the model name and the base URL")),
        429 if error.contains("insufficient_quota") => Rejection::ProviderFailed(message("; waiting does not help")),
        // OpenAI: the request is larger than the account's limit of tokens per minute.
        429 if error.contains("Request too large") => Rejection::Invalid(message("")),
        413 => Rejection::TooLong(format!("status 413{detail}")),
        400.. if status != 429 && is_too_long(&error) => Rejection::TooLong(format!("status {status}{detail}")),
        // A proxy in front of the server timed out; the server may still be working.
        504 | 524 => Rejection::Lost(message("")),
        408 | 409 | 429 | 500.. => Rejection::RetryLater { message: message(""), after: retry_after(headers, Timestamp::now()) },
        _ => Rejection::Invalid(message("")),
    }
}

fn key_advice(endpoint: &Endpoint) -> String {
    let variable = &endpoint.key.variable;
    if endpoint.key.is_sent {
        format!("; the server rejects the key in {variable} (--key-env names another variable)")
    } else {
        format!("; the server requires a key, and {variable} is not set (--key-env names another variable)")
    }
}

/// Returns the error message of a response body; of a JSON body only its error field.
fn error_text(body: &str) -> String {
    match serde_json::from_str(body) {
        Ok(value) => error_message(&value),
        Err(_) if body.trim_start().starts_with('<') => "a page of HTML".to_owned(),
        Err(_) => body.to_owned(),
    }
}

/// Returns the error message of a JSON body with its codes, or an empty text. Reads no other fields, because servers repeat our
/// own request in them.
pub fn error_message(value: &Value) -> String {
    let error = if value["error"].is_null() { value } else { &value["error"] };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    // Format of FastAPI servers.
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

/// Returns the wait that a server asks for: `retry-after` in seconds or until a date, or OpenAI's `retry-after-ms`.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |name: &str, unit: f64| Some(header(name)?.parse::<f64>().ok()? * unit);
    let seconds = number("retry-after-ms", 1e-3).or_else(|| number("retry-after", 1.0)).or_else(|| {
        let date = jiff::fmt::rfc2822::parse(header("retry-after")?).ok()?;
        Some(date.timestamp().duration_since(now).as_secs_f64())
    })?;
    // `NaN` is ignored, and a time in the past means no wait.
    Duration::try_from_secs_f64(seconds.clamp(0.0, 1e9)).ok().filter(|_| !seconds.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_milliseconds_or_date() {
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
            assert_eq!(retry_after(&headers, now).map(|wait| wait.as_secs_f64()), expected, "{headers:?}");
        }
    }

    #[test]
    fn error_message_is_extracted_from_failure_bodies() {
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
            assert_eq!(error_text(body), expected);
        }
    }
}
