//! Random halves of the sessions: whether an answer depends on which sessions were recorded.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Splits the sessions `splits` times at random into two halves, and returns for each half whether a session is in it. Of an odd
/// number, the second half has one more.
pub fn halves(sessions: usize, splits: usize, seed: u64) -> Vec<Vec<bool>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..sessions).collect();
    let mut halves = Vec::with_capacity(2 * splits);
    for _ in 0..splits {
        order.shuffle(&mut random);
        let mut is_first = vec![false; sessions];
        order[..sessions / 2].iter().for_each(|session| is_first[*session] = true);
        let second = is_first.iter().map(|is_first| !is_first).collect();
        halves.extend([is_first, second]);
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_is_in_one_half_of_each_split() {
        let drawn = halves(7, 50, 3);
        assert_eq!((drawn.len(), &drawn), (100, &halves(7, 50, 3)));
        assert_ne!(drawn, halves(7, 50, 4));
        for split in drawn.chunks(2) {
            assert_eq!(split[0].iter().filter(|is_in| **is_in).count(), 3);
            assert!((0..7).all(|session| split[0][session] != split[1][session]));
        }
        let first: Vec<usize> = (0..7).map(|session| drawn.iter().step_by(2).filter(|half| half[session]).count()).collect();
        // Three of seven sessions, fifty times: 21 each, with a standard deviation of 3.5.
        assert!(first.iter().all(|times| (10..=32).contains(times)), "{first:?}");
    }
}
