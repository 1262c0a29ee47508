//! The providers that requests are passed on to.

use std::time::Duration;

use crate::llm::client::{BaseUrl, PROTOCOLS};

/// How long a connection to a provider may take; its answer may take as long as the client waits.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A provider whose clients can be recorded.
pub struct TargetKind {
    /// Name of its protocol, and the beginning of the paths of its clients.
    pub name: &'static str,
    /// Environment variables in which its clients look for a base URL.
    pub variables: &'static [&'static str],
}

/// Every provider. The variables are those of the SDKs of Anthropic and OpenAI, and what older programs and LiteLLM read.
pub const TARGETS: &[TargetKind] = &[
    TargetKind { name: "anthropic", variables: &["ANTHROPIC_BASE_URL"] },
    TargetKind { name: "openai", variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"] },
];

/// Why a provider is refused.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("`{0}` is no provider that can be recorded; there are {names}", names = names())]
    Unknown(String),
    #[error("{0}: {1}")]
    BadUrl(String, String),
    #[error("{0}: a base URL with a query cannot be passed on to: a client's own query would be lost")]
    Query(String),
}

fn names() -> String {
    TARGETS.iter().map(|target| target.name).collect::<Vec<_>>().join(" and ")
}

impl TargetKind {
    /// Finds a provider by its name.
    pub fn find(name: &str) -> Result<&'static Self, TargetError> {
        TARGETS.iter().find(|target| target.name == name).ok_or_else(|| TargetError::Unknown(name.to_owned()))
    }

    /// The base URL of the provider itself, as its clients know it.
    pub fn base_url(&self) -> &'static str {
        PROTOCOLS.iter().find(|protocol| protocol.name == self.name).map_or("", |protocol| protocol.base_url)
    }
}

/// A provider, with the connections to it.
pub(super) struct Target {
    pub name: &'static str,
    base: BaseUrl,
    pub agent: ureq::Agent,
}

impl Target {
    pub fn new(name: &str, url: &str) -> Result<Self, TargetError> {
        let kind = TargetKind::find(name)?;
        let base = BaseUrl::parse(url).map_err(|what| TargetError::BadUrl(name.to_owned(), what))?;
        if base.has_query() {
            return Err(TargetError::Query(name.to_owned()));
        }
        let config = ureq::Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .http_status_as_error(false)
            // The client follows a redirect, or does not.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent("")
            .accept("");
        let config = if base.is_loopback() { config.proxy(None) } else { config };
        Ok(Self { name: kind.name, base, agent: config.build().new_agent() })
    }

    /// Returns path and query below the base URL, of a request that a client of this provider sent.
    pub fn path(&self, target: &str) -> Option<String> {
        let rest = target.strip_prefix('/')?.strip_prefix(self.name)?;
        (rest.is_empty() || rest.starts_with(['/', '?'])).then(|| rest.to_owned())
    }

    pub fn url(&self, path: &str) -> String {
        self.base.join(path)
    }

    /// The provider's address as messages show it, without secrets.
    pub fn shown(&self) -> String {
        self.base.shown("")
    }
}
