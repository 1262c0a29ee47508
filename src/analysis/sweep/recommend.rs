//! Recommends a configuration that is better than what the user has, and describes its neighbours on the front.

use crate::engine::policy::{Policy, SessionsWindow, Tuning};
use crate::metrics::metric::broken;
use crate::results::saved::{ConfigurationRow, Neighbour, Objective, Recommendation, Sweep, Values};
use crate::util::text::plural;

use super::objective::{loss, losses};
use super::pareto::improves_on;

/// A configuration, with its totals by objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Member<'a> {
    pub policy: &'a str,
    /// A policy of the user, without any change.
    pub is_unchanged: bool,
    pub totals: Vec<Option<f64>>,
}

/// What to ship.
#[derive(Debug, Clone, PartialEq)]
struct Choice<'a> {
    pub policy: &'a str,
    /// The unchanged policy that it is better than.
    pub instead_of: Option<&'a str>,
    /// A few sentences.
    pub why: String,
}

/// Shortfalls that differ by less than this are equal: they are quotients of sums.
const SAME_SHORTFALL: f64 = 1e-12;

impl<'a> Member<'a> {
    pub fn new(objectives: &[Objective], is_unchanged: bool, policy: &'a str, values: &Values) -> Self {
        let totals = objectives.iter().map(|objective| values.get(&objective.column)).collect();
        Self { policy, is_unchanged, totals }
    }

    /// Returns whether it is better in one objective than another configuration, and not worse in the others.
    pub fn improves_on(&self, other: &Self, objectives: &[Objective]) -> bool {
        let losses = |member: &Self| losses(objectives, member.totals.iter().copied());
        let epsilons: Vec<f64> = objectives.iter().map(|objective| objective.epsilon).collect();
        improves_on(&losses(self), &losses(other), &epsilons)
    }
}

/// Recommends a member of the front that is better than the unchanged policy, else the unchanged policy: what costs less and loses
/// more is for the user to choose. `unchanged` is the policy as it is, if it is the only one and meets the conditions; without it any
/// member of the front is better. The range of an objective includes the yardstick. Returns `None` if nothing meets the conditions.
fn recommend<'a>(
    objectives: &[Objective],
    front: &[Member<'a>],
    unchanged: Option<&Member<'a>>,
    yardstick: Option<&Member<'a>>,
) -> Option<Choice<'a>> {
    let improved = |member: &Member| unchanged.filter(|own| member.improves_on(own, objectives));
    let is_choice = |member: &&Member| member.is_unchanged || unchanged.is_none() || improved(member).is_some();
    let mut choices: Vec<Member> = front.iter().filter(is_choice).cloned().collect();
    if choices.is_empty() {
        choices = unchanged.into_iter().cloned().collect();
    }
    // A hundredth of what the choices differ by is nothing beside what all of them are better by.
    let range: Vec<Member> = choices.iter().chain(unchanged).chain(yardstick).cloned().collect();
    let best = &choices[minimax_choice(objectives, &choices, &range)?];
    let instead_of = improved(best).map(|own| own.policy);
    let mut why = match instead_of {
        _ if best.is_unchanged && unchanged.is_some() => format!(
            "No configuration that meets the conditions is better than `{}` in one objective without being worse in another.",
            best.policy
        ),
        Some(own) => format!("It is better than `{own}` as it is in at least one objective, and not worse in the others."),
        None => "It meets the conditions.".to_owned(),
    };
    if choices.len() > 1 {
        why += &format!(" {}", compromise(objectives, choices.len(), &range, best));
    }
    Some(Choice { policy: best.policy, instead_of, why })
}

/// Recommends one of the configurations of a sweep for which `is_eligible` is true. [`add_file`] adds its file.
pub fn recommendation(sweep: &Sweep, is_eligible: impl Fn(&str) -> bool) -> Option<Recommendation> {
    let objectives = &sweep.objectives;
    let members = |is_wanted: fn(&ConfigurationRow) -> bool| {
        let rows = sweep.configurations.iter().filter(|row| is_wanted(row));
        rows.map(|row| Member::new(objectives, row.policy == row.of, &row.policy, &row.values)).collect::<Vec<_>>()
    };
    let (front, unchanged) = (members(|row| row.front), members(|row| row.allowed && row.policy == row.of));
    let unchanged = unchanged.first().filter(|_| sweep.only_policy().is_some());
    let yardstick = sweep.yardstick.as_ref().map(|row| Member::new(objectives, false, &row.policy, &row.values));
    let eligible: Vec<Member> = front.iter().filter(|member| is_eligible(member.policy)).cloned().collect();
    let Choice { policy, instead_of, why } = recommend(objectives, &eligible, unchanged, yardstick.as_ref())?;
    let row = sweep.configuration(policy)?;
    // A user who ships a policy must know about these requests.
    let broken = row.values.get(broken::REQUESTS).filter(|requests| *requests > 0.0).map(|requests| {
        let requests = plural(requests as usize, "request");
        let condition = format!("{} == 0", broken::REQUESTS);
        format!(" It breaks {requests}, which an API would refuse: --where '{condition}' excludes such policies.")
    });
    Some(Recommendation {
        policy: policy.to_owned(),
        instead_of: instead_of.map(str::to_owned),
        toml: String::new(),
        why: why + broken.as_deref().unwrap_or_default(),
        neighbours: neighbours(objectives, &front, &Member::new(objectives, false, policy, &row.values)),
    })
}

