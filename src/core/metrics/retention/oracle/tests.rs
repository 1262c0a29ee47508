use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::*;

#[cfg(feature = "exact")]
mod upper;

/// Whether upper bounds are found.
const SOLVES: bool = cfg!(feature = "exact");

fn item(size: f64, from: u32) -> Item {
    Item { size, from }
}

fn demand(call: u32, weight: f64, items: &[u32]) -> Demand {
    Demand { call, weight, items: items.to_vec() }
}

fn total(instance: &Instance) -> f64 {
    instance.demands.iter().map(|demand| demand.weight).sum()
}

/// A user message of 20 tokens names a path; then a file of 600 tokens, a test run of 900 and another file of 500 follow. The
/// edit of call 4 needs the path, an identifier and a line of the file, call 5 the name of a test, call 6 a rule of the
/// message.
fn session(budget: u64) -> Instance {
    Instance {
        items: [item(20.0, 0), item(600.0, 1), item(900.0, 2), item(500.0, 3)].into(),
        demands: [
            demand(4, 1.0, &[0, 1]),
            demand(4, 2.0, &[1]),
            demand(4, 3.0, &[1]),
            demand(5, 2.0, &[2]),
            demand(6, 2.0, &[0]),
        ]
        .into(),
        budgets: vec![budget; 7],
    }
}

#[test]
fn greedy_holds_message_and_file_but_not_the_test_run() {
    let instance = session(620);
    let held = greedy(&instance);
    assert_eq!(held.hits, [true, true, true, false, true]);
    assert_eq!(held.weight(&instance), 8.0);
    assert_eq!(held.tokens, [20.0, 620.0, 620.0, 620.0, 620.0, 620.0, 620.0]);
    if SOLVES {
        let bound = upper(&instance).expect("a bound");
        assert!((bound - 8.0).abs() < 1e-6, "the test run does not fit in parts either: {bound}");
    }
}

#[test]
fn greedy_holds_all_within_budget_and_nothing_without() {
    let instance = session(2020);
    assert_eq!((greedy(&instance).weight(&instance), upper(&instance)), (10.0, SOLVES.then_some(10.0)));
    let instance = session(0);
    assert_eq!((greedy(&instance).weight(&instance), upper(&instance)), (0.0, SOLVES.then_some(0.0)));
    assert_eq!(greedy(&Instance::default()), Selection::default());
    assert_eq!(upper(&Instance::default()), SOLVES.then_some(0.0));
}

/// As after a summary: the budget falls and grows again.
#[test]
fn dropped_items_do_not_return() {
    let both = vec![demand(0, 1.0, &[0]), demand(2, 1.0, &[0])];
    let instance = Instance { items: [item(10.0, 0)].into(), demands: both.into(), budgets: vec![10, 9, 10] };
    let held = greedy(&instance);
    assert_eq!((held.hits, held.tokens), (vec![true, false], vec![10.0, 0.0, 0.0]));
    assert_eq!(upper(&instance), SOLVES.then_some(1.0));
}

#[test]
fn item_larger_than_the_budget_displaces_nothing() {
    let uses = vec![demand(1, 100.0, &[1]), demand(1, 1.0, &[0])];
    let mut instance = Instance { items: [item(10.0, 0), item(21.0, 1)].into(), demands: uses.into(), budgets: vec![20; 2] };
    assert_eq!(greedy(&instance).hits, [false, true]);
    assert_eq!(upper(&instance), SOLVES.then_some(1.0));
    instance.budgets = vec![20, 30];
    assert_eq!(greedy(&instance).hits, [true, false]);
}

#[test]
fn bound_by_lines_is_at_least_the_bound_by_blocks() {
    let items: Vec<Item> = (0..7).map(|_| item(620.0 / 7.0, 0)).collect();
    let demands = (0..7).map(|line| demand(1, 1.0, &[line])).collect();
    let instance = Instance { items: items.into(), demands, budgets: vec![620; 2] };
    assert_eq!(greedy(&instance).weight(&instance), 7.0);
}

#[derive(Debug, Clone, Copy)]
struct Scale {
    calls: u32,
    items: usize,
    uses: usize,
    size: u32,
    budgets: (u64, u64),
}

const SMALL: Scale = Scale { calls: 5, items: 5, uses: 7, size: 9, budgets: (0, 20) };
const LARGE: Scale = Scale { calls: 24, items: 40, uses: 70, size: 400, budgets: (1_000, 2_000) };

