//! The chat completions of OpenAI, which many others speak too.

use serde_json::{Map, Value, json};

use super::http::Endpoint;
use super::{Answer, Provider, Question, Refusal, Usage};

/// `POST BASE/chat/completions`.
pub(super) struct OpenAi {
    pub endpoint: Endpoint,
    pub model: String,
    /// What goes into the request beside the question.
    pub params: Map<String, Value>,
}

impl Provider for OpenAi {
    fn ask(&self, question: &Question) -> Result<Answer, Refusal> {
        let message = |role: &str, content: &str| json!({"role": role, "content": content});
        let system = (!question.system.is_empty()).then(|| message("system", &question.system));
        let messages: Vec<_> = system.into_iter().chain([message("user", &question.user)]).collect();
        let mut body = json!({"model": self.model, "messages": messages, "max_tokens": question.max_tokens});
        if let Some(fields) = body.as_object_mut() {
            fields.extend(self.params.clone());
        }
        let began = std::time::Instant::now();
        let answer = self.endpoint.post(&body)?;
        let choice = &answer["choices"][0];
        let tokens = |at: &str| answer.pointer(at).and_then(Value::as_u64).unwrap_or(0);
        let cached = tokens("/usage/prompt_tokens_details/cached_tokens");
        Ok(Answer {
            text: choice["message"]["content"].as_str().unwrap_or_default().to_owned(),
            cut_off: choice["finish_reason"] == "length",
            usage: Usage {
                input: tokens("/usage/prompt_tokens").saturating_sub(cached),
                cache_read: cached,
                cache_write: 0,
                output: tokens("/usage/completion_tokens"),
            },
            seconds: (began.elapsed().as_secs_f64() * 10.0).round() / 10.0,
        })
    }
}
