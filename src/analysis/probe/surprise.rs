//! Asks about facts by a model's surprise: how many bits a fact costs the model under a policy's request, compared with the full one.
//!
//! A recorded response is a text, and a model gives every token of it a probability. If a fact that the agent used is gone from the
//! request, the tokens that name it are less probable than with the full request: the difference of the logarithms is the loss, in bits.
//! If the fact is still there, or if the model guesses it, there is no loss. This needs no answer that somebody must judge, so small
//! models can do it. Both requests are trimmed to the same parts.
//!
//! Two controls: the full request without another block of the same size, which must cost nothing; and another fact of the same kind in
//! the place of the fact, whose surprise the policy must not change.

mod auc;
mod bits;
mod correlation;
mod draw;
mod excerpt;
mod grouping;
mod prompts;
mod results;
mod scored;
mod worth;

use std::collections::HashMap;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::choose::{by_session, in_turn};
use super::{About, Ask, Case, Evaluated, Memory, Outcome, Plan, Requests, SampledUse, Scorer, Unanswered};
use crate::facts::extract::FactKind;
use crate::llm::client::Purpose;
use crate::metrics::retention::gap_bin;

pub use bits::BitsGroup;
pub use grouping::Grouping;
pub use prompts::{Control, Prompts};
pub use results::{MIN_AUC, MIN_CORRELATION, SurpriseResults};
pub use scored::{NEEDS, ScoredUse};
pub use worth::{LearnedElsewhere, WorthCheck};

/// Index of the call whose response names the fact of a use.
pub type WritingCall = u32;

/// Whether the call of a use only fetches the fact again, so that a later one names it.
fn is_at_fetch(used: &SampledUse<WritingCall>) -> bool {
    used.hint != used.call
}

/// The probe by surprise.
pub struct Surprise;

impl Scorer for Surprise {
    type Hint = WritingCall;
    type Shown = Prompts;
    type Scored = ScoredUse;
    type Results = SurpriseResults;

    const PURPOSE: Purpose = Purpose::Score;
    const MAX_CONTEXT: u64 = 1_000;
    const SHOWS_TEXTS: bool = false;

    fn draw(from: &Evaluated, memory: &mut Memory) -> Vec<(u32, WritingCall)> {
        draw::draw(from, memory)
    }

    /// Returns a group for each outcome and way to need a fact. Sessions come in turn; of a session, the use whose kind and gap were asked
    /// about least.
    fn groups(drawn: &[&SampledUse<WritingCall>], seed: u64) -> Vec<Vec<usize>> {
        let group = |(outcome, at_fetch): (Outcome, bool)| {
            let is_of_it = |used: &SampledUse<WritingCall>| used.outcome == outcome && is_at_fetch(used) == at_fetch;
            let of_it = drawn.iter().enumerate().filter(|(_, used)| is_of_it(used));
            let mut sessions = by_session(of_it.map(|(at, used)| (used.session(), at)));
            sessions.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
            let cell = |at: &usize| (drawn[*at].fact.kind, gap_bin(drawn[*at].gap));
            let mut asked: HashMap<(FactKind, usize), usize> = HashMap::new();
            in_turn(sessions, |left| {
                let times = |at: &usize| asked.get(&cell(&left[*at])).copied().unwrap_or(0);
                let rarest = (0..left.len()).min_by_key(times).unwrap_or(0);
                *asked.entry(cell(&left[rarest])).or_default() += 1;
                rarest
            })
        };
        Outcome::ALL.into_iter().flat_map(|outcome| [(outcome, false), (outcome, true)]).map(group).collect()
    }

    fn nothing_to_ask(_: usize, _: &Plan) -> String {
        "no use could be drawn: no call names a fact last seen two or more calls before as the record has it".to_owned()
    }

    fn show(requests: &Requests, used: &SampledUse<WritingCall>) -> Option<Prompts> {
        prompts::trim(requests, used)
    }

    fn score(cases: &[Case<Self>], ask: Ask) -> Result<Vec<ScoredUse>, Unanswered> {
        cases.iter().map(|case| scored::score(case, ask)).collect()
    }

    fn results(about: About, unaskable: usize, policies: &[&str], scored: Vec<ScoredUse>) -> SurpriseResults {
        SurpriseResults::new(about, unaskable, policies, scored)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::used;
    use super::*;
    use crate::facts::references::Fact;

    /// The first path is asked first, and then the identifier, because none was asked before. Sessions come in turn.
    #[test]
    fn uses_come_by_outcome_and_kinds_alternate() {
        let path = |transcript| {
            let fact = Fact::plain(FactKind::Path, "src/pool.rs");
            SampledUse { fact, ..used("p", transcript, 3, Outcome::Lost, 3) }
        };
        let identifier = used("p", "a", 3, Outcome::Lost, 3);
        let fetched_again = used("p", "a", 3, Outcome::Lost, 5);
        let drawn = [path("a"), path("a"), identifier, used("p", "a", 4, Outcome::InContext, 4), path("a"), fetched_again];
        let groups = Surprise::groups(&drawn.iter().collect::<Vec<_>>(), 1);
        assert_eq!(groups, [vec![3], vec![], vec![], vec![], vec![], vec![], vec![0, 2, 1, 4], vec![5]]);
        let drawn = [path("a"), path("a"), path("b"), path("b")];
        let lost = Surprise::groups(&drawn.iter().collect::<Vec<_>>(), 1).remove(6);
        assert!(lost == [0, 2, 1, 3] || lost == [2, 0, 3, 1], "{lost:?}");
    }
}
