//! Addresses of models (`openai:MODEL`, `anthropic:MODEL@URL`, `command:PROGRAM ARGUMENTS`) and the protocols they name.

use std::time::Duration;

use serde_json::{Map, Value};

use super::Provider;
#[cfg(feature = "models")]
use super::anthropic::connect as connect_anthropic;
use super::command::Program;
#[cfg(feature = "models")]
use super::openai::connect as connect_openai;
use super::secrets::Secrets;

/// A protocol for asking models.
pub struct Protocol {
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    /// Syntax of what follows the name in an address.
    pub argument: &'static str,
    /// The environment variable that holds the key; empty if the protocol uses no key.
    pub key_variable: &'static str,
    /// Default base URL; empty if the protocol uses no URL.
    pub base_url: &'static str,
    connect: Connect,
}

/// Creates the provider for an address, or returns an error message.
type Connect = fn(&Address, &Connection) -> Result<Box<dyn Provider>, String>;

/// A library without the feature `models` has no HTTP.
#[cfg(not(feature = "models"))]
fn without_http(address: &Address, _: &Connection) -> Result<Box<dyn Provider>, String> {
    Err(format!("{}: this program was built without the feature `models`; command:PROGRAM works", address.name()))
}

#[cfg(not(feature = "models"))]
use without_http as connect_anthropic;
#[cfg(not(feature = "models"))]
use without_http as connect_openai;

/// Every protocol.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "anthropic",
        about: "a model behind Anthropic's Messages API, which some other servers also offer: llama-server, LiteLLM, \
                OpenRouter; the key is in ANTHROPIC_API_KEY",
        argument: ":MODEL[@BASE-URL]",
        key_variable: "ANTHROPIC_API_KEY",
        base_url: "https://api.anthropic.com",
        connect: connect_anthropic,
    },
    Protocol {
        name: "openai",
        about: "a model behind OpenAI's Chat Completions API, which most other servers also offer: llama-server, vLLM, \
                Ollama, OpenRouter; the key is in OPENAI_API_KEY, a local server needs none; for a reasoning model, \
                --param max_completion_tokens=N leaves room for its thinking",
        argument: ":MODEL[@BASE-URL]",
        key_variable: "OPENAI_API_KEY",
        base_url: "https://api.openai.com/v1",
        connect: connect_openai,
    },
    Protocol {
        name: "command",
        about: "any program, which the shell starts for every summary: it reads the prompt from standard input and writes the \
                summary to standard output; RECOMPACT_MAX_TOKENS in its environment is the limit; its cost is not known",
        argument: ":PROGRAM ARGUMENTS …",
        key_variable: "",
        base_url: "",
        connect: |address, connection| {
            let secrets = Secrets::new(connection.key.clone());
            Ok(Box::new(Program { command: address.model.clone(), timeout: connection.timeout, secrets }))
        },
    },
];

/// A model and the protocol it speaks.
#[derive(Clone)]
pub struct Address {
    pub protocol: &'static Protocol,
    /// Name of the model; for `command:`, the command line.
    pub model: String,
    pub base_url: Option<String>,
}

/// Everything beside the address that a provider needs.
#[derive(Clone)]
pub struct Connection {
    /// Without a slash at its end.
    pub base_url: String,
    /// API key; never written to a message or a file.
    pub key: Option<String>,
    /// The environment variable for the key; error messages name it.
    pub key_variable: String,
    /// Time limit of one attempt.
    pub timeout: Duration,
    /// Extra fields of every request.
    pub params: Map<String, Value>,
}

impl Address {
    /// Parses `PROTOCOL:MODEL[@BASE-URL]`; returns `None` if the protocol is unknown.
    pub fn parse(written: &str) -> Option<Result<Self, String>> {
        let (name, rest) = written.split_once(':').unwrap_or((written, ""));
        let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name)?;
        let (model, base_url) = match rest.find("@http") {
            Some(at) if !protocol.base_url.is_empty() => (&rest[..at], Some(rest[at + 1..].trim_end_matches('/').to_owned())),
            _ => (rest, None),
        };
        Some(if model.trim().is_empty() {
            Err(format!("write {name}{}", protocol.argument))
        } else if !protocol.base_url.is_empty() && ends_with_host_and_port(model) {
            Err(format!("{written}: write the base URL with its http:// or https://"))
        } else {
            Ok(Self { protocol, model: model.to_owned(), base_url })
        })
    }

    /// Returns `PROTOCOL:MODEL`, without the base URL.
    pub fn name(&self) -> String {
        format!("{}:{}", self.protocol.name, self.model)
    }

    /// Creates the provider. Sends no request.
    pub fn connect(&self, connection: &Connection) -> Result<Box<dyn Provider>, String> {
        (self.protocol.connect)(self, connection)
    }
}

/// Whether the part after the `@` looks like `host:port`. Model names may have a version there instead.
fn ends_with_host_and_port(model: &str) -> bool {
    let parts = model.rsplit_once('@').and_then(|(_, rest)| rest.split('/').next()?.rsplit_once(':'));
    parts.is_some_and(|(host, port)| !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_parses_protocol_model_and_url() {
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
