//! One JSON request over HTTP, and what its answer or its failure means.

use std::time::Duration;

use serde_json::Value;

use super::Refusal;

/// Where a provider listens, and who we are to it.
pub struct Endpoint {
    agent: ureq::Agent,
    url: String,
    /// Names and values; among them the key, which nothing here ever prints.
    headers: Vec<(&'static str, String)>,
}

/// An answer longer than this is none.
const MOST_BYTES: u64 = 32 << 20;

impl Endpoint {
    /// `timeout` is for the whole of one attempt.
    pub fn new(url: String, headers: Vec<(&'static str, String)>, timeout: Duration) -> Self {
        let config = ureq::Agent::config_builder().timeout_global(Some(timeout)).http_status_as_error(false).max_redirects(0);
        Self { agent: config.build().new_agent(), url, headers }
    }

    /// Sends a request; gives the JSON of a good answer.
    pub(super) fn post(&self, body: &Value) -> Result<Value, Refusal> {
        let again = |what: String| Refusal::Again { what: format!("{}: {what}", self.url), after: None };
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let mut response =
            request.send(&serde_json::to_vec(body).unwrap_or_default()).map_err(|error| again(error.to_string()))?;
        let status = response.status().as_u16();
        let text =
            response.body_mut().with_config().limit(MOST_BYTES).read_to_string().map_err(|error| again(error.to_string()))?;
        match status {
            200..300 => serde_json::from_str(&text).map_err(|error| again(format!("its answer is no JSON: {error}"))),
            408 | 409 | 429 | 500.. => Err(again(format!("status {status}"))),
            _ => Err(Refusal::Never(format!("{}: status {status}: {text}", self.url))),
        }
    }
}
