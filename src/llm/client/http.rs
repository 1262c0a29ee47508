//! One JSON request over HTTP, and what becomes of it where there is no good answer.

mod status;

use std::io::{self, ErrorKind, Read};
use std::time::Duration;

use serde_json::Value;
use ureq::http::{HeaderValue, Response};

use super::base_url::BaseUrl;
use super::secrets::Secrets;
use super::{Connection, Rejection};

pub(super) use status::error;

/// Where a provider listens, and who we are to it.
pub(super) struct Endpoint {
    agent: ureq::Agent,
    url: String,
    /// The same for people.
    shown: String,
    /// Names and values; among them the key.
    headers: Vec<(&'static str, String)>,
    pub secrets: Secrets,
    key: Key,
    timeout: Duration,
}

/// What is said of the key where one is wanted.
struct Key {
    variable: String,
    is_sent: bool,
}

/// An answer longer than this is none.
const MOST_BYTES: u64 = 32 << 20;
/// Of what a server says with a failure, so much is read.
const MOST_BYTES_OF_ERROR: u64 = 64 << 10;
/// How long an answer that is no JSON is shown: enough to see what it is.
const BEGINNING: usize = 80;

impl Endpoint {
    /// `POST`s to a path below a base URL. A key is sent to nobody who could be somebody else.
    pub fn new(
        connection: &Connection,
        base: &BaseUrl,
        path: &str,
        header: impl Fn(&str) -> (&'static str, String),
    ) -> Result<Self, String> {
        let Connection { key, key_variable, timeout, .. } = connection;
        if !base.is_private() && (key.is_some() || base.holds_key()) {
            let whose = if base.holds_key() { "its URL".to_owned() } else { key_variable.clone() };
            return Err(format!(
                "{}: the key in {whose} would go there over plain http, for everyone on the way to read; use https, or name by \
                 --key-env a variable that is not set",
                base.shown("")
            ));
        }
        if connection.params.get("stream").is_some_and(|stream| stream != false) {
            return Err("--param stream: answers are read whole; leave it out".to_owned());
        }
        let key_header = key.as_deref().map(&header);
        if key_header.iter().any(|(_, value)| HeaderValue::from_str(value).is_err()) {
            return Err(format!(
                "{key_variable}: what it holds cannot be a key: there are characters in it that no request may have"
            ));
        }
        let secrets = base.secrets().into_iter().chain(key.clone());
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(*timeout))
            .http_status_as_error(false)
            // A key does not go where it was not sent.
            .max_redirects(0)
            .max_redirects_will_error(false)
            // Calls are long: a connection that the server closed since the last one would look like a call that was lost.
            .max_idle_connections(0);
        let config = if base.is_loopback() { config.proxy(None) } else { config };
        Ok(Self {
            agent: config.build().new_agent(),
            url: base.join(path),
            shown: base.shown(path),
            headers: key_header.into_iter().collect(),
            secrets: Secrets::new(secrets),
            key: Key { variable: key_variable.clone(), is_sent: key.is_some() },
            timeout: *timeout,
        })
    }

    /// The same, with one more header.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// Sends a request; gives the JSON of a good answer. Whatever else comes back, the key is not in it.
    pub fn post(&self, body: &Value) -> Result<Value, Rejection> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let body = serde_json::to_vec(body).unwrap_or_default();
        let response = request.send(&body[..]).map_err(|error| self.failed(error))?;
        match response.status().as_u16() {
            200..300 => self.json(response),
            _ => Err(self.refused(response)),
        }
    }

    /// A message about this server.
    pub fn says(&self, what: &str) -> String {
        format!("{}: {what}", self.shown)
    }

    fn json(&self, mut response: Response<ureq::Body>) -> Result<Value, Rejection> {
        let mut bytes = Vec::new();
        let body = response.body_mut().with_config().limit(u64::MAX).reader();
        body.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| self.failed(error.into()))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(Rejection::Declined(self.says(&format!("its answer is longer than {} MiB", MOST_BYTES >> 20))));
        }
        let text = String::from_utf8_lossy(&bytes);
        let mut value: Value = serde_json::from_str(&text).map_err(|error| {
            let begins: String = self.secrets.told(&text).chars().take(BEGINNING).collect();
            Rejection::Lost(self.says(&format!("its answer is no JSON ({error}); it begins: `{begins}`")))
        })?;
        self.secrets.hide_in(&mut value);
        Ok(value)
    }

    fn refused(&self, mut response: Response<ureq::Body>) -> Rejection {
        let mut bytes = Vec::new();
        let body = response.body_mut().with_config().limit(u64::MAX).reader();
        // The status alone tells enough, should the rest not come.
        let _ = body.take(MOST_BYTES_OF_ERROR).read_to_end(&mut bytes);
        status::refusal(self, response.status().as_u16(), response.headers(), &String::from_utf8_lossy(&bytes))
    }

    /// Why there is no answer at all, or only the beginning of one.
    fn failed(&self, error: ureq::Error) -> Rejection {
        use ureq::Timeout::{Connect, Resolve};
        let unreachable = |why: &str| Rejection::Unreachable(self.says(&format!("nobody can be reached there: {why}")));
        let lost = |why: &str| Rejection::Lost(self.says(why));
        match error {
            ureq::Error::HostNotFound => unreachable("its name is not known"),
            ureq::Error::ConnectionFailed => unreachable("no connection"),
            ureq::Error::ConnectProxyFailed(why) => {
                unreachable(&format!("the proxy does not connect: {}", self.secrets.told(&why)))
            }
            ureq::Error::Timeout(Connect | Resolve) => unreachable("it does not answer"),
            ureq::Error::Timeout(_) => {
                lost(&format!("no answer within {} s; --timeout gives it longer", self.timeout.as_secs_f64()))
            }
            ureq::Error::Io(error) if is_unreachable(&error) => unreachable(&self.secrets.told(&error.to_string())),
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) | ureq::Error::Pem(_) => self.untrusted(&error.to_string()),
            // So ureq hands on what its TLS finds wrong.
            ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => self.untrusted(&error.to_string()),
            ureq::Error::Io(error) => lost(&format!("the connection ended early: {}", self.secrets.told(&error.to_string()))),
            error => lost(&self.secrets.told(&error.to_string())),
        }
    }

    fn untrusted(&self, why: &str) -> Rejection {
        Rejection::Gone(self.says(&format!("no secure connection: {}", self.secrets.told(why))))
    }
}

fn is_unreachable(error: &io::Error) -> bool {
    use ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkDown, NetworkUnreachable};
    matches!(error.kind(), AddrNotAvailable | ConnectionRefused | HostUnreachable | NetworkDown | NetworkUnreachable)
}
