//! Clearing by chance, and intervals by chance: from a seed, so that every run draws the same.

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

/// What a policy would send that clears results by chance, at each call until no more tokens are left than `like` has there.
/// `whole` is the replay that clears nothing.
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
        Request { changes, tokens: left(cleared), ..whole.clone() }
    };
    let requests = whole.requests.iter().zip(&like.requests).map(request).collect();
    Journal { requests, ..whole.clone() }
}

/// What one session adds to a difference of two shares: the weights hit by each, and the weight of all.
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

/// The middle 95 % of the pooled difference, were other sessions drawn: 2,000 draws of as many sessions.
pub fn interval(sessions: &[Paired]) -> (f64, f64) {
    let mut chance = Chance::of(1);
    let mut draw = || pooled((0..sessions.len()).map(|_| &sessions[chance.below(sessions.len())])).difference();
    let mut draws: Vec<f64> = (0..2000).map(|_| draw()).collect();
    draws.sort_by(f64::total_cmp);
    (draws[50], draws[1949])
}
