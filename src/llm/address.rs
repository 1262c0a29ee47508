//! Who is meant by `openai:MODEL`, `anthropic:MODEL@URL`, `command:PROGRAM ARGUMENTS`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::Provider;
use super::http::Endpoint;
use super::openai::OpenAi;

/// A way to ask models.
pub struct Protocol {
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    /// What follows the name.
    pub argument: &'static str,
    /// The variable of the environment that holds the key; empty: there is none.
    pub key_variable: &'static str,
    /// Where it is spoken if nobody says otherwise; empty: nowhere.
    pub base_url: &'static str,
    connect: Connect,
}

/// Makes what answers, or says why it cannot be asked.
type Connect = fn(&Address, &Connection) -> Result<Box<dyn Provider>, String>;

/// Every protocol.
pub const PROTOCOLS: &[Protocol] = &[Protocol {
    name: "openai",
    about: "a model behind OpenAI's chat completions, which most other servers speak too: llama-server, vLLM, Ollama, OpenRouter",
    argument: ":MODEL[@BASE-URL]",
    key_variable: "OPENAI_API_KEY",
    base_url: "https://api.openai.com/v1",
    connect: |address, connection| {
        let key = connection.key.iter().map(|key| ("authorization", format!("Bearer {key}"))).collect();
        let endpoint = Endpoint::new(format!("{}/chat/completions", connection.base_url), key, connection.timeout);
        Ok(Box::new(OpenAi { endpoint, model: address.model.clone(), params: connection.params.clone() }))
    },
}];

/// A model and the protocol in which it is asked.
#[derive(Clone)]
pub struct Address {
    pub protocol: &'static Protocol,
    /// Of a program: its command line.
    pub model: String,
    pub base_url: Option<String>,
}

/// What it takes to ask, beside the address.
#[derive(Clone)]
pub struct Connection {
    /// Without a slash at its end.
    pub base_url: String,
    /// It is in no message and no file.
    pub key: Option<String>,
    /// Of one attempt.
    pub timeout: Duration,
    /// What goes into every request beside the question.
    pub params: Map<String, Value>,
}

impl Address {
    /// Reads `PROTOCOL:MODEL[@BASE-URL]`; nothing where the protocol is none of ours.
    pub fn parse(written: &str) -> Option<Result<Self, String>> {
        let (name, rest) = written.split_once(':').unwrap_or((written, ""));
        let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name)?;
        let (model, base_url) = match rest.find("@http") {
            Some(at) if !protocol.base_url.is_empty() => (&rest[..at], Some(rest[at + 1..].trim_end_matches('/').to_owned())),
            _ => (rest, None),
        };
        Some(match model.is_empty() {
            true => Err(format!("write {name}{}", protocol.argument)),
            false => Ok(Self { protocol, model: model.to_owned(), base_url }),
        })
    }

    /// What it is called: `openai:MODEL`, wherever that is.
    pub fn name(&self) -> String {
        format!("{}:{}", self.protocol.name, self.model)
    }

    pub fn connect(&self, connection: &Connection) -> Result<Box<dyn Provider>, String> {
        (self.protocol.connect)(self, connection)
    }
}
