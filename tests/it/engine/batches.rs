//! Checks clearing in batches: each batch frees at least its minimum, and no batch waits that would.

use std::cell::Cell;

use recompact::engine::context::Context;
use recompact::engine::journal::{EventKind, Request};
use recompact::engine::layer::clear::Clear;
use recompact::engine::layer::{Layer, LayerSpec, Scope};
use recompact::engine::policy::Policy;
use recompact::engine::replay::{NoObserver, Observer};
use recompact::engine::size::Size;
use recompact::tokens::meter::{Meter, SizeUnit};
use recompact::transcript::conversation::{BlockKind, Role, Thinking};

use crate::support::trial::{Trial, preset_with, trials};
use crate::support::{effort, generate};

/// Returns the clearing policies with this minimum to free, in place of what else says when they clear.
fn clearing_at_least(least: &str) -> Vec<Trial> {
    let least: Size = least.parse().expect("a size");
    let mut trials = trials();
    trials.retain_mut(|trial| {
        let clears = trial.policy.layers.iter_mut().filter_map(|layer| match &mut layer.spec {
            LayerSpec::Clear(clear) => Some(clear),
            _ => None,
        });
        let set = |clear: &mut Clear| (clear.clear_at_least, clear.down_to, clear.stride) = (least.clone(), None, 1);
        clears.map(set).count() > 0
    });
    trials
}

fn clears(layer: &Layer) -> bool {
    matches!(layer.spec, LayerSpec::Clear(_))
}

#[test]
fn clear_at_least_accepts_human_numbers() {
    let policies = ["10k", "10_000", "10000", "10KB"]
        .map(|least| preset_with("observation-mask", &[&format!("mask.clear_at_least={least}")]));
    assert!(policies.iter().all(|policy| *policy == policies[0]));
    assert!(policies[0].to_toml().contains("clear_at_least = 10000\n"));
}

#[test]
fn every_clear_batch_frees_its_minimum() {
    for (least, counter) in [(1, "chars"), (150, "chars"), (40, "ceil(chars/4)")] {
        let counter: Meter = counter.parse().expect("a meter");
        let mut trials = clearing_at_least(&least.to_string());
        trials.iter_mut().for_each(|trial| trial.counter = counter);
        let fired = Cell::new(0);
        generate::check_in_turn(8, &trials, |steps, trials| {
            let conversation = generate::conversation(steps, Thinking::Turn);
            for trial in trials {
                for event in trial.replay(&conversation, &mut NoObserver).events {
                    let EventKind::Fired { before, after, .. } = event.kind else { continue };
                    if clears(&trial.policy.layers[event.layer]) {
                        assert!(before >= after + least, "{}: {before} -> {after}", trial.policy.name);
                        fired.set(fired.get() + 1);
                    }
                }
            }
        });
        assert!(fired.get() > effort::of(12, 50), "{}", fired.get());
    }
}

/// Checks, by counting every result, that the results that wait at a request free less than the minimum.
#[test]
fn clear_batch_fires_as_soon_as_its_minimum_is_reached() {
    struct Waits {
        keep: usize,
        min_chars: u64,
        least: u64,
        cleared: usize,
    }
    impl Observer for Waits {
        fn request(&mut self, request: &Request, context: &Context) {
            let users = context.messages().iter().filter(|sent| sent.role == Role::User);
            let blocks = users.flat_map(|sent| &sent.blocks).map(|id| context.block(*id));
            let texts =
                blocks.filter(|block| matches!(block.kind, BlockKind::ToolResult(_))).map(|block| block.text().into_owned());
            let sizes: Vec<_> = texts.map(|text| (text == "[cleared]", SizeUnit::Chars.text(&text))).collect();
            let old = &sizes[..sizes.len().saturating_sub(self.keep)];
            self.cleared += old.iter().filter(|(is_cleared, _)| *is_cleared).count();
            let waiting = old.iter().filter(|(is_cleared, chars)| !is_cleared && *chars > self.min_chars);
            let frees: i64 = waiting.map(|(_, chars)| *chars as i64 - 9).sum();
            assert!(frees < self.least as i64, "call {}: {frees} wait", request.call);
        }
    }
    let cleared = Cell::new(0);
    for (keep, min_chars, least) in [(0, 0, 1), (1, 0, 100), (2, 50, 300), (0, 0, 1_000)] {
        let toml = format!(
            r#"
            name = "batches"
            [[layer]]
            id = "batch"
            do = "clear"
            keep_recent = {keep}
            min_chars = {min_chars}
            clear_at_least = {least}
            placeholder = "[cleared]"
            [[layer]]
            id = "window"
            do = "drop"
            when = {{ calls = 5 }}
            max_messages = 9
            "#
        );
        let trial = Trial::new(Policy::parse(&toml, "batches", &[]).expect("a policy"));
        generate::check(15, |steps| {
            let mut waits = Waits { keep, min_chars, least, cleared: 0 };
            trial.replay(&generate::conversation(steps, Thinking::Turn), &mut waits);
            cleared.set(cleared.get() + waits.cleared);
        });
    }
    assert!(cleared.get() > effort::of(250, 1_000), "{}", cleared.get());
}

/// A minimum of nothing also uses the state of batches, and every result is still cleared when it is due.
#[test]
fn clear_batches_without_minimum_equal_plain_clearing() {
    let [one_by_one, batches] = ["0", "0 * window"].map(clearing_at_least);
    generate::check(2, |steps| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for (one_by_one, batches) in one_by_one.iter().zip(&batches) {
            if one_by_one.policy.layers.iter().any(|layer| clears(layer) && layer.for_request_only()) {
                continue;
            }
            let journal_text = |trial: &Trial| format!("{:?}", trial.replay(&conversation, &mut NoObserver));
            assert!(journal_text(one_by_one) == journal_text(batches), "{}", batches.policy.name);
        }
    });
}

/// Whether the harness or the server makes an edit changes its cost, not the requests.
#[test]
fn server_scope_clears_what_state_scope_clears() {
    let of_scope = |scope: Scope| {
        let mut trials = trials();
        trials.retain(|trial| trial.policy.layers.iter().any(|layer| clears(layer) && !layer.for_request_only()));
        for layer in trials.iter_mut().flat_map(|trial| &mut trial.policy.layers) {
            if clears(layer) && !layer.for_request_only() {
                layer.scope = scope;
            }
        }
        trials
    };
    let [state, server] = [Scope::State, Scope::Server].map(of_scope);
    generate::check(2, |steps| {
        let conversation = generate::conversation(steps, Thinking::Turn);
        for (state, server) in state.iter().zip(&server) {
            let journal_text = |trial: &Trial| format!("{:?}", trial.replay(&conversation, &mut NoObserver));
            assert!(journal_text(state) == journal_text(server), "{}", state.policy.name);
        }
    });
}
