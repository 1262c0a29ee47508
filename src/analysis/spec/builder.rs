//! Methods that build a [`StudySpec`] step by step. Other fields are public.

use super::{PolicySpec, StudySpec, SweepSpec};
use crate::engine::policy::Policy;

impl StudySpec {
    /// Describes a study of one policy: a preset by name, a file by path, or a [`Policy`].
    pub fn new(policy: impl Into<PolicySpec>) -> Self {
        Self::default().policy(policy)
    }

    /// Adds a policy.
    #[must_use]
    pub fn policy(mut self, policy: impl Into<PolicySpec>) -> Self {
        self.policies.push(policy.into());
        self
    }

    /// Changes one setting of the policies that have the layer: `micro.keep_recent_results=5`.
    #[must_use]
    pub fn set(mut self, setting: &str) -> Self {
        self.set.push(setting.to_owned());
        self
    }

    /// Sets the policy that `tokens.saved` and `cost.ratio` compare with.
    #[must_use]
    pub fn baseline(self, name: &str) -> Self {
        Self { baseline: name.to_owned(), ..self }
    }

    /// Sets the context window in tokens.
    #[must_use]
    pub fn window(self, tokens: u64) -> Self {
        Self { window: Some(tokens), ..self }
    }

    /// Adds a summarizer: `extract`, `stub:TOKENS`, `openai:MODEL`.
    #[must_use]
    pub fn summarizer(mut self, written: &str) -> Self {
        self.summarizer.push(written.to_owned());
        self
    }

    /// Detects findings.
    #[must_use]
    pub fn findings(self) -> Self {
        Self { findings: true, ..self }
    }

    /// Makes it a sweep.
    #[must_use]
    pub fn sweep(self, sweep: SweepSpec) -> Self {
        Self { sweep: Some(sweep), ..self }
    }
}

impl SweepSpec {
    /// Creates the description from all of its fields.
    pub fn new(
        sample: Option<usize>,
        conditions: Vec<String>,
        [minimize, maximize]: [Vec<String>; 2],
        holdout: Option<f64>,
    ) -> Self {
        Self { sample, conditions, minimize, maximize, holdout }
    }
}

impl From<&str> for PolicySpec {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

impl From<String> for PolicySpec {
    fn from(name: String) -> Self {
        Self::Named(name)
    }
}

impl From<Policy> for PolicySpec {
    fn from(policy: Policy) -> Self {
        Self::Inline(policy.to_toml().parse().expect("a policy is written as a TOML table"))
    }
}
