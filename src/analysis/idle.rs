//! Programs that changed nothing in a whole run: most often they read messages in another form than the one that they got.

use std::fmt;

use toml::{Table, Value};

use crate::metrics::metric::tokens::CALLS;
use crate::results::saved::{PolicyText, Results};
use crate::util::text::with_commas;

/// A policy whose program changed no request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleProgram {
    pub policy: String,
    /// Number of requests that it was asked about.
    pub calls: u64,
    /// Form of the messages, if its policy names one.
    pub shape: Option<String>,
}

/// Returns the programs that were asked and changed nothing, in the order of the policies.
pub fn idle_programs(results: &Results) -> Vec<IdleProgram> {
    let idle = |policy: &PolicyText| {
        let layer = program_layer(policy)?;
        let mut work = results.layers.iter().filter(|row| *row.policy == *policy.name).peekable();
        work.peek()?;
        if work.any(|row| row.fired > 0) {
            return None;
        }
        let rows = results.rows.iter().filter(|row| *row.policy == *policy.name && row.bound_of.is_none());
        let calls = rows.filter_map(|row| row.values.get(CALLS)).sum::<f64>() as u64;
        let shape = layer.get("shape").and_then(Value::as_str).map(str::to_owned);
        (calls > 0).then(|| IdleProgram { policy: policy.name.clone(), calls, shape })
    };
    results.policies.iter().filter_map(idle).collect()
}

/// Returns the layer that asks a program; it is the only one of its policy.
fn program_layer(policy: &PolicyText) -> Option<Value> {
    let policy: Table = toml::from_str(&policy.toml).ok()?;
    let layer = policy.get("layer")?.as_array()?.first()?;
    (layer.get("do").and_then(Value::as_str) == Some("program")).then(|| layer.clone())
}

/// ` changed nothing in 1,875 calls: is shape = "anthropic" the form of messages that its program reads?`
impl fmt::Display for IdleProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = with_commas(&self.calls.to_string());
        let calls = if self.calls == 1 { "1 call".to_owned() } else { format!("{calls} calls") };
        let shape = match &self.shape {
            Some(shape) => format!("is shape = \"{shape}\" the form of messages that its program reads?"),
            None => "is the shape right that its program names in its first answer?".to_owned(),
        };
        write!(f, " changed nothing in {calls}: {shape}")
    }
}
