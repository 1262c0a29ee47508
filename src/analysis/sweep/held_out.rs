//! Confirms the recommendation on the held-out sessions: what is not better there than the unchanged policy is not recommended.

use std::collections::BTreeMap;

use crate::engine::policy::Policy;
use crate::metrics::column_map::Values;
use crate::results::condition::Condition;
use crate::results::saved::{Objective, Recommendation, Results, Summary, Sweep};
use crate::util::text::plural;

use super::recommend::{Choice, Member, neighbours, recommend};
use super::sendable::{default_columns, missed_by};

/// Recommends again, without the configurations that fail on the held-out sessions: those that are not better there than the unchanged
/// policy that they replace, or whose requests cannot be sent. If all fail, the unchanged policy is recommended, or nothing if that
/// one does not meet the conditions. `policies` holds all that were replayed on the held-out sessions.
pub fn confirm(sweep: &mut Sweep, held_out: &Results, policies: &[Policy]) {
    if sweep.recommended.is_none() {
        return;
    }
    let totals: BTreeMap<&str, &Summary> =
        held_out.summary.iter().filter(|row| row.bound_of.is_none()).map(|row| (row.policy.as_str(), row)).collect();
    let members = |is_wanted: fn(&crate::results::saved::ConfigurationRow) -> bool| {
        let rows = sweep.configurations.iter().filter(|row| is_wanted(row) && totals.contains_key(row.policy.as_str()));
        rows.map(|row| Member { is_unchanged: row.policy == row.of, ..member(&sweep.objectives, &row.policy, &row.values) })
            .collect::<Vec<_>>()
    };
    let front = members(|row| row.front);
    let unchanged = members(|row| row.allowed && row.policy == row.of);
    let mut left = front.clone();
    let mut failed = Vec::new();
    let confirmed = loop {
        let Some(choice) = recommend(&sweep.objectives, &left, &unchanged) else { break None };
        match failure(sweep, &choice, &totals) {
            None => break Some(choice),
            Some(reason) => failed.push(format!("`{}` fails on them: {reason}.", choice.policy)),
        }
        left.retain(|member| member.policy != choice.policy);
    };
    let sessions = plural(sweep.held_out, "held-out session");
    let mut best = confirmed.and_then(|Choice { policy, instead_of, why }| {
        let toml = policies.iter().find(|known| known.name == policy)?.to_toml();
        let own = member(&sweep.objectives, policy, &sweep.configurations.iter().find(|row| row.policy == policy)?.values);
        let neighbours = neighbours(&sweep.objectives, &front, &own);
        let instead_of = instead_of.map(str::to_owned);
        let why = if instead_of.is_some() { format!("{why} So it is on the {sessions}.") } else { why };
        Some(Recommendation { policy: policy.to_owned(), instead_of, toml, why, neighbours })
    });
    match &mut best {
        Some(best) if !failed.is_empty() => {
            best.why += &format!(" On the {sessions} others were tried first. {}", failed.join(" "))
        }
        Some(_) => {}
        None => sweep.nearest = sweep.recommended.take().map(|best| best.policy),
    }
    sweep.recommended = best;
}

/// Returns why a choice must not be shipped, by the totals over the held-out sessions; `None` if nothing is wrong. An unchanged policy
/// can always be kept.
fn failure(sweep: &Sweep, choice: &Choice, totals: &BTreeMap<&str, &Summary>) -> Option<String> {
    let own = totals.get(choice.policy)?;
    let of = &sweep.configurations.iter().find(|row| row.policy == choice.policy)?.of;
    if choice.policy == of {
        return None;
    }
    let other = totals.get(choice.instead_of.unwrap_or(of))?;
    let of_user: Vec<Condition> = sweep.conditions.iter().filter_map(|written| written.parse().ok()).collect();
    let requests = own.values.get("calls").unwrap_or(0.0) as u64;
    for column in default_columns(&of_user) {
        let [count, before] = [own, other].map(|row| row.values.get(column));
        if missed_by(count, before, requests) > 0.0 {
            let [count, before] = [count, before].map(|count| count.unwrap_or(0.0));
            return Some(format!("{column} is {count} of {requests} requests, and {before} with `{}`", other.policy));
        }
    }
    let member = |row: &Summary| member(&sweep.objectives, "", &row.values);
    let is_worse = choice.instead_of.is_some() && !member(own).improves_on(&member(other), &sweep.objectives);
    is_worse.then(|| "it is worse in one objective, or better in none".to_owned())
}

