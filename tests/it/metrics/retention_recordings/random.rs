//! A policy that clears random results, and random resamples; both from a seed, so every run draws the same.

use recompact::engine::context::{Cause, Change, ChangeKind};
use recompact::engine::journal::{Journal, Request};
use recompact::transcript::conversation::BlockKind;

use super::{COUNTER, One};

/// Xorshift.
pub struct Chance(u64);

impl Chance {
    pub fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }
}

/// Replays a policy that clears random results before each call until the request has at most as many tokens as in `like`.
/// `whole` is a replay without clearing.
pub fn clearing(one: &One, whole: &Journal, like: &Journal, seed: u64) -> Journal {
    let (conversation, mut chance) = (one.conversation, Chance::of(seed));
    let (mut shown, mut read, mut cleared) = (Vec::new(), 0, 0);
    let request = |(whole, like): (&Request, &Request)| {
        assert_eq!(whole.call, like.call);
        let response = conversation.calls[whole.call].response;
        let entered = conversation.messages[read..response].iter().flat_map(|message| &message.blocks);
        shown.extend(entered.filter(|id| matches!(conversation.block(**id).kind, BlockKind::ToolResult(_))));
        read = response;
        let mut changes = whole.changes.clone();
        let left = |cleared: u64| whole.tokens.saturating_sub(COUNTER.apply(cleared));
        while left(cleared) > like.tokens && !shown.is_empty() {
            let result = shown.swap_remove(chance.below(shown.len()));
            cleared += one.sizes.size(result, COUNTER.unit);
            let (kind, cause) = (ChangeKind::Rewrite, Cause::Layer(0));
            changes.push(Change { kind, cause, at: 0, removed: vec![result], added: Vec::new() });
        }
        let mut request = whole.clone();
        (request.changes, request.tokens) = (changes, left(cleared));
        request
    };
    let requests = whole.requests.iter().zip(&like.requests).map(request).collect();
    let mut journal = whole.clone();
    journal.requests = requests;
    journal
}

/// The contribution of one session to a difference of two shares: the weight of hits of each policy, and the whole weight.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paired {
    pub hit: f64,
    pub other: f64,
    pub weight: f64,
}

impl Paired {
    pub fn add(&mut self, other: Paired) {
        self.hit += other.hit;
        self.other += other.other;
        self.weight += other.weight;
    }

    pub fn difference(self) -> f64 {
        (self.hit - self.other) / self.weight
    }
}

pub fn pooled<'a>(sessions: impl IntoIterator<Item = &'a Paired>) -> Paired {
    sessions.into_iter().fold(Paired::default(), |mut sum, one| {
        sum.add(*one);
        sum
    })
}

/// Returns the middle 95 % of the pooled difference over 2,000 resamples of the sessions.
pub fn interval(sessions: &[Paired]) -> (f64, f64) {
    let mut chance = Chance::of(1);
    let mut draw = || pooled((0..sessions.len()).map(|_| &sessions[chance.below(sessions.len())])).difference();
    let mut draws: Vec<f64> = (0..2000).map(|_| draw()).collect();
    draws.sort_by(f64::total_cmp);
    (draws[50], draws[1949])
}
