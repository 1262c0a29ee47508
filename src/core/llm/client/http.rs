//! JSON requests over HTTP, and the classification of their failures.

mod status;

use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderValue, Response};

use super::base_url::BaseUrl;
use super::secrets::Secrets;
use super::too_long::is_too_long;
use super::{Connection, Rejection};

use status::error_message;

/// The URL of a provider, with the headers and secrets to send.
pub(super) struct Endpoint {
    agent: ureq::Agent,
    url: String,
    /// The URL as messages show it, without secrets.
    shown: String,
    /// Names and values, including the key.
    headers: Vec<(&'static str, String)>,
    pub secrets: Secrets,
    key: KeyInfo,
    timeout: Duration,
}

/// What error messages say about the API key.
struct KeyInfo {
    /// The environment variable for the key.
    variable: String,
    is_sent: bool,
}

/// Longer answers are rejected.
const MAX_ANSWER_BYTES: u64 = 32 << 20;
/// How much of an error response is read.
const MAX_ERROR_BYTES: u64 = 64 << 10;
/// How much of an answer that is not JSON is shown: enough to see what it is.
const EXCERPT_CHARS: usize = 80;

impl Endpoint {
    /// Creates an endpoint for `POST` requests to a path below a base URL. Never sends a key over an unencrypted connection to
    /// another machine: anyone on the network could read it, and the server could be an impostor.
    pub(super) fn new(
        connection: &Connection,
        base: &BaseUrl,
        path: &str,
        header: impl Fn(&str) -> (&'static str, String),
    ) -> Result<Self, String> {
        let Connection { key, key_variable, timeout, .. } = connection;
        if !base.is_private() && (key.is_some() || base.holds_key()) {
            let source = if base.holds_key() { "its URL".to_owned() } else { key_variable.clone() };
            return Err(format!(
                "{}: the key in {source} would go there over plain http, where everyone on the network can read it; use https, \
                 or send no key: --key-env with a variable that is not set",
                base.shown("")
            ));
        }
        if connection.params.get("stream").is_some_and(|stream| stream != false) {
            return Err("--param stream: streaming is not supported; leave it out".to_owned());
        }
        let key_header = key.as_deref().map(&header);
        if key_header.iter().any(|(_, value)| HeaderValue::from_str(value).is_err()) {
            return Err(format!("{key_variable}: not a valid key: it has characters that are not allowed in an HTTP header"));
        }
        let secrets = base.secrets().into_iter().chain(key.clone());
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(*timeout))
            .http_status_as_error(false)
            // A redirect must not forward the key to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Calls are long, so the server may close an idle connection. Using it again would look like a lost call.
            .max_idle_connections(0);
        let config = if base.is_loopback() { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            url: base.join(path),
            shown: base.shown(path),
            headers: key_header.into_iter().collect(),
            secrets: Secrets::new(secrets),
            key: KeyInfo { variable: key_variable.clone(), is_sent: key.is_some() },
            timeout: *timeout,
        })
    }

    /// Adds a header.
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends a request and returns the bytes of a successful answer. The error does not contain the key.
    pub fn post(&self, body: &Value) -> Result<Vec<u8>, Rejection> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let body = serde_json::to_vec(body).expect("a JSON value can be written");
        let response = request.send(&body[..]).map_err(|error| self.failure(error))?;
        match response.status().as_u16() {
            200..300 => self.read_body(response),
            _ => Err(self.rejection(response)),
        }
    }

    /// Returns a message that begins with the URL of this server.
    pub fn message(&self, what: &str) -> String {
        format!("{}: {what}", self.shown)
    }

    fn read_body(&self, mut response: Response<ureq::Body>) -> Result<Vec<u8>, Rejection> {
        let mut bytes = Vec::new();
        let body = response.body_mut().with_config().limit(u64::MAX).reader();
        body.take(MAX_ANSWER_BYTES + 1).read_to_end(&mut bytes).map_err(|error| self.failure(error.into()))?;
        if bytes.len() as u64 > MAX_ANSWER_BYTES {
            return Err(Rejection::Declined(self.message(&format!("its answer is longer than {} MiB", MAX_ANSWER_BYTES >> 20))));
        }
        Ok(bytes)
    }

    /// Parses the bytes of an answer. Neither the JSON nor the error contains the key.
    pub fn json(&self, bytes: &[u8]) -> Result<Value, Rejection> {
        let text = String::from_utf8_lossy(bytes);
        let mut value: Value = serde_json::from_str(&text).map_err(|error| {
            let excerpt: String = self.secrets.one_line(&text).chars().take(EXCERPT_CHARS).collect();
            Rejection::Lost(self.message(&format!("its answer is not JSON ({error}); it begins: `{excerpt}`")))
        })?;
        self.secrets.hide_in(&mut value);
        Ok(value)
    }

    /// Returns an error if an answer reports one: routers report failures of the servers behind them with status 200.
    pub fn check(&self, answer: &Value) -> Result<(), Rejection> {
        if answer["error"].is_null() {
            return Ok(());
        }
        let error = self.secrets.one_line(&error_message(answer));
        let lost = || Rejection::Lost(self.message(&format!("it failed: {error}")));
        Err(if is_too_long(&error) { Rejection::TooLong(error) } else { lost() })
    }

    fn rejection(&self, mut response: Response<ureq::Body>) -> Rejection {
        let mut bytes = Vec::new();
        let body = response.body_mut().with_config().limit(u64::MAX).reader();
        // Ignore a read error: the status alone is enough for a message.
        let _ = body.take(MAX_ERROR_BYTES).read_to_end(&mut bytes);
        status::rejection(self, response.status().as_u16(), response.headers(), &String::from_utf8_lossy(&bytes))
    }

    /// Classifies an error that left no answer or only the beginning of one.
    fn failure(&self, error: ureq::Error) -> Rejection {
        use ureq::Timeout::{Connect, Resolve};
        let unreachable = |why: &str| Rejection::Unreachable(self.message(&format!("the server is not reachable: {why}")));
        let lost = |why: &str| Rejection::Lost(self.message(why));
        match error {
            ureq::Error::HostNotFound => unreachable("unknown host name"),
            ureq::Error::ConnectionFailed => unreachable("no connection"),
            ureq::Error::ConnectProxyFailed(why) => {
                unreachable(&format!("the proxy does not connect: {}", self.secrets.one_line(&why)))
            }
            ureq::Error::Timeout(Connect | Resolve) => unreachable("it does not answer"),
            ureq::Error::Timeout(_) => lost(&format!("no answer within {} s; --timeout allows more", self.timeout.as_secs_f64())),
            ureq::Error::Io(error) if is_unreachable(&error) => unreachable(&self.secrets.one_line(&error.to_string())),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => self.untrusted(&error.to_string()),
            // ureq reports TLS errors this way.
            ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => self.untrusted(&error.to_string()),
            ureq::Error::Io(error) => lost(&format!("the connection ended early: {}", self.secrets.one_line(&error.to_string()))),
            error => lost(&self.secrets.one_line(&error.to_string())),
        }
    }

    fn untrusted(&self, why: &str) -> Rejection {
        Rejection::ProviderFailed(self.message(&format!("no secure connection: {}", self.secrets.one_line(why))))
    }
}

fn is_unreachable(error: &io::Error) -> bool {
    use ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
    matches!(error.kind(), AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkDown | NetworkUnreachable)
}
