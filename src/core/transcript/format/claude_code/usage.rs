//! The usage of a response as Claude Code writes it: that of Anthropic's API.

use serde::Deserialize;

use crate::transcript::conversation::{Iteration, Service, Usage};
use crate::transcript::format::odd_field;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireUsage {
    // The API always gives these two, so null is odd; the others may be null.
    input_tokens: u64,
    output_tokens: u64,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    #[serde(deserialize_with = "odd_field::object")]
    cache_creation: Option<CacheCreation>,
    #[serde(deserialize_with = "odd_field::object")]
    output_tokens_details: Option<OutputDetails>,
    speed: Option<String>,
    inference_geo: Option<String>,
    service_tier: Option<String>,
    #[serde(deserialize_with = "odd_field::object")]
    server_tool_use: Option<ServerToolUse>,
    /// The model calls for this request. The numbers above are sums over those of type `message`.
    iterations: Option<Vec<WireUsage>>,
    /// In a list of iterations: the type, and the model if it is not that of the message.
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCreation {
    ephemeral_5m_input_tokens: Option<u64>,
    ephemeral_1h_input_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ServerToolUse {
    web_search_requests: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    thinking_tokens: Option<u64>,
}

/// Values of `speed`, `inference_geo` and `service_tier` that change no price.
const USUAL: [&str; 5] = ["", "standard", "default", "not_available", "global"];

impl WireUsage {
    /// Returns how the call was served.
    pub fn service(&self) -> Service {
        let recorded = [&self.speed, &self.inference_geo, &self.service_tier].into_iter().flatten();
        let modes = recorded.filter(|mode| !USUAL.contains(&mode.as_str())).map(|mode| match mode.as_str() {
            "batch" => "batches".to_owned(),
            mode => mode.to_owned(),
        });
        let searches = self.server_tool_use.as_ref().and_then(|tools| tools.web_search_requests);
        Service { modes: modes.collect(), web_searches: searches.unwrap_or(0) }
    }

    /// Returns the usage of the last iteration of the model, and all other iterations.
    pub fn by_iteration(&self) -> (Usage, Vec<Iteration>) {
        let iterations = self.iterations.as_deref().unwrap_or_default();
        let is_own = |iteration: &WireUsage| iteration.kind.as_deref() == Some("message");
        let last = iterations.iter().rposition(is_own).filter(|_| iterations.len() > 1);
        let Some(last) = last else { return (self.usage(), Vec::new()) };
        let others = iterations.iter().enumerate().filter(|(index, _)| *index != last);
        let other = |(_, other): (usize, &Self)| Iteration { model: other.model.clone(), usage: other.usage() };
        (iterations[last].usage(), others.map(other).collect())
    }

    fn usage(&self) -> Usage {
        let total = self.cache_creation_input_tokens.unwrap_or(0);
        let split = self.cache_creation.as_ref();
        let (short, long) = split
            .map(|c| (c.ephemeral_5m_input_tokens.unwrap_or(0), c.ephemeral_1h_input_tokens.unwrap_or(0)))
            .filter(|split| *split != (0, 0))
            .unwrap_or((total, 0));
        Usage {
            input: self.input_tokens,
            cache_read: self.cache_read_input_tokens.unwrap_or(0),
            cache_write_5m: short,
            cache_write_1h: long,
            output: self.output_tokens,
            reasoning: self.output_tokens_details.as_ref().and_then(|details| details.thinking_tokens),
        }
    }
}