fn member<'a>(objectives: &[Objective], policy: &'a str, values: &Values) -> Member<'a> {
    let totals = objectives.iter().map(|objective| values.get(&objective.column)).collect();
    Member { policy, is_unchanged: false, totals }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::column::{ColumnId, Direction};
    use crate::results::saved::ConfigurationRow;

    const IDS: [&str; 5] = ["cost.ratio", "kept.hit", "broken.requests", "failed_calls", "calls"];

    fn values(totals: [f64; 5]) -> Values {
        IDS.into_iter().map(ColumnId::Borrowed).zip(totals.map(Some)).collect()
    }

    fn objective(column: &'static str, better: Direction) -> Objective {
        Objective { column: column.into(), better, epsilon: 0.01 }
    }

    fn policy(name: &str) -> Policy {
        Policy::parse(&format!("name = \"{name}\"\n"), name, &[]).expect("a policy")
    }

    /// Chosen on sessions where `own-1` saves a fifth and `own-2` a tenth: what is recommended after these totals on the held-out ones?
    fn recommended(is_own_allowed: bool, held_out: [[f64; 5]; 2]) -> Option<(String, String)> {
        let row = |name: &str, totals| ConfigurationRow {
            policy: name.to_owned(),
            of: "own".to_owned(),
            values: values(totals),
            front: name != "own",
            allowed: name != "own" || is_own_allowed,
            ..ConfigurationRow::default()
        };
        let mut sweep = Sweep {
            objectives: vec![objective("cost.ratio", Direction::Lower), objective("kept.hit", Direction::Higher)],
            held_out: 4,
            configurations: vec![
                row("own", [1.0, 0.9, 0.0, 0.0, 1_000.0]),
                row("own-1", [0.8, 0.9, 0.0, 0.0, 1_000.0]),
                row("own-2", [0.9, 0.901, 0.0, 0.0, 1_000.0]),
            ],
            recommended: Some(Recommendation::default()),
            ..Sweep::default()
        };
        let summary = |policy: &str, totals| Summary {
            policy: policy.to_owned(),
            bound_of: None,
            transcripts: 4,
            values: values(totals),
            intervals: Default::default(),
        };
        let summary =
            vec![summary("own", [0.9, 0.8, 1.0, 0.0, 400.0]), summary("own-1", held_out[0]), summary("own-2", held_out[1])];
        confirm(&mut sweep, &Results { summary, ..Results::default() }, &["own", "own-1", "own-2"].map(policy));
        assert_eq!(sweep.nearest.is_some(), sweep.recommended.is_none());
        let best = sweep.recommended?;
        assert!(best.toml.contains(&format!("\"{}\"", best.policy)), "{}", best.toml);
        Some((best.policy, best.why))
    }

    const GOOD: [f64; 5] = [0.7, 0.8, 0.0, 0.0, 400.0];
    /// As dear as the unchanged policy.
    const SAME: [f64; 5] = [0.9, 0.8, 0.0, 0.0, 400.0];

    #[test]
    fn recommendation_is_confirmed_on_held_out_sessions() {
        let chosen = |first, second| recommended(true, [first, second]).expect("a recommendation").0;
        assert_eq!(chosen(GOOD, GOOD), "own-1");
        assert_eq!(chosen([0.7, 0.795, 1.0, 0.0, 400.0], GOOD), "own-1", "half a point and as many broken requests");
        assert_eq!(chosen([0.7, 0.75, 0.0, 0.0, 400.0], GOOD), "own-2", "five points of facts lost");
        assert_eq!(chosen([0.7, 0.8, 2.0, 0.0, 400.0], GOOD), "own-2", "one broken request more");
        assert_eq!(chosen([0.7, 0.8, 0.0, 1.0, 400.0], GOOD), "own-2", "a request over the window");
        assert_eq!(chosen(SAME, SAME), "own");
        let broken = [0.7, 0.8, 9.0, 0.0, 400.0];
        assert_eq!(chosen(broken, broken), "own");
        let (_, why) = recommended(true, [[0.7, 0.8, 2.0, 0.0, 400.0], SAME]).expect("a recommendation");
        assert_eq!(
            why,
            "No configuration that meets the conditions is better than `own` in one objective without being worse in another. On the 4 \
             held-out sessions others were tried first. `own-1` fails on them: broken.requests is 2 of 400 requests, and 1 with `own`. \
             `own-2` fails on them: it is worse in one objective, or better in none."
        );
    }

    /// The unchanged policy does not meet the conditions, so it cannot be kept.
    #[test]
    fn configuration_that_cannot_be_sent_is_not_recommended() {
        let broken = [0.7, 0.8, 2.0, 0.0, 400.0];
        assert_eq!(recommended(false, [[1.7, 0.2, 1.0, 0.0, 400.0], GOOD]).map(|best| best.0), Some("own-1".to_owned()));
        assert_eq!(recommended(false, [broken, GOOD]).map(|best| best.0), Some("own-2".to_owned()));
        assert_eq!(recommended(false, [broken; 2]), None);
    }
}
