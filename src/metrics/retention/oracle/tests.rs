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

fn wanted(call: u32, weight: f64, items: &[u32]) -> Wanted {
    Wanted { call, weight, items: items.to_vec() }
}

fn total(problem: &Problem) -> f64 {
    problem.wanted.iter().map(|wanted| wanted.weight).sum()
}

/// A user's message of 20 tokens names a path, a file of 600 is read, a test run of 900 and another file of 500 follow. The
/// edit of call 4 needs the path, an identifier and a line of the file, call 5 a test's name, call 6 a rule of the message.
fn session(budget: u64) -> Problem {
    Problem {
        items: [item(20.0, 0), item(600.0, 1), item(900.0, 2), item(500.0, 3)].into(),
        wanted: [wanted(4, 1.0, &[0, 1]), wanted(4, 2.0, &[1]), wanted(4, 3.0, &[1]), wanted(5, 2.0, &[2]), wanted(6, 2.0, &[0])]
            .into(),
        budgets: vec![budget; 7],
    }
}

#[test]
fn the_message_and_the_file_fit_and_the_test_run_does_not() {
    let problem = session(620);
    let held = greedy(&problem);
    assert_eq!(held.hits, [true, true, true, false, true]);
    assert_eq!(held.weight(&problem), 8.0);
    assert_eq!(held.tokens, [20.0, 620.0, 620.0, 620.0, 620.0, 620.0, 620.0]);
    if SOLVES {
        let bound = upper(&problem).expect("a bound");
        assert!((bound - 8.0).abs() < 1e-6, "the test run does not fit in parts either: {bound}");
    }
}

#[test]
fn all_is_held_where_all_fits_and_nothing_without_a_budget() {
    let problem = session(2020);
    assert_eq!((greedy(&problem).weight(&problem), upper(&problem)), (10.0, SOLVES.then_some(10.0)));
    let problem = session(0);
    assert_eq!((greedy(&problem).weight(&problem), upper(&problem)), (0.0, SOLVES.then_some(0.0)));
    assert_eq!(greedy(&Problem::default()), Held::default());
    assert_eq!(upper(&Problem::default()), SOLVES.then_some(0.0));
}

/// As after a summary: the budget falls and grows again.
#[test]
fn what_was_let_go_does_not_come_back() {
    let both = vec![wanted(0, 1.0, &[0]), wanted(2, 1.0, &[0])];
    let problem = Problem { items: [item(10.0, 0)].into(), wanted: both.into(), budgets: vec![10, 9, 10] };
    let held = greedy(&problem);
    assert_eq!((held.hits, held.tokens), (vec![true, false], vec![10.0, 0.0, 0.0]));
    assert_eq!(upper(&problem), SOLVES.then_some(1.0));
}

#[test]
fn a_huge_item_drives_nothing_out_however_much_it_is_worth() {
    let uses = vec![wanted(1, 100.0, &[1]), wanted(1, 1.0, &[0])];
    let mut problem = Problem { items: [item(10.0, 0), item(21.0, 1)].into(), wanted: uses.into(), budgets: vec![20; 2] };
    assert_eq!(greedy(&problem).hits, [false, true]);
    assert_eq!(upper(&problem), SOLVES.then_some(1.0));
    problem.budgets = vec![20, 30];
    assert_eq!(greedy(&problem).hits, [true, false]);
}

