//! Policies that act alike on a conversation: whatever they differ in changes nothing that the replay of one of them did.
//!
//! Two things of a layer can differ and change nothing: its `threshold`, if the context is on the same side of both at every
//! comparison, and its own settings, if the layer proposed the same with both whenever it acted. So one replay is enough for many
//! configurations of a sweep: on a session that stays below all thresholds, for all of them. What is not the same are the limits in
//! [`Journal::threshold_checks`].

mod other_settings;

pub use other_settings::OtherSettings;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::engine::journal::Journal;
use crate::engine::layer::{Layer, LayerSpec, When};
use crate::engine::policy::Policy;
use crate::engine::size::{Limits, Size};

/// Policies, compared setting by setting once for all conversations.
pub struct PolicyForms<'a> {
    policies: &'a [Policy],
    forms: Vec<Form>,
}

/// A policy in numbers. Equal numbers are equal settings.
struct Form {
    /// All that a replay may use though no layer acts. Policies that differ in it are not alike.
    frame: usize,
    /// The settings of each layer that only its own acts use.
    own: Vec<usize>,
}

/// What the replay of one policy used of its layers.
#[derive(Debug)]
pub struct Decisions(Vec<LayerDecisions>);

#[derive(Debug, Default)]
struct LayerDecisions {
    acted: bool,
    /// The other settings with which it proposed the same.
    same: Vec<usize>,
    /// The largest size that was compared and not over the threshold.
    largest_under: Option<u64>,
    /// The smallest size that was over it.
    smallest_over: Option<u64>,
}

impl<'a> PolicyForms<'a> {
    /// Compares policies; from here on each is its index.
    pub fn new(policies: &'a [Policy]) -> Self {
        let mut numbers = HashMap::new();
        let mut number = |text: String| {
            let next = numbers.len();
            *numbers.entry(text).or_insert(next)
        };
        let mut form = |policy: &Policy| {
            let own = policy.layers.iter().map(|layer| number(to_json(&layer.spec))).collect();
            Form { frame: number(format!("{} {}", policy.summarizer, to_json(&frame(policy)))), own }
        };
        let forms = policies.iter().map(&mut form).collect();
        Self { policies, forms }
    }

    /// Returns the settings that wanted policies have for the layers of this one, to be asked during its replay.
    pub fn other_settings(&self, policy: usize, is_wanted: impl Fn(usize) -> bool) -> OtherSettings<'a> {
        let Form { frame, own } = &self.forms[policy];
        let is_other = |other: &usize| self.forms[*other].frame == *frame && is_wanted(*other);
        let others: Vec<usize> = (0..self.policies.len()).filter(is_other).collect();
        let others_of = |(at, layer): (usize, &Layer)| -> BTreeMap<usize, &LayerSpec> {
            let asked = if can_be_asked(layer) { &others[..] } else { &[] };
            let settings = asked.iter().map(|other| (self.forms[*other].own[at], &self.policies[*other].layers[at].spec));
            settings.filter(|(number, _)| *number != own[at]).collect()
        };
        OtherSettings::new(self.policies[policy].layers.iter().enumerate().map(others_of))
    }

    /// Returns whether the replay of `other` would be that of `replayed`, whose decisions these are, on the same conversation; `limits` are
    /// those of `other`.
    pub fn are_alike(&self, replayed: usize, decisions: &Decisions, other: usize, limits: Limits) -> bool {
        let [one, another] = [replayed, other].map(|policy| &self.forms[policy]);
        let own = one.own.iter().zip(&another.own);
        let mut layers = own.zip(self.policies[other].layers.iter().zip(&decisions.0));
        one.frame == another.frame
            && layers.all(|((own, others), (layer, used))| {
                (own == others || !used.acted || used.same.contains(others)) && used.would_hold(layer, limits)
            })
    }
}

impl Decisions {
    /// Reads from a journal what its policy decided. `others` were asked during the replay.
    pub fn new(policy: &Policy, journal: &Journal, others: OtherSettings) -> Self {
        let mut layers: Vec<LayerDecisions> = policy.layers.iter().map(|_| LayerDecisions::default()).collect();
        let mut times_under = vec![0; layers.len()];
        for check in journal.threshold_checks.iter().filter(|check| check.due) {
            let used = &mut layers[check.layer];
            if policy.layers[check.layer].is_over(check.size, check.limit) {
                used.smallest_over = used.smallest_over.into_iter().chain([check.size]).min();
            } else {
                used.largest_under = used.largest_under.max(Some(check.size));
                times_under[check.layer] += 1;
            }
        }
        for ((used, times_due), times_under) in layers.iter_mut().zip(&journal.times_due).zip(times_under) {
            used.acted = *times_due > times_under;
        }
        for (used, same) in layers.iter_mut().zip(others.same()) {
            used.same = same;
        }
        Self(layers)
    }
}

