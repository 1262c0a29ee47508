//! Addresses of models (`openai:MODEL`, `anthropic:MODEL@URL`, `command:PROGRAM ARGUMENTS`).

use std::time::Duration;

use serde_json::{Map, Value};

use super::Provider;
use super::protocol::{PROTOCOLS, Protocol, Purpose};
use crate::util::ValueError;

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

/// Why no provider can be created for an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConnectError(String);

impl From<ConnectError> for String {
    fn from(error: ConnectError) -> Self {
        error.0
    }
}

impl Address {
    /// Parses the address of a model that writes, as [`Self::parse_for`] does.
    pub fn parse(written: &str) -> Option<Result<Self, ValueError>> {
        Self::parse_for(written, Purpose::Write)
    }

    /// Parses `PROTOCOL:MODEL[@BASE-URL]`; returns `None` if the protocol is unknown.
    ///
    /// # Errors
    ///
    /// Fails if the protocol is for another purpose, or the rest of the address is wrong.
    pub fn parse_for(written: &str, purpose: Purpose) -> Option<Result<Self, ValueError>> {
        let (name, rest) = written.split_once(':').unwrap_or((written, ""));
        let protocol = PROTOCOLS.iter().find(|protocol| protocol.name == name)?;
        let (model, base_url) = match rest.find("@http") {
            Some(at) if !protocol.base_url.is_empty() => (&rest[..at], Some(rest[at + 1..].trim_end_matches('/').to_owned())),
            _ => (rest, None),
        };
        Some(if protocol.purpose != purpose {
            Err(ValueError::new(format!("{name}: {}", purpose.misfit())))
        } else if model.trim().is_empty() {
            Err(ValueError::new(format!("write {name}{}", protocol.argument)))
        } else if !protocol.base_url.is_empty() && ends_with_host_and_port(model) {
            Err(ValueError::new(format!("{written}: write the base URL with its http:// or https://")))
        } else {
            Ok(Self { protocol, model: model.to_owned(), base_url })
        })
    }

    /// Returns `PROTOCOL:MODEL`, without the base URL.
    pub fn name(&self) -> String {
        format!("{}:{}", self.protocol.name, self.model)
    }

    /// Creates the provider. Sends no request.
    ///
    /// # Errors
    ///
    /// Fails if the base URL or the key cannot be used, or if the program was built without HTTP.
    pub fn connect(&self, connection: &Connection) -> Result<Box<dyn Provider>, ConnectError> {
        (self.protocol.connect)(self, connection).map_err(ConnectError)
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
        assert_eq!(parse("openai"), Some(Err(ValueError::new("write openai:MODEL[@BASE-URL]"))));
        for wrong in ["openai:", "openai:@http://h", "command: ", "openai:m@localhost:8080/v1", "openai:m@127.0.0.1:80"] {
            assert!(parse(wrong).is_some_and(|parsed| parsed.is_err()), "{wrong}");
        }
    }

    #[test]
    fn address_of_the_wrong_purpose_names_the_right_protocols() {
        let parse = |written, purpose| Address::parse_for(written, purpose).map(|address| address.map(|address| address.name()));
        let score = |written| parse(written, Purpose::Score);
        for right in ["completions:m", "llama-server:m"] {
            assert_eq!(score(right), Some(Ok(right.to_owned())));
            let error = parse(right, Purpose::Write).and_then(Result::err).expect("an error").to_string();
            assert!(
                error.contains("writes no answer") && error.contains("openai:MODEL") && error.contains("command:"),
                "{error}"
            );
            assert_eq!(Address::parse(right).map(|address| address.is_err()), Some(true));
        }
        for wrong in ["openai:m", "anthropic:m", "command:cat", "openai"] {
            let error = score(wrong).and_then(Result::err).expect("an error").to_string();
            assert!(error.contains("no log-probabilities of a given text"), "{error}");
            assert!(error.contains("completions:MODEL[@BASE-URL], llama-server:MODEL[@BASE-URL]"), "{error}");
        }
        assert_eq!(score("extract"), None);
    }
}
