//! Recommends a member of the front, and describes its neighbours.

use crate::results::saved::{Neighbour, Objective, Values};

use super::objective::loss;

/// A member of the front, with its totals by objective.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontMember<'a> {
    pub policy: &'a str,
    pub totals: Vec<Option<f64>>,
}

/// Shortfalls that differ by less than this are equal: they are quotients of sums.
const SAME_SHORTFALL: f64 = 1e-12;

/// Chooses the compromise: the member whose largest shortfall from the best is smallest (Chebyshev), each objective measured
/// as a share of its range over the front. Of equals the one with the smallest sum of shortfalls, then the first. With one
/// objective this is the best member. Returns its index, and the reason as a sentence.
pub fn minimax_choice(objectives: &[Objective], members: &[FrontMember]) -> Option<(usize, String)> {
    let shortfalls: Vec<Vec<f64>> = members.iter().map(|member| shortfalls(objectives, members, member)).collect();
    let largest = |at: usize| shortfalls[at].iter().copied().fold(0.0, f64::max);
    let sum = |at: usize| shortfalls[at].iter().sum::<f64>();
    let better = |one: usize, other: usize| match (largest(one) - largest(other), sum(one) - sum(other)) {
        (difference, _) if difference.abs() > SAME_SHORTFALL => difference < 0.0,
        (_, difference) => difference < -SAME_SHORTFALL,
    };
    let best = (0..members.len()).reduce(|best, at| if better(at, best) { at } else { best })?;
    let worst = (0..objectives.len()).max_by(|a, b| shortfalls[best][*a].total_cmp(&shortfalls[best][*b]).then(b.cmp(a)));
    let why = match worst {
        _ if members.len() == 1 => {
            "It is the only configuration on the Pareto front: no other one is better in any objective by more than \
                                    its tolerance."
                .to_owned()
        }
        Some(worst) => format!(
            "The compromise among the {} configurations on the Pareto front: in every objective it is at most {:.0} % of the front's \
             range behind the best value (most in {}), and no other configuration has a smaller largest gap.",
            members.len(),
            largest(best) * 100.0,
            objectives[worst].column
        ),
        None => String::new(),
    };
    Some((best, why))
}

/// Returns shortfalls by objective: 0 at the front's best value, 1 at its worst. A missing total counts 1 if another member
/// has a total.
fn shortfalls(objectives: &[Objective], members: &[FrontMember], of: &FrontMember) -> Vec<f64> {
    let shortfall = |(at, objective): (usize, &Objective)| {
        let loss = |member: &FrontMember| loss(objective.better, member.totals.get(at).copied().flatten());
        let finite = members.iter().map(loss).filter(|loss| loss.is_finite());
        let (best, worst) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), loss| (low.min(loss), high.max(loss)));
        match loss(of) {
            own if own.is_finite() && worst > best => (own - best) / (worst - best),
            own => f64::from(u8::from(own.is_infinite() && best.is_finite())),
        }
    };
    objectives.iter().enumerate().map(shortfall).collect()
}

/// Returns for each objective the next better member of the front, with the differences of its totals from the recommended
/// member.
pub fn neighbours(objectives: &[Objective], members: &[FrontMember], recommended: usize) -> Vec<Neighbour> {
    let own = &members[recommended];
    let next = |(at, objective): (usize, &Objective)| {
        let loss = |member: &FrontMember| loss(objective.better, member.totals.get(at).copied().flatten());
        let better = members.iter().filter(|member| loss(member) < loss(own));
        let next = better.reduce(|next, member| if loss(member) > loss(next) { member } else { next })?;
        let difference = |(at, objective): (usize, &Objective)| {
            let total = |member: &FrontMember| member.totals.get(at).copied().flatten();
            let difference = total(next).zip(total(own)).map(|(theirs, own)| theirs - own);
            (objective.column.clone(), difference)
        };
        let differences: Values = objectives.iter().enumerate().map(difference).collect();
        Some(Neighbour { policy: next.policy.to_owned(), by: objective.column.clone(), differences })
    };
    objectives.iter().enumerate().filter_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::Direction;

    fn objective(column: &'static str, better: Direction) -> Objective {
        Objective { column: column.into(), better, epsilon: 0.01 }
    }

    fn member(policy: &str, totals: [f64; 2]) -> FrontMember<'_> {
        FrontMember { policy, totals: totals.map(Some).to_vec() }
    }

    /// Ranges: cost .50 to 1.0, hit .60 to 1.0. Shortfalls: a 0 and 1; b .2 and .5; c .4 and .25; d 1 and 0.
    #[test]
    fn recommended_compromise_equals_hand_computation() {
        let objectives = [objective("cost.ratio", Direction::Lower), objective("kept.hit", Direction::Higher)];
        let members = [member("a", [0.5, 0.6]), member("b", [0.6, 0.8]), member("c", [0.7, 0.9]), member("d", [1.0, 1.0])];
        let (best, why) = minimax_choice(&objectives, &members).expect("a front");
        assert_eq!(members[best].policy, "c");
        let said = "The compromise among the 4 configurations on the Pareto front: in every objective it is at most 40 % of the";
        assert!(why.starts_with(said), "{why}");
        let neighbours = neighbours(&objectives, &members, best);
        let said: Vec<_> = neighbours.iter().map(|next| (next.policy.as_str(), next.by.as_ref())).collect();
        assert_eq!(said, [("b", "cost.ratio"), ("d", "kept.hit")]);
        let gives = |at: usize, column: &str| neighbours[at].differences.get(column).expect("a difference");
        assert!((gives(0, "cost.ratio") + 0.1).abs() < 1e-9 && (gives(0, "kept.hit") + 0.1).abs() < 1e-9);
        assert!((gives(1, "cost.ratio") - 0.3).abs() < 1e-9 && (gives(1, "kept.hit") - 0.1).abs() < 1e-9);
    }

    #[test]
    fn recommendation_ties_prefer_smaller_sum_then_earlier() {
        let objectives = ["a", "b", "c"].map(|column| objective(column, Direction::Lower));
        let member = |policy, totals: [f64; 3]| FrontMember { policy, totals: totals.map(Some).to_vec() };
        let members = [
            member("x", [0.5, 0.5, 0.5]),
            member("y", [0.5, 0.4, 0.0]),
            member("z", [0.4, 0.5, 0.0]),
            member("o", [0.0, 1.0, 1.0]),
        ];
        let members = [&members[..], &[member("p", [1.0, 0.0, 1.0])]].concat();
        assert_eq!(minimax_choice(&objectives, &members).map(|(at, _)| at), Some(1));
    }

    #[test]
    fn recommendation_handles_single_objective_member_and_no_value() {
        let objectives = [objective("cost.ratio", Direction::Lower)];
        let member = |totals: Option<f64>| FrontMember { policy: "p", totals: vec![totals] };
        assert_eq!(minimax_choice(&objectives, &[member(Some(2.0)), member(Some(1.0)), member(None)]).map(|(at, _)| at), Some(1));
        let (_, why) = minimax_choice(&objectives, &[member(None)]).expect("one");
        assert!(why.starts_with("It is the only configuration on the Pareto front"));
        assert_eq!(minimax_choice(&objectives, &[]), None);
        assert_eq!(neighbours(&objectives, &[member(None)], 0), []);
    }
}
