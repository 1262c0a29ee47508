use good_lp::{Expression, ProblemVariables, Solution, SolverModel, variable};

use super::super::upper::{DualPrices, Program, halves};
use super::*;

/// From call 3 on the test run would fit: its 900 tokens and the message's 20, or the file's 600 and 320 of its own.
#[test]
fn upper_bound_may_hold_fractions_of_items() {
    let instance = session(920);
    assert_eq!(greedy(&instance).weight(&instance), 8.0);
    let bound = upper(&instance).expect("a bound");
    assert!((bound - (8.0 + 2.0 * 300.0 / 900.0)).abs() < 1e-4, "{bound}");
}

#[test]
fn dual_prices_always_give_an_upper_bound() {
    let prices = (prop::collection::vec(0..4_u32, SMALL.calls as usize), prop::collection::vec(0..=5_u32, SMALL.uses));
    check(150, (instance(SMALL), prices), |(instance, (tokens, uses))| {
        let program = Program::new(instance);
        let tokens = program.rows.iter().zip(tokens).map(|(_, &price)| f64::from(price) / 4.0).collect();
        let uses = uses.iter().map(|&price| f64::from(price)).collect();
        let bound = program.bound(&DualPrices { tokens, uses });
        assert!(optimum(instance, &mut Vec::new()) <= bound + 1e-9, "{bound}");
    });
}

/// The program as it is first written down: a share of each item at each call. Those too large for a budget have none.
fn slow_upper(instance: &Instance) -> f64 {
    let calls = instance.budgets.len();
    let budget = |call: usize| instance.budgets[call] as f64 + ROUNDING;
    let mut variables = ProblemVariables::new();
    let mut rows = Vec::new();
    let shares: Vec<_> = instance.items.iter().map(|_| variables.add_vector(variable().min(0.0).max(1.0), calls)).collect();
    for (item, shares) in instance.items.iter().zip(&shares) {
        rows.extend((1..calls).filter(|&call| call > item.from as usize).map(|call| (shares[call] - shares[call - 1]).leq(0.0)));
        let small = (0..calls).filter(|&call| item.size > budget(call));
        rows.extend(small.map(|call| Expression::from(shares[call]).leq(0.0)));
    }
    for call in 0..calls {
        let there = instance.items.iter().zip(&shares).filter(|(item, _)| item.from as usize <= call);
        rows.push(there.map(|(item, shares)| item.size * shares[call]).sum::<Expression>().leq(budget(call)));
    }
    let mut weight = Expression::default();
    for wanted in &*instance.demands {
        let served = variables.add(variable().min(0.0).max(1.0));
        weight.add_mul(wanted.weight, served);
        let sources = wanted.items.iter().map(|&item| shares[item as usize][wanted.call as usize]);
        rows.push((served - sources.sum::<Expression>()).leq(0.0));
    }
    let solution = variables.maximise(&weight).using(good_lp::clarabel).with_all(rows).solve();
    solution.expect("nothing is always a solution").eval(&weight)
}

#[test]
fn reduced_program_is_as_tight_as_the_full_program() {
    let near = |instance: &Instance| {
        let (bound, slow) = (upper(instance).expect("a bound"), slow_upper(instance));
        assert!((bound - slow).abs() < 1e-5 * (1.0 + slow), "{bound}, not {slow}");
        assert!(greedy(instance).weight(instance) <= bound + 1e-9);
    };
    check(100, instance(SMALL), near);
    check(12, instance(LARGE), near);
}

#[test]
fn sum_of_bounds_of_halves_is_a_bound() {
    let apart = |instance: &Instance| {
        let Some((first, second)) = halves(instance) else { return };
        assert_eq!(first.demands.len() + second.demands.len(), instance.demands.len());
        assert!(!first.demands.is_empty() && !second.demands.is_empty());
        let (whole, first, second) = (upper(instance), upper(&first), upper(&second));
        let (whole, halves) = (whole.expect("a bound"), first.expect("a bound") + second.expect("a bound"));
        assert!(whole <= halves + 1e-6 && halves <= total(instance) + 1e-6, "{whole}, not {halves}");
    };
    check(200, instance(SMALL), apart);
    check(12, instance(LARGE), apart);
    assert_eq!(halves(&session(920)).map(|(first, second)| (first.demands.len(), second.demands.len())), Some((3, 2)));
    let at_once = Instance { demands: vec![demand(4, 1.0, &[0]); 3].into(), ..session(920) };
    assert_eq!(halves(&at_once), None);
}

/// Sessions one after the other with 24,000 items of uses; every fiftieth has room for 8 + 2/3, the others for all.
#[test]
fn oversized_problem_is_halved() {
    let (mut items, mut wanted, mut budgets) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..4_000 {
        let one = session(if number % 50 == 0 { 920 } else { 2_020 });
        items.extend(one.items.iter().map(|item| Item { from: item.from + 7 * number, ..*item }));
        wanted.extend(one.demands.iter().map(|wanted| Demand {
            call: wanted.call + 7 * number,
            items: wanted.items.iter().map(|item| item + 4 * number).collect(),
            ..*wanted
        }));
        budgets.extend(one.budgets);
    }
    let instance = Instance { items: items.into(), demands: wanted.into(), budgets };
    let bound = upper(&instance).expect("a bound");
    let expected = 10.0 * 4_000.0 - 80.0 * 4.0 / 3.0;
    assert!((bound - expected).abs() < 0.1, "{bound}, not {expected}");
}

#[test]
fn upper_bound_is_monotone_in_budgets() {
    check(20, instance(LARGE), |instance| {
        let bounds = [1, 2, 4, 8].map(|times| {
            let budgets = instance.budgets.iter().map(|budget| budget * times).collect();
            upper(&Instance { budgets, ..instance.clone() }).expect("a bound")
        });
        assert!(bounds.windows(2).all(|pair| pair[0] <= pair[1] + 1e-6), "{bounds:?}");
    });
}