/// Writes the file of the recommended policy, with a note of how its numbers were chosen. `policies` has every policy that can be
/// recommended, `windows` returns the context windows of its replays.
pub fn add_file(sweep: &mut Sweep, policies: &[Policy], windows: impl Fn(&Policy) -> Vec<SessionsWindow>) {
    let keep = sweep.keeps_unchanged();
    let Some(best) = &mut sweep.recommended else { return };
    let policy = policies.iter().find(|policy| policy.name == best.policy).expect("what is recommended was replayed");
    let row = sweep.configurations.iter().find(|row| row.policy == best.policy).expect("what is recommended was tried");
    let tuning = Tuning {
        of: row.of.clone(),
        sessions: sweep.sessions,
        held_out: sweep.held_out,
        configurations: sweep.configurations.len(),
        keep,
        windows: windows(policy),
    };
    best.toml = Policy { tuned: Some(tuning), ..policy.clone() }.to_toml();
}

/// Says what makes a configuration the compromise among several ones.
fn compromise(objectives: &[Objective], choices: usize, range: &[Member], best: &Member) -> String {
    let shortfalls = shortfalls(objectives, range, best);
    let worst = (0..objectives.len()).max_by(|a, b| shortfalls[*a].total_cmp(&shortfalls[*b]).then(b.cmp(a)));
    let gap = worst.map_or(String::new(), |worst| {
        format!(": {:.0} % of the range, in {}", shortfalls[worst] * 100.0, objectives[worst].column)
    });
    format!(
        "{choices} policies can be recommended. This one is the compromise, because its largest gap to the best value is the smallest{gap}. \
         The range begins at the worst value of these policies, of the policy as it is, and of what costs are compared with."
    )
}

/// Chooses the compromise: the member whose largest shortfall from the best is smallest (Chebyshev), each objective measured
/// as a share of its range over `range`. Of equals the one with the smallest sum of shortfalls, then the first. With one
/// objective this is the best member. Returns its index.
pub fn minimax_choice(objectives: &[Objective], members: &[Member], range: &[Member]) -> Option<usize> {
    let shortfalls: Vec<Vec<f64>> = members.iter().map(|member| shortfalls(objectives, range, member)).collect();
    let largest = |at: usize| shortfalls[at].iter().copied().fold(0.0, f64::max);
    let sum = |at: usize| shortfalls[at].iter().sum::<f64>();
    let better = |one: usize, other: usize| match (largest(one) - largest(other), sum(one) - sum(other)) {
        (difference, _) if difference.abs() > SAME_SHORTFALL => difference < 0.0,
        (_, difference) => difference < -SAME_SHORTFALL,
    };
    (0..members.len()).reduce(|best, at| if better(at, best) { at } else { best })
}

