//! The chat completions of OpenAI, which many others speak too.
//!
//! The limit of an answer is sent as `max_tokens`, which is what the others know. OpenAI's reasoning models want
//! `max_completion_tokens`, say so, and are then asked again with it. Their thinking counts, too: where it leaves no room for
//! the answer, a parameter `max_completion_tokens` of one's own gives more; then no other limit is sent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::http::{Endpoint, error};
use super::too_long::is_too_long;
use super::{Answer, Provider, Question, Rejection, Usage, seconds_since, tokens};

/// `POST BASE/chat/completions`.
pub(super) struct OpenAi {
    endpoint: Endpoint,
    model: String,
    /// What goes into the request beside the question.
    params: Map<String, Value>,
    /// The model wants its limit under the new name.
    wants_completion_tokens: AtomicBool,
}

const OLD_LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";

impl OpenAi {
    pub fn new(endpoint: Endpoint, model: &str, params: &Map<String, Value>) -> Self {
        Self { endpoint, model: model.to_owned(), params: params.clone(), wants_completion_tokens: AtomicBool::new(false) }
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

    /// A refusal of the limit's old name is none of the question.
    fn learn(&self, refusal: Rejection, limit: &str) -> Rejection {
        match refusal {
            Rejection::Never(what) if limit == OLD_LIMIT && what.contains(NEW_LIMIT) => {
                self.wants_completion_tokens.store(true, Ordering::Relaxed);
                Rejection::Again { what, after: Some(Duration::ZERO) }
            }
            other => other,
        }
    }

    fn read(&self, answer: &Value) -> Result<(String, bool), Rejection> {
        let lost = |what: &str| Rejection::Lost(self.endpoint.says(what));
        let choice = &answer["choices"][0];
        let message = &choice["message"];
        // Routers put the failures of those behind them into answers with status 200.
        for value in [answer, choice] {
            if !value["error"].is_null() {
                let said = self.endpoint.secrets.told(&error(value));
                return Err(if is_too_long(&said) { Rejection::TooLong(said) } else { lost(&format!("it failed: {said}")) });
            }
        }
        let declined = |why: &str| Rejection::Declined(self.endpoint.says(&format!("the model declines: {why}")));
        if let Some(why) = message["refusal"].as_str().filter(|why| !why.is_empty()) {
            return Err(declined(&self.endpoint.secrets.told(why)));
        }
        let cut_off = choice["finish_reason"] == "length";
        match (&message["content"], choice["finish_reason"].as_str()) {
            (_, Some("content_filter")) => Err(declined("content_filter")),
            (Value::String(text), _) => Ok((text.clone(), cut_off)),
            (Value::Array(parts), _) => Ok((parts.iter().filter_map(|part| part["text"].as_str()).collect(), cut_off)),
            // All its tokens went into thinking.
            (Value::Null, Some("length")) => Ok((String::new(), cut_off)),
            _ if choice.is_null() => Err(lost("its answer has no choices[0]; is this an endpoint for chat completions?")),
            _ => Err(lost("its answer has no text in choices[0].message.content")),
        }
    }
}

impl Provider for OpenAi {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        let began = Instant::now();
        let limit = if self.wants_completion_tokens.load(Ordering::Relaxed) { NEW_LIMIT } else { OLD_LIMIT };
        let answer = self.endpoint.post(&self.body(question, limit)).map_err(|refusal| self.learn(refusal, limit))?;
        let (text, cut_off) = self.read(&answer)?;
        let cached = tokens(&answer, "/usage/prompt_tokens_details/cached_tokens");
        let usage = Usage {
            input: tokens(&answer, "/usage/prompt_tokens").saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: tokens(&answer, "/usage/completion_tokens"),
        };
        Ok(Answer { text, cut_off, usage, seconds: seconds_since(began) })
    }
}
