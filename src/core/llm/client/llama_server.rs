//! The server of llama.cpp, which returns no log-probabilities of a prompt, but can be made to write a given text.
//!
//! The text is cut into tokens together with its prompt, as the model reads it. A grammar of these tokens then allows one answer,
//! and the server returns their probabilities as they were before the grammar. A grammar of the characters would not do: the
//! server would write the text in other, shorter and much less probable tokens.
//!
//! The server returns nothing for a token that ends within a character. Such a token is looked up in the list of all tokens that
//! could come next ([`Step::Part`]).

mod steps;

use std::time::Instant;

use serde_json::{Map, Value, json};

use self::steps::{Piece, Step, first_of, steps};
use super::base_url::BaseUrl;
use super::http::Endpoint;
use super::logprobs::logprob;
use super::{Address, Answer, Connection, Provider, Purpose, Question, Rejection, Usage, seconds_since, token_count};

/// A provider that sends `POST BASE/tokenize` and `POST BASE/completion`.
struct LlamaServer {
    tokenize: Endpoint,
    completion: Endpoint,
    model: String,
    /// Extra fields of every completion.
    params: Map<String, Value>,
}

/// How many of the next tokens are asked for, until the wanted one is among them. The last is more than any model has.
const LIST_LENGTHS: [u64; 3] = [500, 20_000, 1_000_000];

/// Creates the provider for an address.
pub(super) fn connect(address: &Address, connection: &Connection) -> Result<Box<dyn Provider>, String> {
    // The base URL for other protocols of this server ends with /v1.
    let base = BaseUrl::parse(&connection.base_url)?.without("/v1");
    let endpoint = |path| Endpoint::new(connection, &base, path, |key| ("authorization", format!("Bearer {key}")));
    let (tokenize, completion) = (endpoint("/tokenize")?, endpoint("/completion")?);
    Ok(Box::new(LlamaServer { tokenize, completion, model: address.model.clone(), params: connection.params.clone() }))
}

impl LlamaServer {
    fn lost(&self, what: &str) -> Rejection {
        Rejection::Lost(self.completion.message(what))
    }

    /// Cuts a text into tokens, with the one that begins every text if the model has it.
    fn pieces(&self, text: &str) -> Result<Vec<Piece>, Rejection> {
        // The text is data: a name of a special token in it is read as characters.
        let body = json!({
            "model": self.model,
            "content": text,
            "add_special": true,
            "parse_special": false,
            "with_pieces": true,
        });
        let answer = self.tokenize.json(&self.tokenize.post(&body)?)?;
        let pieces = answer["tokens"].as_array().and_then(|tokens| tokens.iter().map(Piece::read).collect());
        let lost =
            || Rejection::Lost(self.tokenize.message("its answer has no tokens with their texts; is this llama.cpp's server?"));
        pieces.ok_or_else(lost)
    }

    fn body(&self, prompt: &[Piece], max_tokens: usize, grammar: &str, listed: u64) -> Value {
        let mut body = json!({
            "model": self.model,
            "prompt": prompt.iter().map(|piece| piece.id).collect::<Vec<_>>(),
            "n_predict": max_tokens,
            "temperature": 0,
            "n_probs": listed,
            "cache_prompt": true,
            "post_sampling_probs": false,
            "grammar": grammar,
        });
        if let Some(fields) = body.as_object_mut() {
            fields.extend(self.params.clone());
        }
        body
    }

    /// Returns the log-probabilities of whole tokens after a prompt.
    fn whole(&self, prompt: &[Piece], tokens: &[Piece]) -> Result<Answer, Rejection> {
        let answer =
            self.completion.json(&self.completion.post(&self.body(prompt, tokens.len(), &steps::grammar(tokens), 1))?)?;
        let written: Vec<u64> = self.entries(&answer)?.iter().filter_map(|entry| entry["id"].as_u64()).collect();
        if written.iter().ne(tokens.iter().map(|token| &token.id)) {
            let shown = |text: &str| self.completion.secrets.one_line(text).chars().take(60).collect::<String>();
            let wanted =
                String::from_utf8_lossy(&tokens.iter().flat_map(|token| token.bytes.clone()).collect::<Vec<_>>()).into_owned();
            let content = answer["content"].as_str().unwrap_or_default();
            return Err(self.lost(&format!("it wrote `{}` and not the tokens of `{}`", shown(content), shown(&wanted))));
        }
        self.answer(&answer)
    }

