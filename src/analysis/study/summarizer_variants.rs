//! Summarizers of a study: one for all policies, or several that are compared like policies.

use crate::engine::policy::Policy;
use crate::engine::summarizer::Summarizer;

/// A summarizer and its name in reports.
pub struct NamedSummarizer {
    /// As given on the command line: `extract`, `openai:MODEL`.
    pub name: String,
    /// Number of the sample, from 1, if the same summarizer is asked several times; `None` if it is asked once.
    pub replicate: Option<u32>,
    pub summarizer: Box<dyn Summarizer>,
}

impl NamedSummarizer {
    /// Names a summarizer as reports show it.
    pub fn new(name: &str, summarizer: impl Summarizer + 'static) -> Self {
        Self { name: name.to_owned(), replicate: None, summarizer: Box::new(summarizer) }
    }

    /// Returns whether both have the same name in reports.
    pub fn is_called_as(&self, other: &Self) -> bool {
        (&self.name, self.replicate) == (&other.name, other.replicate)
    }

    /// Returns the name of a policy with this summarizer.
    fn variant(&self, policy: &str) -> String {
        format!("{policy}{}", self.suffix())
    }

    /// Returns the original name of the policy if `variant` is a policy with this summarizer.
    pub fn policy_of<'p>(&self, variant: &'p str) -> Option<&'p str> {
        variant.strip_suffix(&self.suffix())
    }

    /// Returns the suffix of the names of policies with this summarizer.
    fn suffix(&self) -> String {
        match self.replicate {
            Some(replicate) => format!(" · {} #{replicate}", self.name),
            None => format!(" · {}", self.name),
        }
    }
}

/// Returns every policy that summarises once per summarizer, and the others unchanged. With one summarizer no name changes.
pub fn expand_variants(policies: Vec<Policy>, summarizers: &[NamedSummarizer]) -> Vec<Policy> {
    let variants = |policy: Policy| {
        if summarizers.len() < 2 || !policy.summarizes() {
            return vec![policy];
        }
        let variant = |(index, summarizer): (usize, &NamedSummarizer)| {
            let name = summarizer.variant(&policy.name);
            Policy { name, summarizer: index, ..policy.clone() }
        };
        summarizers.iter().enumerate().map(variant).collect()
    };
    policies.into_iter().flat_map(variants).collect()
}
