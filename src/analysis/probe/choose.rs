//! Chooses which of all possible questions are asked.

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Plan, Spot};
use crate::results::saved::Session;

/// Takes as many questions as the plan allows: the same number for each policy, half of them hits as far as possible, and one request
/// of each session in turn. The questions keep the order in which they were drawn.
pub fn choose(spots: Vec<Spot>, plan: &Plan) -> Vec<Spot> {
    let mut policies: Vec<&str> = Vec::new();
    for spot in &spots {
        if !policies.contains(&spot.policy.as_str()) {
            policies.push(&spot.policy);
        }
    }
    // Number of misses and of hits to ask at each spot.
    let mut quotas = vec![[0, 0]; spots.len()];
    for (index, policy) in policies.iter().enumerate() {
        // The first policies get the remainder.
        let room = plan.questions / policies.len() + usize::from(index < plan.questions % policies.len());
        let of_policy: Vec<usize> = (0..spots.len()).filter(|at| spots[*at].policy == *policy).collect();
        assign_quotas(&spots, &in_rounds(&spots, of_policy, plan.seed), room, &mut quotas);
    }
    let chosen = spots.into_iter().zip(quotas).map(|(mut spot, mut quota)| {
        spot.questions.retain(|question| {
            let left = &mut quota[usize::from(question.is_hit())];
            *left > 0 && {
                *left -= 1;
                true
            }
        });
        spot
    });
    chosen.filter(|spot| !spot.questions.is_empty()).collect()
}

/// Orders spots in rounds: one spot of every session, then the next of every session. Spots with most questions come first.
fn in_rounds(spots: &[Spot], of_policy: Vec<usize>, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut session_indices: HashMap<Session, usize> = HashMap::new();
    let mut sessions: Vec<Vec<usize>> = Vec::new();
    for at in of_policy {
        let next = sessions.len();
        let session = Session::new(&spots[at].transcript, &spots[at].conversation);
        let index = *session_indices.entry(session).or_insert(next);
        if index == next {
            sessions.push(Vec::new());
        }
        sessions[index].push(at);
    }
    for session in &mut sessions {
        session.shuffle(&mut random);
        // Several questions about one request cost little more than one, because they share its prefix.
        session.sort_by_key(|at| std::cmp::Reverse(spots[*at].questions.len()));
    }
    sessions.shuffle(&mut random);
    let rounds = sessions.iter().map(Vec::len).max().unwrap_or(0);
    (0..rounds).flat_map(|round| sessions.iter().filter_map(move |session| session.get(round).copied())).collect()
}

/// Sets how many misses and hits are asked at each spot.
fn assign_quotas(spots: &[Spot], order: &[usize], room: usize, quotas: &mut [[usize; 2]]) {
    let available = |is_hit: bool| order.iter().map(|at| count(&spots[*at], is_hit)).sum::<usize>();
    let (misses, hits) = (available(false), available(true));
    // If one side has too few questions, the other side gets its room.
    let wanted_hits = hits.min((room / 2).max(room.saturating_sub(misses)));
    let mut room = [misses.min(room - wanted_hits), wanted_hits];
    for at in order {
        for is_hit in [false, true] {
            let side = usize::from(is_hit);
            let quota = count(&spots[*at], is_hit).min(room[side]);
            quotas[*at][side] = quota;
            room[side] -= quota;
        }
    }
}

fn count(spot: &Spot, is_hit: bool) -> usize {
    spot.questions.iter().filter(|question| question.is_hit() == is_hit).count()
}

#[cfg(test)]
mod tests {
    use super::super::{Cloze, Question};
    use super::*;
    use crate::facts::extract::FactKind;
    use crate::metrics::retention::UseOutcome;

    /// Creates a spot; `hhm` means two hits and a miss.
    fn spot(policy: &str, transcript: &str, call: usize, questions: &str) -> Spot {
        let question = |side| Question {
            line: 1,
            kind: FactKind::Identifier,
            fact: String::new(),
            cloze: Cloze { line: String::new(), answer: String::new() },
            outcome: if side == 'h' { UseOutcome::Hit { in_summary: false } } else { UseOutcome::Soft { quoted: false } },
        };
        let (policy, transcript) = (policy.to_owned(), transcript.to_owned());
        Spot { policy, transcript, conversation: "main".to_owned(), call, questions: questions.chars().map(question).collect() }
    }

    /// Describes every chosen spot: policy, transcript and its questions.
    fn chosen(spots: &[(&str, &str, &str)], questions: usize) -> String {
        let all =
            spots.iter().enumerate().map(|(call, (policy, transcript, asked))| spot(policy, transcript, call, asked)).collect();
        let side = |question: &Question| if question.is_hit() { 'h' } else { 'm' };
        let spots = choose(all, &Plan { questions, max_context: 0, seed: 1 });
        let text =
            |spot: &Spot| format!("{}/{}:{}", spot.policy, spot.transcript, spot.questions.iter().map(side).collect::<String>());
        spots.iter().map(text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn half_of_the_questions_are_hits_if_possible() {
        let cases = [
            ("hhhmmm", 6, "p/a:hhhmmm"),
            ("hhhmmm", 4, "p/a:hhmm"),
            ("hhhm", 4, "p/a:hhhm"),
            ("hmmm", 4, "p/a:hmmm"),
            ("hmmm", 3, "p/a:hmm"),
            ("hhh", 2, "p/a:hh"),
            ("hhh", 9, "p/a:hhh"),
            ("", 9, ""),
        ];
        for (asked, questions, expected) in cases {
            assert_eq!(chosen(&[("p", "a", asked)], questions), expected, "{questions} of {asked}");
        }
    }

    #[test]
    fn questions_alternate_sessions_and_prefer_best_requests() {
        let spots = [("p", "a", "hm"), ("p", "a", "hhmm"), ("p", "b", "hm"), ("p", "b", "hhmm")];
        assert_eq!(chosen(&spots, 8), "p/a:hhmm p/b:hhmm");
        assert_eq!(chosen(&spots, 12), "p/a:hm p/a:hhmm p/b:hm p/b:hhmm");
    }

    #[test]
    fn questions_are_divided_among_policies() {
        let spots = [("p", "a", "hhmm"), ("q", "a", "hhmm"), ("q", "b", "hhmm")];
        let asked = |questions: usize| {
            let spots = chosen(&spots, questions);
            let count =
                |policy: &str| spots.split(' ').filter_map(|spot| Some(spot.strip_prefix(policy)?.len() - "/a:".len())).sum();
            let both: [usize; 2] = ["p", "q"].map(count);
            both
        };
        assert_eq!([asked(4), asked(5), asked(9)], [[2, 2], [3, 2], [4, 4]]);
    }
}
