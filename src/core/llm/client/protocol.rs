//! The protocols: how an address names each, what it is for, and what connects to it.

#[cfg(feature = "models")]
use super::anthropic::connect as connect_anthropic;
use super::command::Program;
#[cfg(feature = "models")]
use super::completions::connect as connect_completions;
#[cfg(feature = "models")]
use super::llama_server::connect as connect_llama_server;
#[cfg(feature = "models")]
use super::openai::connect as connect_openai;
use super::secrets::Secrets;
use super::{Address, Connection, Provider, Question, Rejection};

/// What a protocol is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The model writes an answer.
    Write,
    /// The model says how probable a given text is after a prompt ([`Question::continuation`]).
    Score,
}

/// A protocol for asking models.
pub struct Protocol {
    pub name: &'static str,
    /// One line for the catalog.
    pub about: &'static str,
    /// Syntax of what follows the name in an address.
    pub argument: &'static str,
    pub purpose: Purpose,
    /// The environment variable that holds the key; empty if the protocol uses no key.
    pub key_variable: &'static str,
    /// Default base URL; empty if the protocol uses no URL.
    pub base_url: &'static str,
    pub(super) connect: Connect,
}

/// Creates the provider for an address, or returns an error message.
type Connect = fn(&Address, &Connection) -> Result<Box<dyn Provider>, String>;

/// A library without the feature `models` has no HTTP.
#[cfg(not(feature = "models"))]
fn without_http(address: &Address, _: &Connection) -> Result<Box<dyn Provider>, String> {
    let instead = if address.protocol.purpose == Purpose::Write { "; command:PROGRAM works" } else { "" };
    Err(format!("{}: this program was built without the feature `models`{instead}", address.name()))
}

#[cfg(not(feature = "models"))]
use without_http as connect_anthropic;
#[cfg(not(feature = "models"))]
use without_http as connect_completions;
#[cfg(not(feature = "models"))]
use without_http as connect_llama_server;
#[cfg(not(feature = "models"))]
use without_http as connect_openai;

/// Every protocol.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "anthropic",
        about: "a model behind Anthropic's Messages API, which some other servers also offer: llama-server, LiteLLM, \
                OpenRouter; the key is in ANTHROPIC_API_KEY",
        argument: ":MODEL[@BASE-URL]",
        purpose: Purpose::Write,
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
        purpose: Purpose::Write,
        key_variable: "OPENAI_API_KEY",
        base_url: "https://api.openai.com/v1",
        connect: connect_openai,
    },
    Protocol {
        name: "command",
        about: "any program, which the shell starts for every summary: it reads the prompt from standard input and writes the \
                summary to standard output; RECOMPACT_MAX_TOKENS in its environment is the limit; its cost is not known",
        argument: ":PROGRAM ARGUMENTS …",
        purpose: Purpose::Write,
        key_variable: "",
        base_url: "",
        connect: |address, connection| {
            let secrets = Secrets::new(connection.key.clone());
            Ok(Box::new(Program { command: address.model.clone(), timeout: connection.timeout, secrets }))
        },
    },
    Protocol {
        name: "completions",
        about: "a model behind OpenAI's older Completions API with `echo`, which vLLM and llama-cpp-python offer; for vLLM's own \
                way, --param prompt_logprobs=0 --param echo=false; the key is in OPENAI_API_KEY, a local server needs none",
        argument: ":MODEL[@BASE-URL]",
        purpose: Purpose::Score,
        key_variable: "OPENAI_API_KEY",
        base_url: "http://127.0.0.1:8080/v1",
        connect: connect_completions,
    },
    Protocol {
        name: "llama-server",
        about: "a model behind llama.cpp's server of 2026 or later, which is made to write the text by a grammar of its tokens; \
                the key is in LLAMA_API_KEY, if the server has one",
        argument: ":MODEL[@BASE-URL]",
        purpose: Purpose::Score,
        key_variable: "LLAMA_API_KEY",
        base_url: "http://127.0.0.1:8080",
        connect: connect_llama_server,
    },
];

impl Purpose {
    /// Returns the protocols for this purpose.
    pub fn protocols(self) -> impl Iterator<Item = &'static Protocol> {
        PROTOCOLS.iter().filter(move |protocol| protocol.purpose == self)
    }

    /// Returns how the addresses of its protocols are written, as a list.
    pub fn forms(self) -> String {
        self.protocols().map(|protocol| format!("{}{}", protocol.name, protocol.argument)).collect::<Vec<_>>().join(", ")
    }

    /// Returns why a protocol for the other purpose does not fit this one.
    pub(super) fn misfit(self) -> String {
        let why = match self {
            Self::Write => "it only says how probable a given text is, and writes no answer",
            Self::Score => "it writes answers, and returns no log-probabilities of a given text",
        };
        format!("{why}; use one of {}", self.forms())
    }
}

impl Question {
    /// Returns what the question needs: a protocol that writes, or one that scores.
    pub fn purpose(&self) -> Purpose {
        if self.continuation.is_some() { Purpose::Score } else { Purpose::Write }
    }

    /// Refuses a question that a provider for `purpose` cannot answer.
    pub(super) fn check(&self, purpose: Purpose) -> Result<(), Rejection> {
        match &self.continuation {
            _ if self.purpose() != purpose => Err(Rejection::Invalid(format!("wrong protocol: {}", self.purpose().misfit()))),
            Some(text) if text.is_empty() => Err(Rejection::Invalid("an empty text has no probability".to_owned())),
            Some(_) if !self.system.is_empty() => {
                Err(Rejection::Invalid("a question about a given text has no system prompt".to_owned()))
            }
            _ => Ok(()),
        }
    }
}
