//! Who writes the summaries: one for all policies, or several that are compared as policies are.

use crate::engine::policy::Policy;
use crate::engine::summarizer::Summarizer;

/// A summarizer, and what reports call it.
pub struct NamedSummarizer {
    /// As it was asked for: `extract`, `openai:MODEL`.
    pub name: String,
    /// Which of several that were asked the same, from 1; `None`: it was asked once.
    pub replicate: Option<u32>,
    pub summarizer: Box<dyn Summarizer>,
}

impl NamedSummarizer {
    pub fn new(name: &str, summarizer: impl Summarizer + 'static) -> Self {
        Self { name: name.to_owned(), replicate: None, summarizer: Box::new(summarizer) }
    }

    /// Whether reports would call both alike.
    pub fn is_called_as(&self, other: &Self) -> bool {
        (&self.name, self.replicate) == (&other.name, other.replicate)
    }

    /// What a policy is called of which it writes the summaries.
    fn variant(&self, policy: &str) -> String {
        format!("{policy}{}", self.suffix())
    }

    /// What the policy is called of which it writes the summaries, as it was asked for.
    pub fn policy_of<'p>(&self, variant: &'p str) -> Option<&'p str> {
        variant.strip_suffix(&self.suffix())
    }

    /// What stands behind the name of a policy of which it writes the summaries.
    fn suffix(&self) -> String {
        match self.replicate {
            Some(replicate) => format!(" · {} #{replicate}", self.name),
            None => format!(" · {}", self.name),
        }
    }
}

/// Every policy that summarises, once for each writer; the others as they are. With one writer nothing gets another name.
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
