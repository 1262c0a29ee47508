//! Upper bound by linear programming: items may be kept in parts.

use std::ops::Range;

use good_lp::{DualValues, Expression, ProblemVariables, SolutionWithDual, SolverModel, constraint, variable};

use super::{Demand, Instance, Item, ROUNDING};

/// Maximum items of uses, summed over all uses, in one program: it is solved in two or three seconds.
const MAX_PROGRAM_ITEMS: usize = 20_000;

/// Returns a weight that no selection can exceed: the weight that could be served if items could be kept in parts. Returns
/// `None` if the solver finds no solution: it gives up if it makes no progress.
///
/// The linear program has a share of each item for each call that uses it: this share is kept until that use, so it never
/// rises from one use to the next. It also has a share of each use, at most the sum of the shares of its items; and the
/// tokens held, which may not exceed the budget. The tokens are a running sum of entering and leaving shares, not a sum over
/// all held shares, so that the program is linear in the uses.
///
/// The result is not the solver's objective but a proof by its dual prices. For any price of a token at each call, and any
/// price that a use pays to each of its items, no selection has a greater weight than this sum: all budgets at their price,
/// plus what the uses have left over, plus what the items gain. This holds for any prices, so an inexact solution gives a
/// looser bound, but never one that is too low.
///
/// The solver's time grows faster than the program, so a program that is too large is halved. A selection that may hold every
/// item at the first call of the second half serves at least as much of that half, so the sum of both bounds is a bound of
/// the whole.
pub fn upper(instance: &Instance) -> Option<f64> {
    if instance.demands.iter().map(|demand| demand.items.len()).sum::<usize>() > MAX_PROGRAM_ITEMS
        && let Some((first, second)) = halves(instance)
    {
        return Some(upper(&first)? + upper(&second)?);
    }
    let program = Program::new(instance);
    let all = program.served.iter().map(|served| served.weight).sum::<f64>();
    if program.rows.is_empty() { Some(all) } else { Some(program.bound(&program.prices()?).min(all)) }
}

/// Splits the instance into the uses before a call and the uses from that call on, in about equal numbers. Returns `None` if
/// all uses are at one call.
pub(super) fn halves(instance: &Instance) -> Option<(Instance, Instance)> {
    let middle = instance.demands.get(instance.demands.len() / 2)?.call;
    let before = |call: u32| instance.demands.partition_point(|demand| demand.call < call);
    // All uses at the middle call belong to the same half.
    let call = if before(middle) > 0 { middle } else { middle + 1 };
    let at = before(call);
    if at == 0 || at == instance.demands.len() || call as usize > instance.budgets.len() {
        return None;
    }
    let (budgets, later_budgets) = instance.budgets.split_at(call as usize);
    let (earlier, later) = instance.demands.split_at(at);
    let first = Instance { items: instance.items.clone(), demands: earlier.into(), budgets: budgets.to_vec() };
    let second = Instance {
        items: instance.items.iter().map(|item| Item { from: item.from.saturating_sub(call), ..*item }).collect(),
        demands: later.iter().map(|demand| Demand { call: demand.call - call, ..demand.clone() }).collect(),
        budgets: later_budgets.to_vec(),
    };
    Some((first, second))
}

/// Share of an item that is kept until a use of it.
struct ItemShare {
    size: f64,
    /// First call of the item, or the call after its previous use.
    first: u32,
    last: u32,
}

/// A use, and the shares that serve it.
#[derive(Default)]
struct ServedUse {
    weight: f64,
    shares: Vec<usize>,
}

/// Price of a token at each row, and what a use pays to each of its items.
pub(super) struct DualPrices {
    pub(super) tokens: Vec<f64>,
    pub(super) uses: Vec<f64>,
}

/// Shares to keep, and the calls whose budgets may not hold them all.
pub(super) struct Program<'a> {
    budgets: &'a [u64],
    shares: Vec<ItemShare>,
    /// Range of the shares of each item, in the order of its uses.
    items: Vec<Range<usize>>,
    served: Vec<ServedUse>,
    /// Calls whose budgets can be exceeded.
    pub(super) rows: Vec<u32>,
}

impl<'a> Program<'a> {
    pub(super) fn new(instance: &'a Instance) -> Self {
        let budgets = instance.budgets.as_slice();
        let mut served: Vec<ServedUse> = Vec::new();
        served.resize_with(instance.demands.len(), ServedUse::default);
        let mut shares: Vec<ItemShare> = Vec::new();
        let mut items = Vec::new();
        let uses_of = instance.uses_of_items();
        for (place, item) in instance.items.iter().enumerate() {
            let uses = uses_of.row(place);
            let start = shares.len();
            for &index in uses {
                let demand = &instance.demands[index as usize];
                let before = shares[start..].last().map(|share| share.last);
                if before != Some(demand.call) {
                    let first = before.map_or(item.from, |before| before + 1);
                    shares.push(ItemShare { size: item.size, first, last: demand.call });
                }
                let served = &mut served[index as usize];
                served.weight = demand.weight;
                served.shares.push(shares.len() - 1);
            }
            items.push(start..shares.len());
        }
        let rows = binding_rows(instance, &shares, &items);
        Self { budgets, shares, items, served, rows }
    }

    fn budget(&self, row: u32) -> f64 {
        self.budgets[row as usize] as f64 + ROUNDING
    }