fn instance(scale: Scale) -> impl Strategy<Value = Instance> {
    let items = prop::collection::vec((0..=scale.size, 0..scale.calls), 1..=scale.items);
    let sources = prop::collection::btree_set(0..scale.items as u32, 1..=3);
    let uses = prop::collection::vec((0..scale.calls, 1..=5_u32, sources), 0..=scale.uses);
    let budgets = prop::collection::vec(scale.budgets.0..=scale.budgets.1, scale.calls as usize);
    (items, uses, budgets).prop_map(|(items, uses, budgets)| {
        let items: Vec<Item> = items.into_iter().map(|(size, from)| item(f64::from(size), from)).collect();
        let there = |item: &u32, call| items.get(*item as usize).is_some_and(|item| item.from <= call);
        let mut demands: Vec<Demand> = uses
            .into_iter()
            .map(|(call, weight, sources)| Demand {
                call,
                weight: f64::from(weight),
                items: sources.into_iter().filter(|item| there(item, call)).collect(),
            })
            .collect();
        demands.sort_by_key(|demand| demand.call);
        Instance { items: items.into(), demands: demands.into(), budgets }
    })
}

/// Deterministic: checks the same instances in every run.
fn check<S: Strategy>(cases: u32, made: S, law: impl Fn(&S::Value)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&made, |made| {
        law(&made);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Holds each item from its first call until the call at which it is gone.
fn held_until(instance: &Instance, gone: &[u32]) -> Selection {
    let there = |item: usize, call: u32| instance.items[item].from <= call && call < gone[item];
    let hit = |demand: &Demand| demand.items.iter().any(|&item| there(item as usize, demand.call));
    let sizes = |call| instance.items.iter().enumerate().filter(move |(item, _)| there(*item, call)).map(|(_, item)| item.size);
    Selection {
        hits: instance.demands.iter().map(hit).collect(),
        tokens: (0..instance.budgets.len() as u32).map(|call| sizes(call).sum()).collect(),
    }
}

fn fits(instance: &Instance, held: &Selection) -> bool {
    held.tokens.iter().zip(&instance.budgets).all(|(&tokens, &budget)| tokens <= budget as f64 + ROUNDING)
}

/// Tries all selections and returns the best weight.
fn optimum(instance: &Instance, gone: &mut Vec<u32>) -> f64 {
    let Some(next) = instance.items.get(gone.len()) else {
        let held = held_until(instance, gone);
        return if fits(instance, &held) { held.weight(instance) } else { 0.0 };
    };
    let mut best = 0.0_f64;
    for call in next.from..=instance.budgets.len() as u32 {
        gone.push(call);
        best = best.max(optimum(instance, gone));
        gone.pop();
    }
    best
}

#[test]
fn optimum_is_between_greedy_and_upper_bound() {
    check(150, instance(SMALL), |instance| {
        let best = optimum(instance, &mut Vec::new());
        let held = greedy(instance);
        assert!(held.weight(instance) <= best, "{} > {best}", held.weight(instance));
        assert!(fits(instance, &held), "{:?}", held.tokens);
        if SOLVES {
            let bound = upper(instance).expect("a bound");
            assert!(best <= bound + 1e-9 && bound <= total(instance), "{best} > {bound}");
        }
    });
}

/// Computes the value of every item again before each removal. Returns the call from which each item is gone.
fn slow_greedy(instance: &Instance) -> Vec<u32> {
    let calls = instance.budgets.len() as u32;
    let fits_alone = |item: &Item, call: u32| item.size <= instance.budgets[call as usize] as f64 + ROUNDING;
    let serves = |index: u32, demand: &Demand| {
        let item = &instance.items[index as usize];
        demand.items.contains(&index) && (item.from..=demand.call).all(|call| fits_alone(item, call))
    };
    let mut gone: Vec<u32> = vec![calls; instance.items.len()];
    for call in 0..calls {
        for (index, item) in instance.items.iter().enumerate() {
            if item.from == call && !fits_alone(item, call) {
                gone[index] = call;
            }
        }
        loop {
            let held: Vec<u32> = (0..gone.len() as u32)
                .filter(|&index| instance.items[index as usize].from <= call && call < gone[index as usize])
                .collect();
            let tokens: f64 = held.iter().map(|&index| instance.items[index as usize].size).sum();
            if tokens <= instance.budgets[call as usize] as f64 + ROUNDING {
                break;
            }
            let density = |index: u32| {
                let alone = |demand: &&Demand| {
                    let others = demand.items.iter().filter(|&&other| other != index && serves(other, demand));
                    demand.call >= call && serves(index, demand) && others.into_iter().all(|&other| gone[other as usize] <= call)
                };
                let weight: f64 = instance.demands.iter().filter(alone).map(|demand| demand.weight).sum();
                weight / instance.items[index as usize].size.max(f64::MIN_POSITIVE)
            };
            let first = held.into_iter().min_by(|&a, &b| {
                let (one, other) = (&instance.items[a as usize], &instance.items[b as usize]);
                let cheaper = density(a).total_cmp(&density(b)).then(other.size.total_cmp(&one.size));
                cheaper.then((one.from, a).cmp(&(other.from, b)))
            });
            gone[first.expect("something is held") as usize] = call;
        }
    }
    gone
}

#[test]
fn lazy_greedy_equals_full_revaluation() {
    let same = |instance: &Instance| assert_eq!(greedy(instance), held_until(instance, &slow_greedy(instance)));
    check(60, instance(LARGE), same);
    check(400, instance(SMALL), same);
}
