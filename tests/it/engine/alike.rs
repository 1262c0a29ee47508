//! A replay that is taken for another policy is the one that the other policy would have made.

use std::cell::Cell;

use recompact::engine::alike::{Decisions, PolicyForms};
use recompact::engine::journal::Journal;
use recompact::engine::layer::{Layer, LayerSpec};
use recompact::engine::policy::Policy;
use recompact::engine::size::{Limits, Size};
use recompact::transcript::conversation::Thinking;

use crate::support::generate;
use crate::support::trial::{Trial, trials};

/// Returns a policy with one layer changed at a time: another threshold, the settings that its kind has by default, or one number.
fn variants(policy: &Policy) -> Vec<Policy> {
    let with = |at: usize, change: &dyn Fn(&mut Layer)| {
        let mut policy = policy.clone();
        policy.name = format!("{} {at}", policy.name);
        change(&mut policy.layers[at]);
        policy
    };
    let mut variants = vec![policy.clone()];
    for (at, layer) in policy.layers.iter().enumerate() {
        let by_default = layer.spec.with_defaults();
        variants.push(with(at, &|layer| layer.spec = by_default.clone()));
        variants.extend(with_other_numbers(&layer.spec).into_iter().map(|spec| with(at, &|layer| layer.spec = spec.clone())));
        for limit in [0, 90, 200, 500, 1_500, 100_000].into_iter().filter(|_| layer.threshold.is_some()) {
            variants.push(with(at, &|layer| layer.threshold = Some(Size::from(limit))));
        }
    }
    variants
}

/// Returns the settings of a layer with one number changed at a time, if they still make sense.
fn with_other_numbers(spec: &LayerSpec) -> Vec<LayerSpec> {
    let settings = serde_json::to_value(spec).expect("settings are plain data");
    let fields = settings.as_object().expect("a table");
    let numbers = fields.iter().filter_map(|(name, value)| Some((name, value.as_u64()?)));
    let others =
        numbers.flat_map(|(name, number)| [number.saturating_sub(1), number + 1, 10 * number].map(|other| (name, other)));
    let changed = others.filter_map(|(name, other)| {
        let mut settings = fields.clone();
        settings.insert(name.clone(), other.into());
        serde_json::from_value::<LayerSpec>(settings.into()).ok()
    });
    changed.filter(|other| other != spec && other.check().is_ok()).collect()
}

/// Returns the journal without the limits with which thresholds were compared.
fn without_limits(mut journal: Journal) -> String {
    journal.threshold_checks.iter_mut().for_each(|check| check.limit = 0);
    format!("{journal:?}")
}

/// Checks, for all pairs of some variants of every trial, that two policies that are said to be alike make the same replay.
#[test]
fn policies_that_are_alike_have_one_replay() {
    let families: Vec<(Vec<Policy>, Vec<Trial>)> = trials()
        .into_iter()
        .map(|trial| {
            let policies = variants(&trial.policy);
            let with = |policy: &Policy| Trial { window: trial.window, ..Trial::new(policy.clone()) };
            (policies.clone(), policies.iter().map(with).collect())
        })
        .collect();
    let (by_threshold, by_settings, by_asking) = (Cell::new(0), Cell::new(0), Cell::new(0));
    generate::check_in_turn(12, &families, |steps, families| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for (policies, trials) in families {
            let forms = PolicyForms::new(policies);
            let replay = |(at, trial): (usize, &Trial)| {
                let mut others = forms.other_settings(at, |_| true);
                let journal = trial.replay(&conversation, &mut others);
                let without_asking = Decisions::new(&policies[at], &journal, forms.other_settings(at, |_| false));
                (Decisions::new(&policies[at], &journal, others), without_asking, without_limits(journal))
            };
            let replays: Vec<_> = trials.iter().enumerate().map(replay).collect();
            for (one, other) in (0..policies.len()).flat_map(|one| (0..policies.len()).map(move |other| (one, other))) {
                let limits = Limits { window: trials[other].window, max_output: policies[other].max_output };
                let (decisions, without_asking, journal) = &replays[one];
                if !forms.are_alike(one, decisions, other, limits) {
                    continue;
                }
                let [left, right] = [one, other].map(|at| &policies[at]);
                assert!(*journal == replays[other].2, "{} is taken for {}", left.to_toml(), right.to_toml());
                let layers = || left.layers.iter().zip(&right.layers);
                by_threshold.set(by_threshold.get() + usize::from(layers().any(|(a, b)| a.threshold != b.threshold)));
                by_settings.set(by_settings.get() + usize::from(layers().any(|(a, b)| a.spec != b.spec)));
                by_asking.set(by_asking.get() + usize::from(!forms.are_alike(one, without_asking, other, limits)));
            }
        }
    });
    let counts = [by_threshold, by_settings, by_asking].map(|count| count.get());
    assert!(counts.into_iter().all(|count| count > 1_000), "{counts:?}");
}