    /// Returns the dual prices of the solver's solution.
    fn prices(&self) -> Option<DualPrices> {
        // Solvers work best with numbers near 1.
        let token = self.rows.iter().map(|&row| self.budget(row)).fold(1.0, f64::max);
        let weight = self.served.iter().map(|served| served.weight).fold(f64::MIN_POSITIVE, f64::max);

        let mut variables = ProblemVariables::new();
        let shares = variables.add_vector(variable().min(0.0), self.shares.len());
        let held = variables.add_vector(variable(), self.rows.len());
        let mut objective = Expression::with_capacity(self.served.len());
        let mut offers = Vec::new();
        for (index, served) in self.served.iter().enumerate() {
            match served.shares.as_slice() {
                [] => {}
                [share] => objective.add_mul(served.weight / weight, shares[*share]),
                several => {
                    let part = variables.add(variable().min(0.0).max(1.0));
                    objective.add_mul(served.weight / weight, part);
                    let sum: Expression = several.iter().map(|&share| shares[share]).sum();
                    offers.push((index, constraint!(part <= sum)));
                }
            }
        }
        let mut solver = variables.maximise(objective).using(good_lp::clarabel);
        for (row, (entering, leaving)) in self.changes().into_iter().enumerate() {
            let mut change = Expression::from(held[row]);
            if row > 0 {
                change.add_mul(-1.0, held[row - 1]);
            }
            entering.iter().for_each(|&share| change.add_mul(-self.shares[share].size / token, shares[share]));
            leaving.iter().for_each(|&share| change.add_mul(self.shares[share].size / token, shares[share]));
            solver.add_constraint(constraint!(change == 0.0));
        }
        for item in self.items.iter().filter(|item| !item.is_empty()) {
            solver.add_constraint(constraint!(shares[item.start] <= 1.0));
            for share in item.start + 1..item.end {
                solver.add_constraint(constraint!(shares[share] <= shares[share - 1]));
            }
        }
        let offers: Vec<_> = offers.into_iter().map(|(index, offer)| (index, solver.add_constraint(offer))).collect();
        let mut limits = Vec::new();
        for (&held, &row) in held.iter().zip(&self.rows) {
            limits.push(solver.add_constraint(constraint!(held <= self.budget(row) / token)));
        }

        let mut solution = solver.solve().ok()?;
        let dual = solution.compute_dual();
        // The only item of a use gets all that the use pays.
        let mut uses: Vec<f64> = self.served.iter().map(|served| served.weight).collect();
        for (index, offer) in offers {
            uses[index] = dual.dual(offer).abs() * weight;
        }
        Some(DualPrices { tokens: limits.into_iter().map(|limit| dual.dual(limit).abs() * weight / token).collect(), uses })
    }

    /// Returns for each row the shares that enter and that leave since the previous row.
    fn changes(&self) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut changes = vec![(Vec::new(), Vec::new()); self.rows.len()];
        for (index, share) in self.shares.iter().enumerate() {
            let entering = self.rows.partition_point(|&row| row < share.first);
            let leaving = self.rows.partition_point(|&row| row <= share.last);
            if entering < leaving {
                changes[entering].0.push(index);
                if let Some(change) = changes.get_mut(leaving) {
                    change.1.push(index);
                }
            }
        }
        changes
    }

    /// Returns the weight that no selection exceeds, proved by the prices.
    pub(super) fn bound(&self, prices: &DualPrices) -> f64 {
        // Cost to hold a token until a row.
        let mut until = vec![0.0];
        for price in &prices.tokens {
            until.push(until[until.len() - 1] + price);
        }
        let cost = |share: &ItemShare| {
            let first = self.rows.partition_point(|&row| row < share.first);
            let last = self.rows.partition_point(|&row| row <= share.last);
            share.size * (until[last] - until[first])
        };
        let budgets: f64 = self.rows.iter().zip(&prices.tokens).map(|(&row, price)| self.budget(row) * price).sum();
        let mut left = 0.0;
        let mut paid = vec![0.0; self.shares.len()];
        for (served, price) in self.served.iter().zip(&prices.uses) {
            left += (served.weight - price).max(0.0);
            served.shares.iter().for_each(|&share| paid[share] += price);
        }
        let gain = |item: &Range<usize>| {
            let (mut gain, mut best) = (0.0, 0.0_f64);
            for share in item.clone() {
                gain += paid[share] - cost(&self.shares[share]);
                best = best.max(gain);
            }
            best
        };
        budgets + left + self.items.iter().map(gain).sum::<f64>()
    }
}

/// Returns the calls whose budgets matter. Skips calls whose budget holds everything still useful, and calls before which
/// nothing entered (no more is held there than before) unless their budget is smaller.
fn binding_rows(instance: &Instance, shares: &[ItemShare], items: &[Range<usize>]) -> Vec<u32> {
    let calls = instance.budgets.len();
    let (mut entering, mut leaving) = (vec![0.0; calls + 1], vec![0.0; calls + 1]);
    for item in items.iter().filter(|item| !item.is_empty()) {
        let share = &shares[item.start];
        entering[share.first as usize] += share.size;
        leaving[shares[item.end - 1].last as usize + 1] += share.size;
    }
    let mut rows: Vec<u32> = Vec::new();
    let (mut live, mut new) = (0.0, false);
    for (call, &budget) in instance.budgets.iter().enumerate() {
        live += entering[call] - leaving[call];
        new |= entering[call] > 0.0;
        let smaller = rows.last().is_none_or(|&row| budget < instance.budgets[row as usize]);
        if live > budget as f64 && (new || smaller) {
            rows.push(call as u32);
            new = false;
        }
    }
    rows
}
