//! Chooses which of the drawn uses are asked about.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Outcome, Plan, SampledUse};
use crate::facts::extract::FactKind;
use crate::metrics::retention::gap_bin;
use crate::results::saved::Session;

/// Takes as many uses as the plan allows: the same number for each policy and, as far as there are any, for each outcome. Sessions come
/// in turn; of a session, the use whose kind and gap were asked about least. Keeps the order in which the uses were drawn.
pub fn choose(drawn: Vec<SampledUse>, plan: &Plan) -> Vec<SampledUse> {
    let chosen = chosen(&drawn, plan);
    drawn.into_iter().zip(chosen).filter_map(|(used, is_chosen)| is_chosen.then_some(used)).collect()
}

/// Says of each use whether it is chosen.
fn chosen(drawn: &[SampledUse], plan: &Plan) -> Vec<bool> {
    let mut policies: Vec<&str> = Vec::new();
    for used in drawn {
        if !policies.contains(&used.policy.as_str()) {
            policies.push(&used.policy);
        }
    }
    let mut chosen = vec![false; drawn.len()];
    for (at, policy) in policies.iter().enumerate() {
        // The first policies get the remainder.
        let room = plan.questions / policies.len() + usize::from(at < plan.questions % policies.len());
        let strata = Outcome::ALL.map(|outcome| {
            let is_in = |index: &usize| drawn[*index].policy == *policy && drawn[*index].outcome == outcome;
            (0..drawn.len()).filter(is_in).collect::<Vec<_>>()
        });
        for (stratum, quota) in strata.iter().zip(quotas(strata.each_ref().map(Vec::len), room)) {
            for index in in_turn(drawn, stratum, plan.seed).into_iter().take(quota) {
                chosen[index] = true;
            }
        }
    }
    chosen
}

/// Divides the room among strata evenly; what a small stratum does not need goes to the others.
fn quotas(available: [usize; Outcome::ALL.len()], room: usize) -> [usize; Outcome::ALL.len()] {
    let mut quotas = [0; Outcome::ALL.len()];
    let mut left = room.min(available.iter().sum());
    while left > 0 {
        for (quota, available) in quotas.iter_mut().zip(available) {
            if *quota < available && left > 0 {
                *quota += 1;
                left -= 1;
            }
        }
    }
    quotas
}

/// Orders the uses of a stratum: one of every session, then the next of every session.
fn in_turn(drawn: &[SampledUse], stratum: &[usize], seed: u64) -> Vec<usize> {
    let mut indices: HashMap<Session, usize> = HashMap::new();
    let mut sessions: Vec<Vec<usize>> = Vec::new();
    for at in stratum {
        let index = *indices.entry(Session::new(&drawn[*at].transcript, &drawn[*at].conversation)).or_insert(sessions.len());
        if index == sessions.len() {
            sessions.push(Vec::new());
        }
        sessions[index].push(*at);
    }
    sessions.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let mut asked: HashMap<(FactKind, usize), usize> = HashMap::new();
    let mut order = Vec::with_capacity(stratum.len());
    while order.len() < stratum.len() {
        for session in &mut sessions {
            let cell = |at: &usize| (drawn[*at].fact.kind, gap_bin(drawn[*at].gap));
            let rarest = (0..session.len()).min_by_key(|at| asked.get(&cell(&session[*at])).copied().unwrap_or(0));
            if let Some(rarest) = rarest {
                let at = session.remove(rarest);
                *asked.entry(cell(&at)).or_default() += 1;
                order.push(at);
            }
        }
    }
    order
}
