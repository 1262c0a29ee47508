//! Which of all the questions that could be asked are asked.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Plan, Spot};
use crate::results::Session;

/// Takes as many questions as the plan allows: as many of each policy, of each half hits as far as possible, a request of one session
/// after one of another. They stay in the order in which they were drawn.
pub fn choose(spots: Vec<Spot>, plan: &Plan) -> Vec<Spot> {
    let mut policies: Vec<&str> = Vec::new();
    for spot in &spots {
        if !policies.contains(&spot.policy.as_str()) {
            policies.push(&spot.policy);
        }
    }
    let mut left = vec![[0, 0]; spots.len()];
    for (place, policy) in policies.iter().enumerate() {
        // What does not come out even goes to the first.
        let room = plan.questions / policies.len() + usize::from(place < plan.questions % policies.len());
        let of_policy: Vec<usize> = (0..spots.len()).filter(|at| spots[*at].policy == *policy).collect();
        take(&spots, &in_rounds(&spots, of_policy, plan.seed), room, &mut left);
    }
    let chosen = spots.into_iter().zip(left).map(|(mut spot, mut left)| {
        spot.questions.retain(|question| {
            let left = &mut left[usize::from(question.is_hit())];
            *left > 0 && {
                *left -= 1;
                true
            }
        });
        spot
    });
    chosen.filter(|spot| !spot.questions.is_empty()).collect()
}

/// One spot of every session, then another of every one that has another.
fn in_rounds(spots: &[Spot], of_policy: Vec<usize>, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut places: HashMap<Session, usize> = HashMap::new();
    let mut sessions: Vec<Vec<usize>> = Vec::new();
    for at in of_policy {
        let next = sessions.len();
        let place = *places.entry(Session::of(&spots[at].transcript, &spots[at].conversation)).or_insert(next);
        if place == next {
            sessions.push(Vec::new());
        }
        sessions[place].push(at);
    }
    sessions.iter_mut().for_each(|session| session.shuffle(&mut random));
    sessions.shuffle(&mut random);
    let rounds = sessions.iter().map(Vec::len).max().unwrap_or(0);
    (0..rounds).flat_map(|round| sessions.iter().filter_map(move |session| session.get(round).copied())).collect()
}

/// How many misses and hits are asked of each spot.
fn take(spots: &[Spot], order: &[usize], room: usize, taken: &mut [[usize; 2]]) {
    let there = |is_hit: bool| order.iter().map(|at| count(&spots[*at], is_hit)).sum::<usize>();
    let (misses, hits) = (there(false), there(true));
    // Where there are too few of one side, the other has its room.
    let wanted_hits = hits.min((room / 2).max(room.saturating_sub(misses)));
    let mut room = [misses.min(room - wanted_hits), wanted_hits];
    for at in order {
        for is_hit in [false, true] {
            let side = usize::from(is_hit);
            let some = count(&spots[*at], is_hit).min(room[side]);
            taken[*at][side] = some;
            room[side] -= some;
        }
    }
}

fn count(spot: &Spot, is_hit: bool) -> usize {
    spot.questions.iter().filter(|question| question.is_hit() == is_hit).count()
}