#[test]
fn the_lines_of_a_block_fit_where_the_block_fits() {
    let items: Vec<Item> = (0..7).map(|_| item(620.0 / 7.0, 0)).collect();
    let wanted = (0..7).map(|line| wanted(1, 1.0, &[line])).collect();
    let problem = Problem { items: items.into(), wanted, budgets: vec![620; 2] };
    assert_eq!(greedy(&problem).weight(&problem), 7.0);
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

fn problem(scale: Scale) -> impl Strategy<Value = Problem> {
    let items = prop::collection::vec((0..=scale.size, 0..scale.calls), 1..=scale.items);
    let sources = prop::collection::btree_set(0..scale.items as u32, 1..=3);
    let uses = prop::collection::vec((0..scale.calls, 1..=5_u32, sources), 0..=scale.uses);
    let budgets = prop::collection::vec(scale.budgets.0..=scale.budgets.1, scale.calls as usize);
    (items, uses, budgets).prop_map(|(items, uses, budgets)| {
        let items: Vec<Item> = items.into_iter().map(|(size, from)| item(f64::from(size), from)).collect();
        let there = |item: &u32, call| items.get(*item as usize).is_some_and(|item| item.from <= call);
        let mut wanted: Vec<Wanted> = uses
            .into_iter()
            .map(|(call, weight, sources)| Wanted {
                call,
                weight: f64::from(weight),
                items: sources.into_iter().filter(|item| there(item, call)).collect(),
            })
            .collect();
        wanted.sort_by_key(|wanted| wanted.call);
        Problem { items: items.into(), wanted: wanted.into(), budgets }
    })
}

/// The same problems in every run.
fn check<S: Strategy>(cases: u32, made: S, law: impl Fn(&S::Value)) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let outcome = runner.run(&made, |made| {
        law(&made);
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}

/// What is held if each item is held from its first call until the call at which it is gone.
fn held_until(problem: &Problem, gone: &[u32]) -> Held {
    let there = |item: usize, call: u32| problem.items[item].from <= call && call < gone[item];
    let hit = |wanted: &Wanted| wanted.items.iter().any(|&item| there(item as usize, wanted.call));
    let sizes = |call| problem.items.iter().enumerate().filter(move |(item, _)| there(*item, call)).map(|(_, item)| item.size);
    Held {
        hits: problem.wanted.iter().map(hit).collect(),
        tokens: (0..problem.budgets.len() as u32).map(|call| sizes(call).sum()).collect(),
    }
}

fn fits(problem: &Problem, held: &Held) -> bool {
    held.tokens.iter().zip(&problem.budgets).all(|(&tokens, &budget)| tokens <= budget as f64 + ROUNDING)
}

/// The best of all choices.
fn optimum(problem: &Problem, gone: &mut Vec<u32>) -> f64 {
    let Some(next) = problem.items.get(gone.len()) else {
        let held = held_until(problem, gone);
        return if fits(problem, &held) { held.weight(problem) } else { 0.0 };
    };
    let mut best = 0.0_f64;
    for call in next.from..=problem.budgets.len() as u32 {
        gone.push(call);
        best = best.max(optimum(problem, gone));
        gone.pop();
    }
    best
}

#[test]
fn the_optimum_is_between_the_bounds() {
    check(150, problem(SMALL), |problem| {
        let best = optimum(problem, &mut Vec::new());
        let held = greedy(problem);
        assert!(held.weight(problem) <= best, "{} > {best}", held.weight(problem));
        assert!(fits(problem, &held), "{:?}", held.tokens);
        if SOLVES {
            let bound = upper(problem).expect("a bound");
            assert!(best <= bound + 1e-9 && bound <= total(problem), "{best} > {bound}");
        }
    });
}

/// Values every item anew before each one that goes. Returns the call from which each is gone.
fn slow_greedy(problem: &Problem) -> Vec<u32> {
    let calls = problem.budgets.len() as u32;
    let fits_alone = |item: &Item, call: u32| item.size <= problem.budgets[call as usize] as f64 + ROUNDING;
    let serves = |index: u32, wanted: &Wanted| {
        let item = &problem.items[index as usize];
        wanted.items.contains(&index) && (item.from..=wanted.call).all(|call| fits_alone(item, call))
    };
    let mut gone: Vec<u32> = vec![calls; problem.items.len()];
    for call in 0..calls {
        for (index, item) in problem.items.iter().enumerate() {
            if item.from == call && !fits_alone(item, call) {
                gone[index] = call;
            }
        }
        loop {
            let held: Vec<u32> = (0..gone.len() as u32)
                .filter(|&index| problem.items[index as usize].from <= call && call < gone[index as usize])
                .collect();
            let tokens: f64 = held.iter().map(|&index| problem.items[index as usize].size).sum();
            if tokens <= problem.budgets[call as usize] as f64 + ROUNDING {
                break;
            }
            let density = |index: u32| {
                let alone = |wanted: &&Wanted| {
                    let others = wanted.items.iter().filter(|&&other| other != index && serves(other, wanted));
                    wanted.call >= call && serves(index, wanted) && others.into_iter().all(|&other| gone[other as usize] <= call)
                };
                let weight: f64 = problem.wanted.iter().filter(alone).map(|wanted| wanted.weight).sum();
                weight / problem.items[index as usize].size.max(f64::MIN_POSITIVE)
            };
            let first = held.into_iter().min_by(|&a, &b| {
                let (one, other) = (&problem.items[a as usize], &problem.items[b as usize]);
                let cheaper = density(a).total_cmp(&density(b)).then(other.size.total_cmp(&one.size));
                cheaper.then((one.from, a).cmp(&(other.from, b)))
            });
            gone[first.expect("something is held") as usize] = call;
        }
    }
    gone
}

#[test]
fn greedy_chooses_as_if_it_valued_everything_anew() {
    let same = |problem: &Problem| assert_eq!(greedy(problem), held_until(problem, &slow_greedy(problem)));
    check(60, problem(LARGE), same);
    check(400, problem(SMALL), same);
}
