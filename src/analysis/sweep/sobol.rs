//! Points spread evenly over every parameter at once: Owen-scrambled Sobol points, seeded.
//!
//! Among the first 2^k points, each of the 2^k equal parts of every parameter's range contains exactly one; random points
//! leave gaps and clusters.

use std::collections::HashSet;

use sobol_burley::{NUM_DIMENSIONS, sample};

/// Number of points after which the sequence repeats.
const SEQUENCE_LENGTH: u32 = 1 << 16;

/// Returns at most `wanted` distinct choices of one value per parameter, in the order of the sequence; fewer if the sequence
/// has no more. `counts` are the numbers of values of the parameters.
pub fn choices(counts: &[u64], wanted: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut known = HashSet::new();
    let points = (0..SEQUENCE_LENGTH).map(|point| choice(counts, point, seed));
    points.filter(|choice| known.insert(choice.clone())).take(wanted).collect()
}

fn choice(counts: &[u64], point: u32, seed: u64) -> Vec<u64> {
    let at = |(dimension, count): (u32, &u64)| {
        // A coordinate has 24 bits: in a longer range it reaches evenly spaced values only.
        let u = f64::from(coordinate(point, dimension, seed));
        ((u * *count as f64) as u64).min(count.saturating_sub(1))
    };
    (0..).zip(counts).map(at).collect()
}

/// Returns a coordinate in [0, 1). Dimensions beyond those of the sequence use another scrambling of its first ones.
fn coordinate(point: u32, dimension: u32, seed: u64) -> f32 {
    let seed = (seed ^ (seed >> 32)) as u32;
    sample(point, dimension % NUM_DIMENSIONS, seed.wrapping_add(dimension / NUM_DIMENSIONS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published property of the sequence: its first 2^k points are a (0, k, 1)-net in every dimension.
    #[test]
    fn sobol_points_stratify_every_dimension() {
        for (seed, dimension) in [(1, 0), (1, 1), (1, 7), (1, 200), (7_000_000_000, 3)] {
            for k in 0..=12 {
                let parts = 1_u32 << k;
                let mut held = vec![0; parts as usize];
                for point in 0..parts {
                    held[(coordinate(point, dimension, seed) * parts as f32) as usize] += 1;
                }
                assert!(held.iter().all(|held| *held == 1), "seed {seed}, dimension {dimension}, 2^{k}");
            }
        }
    }

    /// Its first two dimensions even cover the plane: the first 16 points are in 16 different boxes of any shape.
    #[test]
    fn sobol_points_stratify_boxes_of_two_dimensions() {
        for (wide, high) in [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)] {
            let boxes: HashSet<Vec<u64>> = (0..16).map(|point| choice(&[wide, high], point, 3)).collect();
            assert_eq!(boxes.len(), 16, "{wide} × {high}");
        }
    }

    #[test]
    fn sobol_choices_differ_and_are_reproducible() {
        let counts = [10, 3, 1_000_000];
        let some = choices(&counts, 64, 1);
        assert_eq!(some.len(), 64);
        assert_eq!(some.iter().collect::<HashSet<_>>().len(), 64);
        assert!(some.iter().all(|choice| choice.iter().zip(counts).all(|(at, count)| *at < count)));
        assert_eq!(some, choices(&counts, 64, 1));
        assert_eq!(some[..8], choices(&counts, 8, 1));
        assert_ne!(some, choices(&counts, 64, 2));
        assert_eq!(choices(&[2, 3], 100, 1).len(), 6, "there are no more");
        assert_eq!(choices(&[], 5, 1), [Vec::<u64>::new()]);
    }
}
