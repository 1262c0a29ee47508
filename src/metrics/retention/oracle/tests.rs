use good_lp::{Expression, ProblemVariables, Solution, SolverModel, variable};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::upper::{Prices, Program, halves};
use super::*;

fn item(size: f64, from: u32) -> Item {
    Item { size, from }
}

fn wanted(call: u32, weight: f64, items: &[u32]) -> Demand {
    Demand { call, weight, items: items.to_vec() }
}

fn total(problem: &Instance) -> f64 {
    problem.wanted.iter().map(|wanted| wanted.weight).sum()
}

/// A user's message of 20 tokens names a path, a file of 600 is read, a test run of 900 and another file of 500 follow. The
/// edit of call 4 needs the path, an identifier and a line of the file, call 5 a test's name, call 6 a rule of the message.
fn session(budget: u64) -> Instance {
    Instance {
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
    let bound = upper(&problem).expect("a bound");
    assert!((bound - 8.0).abs() < 1e-6, "the test run does not fit in parts either: {bound}");
}

/// From call 3 on the test run would fit: its 900 tokens and the message's 20, or the file's 600 and 320 of its own.
#[test]
fn the_upper_bound_keeps_parts() {
    let problem = session(920);
    assert_eq!(greedy(&problem).weight(&problem), 8.0);
    let bound = upper(&problem).expect("a bound");
    assert!((bound - (8.0 + 2.0 * 300.0 / 900.0)).abs() < 1e-4, "{bound}");
}

#[test]
fn all_is_held_where_all_fits_and_nothing_without_a_budget() {
    let problem = session(2020);
    assert_eq!((greedy(&problem).weight(&problem), upper(&problem)), (10.0, Some(10.0)));
    let problem = session(0);
    assert_eq!((greedy(&problem).weight(&problem), upper(&problem)), (0.0, Some(0.0)));
    assert_eq!(greedy(&Instance::default()), Selection::default());
    assert_eq!(upper(&Instance::default()), Some(0.0));
}

/// As after a summary: the budget falls and grows again.
#[test]
fn what_was_let_go_does_not_come_back() {
    let both = vec![wanted(0, 1.0, &[0]), wanted(2, 1.0, &[0])];
    let problem = Instance { items: [item(10.0, 0)].into(), wanted: both.into(), budgets: vec![10, 9, 10] };
    let held = greedy(&problem);
    assert_eq!((held.hits, held.tokens), (vec![true, false], vec![10.0, 0.0, 0.0]));
    assert_eq!(upper(&problem), Some(1.0));
}

#[test]
fn a_huge_item_drives_nothing_out_however_much_it_is_worth() {
    let uses = vec![wanted(1, 100.0, &[1]), wanted(1, 1.0, &[0])];
    let mut problem = Instance { items: [item(10.0, 0), item(21.0, 1)].into(), wanted: uses.into(), budgets: vec![20; 2] };
    assert_eq!(greedy(&problem).hits, [false, true]);
    assert_eq!(upper(&problem), Some(1.0));
    problem.budgets = vec![20, 30];
    assert_eq!(greedy(&problem).hits, [true, false]);
}

#[test]
fn the_lines_of_a_block_fit_where_the_block_fits() {
    let items: Vec<Item> = (0..7).map(|_| item(620.0 / 7.0, 0)).collect();
    let wanted = (0..7).map(|line| wanted(1, 1.0, &[line])).collect();
    let problem = Instance { items: items.into(), wanted, budgets: vec![620; 2] };
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

fn problem(scale: Scale) -> impl Strategy<Value = Instance> {
    let items = prop::collection::vec((0..=scale.size, 0..scale.calls), 1..=scale.items);
    let sources = prop::collection::btree_set(0..scale.items as u32, 1..=3);
    let uses = prop::collection::vec((0..scale.calls, 1..=5_u32, sources), 0..=scale.uses);
    let budgets = prop::collection::vec(scale.budgets.0..=scale.budgets.1, scale.calls as usize);
    (items, uses, budgets).prop_map(|(items, uses, budgets)| {
        let items: Vec<Item> = items.into_iter().map(|(size, from)| item(f64::from(size), from)).collect();
        let there = |item: &u32, call| items.get(*item as usize).is_some_and(|item| item.from <= call);
        let mut wanted: Vec<Demand> = uses
            .into_iter()
            .map(|(call, weight, sources)| Demand {
                call,
                weight: f64::from(weight),
                items: sources.into_iter().filter(|item| there(item, call)).collect(),
            })
            .collect();
        wanted.sort_by_key(|wanted| wanted.call);
        Instance { items: items.into(), wanted: wanted.into(), budgets }
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
fn held_until(problem: &Instance, gone: &[u32]) -> Selection {
    let there = |item: usize, call: u32| problem.items[item].from <= call && call < gone[item];
    let hit = |wanted: &Demand| wanted.items.iter().any(|&item| there(item as usize, wanted.call));
    let sizes = |call| problem.items.iter().enumerate().filter(move |(item, _)| there(*item, call)).map(|(_, item)| item.size);
    Selection {
        hits: problem.wanted.iter().map(hit).collect(),
        tokens: (0..problem.budgets.len() as u32).map(|call| sizes(call).sum()).collect(),
    }
}

fn fits(problem: &Instance, held: &Selection) -> bool {
    held.tokens.iter().zip(&problem.budgets).all(|(&tokens, &budget)| tokens <= budget as f64 + ROUNDING)
}

/// The best of all choices.
fn optimum(problem: &Instance, gone: &mut Vec<u32>) -> f64 {
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
        let bound = upper(problem).expect("a bound");
        assert!(best <= bound + 1e-9 && bound <= total(problem), "{best} > {bound}");
    });
}

/// Values every item anew before each one that goes. Returns the call from which each is gone.
fn slow_greedy(problem: &Instance) -> Vec<u32> {
    let calls = problem.budgets.len() as u32;
    let fits_alone = |item: &Item, call: u32| item.size <= problem.budgets[call as usize] as f64 + ROUNDING;
    let serves = |index: u32, wanted: &Demand| {
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
                let alone = |wanted: &&Demand| {
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
    let same = |problem: &Instance| assert_eq!(greedy(problem), held_until(problem, &slow_greedy(problem)));
    check(60, problem(LARGE), same);
    check(400, problem(SMALL), same);
}

#[test]
fn any_prices_prove_a_bound() {
    let prices = (prop::collection::vec(0..4_u32, SMALL.calls as usize), prop::collection::vec(0..=5_u32, SMALL.uses));
    check(150, (problem(SMALL), prices), |(problem, (tokens, uses))| {
        let program = Program::new(problem);
        let tokens = program.rows.iter().zip(tokens).map(|(_, &price)| f64::from(price) / 4.0).collect();
        let uses = uses.iter().map(|&price| f64::from(price)).collect();
        let bound = program.bound(&Prices { tokens, uses });
        assert!(optimum(problem, &mut Vec::new()) <= bound + 1e-9, "{bound}");
    });
}

/// The program as it is first written down: a share of each item at each call. Those too large for a budget have none.
fn slow_upper(problem: &Instance) -> f64 {
    let calls = problem.budgets.len();
    let budget = |call: usize| problem.budgets[call] as f64 + ROUNDING;
    let mut variables = ProblemVariables::new();
    let mut rows = Vec::new();
    let shares: Vec<_> = problem.items.iter().map(|_| variables.add_vector(variable().min(0.0).max(1.0), calls)).collect();
    for (item, shares) in problem.items.iter().zip(&shares) {
        rows.extend((1..calls).filter(|&call| call > item.from as usize).map(|call| (shares[call] - shares[call - 1]).leq(0.0)));
        let small = (0..calls).filter(|&call| item.size > budget(call));
        rows.extend(small.map(|call| Expression::from(shares[call]).leq(0.0)));
    }
    for call in 0..calls {
        let there = problem.items.iter().zip(&shares).filter(|(item, _)| item.from as usize <= call);
        rows.push(there.map(|(item, shares)| item.size * shares[call]).sum::<Expression>().leq(budget(call)));
    }
    let mut weight = Expression::default();
    for wanted in &*problem.wanted {
        let served = variables.add(variable().min(0.0).max(1.0));
        weight.add_mul(wanted.weight, served);
        let sources = wanted.items.iter().map(|&item| shares[item as usize][wanted.call as usize]);
        rows.push((served - sources.sum::<Expression>()).leq(0.0));
    }
    let solution = variables.maximise(&weight).using(good_lp::clarabel).with_all(rows).solve();
    solution.expect("nothing is always a solution").eval(&weight)
}

#[test]
fn the_short_program_is_as_tight_as_the_long_one() {
    let near = |problem: &Instance| {
        let (bound, slow) = (upper(problem).expect("a bound"), slow_upper(problem));
        assert!((bound - slow).abs() < 1e-5 * (1.0 + slow), "{bound}, not {slow}");
        assert!(greedy(problem).weight(problem) <= bound + 1e-9);
    };
    check(100, problem(SMALL), near);
    check(12, problem(LARGE), near);
}

#[test]
fn the_bounds_of_the_halves_are_a_bound_of_the_whole() {
    let apart = |problem: &Instance| {
        let Some((first, second)) = halves(problem) else { return };
        assert_eq!(first.wanted.len() + second.wanted.len(), problem.wanted.len());
        assert!(!first.wanted.is_empty() && !second.wanted.is_empty());
        let (whole, first, second) = (upper(problem), upper(&first), upper(&second));
        let (whole, halves) = (whole.expect("a bound"), first.expect("a bound") + second.expect("a bound"));
        assert!(whole <= halves + 1e-6 && halves <= total(problem) + 1e-6, "{whole}, not {halves}");
    };
    check(200, problem(SMALL), apart);
    check(12, problem(LARGE), apart);
    assert_eq!(halves(&session(920)).map(|(first, second)| (first.wanted.len(), second.wanted.len())), Some((3, 2)));
    let at_once = Instance { wanted: vec![wanted(4, 1.0, &[0]); 3].into(), ..session(920) };
    assert_eq!(halves(&at_once), None);
}

/// Sessions one after the other with 24,000 items of uses; every fiftieth has room for 8 + 2/3, the others for all.
#[test]
fn what_is_too_large_for_one_program_is_halved() {
    let (mut items, mut wanted, mut budgets) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..4_000 {
        let one = session(if number % 50 == 0 { 920 } else { 2_020 });
        items.extend(one.items.iter().map(|item| Item { from: item.from + 7 * number, ..*item }));
        wanted.extend(one.wanted.iter().map(|wanted| Demand {
            call: wanted.call + 7 * number,
            items: wanted.items.iter().map(|item| item + 4 * number).collect(),
            ..*wanted
        }));
        budgets.extend(one.budgets);
    }
    let problem = Instance { items: items.into(), wanted: wanted.into(), budgets };
    let bound = upper(&problem).expect("a bound");
    let expected = 10.0 * 4_000.0 - 80.0 * 4.0 / 3.0;
    assert!((bound - expected).abs() < 0.1, "{bound}, not {expected}");
}

#[test]
fn the_upper_bound_does_not_fall_where_budgets_rise() {
    check(20, problem(LARGE), |problem| {
        let bounds = [1, 2, 4, 8].map(|times| {
            let budgets = problem.budgets.iter().map(|budget| budget * times).collect();
            upper(&Instance { budgets, ..problem.clone() }).expect("a bound")
        });
        assert!(bounds.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6), "{bounds:?}");
    });
}