    /// Returns the log-probability of a token that the server does not return when it is written.
    fn part(&self, prompt: &[Piece], token: &Piece) -> Result<Answer, Rejection> {
        for listed in LIST_LENGTHS {
            // Which token is written does not matter, if it is a whole character.
            let answer = self.completion.json(&self.completion.post(&self.body(prompt, 1, "root ::= \"a\"", listed))?)?;
            let list = self.entries(&answer)?.first().and_then(|entry| entry["top_logprobs"].as_array());
            let entry = list.into_iter().flatten().find(|entry| entry["id"].as_u64() == Some(token.id));
            if let Some(entry) = entry {
                let logprobs = vec![logprob(&entry["logprob"]).map_err(|what| self.lost(&what))?];
                return Ok(Answer { logprobs, ..self.answer(&answer)? });
            }
        }
        Err(self.lost("it does not list all tokens that could come next"))
    }

    /// Returns what an answer says of the tokens that were written.
    fn entries<'a>(&self, answer: &'a Value) -> Result<&'a Vec<Value>, Rejection> {
        self.completion.check(answer)?;
        if answer["truncated"] == true {
            return Err(Rejection::TooLong(self.completion.message("the prompt and the text exceed the available context size")));
        }
        let lost = || self.lost("its answer has no completion_probabilities; is this llama.cpp's server?");
        answer["completion_probabilities"].as_array().ok_or_else(lost)
    }

    /// Reads an answer: its text and the log-probabilities of its tokens. A token without bytes ends the text and is left out.
    fn answer(&self, answer: &Value) -> Result<Answer, Rejection> {
        let tokens = self.entries(answer)?.iter().filter(|entry| entry["bytes"].as_array().is_none_or(|bytes| !bytes.is_empty()));
        let logprobs: Result<Vec<f64>, String> = tokens.map(|entry| logprob(&entry["logprob"])).collect();
        let logprobs = logprobs.map_err(|what| self.lost(&what))?;
        // `tokens_cached` is what the cache holds after the answer, not what was read from it.
        let cached = token_count(answer, "/timings/cache_n");
        let usage = Usage {
            input: token_count(answer, "/tokens_evaluated").saturating_sub(cached),
            cache_read: cached,
            cache_write: 0,
            output: token_count(answer, "/tokens_predicted"),
        };
        let text = answer["content"].as_str().unwrap_or_default().to_owned();
        Ok(Answer { text, logprobs, cut_off: false, usage, seconds: 0.0 })
    }
}

impl Provider for LlamaServer {
    fn ask(&self, question: &Question) -> Result<Answer, Rejection> {
        question.check(Purpose::Score)?;
        let began = Instant::now();
        let text = question.continuation.clone().unwrap_or_default();
        let pieces = self.pieces(&format!("{}{text}", question.user))?;
        let first = first_of(&pieces, &text).ok_or_else(|| {
            Rejection::Declined(self.tokenize.message("its tokens do not make up the text: the model's tokenizer changes it"))
        })?;
        let (mut logprobs, mut usage) = (Vec::new(), Usage::default());
        for step in steps(&pieces, first) {
            let answer = match step {
                Step::Whole { prompt, tokens } => self.whole(prompt, tokens)?,
                Step::Part { prompt, token } => self.part(prompt, token)?,
            };
            logprobs.extend(answer.logprobs);
            usage.add(&answer.usage);
        }
        Ok(Answer { text, logprobs, cut_off: false, usage, seconds: seconds_since(began) })
    }

    /// Reads the answer to a completion.
    fn read(&self, answer: &[u8]) -> Result<Answer, Rejection> {
        self.answer(&self.completion.json(answer)?)
    }
}
