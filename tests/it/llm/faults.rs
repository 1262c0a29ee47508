//! Checks servers and programs that fail in every known way: no panic, no lost answer that was paid for, no key in an output.

mod answers;
mod command;
mod limits;
mod models;
mod program;
mod scores;
mod server;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use recompact::llm::client::{Address, Cassette, CassetteMode, Connection, Limits, Model, ModelConfig, PROTOCOLS, Question};
use serde_json::{Map, Value, json};

use self::server::Act;

/// The key may be only in requests.
const KEY: &str = "sk-very-secret-0123456789";

/// How a model is asked in a test.
struct Asks {
    written: String,
    key: Option<&'static str>,
    timeout: Duration,
    params: Map<String, Value>,
    cassette: Option<PathBuf>,
    limits: Limits,
    price: Option<recompact::llm::client::Price>,
    retries: usize,
    first_wait: Duration,
    stopped: fn() -> bool,
}

impl Default for Asks {
    fn default() -> Self {
        Self {
            written: String::new(),
            key: Some(KEY),
            timeout: Duration::from_secs(10),
            params: Map::new(),
            cassette: None,
            limits: Limits::new(None, None, 8),
            price: None,
            retries: 2,
            first_wait: Duration::from_millis(1),
            stopped: || false,
        }
    }
}

impl Asks {
    fn model(mut self) -> Result<Model, String> {
        let limits = std::mem::replace(&mut self.limits, Limits::new(None, None, 1));
        self.model_within(&Arc::new(limits))
    }

    /// The same, with limits that the test can read.
    fn model_within(self, limits: &Arc<Limits>) -> Result<Model, String> {
        let protocol = PROTOCOLS.iter().find(|protocol| self.written.starts_with(protocol.name)).expect("a protocol");
        let address = Address::parse_for(&self.written, protocol.purpose).expect("a protocol")?;
        let connection = Connection {
            base_url: address.base_url.clone().unwrap_or_default(),
            key: self.key.map(str::to_owned),
            key_variable: "THE_KEY".to_owned(),
            timeout: self.timeout,
            params: self.params.clone(),
        };
        Ok(Model::new(ModelConfig {
            name: address.name(),
            params: self.params,
            replicate: 1,
            provider: Some(address.connect(&connection)?),
            cassette: Arc::new(Cassette::new(self.cassette, CassetteMode::Auto)),
            limits: Arc::clone(limits),
            price: self.price,
            retries: self.retries,
            first_wait: self.first_wait,
            stopped: Arc::new(self.stopped),
        }))
    }
}

/// Returns a question; each number gives a different one.
fn question(number: usize) -> Question {
    Question { system: "Be brief.".to_owned(), user: format!("What is {number}?"), max_tokens: 100, continuation: None }
}

/// Returns a good answer in the form of a protocol.
fn good(protocol: &str, text: &str) -> Vec<u8> {
    let answer = match protocol {
        "anthropic" => json!({
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }),
        _ => json!({
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        }),
    };
    answer.to_string().into_bytes()
}

fn answer(protocol: &str, text: &str) -> Act {
    server::status(200, good(protocol, text))
}

/// Returns the protocol of a request, by its path.
fn protocol_of(path: &str) -> &'static str {
    if path.ends_with("/messages") { "anthropic" } else { "openai" }
}
