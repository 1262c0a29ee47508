//! OpenAI's Chat Completions API, which many other servers also offer.
//!
//! The limit of an answer is sent as `max_tokens`, because other servers know only this name. OpenAI's reasoning models reject
//! it and name `max_completion_tokens` in their error message; the question is then asked again with that name. Their thinking
//! counts towards the limit. If it leaves no room for the answer, the user can set a higher `max_completion_tokens` as a
//! parameter; then no other limit is sent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::base_url::BaseUrl;
use super::http::Endpoint;
use super::{Address, Answer, Connection, Provider, Purpose, Question, Rejection, Usage, seconds_since, token_count};

/// A provider that sends `POST BASE/chat/completions`.
struct OpenAi {
    endpoint: Endpoint,
    model: String,
    /// Extra fields of every request.
    params: Map<String, Value>,
    /// Whether the model rejected the limit's old name.
    needs_new_limit: AtomicBool,
}

const OLD_LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";

/// Creates the provider for an address.
pub(super) fn connect(address: &Address, connection: &Connection) -> Result<Box<dyn Provider>, String> {
    let base = BaseUrl::parse(&connection.base_url)?;
    let header = |key: &str| ("authorization", format!("Bearer {key}"));
    let endpoint = Endpoint::new(connection, &base, "/chat/completions", header)?;
    Ok(Box::new(OpenAi::new(endpoint, &address.model, &connection.params)))
}

impl OpenAi {
    fn new(endpoint: Endpoint, model: &str, params: &Map<String, Value>) -> Self {
        Self { endpoint, model: model.to_owned(), params: params.clone(), needs_new_limit: AtomicBool::new(false) }
    }

    fn body(&self, question: &Question, limit: &str) -> Value {
        let message = |role: &str, content: &str| json!({"role": role, "content": content});
        let system = (!question.system.is_empty()).then(|| message("system", &question.system));
        let messages: Vec<_> = system.into_iter().chain([message("user", &question.user)]).collect();
        let mut body = Map::from_iter([("model".to_owned(), json!(self.model)), ("messages".to_owned(), json!(messages))]);
        if !self.params.contains_key(NEW_LIMIT) {
            body.insert(limit.to_owned(), json!(question.max_tokens));
        }
        body.extend(self.params.clone());
        Value::Object(body)
    }

    /// Turns a rejection of the limit's old name into a retry with the new name.
    fn adapt_limit(&self, rejection: Rejection, limit: &str) -> Rejection {
        match rejection {
            Rejection::Invalid(message) if limit == OLD_LIMIT && message.contains(NEW_LIMIT) => {
                self.needs_new_limit.store(true, Ordering::Relaxed);
                Rejection::RetryLater { message, after: Some(Duration::ZERO) }
            }
            other => other,
        }
    }

    /// Returns the text, and whether it was cut off.
    fn text(&self, answer: &Value) -> Result<(String, bool), Rejection> {
        let lost = |what: &str| Rejection::Lost(self.endpoint.message(what));
        let choice = &answer["choices"][0];
        let message = &choice["message"];
        self.endpoint.check(answer)?;
        self.endpoint.check(choice)?;
        let declined = |why: &str| Rejection::Declined(self.endpoint.message(&format!("the model declines: {why}")));
        if let Some(why) = message["refusal"].as_str().filter(|why| !why.is_empty()) {
            return Err(declined(&self.endpoint.secrets.one_line(why)));
        }
        let cut_off = choice["finish_reason"] == "length";
        match (&message["content"], choice["finish_reason"].as_str()) {
            (_, Some("content_filter")) => Err(declined("content_filter")),
            (Value::String(text), _) => Ok((text.clone(), cut_off)),
            (Value::Array(parts), _) => {
                // A key may be cut into two parts, which are whole again when they are joined.
                let text: String = parts.iter().filter_map(|part| part["text"].as_str()).collect();
                Ok((self.endpoint.secrets.hide(&text), cut_off))
            }
            // The model used all its tokens for thinking.
            (Value::Null, Some("length")) => Ok((String::new(), cut_off)),
            _ if choice.is_null() => Err(lost("its answer has no choices[0]; is this an endpoint for chat completions?")),
            _ => Err(lost("its answer has no text in choices[0].message.content")),
        }
    }
}

impl Provider for OpenAi {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        question.check(Purpose::Write)?;
        let began = Instant::now();
        let limit = if self.needs_new_limit.load(Ordering::Relaxed) { NEW_LIMIT } else { OLD_LIMIT };
        let answer = self.endpoint.post(&self.body(question, limit)).map_err(|rejection| self.adapt_limit(rejection, limit))?;
        Ok(Answer { seconds: seconds_since(began), ..self.read(&answer)? })
    }

    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection> {
        let answer = self.endpoint.json(answer)?;
        let (text, cut_off) = self.text(&answer)?;
        let cached = token_count(&answer, "/usage/prompt_tokens_details/cached_tokens");
        let usage = Usage {
            input: token_count(&answer, "/usage/prompt_tokens").saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: token_count(&answer, "/usage/completion_tokens"),
        };
        Ok(Answer { text, logprobs: Vec::new(), cut_off, usage, seconds: 0.0 })
    }
}
