//! Who is meant by `openai:MODEL`, `anthropic:MODEL@URL`, `command:PROGRAM ARGUMENTS`.

use std::time::Duration;

use serde_json::{Map, Value};

use super::Provider;
use super::anthropic::{self, Anthropic};
use super::base_url::BaseUrl;
use super::command::Program;
use super::http::Endpoint;
use super::openai::OpenAi;
use super::secrets::Secrets;

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
pub const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "anthropic",
        about: "a model behind Anthropic's messages, which some other servers speak too: llama-server, LiteLLM, OpenRouter; \
                the key is in ANTHROPIC_API_KEY",
        argument: ":MODEL[@BASE-URL]",
        key_variable: "ANTHROPIC_API_KEY",
        base_url: "https://api.anthropic.com",
        connect: |address, connection| {
            // Some servers are known by their base URL for both protocols.
            let base = BaseUrl::parse(&connection.base_url)?.without("/v1");
            let endpoint = Endpoint::new(connection, &base, "/v1/messages", |key| ("x-api-key", key.to_owned()))?;
            let (name, version) = anthropic::VERSION;
            let endpoint = endpoint.with(name, version);
            Ok(Box::new(Anthropic { endpoint, model: address.model.clone(), params: connection.params.clone() }))
        },
    },
    Protocol {
        name: "openai",
        about: "a model behind OpenAI's chat completions, which most other servers speak too: llama-server, vLLM, Ollama, \
                OpenRouter; the key is in OPENAI_API_KEY, a local server needs none; where a model thinks first, \
                --param max_completion_tokens=N gives it room",
        argument: ":MODEL[@BASE-URL]",
        key_variable: "OPENAI_API_KEY",
        base_url: "https://api.openai.com/v1",
        connect: |address, connection| {
            let base = BaseUrl::parse(&connection.base_url)?;
            let header = |key: &str| ("authorization", format!("Bearer {key}"));
            let endpoint = Endpoint::new(connection, &base, "/chat/completions", header)?;
            Ok(Box::new(OpenAi::new(endpoint, &address.model, &connection.params)))
        },
    },
    Protocol {
        name: "command",
        about: "any program, started by the shell for every summary: the prompt is on its standard input, its standard output is \
                the summary; RECOMPACT_MAX_TOKENS in its environment is the limit; what it costs is not known",
        argument: ":PROGRAM ARGUMENTS …",
        key_variable: "",
        base_url: "",
        connect: |address, connection| {
            let secrets = Secrets::new(connection.key.clone());
            Ok(Box::new(Program { command: address.model.clone(), timeout: connection.timeout, secrets }))
        },
    },
];

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
    /// The variable of the environment that holds it, or would: where there is a failure, people are told.
    pub key_variable: String,
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
        Some(if model.trim().is_empty() {
            Err(format!("write {name}{}", protocol.argument))
        } else if !protocol.base_url.is_empty() && ends_in_place(model) {
            Err(format!("{written}: write the base URL with its http:// or https://"))
        } else {
            Ok(Self { protocol, model: model.to_owned(), base_url })
        })
    }

    /// What it is called: `openai:MODEL`, wherever that is.
    pub fn name(&self) -> String {
        format!("{}:{}", self.protocol.name, self.model)
    }

    /// Makes what answers; nothing is asked yet.
    pub fn connect(&self, connection: &Connection) -> Result<Box<dyn Provider>, String> {
        (self.protocol.connect)(self, connection)
    }
}

/// Whether what follows the `@` looks like `host:port`: names of models have versions there.
fn ends_in_place(model: &str) -> bool {
    let place = model.rsplit_once('@').and_then(|(_, place)| place.split('/').next()?.rsplit_once(':'));
    place.is_some_and(|(host, port)| !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_protocol_model_and_place() {
        let parse = |written: &str| {
            let address = Address::parse(written)?;
            Some(address.map(|address| (address.protocol.name, address.model, address.base_url.unwrap_or_default())))
        };
        let cases = [
            ("openai:gpt-5.5", ("openai", "gpt-5.5", "")),
            ("openai:m@http://127.0.0.1:8080/v1/", ("openai", "m", "http://127.0.0.1:8080/v1")),
            ("openai:@cf/meta/m@https://h", ("openai", "@cf/meta/m", "https://h")),
            ("anthropic:m@20260101", ("anthropic", "m@20260101", "")),
            ("openai:qwen:7b@q4", ("openai", "qwen:7b@q4", "")),
            ("command:curl -s a@http://h | tail", ("command", "curl -s a@http://h | tail", "")),
        ];
        for (written, (protocol, model, base_url)) in cases {
            assert_eq!(parse(written), Some(Ok((protocol, model.to_owned(), base_url.to_owned()))), "{written}");
        }
        assert_eq!(parse("extract"), None);
        assert_eq!(parse("openai"), Some(Err("write openai:MODEL[@BASE-URL]".to_owned())));
        for wrong in ["openai:", "openai:@http://h", "command: ", "openai:m@localhost:8080/v1", "openai:m@127.0.0.1:80"] {
            assert!(parse(wrong).is_some_and(|parsed| parsed.is_err()), "{wrong}");
        }
    }
}