impl LayerDecisions {
    /// Returns whether a threshold decides as that of the replay did.
    fn would_hold(&self, layer: &Layer, limits: Limits) -> bool {
        let Some(threshold) = &layer.threshold else { return true };
        let limit = threshold.resolve(limits);
        self.largest_under.is_none_or(|size| !layer.is_over(size, limit))
            && self.smallest_over.is_none_or(|size| layer.is_over(size, limit))
    }
}

/// Returns the policy without what two policies that are alike may differ in: all that only describes it, thresholds, and settings that a
/// layer uses when it acts.
fn frame(policy: &Policy) -> Policy {
    let layers = policy.layers.iter().map(|layer| Layer {
        threshold: layer.threshold.as_ref().map(|_| Size::from(0)),
        spec: if may_differ(layer) { layer.spec.with_defaults() } else { layer.spec.clone() },
        ..layer.clone()
    });
    Policy {
        name: String::new(),
        about: String::new(),
        aliases: Vec::new(),
        version: None,
        source: None,
        date: None,
        evidence: None,
        decided_by: None,
        quirks: Vec::new(),
        sweep: BTreeMap::new(),
        harness: BTreeMap::new(),
        tuned: None,
        layers: layers.collect(),
        ..policy.clone()
    }
}

/// Returns whether nothing but the acts of a layer uses its own settings. The copy of a request is made as its layers say, an overflow
/// layer says how often it is asked, and an archive where others write it.
fn may_differ(layer: &Layer) -> bool {
    !layer.for_request_only() && !matches!(layer.when, When::Overflow | When::Before(_) | When::After(_))
}

/// Returns whether a layer can be asked beside another one with other settings: a question to a model or to a program costs money and time.
fn can_be_asked(layer: &Layer) -> bool {
    let traits = layer.spec.traits();
    may_differ(layer) && traits.summarizer.is_none() && traits.program.is_none()
}

fn to_json(settings: &impl Serialize) -> String {
    serde_json::to_string(settings).expect("a policy holds only tables, texts, numbers and lists")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::journal::ThresholdCheck;

    const LIMITS: Limits = Limits { window: 100, max_output: 10 };

    /// Clears at a threshold, and summarises when the model asks for it.
    fn policy(threshold: &str, keep: u64, strict: bool, summary: &str) -> Policy {
        let toml = format!(
            r#"
            name = "at {threshold}"
            meter = "chars"
            [[layer]]
            id = "clear"
            do = "clear"
            threshold = "{threshold}"
            strict = {strict}
            keep_recent_results = {keep}
            [[layer]]
            id = "compact"
            do = "summarize"
            when = {{ tool = "compact" }}
            messages.template = "{summary} {{summary}}"
            "#
        );
        Policy::parse(&toml, "mine", &[]).expect("a policy")
    }

    /// The journal of comparisons of the first layer with the limit 20; the second layer was never due.
    fn compared(sizes: &[u64]) -> Journal {
        let check = |size: &u64| ThresholdCheck { call: 0, layer: 0, size: *size, limit: 20, due: true, after: None };
        Journal { threshold_checks: sizes.iter().map(check).collect(), times_due: vec![sizes.len(), 0], ..Journal::default() }
    }

    /// Returns, for each of the others, whether the replay of the first policy, with these sizes, is also its own.
    fn alike<const N: usize>(sizes: &[u64], first: Policy, others: [Policy; N]) -> [bool; N] {
        let policies: Vec<_> = [first].into_iter().chain(others).collect();
        let forms = PolicyForms::new(&policies);
        let decisions = Decisions::new(&policies[0], &compared(sizes), forms.other_settings(0, |_| false));
        std::array::from_fn(|at| forms.are_alike(0, &decisions, at + 1, LIMITS))
    }

    #[test]
    fn thresholds_are_alike_between_the_sizes_that_were_compared() {
        let at = |threshold: &str| policy(threshold, 3, true, "");
        // 10 and 15 are not over 20, and 30 is. So 15 to 29 decide the same.
        let others = ["14", "15", "29", "30", "0.29 * window"].map(at);
        assert_eq!(alike(&[10, 15, 30], at("20"), others), [false, true, true, false, true]);
        // At its threshold, a layer that is not strict acts.
        let at = |threshold: &str| policy(threshold, 3, false, "");
        assert_eq!(alike(&[10, 15, 30], at("20"), ["15", "16", "30", "31"].map(at)), [false, true, true, false]);
    }

    #[test]
    fn settings_of_a_layer_that_never_acted_do_not_matter() {
        let first = || policy("20", 3, true, "");
        let others = || [policy("20", 5, true, ""), policy("20", 3, true, "Summary:"), policy("20", 3, false, "")];
        assert_eq!(alike(&[10, 20], first(), others()), [true, true, false]);
        assert_eq!(alike(&[10, 21], first(), others()), [false, true, false]);
    }
}