/// Returns shortfalls by objective: 0 at the front's best value, 1 at its worst. A missing total counts 1 if another member
/// has a total.
fn shortfalls(objectives: &[Objective], members: &[Member], of: &Member) -> Vec<f64> {
    let shortfall = |(at, objective): (usize, &Objective)| {
        let loss = |member: &Member| loss(objective.better, member.totals.get(at).copied().flatten());
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
fn neighbours(objectives: &[Objective], members: &[Member], own: &Member) -> Vec<Neighbour> {
    let next = |(at, objective): (usize, &Objective)| {
        let loss = |member: &Member| loss(objective.better, member.totals.get(at).copied().flatten());
        let better = members.iter().filter(|member| loss(member) < loss(own));
        let next = better.reduce(|next, member| if loss(member) > loss(next) { member } else { next })?;
        let difference = |(at, objective): (usize, &Objective)| {
            let total = |member: &Member| member.totals.get(at).copied().flatten();
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

    fn cost_and_facts() -> [Objective; 2] {
        [objective("cost.ratio", Direction::Lower), objective("kept.hit", Direction::Higher)]
    }

    fn member<const N: usize>(policy: &str, totals: [f64; N]) -> Member<'_> {
        Member { policy, is_unchanged: !policy.contains('-'), totals: totals.map(Some).to_vec() }
    }

    /// Ranges: cost .50 to 1.0, hit .60 to 1.0. Shortfalls: a 0 and 1; b .2 and .5; c .4 and .25; d 1 and 0.
    #[test]
    fn compromise_equals_hand_computation() {
        let objectives = cost_and_facts();
        let members =
            [member("a-1", [0.5, 0.6]), member("b-1", [0.6, 0.8]), member("c-1", [0.7, 0.9]), member("d-1", [1.0, 1.0])];
        let choice = recommend(&objectives, &members, None, None).expect("a front");
        assert_eq!((choice.policy, choice.instead_of), ("c-1", None));
        let said = "It meets the conditions. 4 policies can be recommended. This one is the compromise, because its \
                    largest gap to the best value is the smallest: 40 % of the range, in cost.ratio. ";
        assert!(choice.why.starts_with(said), "{}", choice.why);
        let neighbours = neighbours(&objectives, &members, &members[2]);
        let said: Vec<_> = neighbours.iter().map(|next| (next.policy.as_str(), next.by.as_ref())).collect();
        assert_eq!(said, [("b-1", "cost.ratio"), ("d-1", "kept.hit")]);
        let gives = |at: usize, column: &str| neighbours[at].differences.get(column).expect("a difference");
        assert!((gives(0, "cost.ratio") + 0.1).abs() < 1e-9 && (gives(0, "kept.hit") + 0.1).abs() < 1e-9);
        assert!((gives(1, "cost.ratio") - 0.3).abs() < 1e-9 && (gives(1, "kept.hit") - 0.1).abs() < 1e-9);
    }

    /// `a-1` costs less and loses more, `a-3` costs more and keeps more: only `a-2` is better in both.
    #[test]
    fn recommended_configuration_is_better_than_the_unchanged_policy() {
        let objectives = cost_and_facts();
        let own = member("a", [0.8, 0.85]);
        let front = [member("a-1", [0.5, 0.6]), member("a-2", [0.7, 0.9]), member("a-3", [0.9, 1.0])];
        let choice = recommend(&objectives, &front, Some(&own), None).expect("a front");
        assert_eq!((choice.policy, choice.instead_of), ("a-2", Some("a")));
        assert_eq!(choice.why, "It is better than `a` as it is in at least one objective, and not worse in the others.");
        // Half a point fewer facts is the same; two points are a loss.
        for (hit, expected) in [(0.845, ("a-4", Some("a"))), (0.83, ("a", None))] {
            let front = [front[0].clone(), member("a-4", [0.7, hit]), own.clone()];
            let choice = recommend(&objectives, &front, Some(&own), None).expect("a front");
            assert_eq!((choice.policy, choice.instead_of), expected);
        }
    }

    /// Both cost a third of the unchanged policy. By their own range the cheaper one is the compromise: 0 and 100 % behind, as the other.
    #[test]
    fn range_includes_the_unchanged_policy() {
        let objectives = cost_and_facts();
        let own = member("a", [2.0, 0.8]);
        let front = [member("a-1", [0.6, 0.82]), member("a-2", [0.65, 0.9])];
        let choice = recommend(&objectives, &front, Some(&own), None).expect("a front");
        assert_eq!(choice.policy, "a-2", "4 % of the saving less, and 80 % of the facts more");
    }

    #[test]
    fn unchanged_policy_stays_if_nothing_is_better() {
        let objectives = cost_and_facts();
        let own = member("a", [0.8, 0.9]);
        let choice = |front: &[Member]| {
            recommend(&objectives, front, Some(&own), None).map(|choice| (choice.policy.to_owned(), choice.why))
        };
        let why =
            "No configuration that meets the conditions is better than `a` in one objective without being worse in another.";
        assert_eq!(choice(&[member("a-1", [0.5, 0.6]), own.clone()]), Some(("a".to_owned(), why.to_owned())));
        // Another member represents it on the front, because both are equal within the tolerance.
        assert_eq!(choice(&[member("a-1", [0.795, 0.9])]), Some(("a".to_owned(), why.to_owned())));
        assert_eq!(recommend(&objectives, &[], None, None), None);
    }

    #[test]
    fn recommendation_ties_prefer_smaller_sum_then_earlier() {
        let objectives = ["a", "b", "c"].map(|column| objective(column, Direction::Lower));
        let members = [
            member("x", [0.5, 0.5, 0.5]),
            member("y", [0.5, 0.4, 0.0]),
            member("z", [0.4, 0.5, 0.0]),
            member("o", [0.0, 1.0, 1.0]),
            member("p", [1.0, 0.0, 1.0]),
        ];
        assert_eq!(minimax_choice(&objectives, &members, &members), Some(1));
    }

    #[test]
    fn recommendation_handles_single_objective_member_and_no_value() {
        let objectives = [objective("cost.ratio", Direction::Lower)];
        let member = |totals: Option<f64>| Member { policy: "p", is_unchanged: false, totals: vec![totals] };
        let choice = |members: &[Member]| minimax_choice(&objectives, members, members);
        assert_eq!(choice(&[member(Some(2.0)), member(Some(1.0)), member(None)]), Some(1));
        assert_eq!(choice(&[member(None)]), Some(0));
        assert_eq!(choice(&[]), None);
        assert_eq!(neighbours(&objectives, &[member(None)], &member(None)), []);
    }
}
