//! Anthropic's Messages API, which some other servers also offer.

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::base_url::BaseUrl;
use super::http::Endpoint;
use super::{Address, Answer, Connection, Provider, Purpose, Question, Rejection, Usage, seconds_since, token_count};

/// A provider that sends `POST BASE/v1/messages`.
struct Anthropic {
    endpoint: Endpoint,
    model: String,
    /// Extra fields of every request.
    params: Map<String, Value>,
}

/// Header with the version of the protocol; this is still the newest one.
const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

/// Creates the provider for an address.
pub(super) fn connect(address: &Address, connection: &Connection) -> Result<Box<dyn Provider>, String> {
    // Some servers publish one base URL, which ends with /v1, for both protocols.
    let base = BaseUrl::parse(&connection.base_url)?.without("/v1");
    let endpoint = Endpoint::new(connection, &base, "/v1/messages", |key| ("x-api-key", key.to_owned()))?;
    let (name, version) = VERSION;
    let endpoint = endpoint.with_header(name, version);
    Ok(Box::new(Anthropic { endpoint, model: address.model.clone(), params: connection.params.clone() }))
}

impl Anthropic {
    fn body(&self, question: &Question) -> Value {
        let mut body = json!({
            "model": self.model,
            "max_tokens": question.max_tokens,
            "messages": [{"role": "user", "content": question.user}],
        });
        if let Some(fields) = body.as_object_mut() {
            if !question.system.is_empty() {
                fields.insert("system".to_owned(), json!(question.system));
            }
            fields.extend(self.params.clone());
        }
        body
    }

    /// Returns the text without the thinking, and whether it was cut off.
    fn text(&self, answer: &Value) -> Result<(String, bool), Rejection> {
        let lost = |what: &str| Rejection::Lost(self.endpoint.message(what));
        self.endpoint.check(answer)?;
        let Some(blocks) = answer["content"].as_array() else {
            return Err(lost("its answer has no content; is this an endpoint for Anthropic's messages?"));
        };
        let reason = answer["stop_reason"].as_str().unwrap_or_default();
        let texts: Vec<&str> = blocks.iter().filter(|block| block["type"] == "text").filter_map(|b| b["text"].as_str()).collect();
        let cut_off = matches!(reason, "max_tokens" | "model_context_window_exceeded");
        match reason {
            "refusal" => Err(Rejection::Declined(self.endpoint.message("the model declines (stop_reason `refusal`)"))),
            _ if texts.is_empty() && !blocks.is_empty() && !cut_off => Err(lost("its answer has no text in content")),
            // A key may be cut into two parts, which are whole again when they are joined.
            _ => Ok((self.endpoint.secrets.hide(&texts.concat()), cut_off)),
        }
    }
}

impl Provider for Anthropic {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        question.check(Purpose::Write)?;
        let began = Instant::now();
        let answer = self.endpoint.post(&self.body(question))?;
        Ok(Answer { seconds: seconds_since(began), ..self.read(&answer)? })
    }

    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection> {
        let answer = self.endpoint.json(answer)?;
        let (text, cut_off) = self.text(&answer)?;
        let usage = Usage {
            input: token_count(&answer, "/usage/input_tokens"),
            cache_read: token_count(&answer, "/usage/cache_read_input_tokens"),
            cache_write: token_count(&answer, "/usage/cache_creation_input_tokens"),
            output: token_count(&answer, "/usage/output_tokens"),
        };
        Ok(Answer { text, logprobs: Vec::new(), cut_off, usage, seconds: 0.0 })
    }
}
