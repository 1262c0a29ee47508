//! OpenAI's older Completions API, where `echo` returns the log-probabilities of the prompt. OpenAI's own models do so no more;
//! vLLM and llama-cpp-python do.
//!
//! The answer has one token more than the prompt: the API writes at least one. vLLM has a second way, `prompt_logprobs`, which
//! the user chooses by parameters. In both, tokens are found by their text ([`align`]). The offsets in the answer are not used:
//! vLLM counts a character too many wherever tokens split one.

mod align;

use std::time::Instant;

use serde_json::{Map, Value, json};

use self::align::{Token, logprobs_of};
use super::base_url::BaseUrl;
use super::http::Endpoint;
use super::logprobs::logprob;
use super::{Address, Answer, Connection, Provider, Purpose, Question, Rejection, Usage, seconds_since, token_count};

/// A provider that sends `POST BASE/completions`.
struct Completions {
    endpoint: Endpoint,
    model: String,
    /// Extra fields of every request.
    params: Map<String, Value>,
}

const NO_ECHO: &str = "the server returns no log-probabilities of the prompt (`echo`); vLLM may do with --param prompt_logprobs=0 \
                       --param echo=false; use llama-server:MODEL for llama-server";

/// Creates the provider for an address.
pub(super) fn connect(address: &Address, connection: &Connection) -> Result<Box<dyn Provider>, String> {
    let base = BaseUrl::parse(&connection.base_url)?;
    let endpoint = Endpoint::new(connection, &base, "/completions", |key| ("authorization", format!("Bearer {key}")))?;
    Ok(Box::new(Completions { endpoint, model: address.model.clone(), params: connection.params.clone() }))
}

impl Completions {
    fn body(&self, prompt: &str) -> Value {
        let mut body = json!({
            "model": self.model,
            "prompt": prompt,
            "max_tokens": 1,
            "temperature": 0,
            "echo": true,
            "logprobs": 1,
        });
        if let Some(fields) = body.as_object_mut() {
            fields.extend(self.params.clone());
        }
        body
    }

    fn lost(&self, what: &str) -> Rejection {
        Rejection::Lost(self.endpoint.message(what))
    }

    /// Returns the first choice of an answer and its tokens: those of the prompt, then those that were written.
    fn choice<'a>(&self, answer: &'a Value) -> Result<(&'a Value, Vec<Token<'a>>), Rejection> {
        let choice = &answer["choices"][0];
        self.endpoint.check(answer)?;
        self.endpoint.check(choice)?;
        if choice.is_null() {
            return Err(self.lost("its answer has no choices[0]; is this an endpoint for completions?"));
        }
        Ok((choice, tokens(choice).ok_or_else(|| self.lost(NO_ECHO))?))
    }

    fn answer(&self, answer: &Value, text: &str, logprobs: &[&Value]) -> Result<Answer, Rejection> {
        let logprobs: Result<Vec<f64>, String> = logprobs.iter().map(|value| logprob(value)).collect();
        let logprobs = logprobs.map_err(|what| self.lost(&what))?;
        let cached = token_count(answer, "/usage/prompt_tokens_details/cached_tokens");
        let usage = Usage {
            input: token_count(answer, "/usage/prompt_tokens").saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: token_count(answer, "/usage/completion_tokens"),
        };
        Ok(Answer { text: text.to_owned(), logprobs, cut_off: false, usage, seconds: 0.0 })
    }
}

/// Returns the tokens of a choice; `None` if it has no log-probabilities in a known shape.
fn tokens<'a>(choice: &'a Value) -> Option<Vec<Token<'a>>> {
    if let Some(tokens) = choice["prompt_logprobs"].as_array() {
        // Next to the prompt's own token, which is first, there may be likelier ones. The first token of a prompt has `null`.
        let reading = |entry: &'a Value| (entry["decoded_token"].as_str().unwrap_or_default(), &entry["logprob"]);
        let readings = |token: &'a Value| token.as_object().into_iter().flat_map(Map::values).map(reading).collect();
        return Some(tokens.iter().map(readings).collect());
    }
    let logprobs = &choice["logprobs"];
    let (texts, values) = (logprobs["tokens"].as_array()?, logprobs["token_logprobs"].as_array()?);
    let pairs = texts.iter().zip(values).map(|(text, value)| vec![(text.as_str().unwrap_or_default(), value)]);
    (texts.len() == values.len()).then(|| pairs.collect())
}

/// Finds the log-probabilities of the continuation, which ends the prompt at `from`. The token that was written is left out.
fn logprobs_after<'a>(choice: &Value, tokens: &[Token<'a>], prompt: &str, from: usize) -> Option<Vec<&'a Value>> {
    let part = from..prompt.len();
    let with_written = choice["text"].as_str().filter(|text| text.starts_with(prompt));
    let all = with_written.and_then(|text| logprobs_of(tokens, text, part.clone()));
    // The text of a choice does not show a written token that ends it.
    let without_last = || logprobs_of(&tokens[..tokens.len().saturating_sub(1)], prompt, part.clone());
    match choice["prompt_logprobs"].is_array() {
        true => logprobs_of(tokens, prompt, part.clone()),
        false => all.or_else(without_last).or_else(|| logprobs_of(tokens, prompt, part.clone())),
    }
}

impl Provider for Completions {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        question.check(Purpose::Score)?;
        let began = Instant::now();
        let continuation = question.continuation.as_deref().unwrap_or_default();
        let prompt = format!("{}{continuation}", question.user);
        let answer = self.endpoint.json(&self.endpoint.post(&self.body(&prompt))?)?;
        let (choice, tokens) = self.choice(&answer)?;
        let logprobs = logprobs_after(choice, &tokens, &prompt, question.user.len()).ok_or_else(|| match tokens.len() {
            0 | 1 => self.lost(NO_ECHO),
            _ => self.lost("its tokens do not make up the text that was asked about; does it support `echo`?"),
        })?;
        Ok(Answer { seconds: seconds_since(began), ..self.answer(&answer, continuation, &logprobs)? })
    }

    /// Returns the log-probabilities of all tokens: only the question says where the continuation begins.
    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection> {
        let answer = self.endpoint.json(answer)?;
        let (choice, tokens) = self.choice(&answer)?;
        let logprobs: Vec<&Value> = tokens.iter().filter_map(|token| Some(token.first()?.1)).collect();
        let first = logprobs.iter().take_while(|value| value.is_null()).count().min(1);
        self.answer(&answer, choice["text"].as_str().unwrap_or_default(), &logprobs[first..])
    }
}

#[cfg(test)]
mod tests;
