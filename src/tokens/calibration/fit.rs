//! Deltas → tokens a character.

use super::deltas::Delta;
use super::theil_sen::{median, quantile, slope};
use crate::tokens::meter::{Rates, SCALE};

/// Fewer deltas than these tell nothing that the rates of other sessions would not tell better.
pub const FEWEST: usize = 30;
/// A class has a rate of its own where it holds at least this share of all characters, in at least [`FEWEST`] deltas.
const OWN_SHARE: f64 = 0.05;
/// Pairs are as many as the square of the deltas: of more deltas than these, as many at even distances are taken.
const MOST: usize = 600;
/// Tokens a character that can be: from long English words or runs of spaces to scripts that split characters.
const RATES: (f64, f64) = (0.1, 1.2);
/// How often the classes are gone round at most, and the change of a rate below which it is done.
const ROUNDS: usize = 24;
const STEADY: f64 = 1e-5;

/// Rates, and how well they tell what they were not fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub rates: Rates,
    /// How many calls they were fitted to.
    pub deltas: usize,
    pub spread: Spread,
}

/// How estimates differ from what was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// All that was estimated ÷ all that was recorded.
    pub ratio: f64,
    /// The median of |estimate − recorded| ÷ recorded.
    pub error: f64,
    /// Recorded ÷ estimated: a tenth of the calls is below the first, a tenth above the second.
    pub p10: f64,
    pub p90: f64,
}

impl Fit {
    /// The rates of all deltas; the spread is that of the rates of each half on the other. `None` for too few deltas.
    pub fn of(deltas: &[Delta]) -> Option<Self> {
        let rates = fit(deltas).filter(|_| deltas.len() >= FEWEST)?;
        let spread = Spread::of(held_out(deltas).into_iter().zip(deltas).map(|(estimate, delta)| (estimate, delta.tokens)));
        Some(Self { rates, deltas: deltas.len(), spread: spread? })
    }
}

/// Tokens of each delta by the rates of the half it is not in. Halves are those of the session: first and last.
pub fn held_out(deltas: &[Delta]) -> Vec<f64> {
    let (first, last) = deltas.split_at(deltas.len() / 2);
    let estimated = |of: &[Delta], by: &[Delta]| {
        let rates = fit(by).unwrap_or_default();
        of.iter().map(|delta| estimate(&rates, delta)).collect::<Vec<_>>()
    };
    [estimated(first, last), estimated(last, first)].concat()
}

/// Tokens that rates tell of a delta.
pub fn estimate(rates: &Rates, delta: &Delta) -> f64 {
    (rates.characters(delta.characters) + rates.call()) as f64 / SCALE as f64
}

impl Spread {
    /// Of pairs of what was estimated and what was recorded; `None` without any.
    pub fn of(pairs: impl IntoIterator<Item = (f64, u64)>) -> Option<Self> {
        let pairs: Vec<(f64, f64)> = pairs.into_iter().map(|(estimate, recorded)| (estimate, recorded as f64)).collect();
        let (estimated, recorded) = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
        let mut errors: Vec<f64> = pairs.iter().map(|(estimate, recorded)| (estimate - recorded).abs() / recorded).collect();
        // What was estimated as nothing is a token: what it stands for must not be infinitely more.
        let mut ratios: Vec<f64> = pairs.iter().map(|(estimate, recorded)| recorded / estimate.max(1.0)).collect();
        Some(Self {
            ratio: estimated / recorded,
            error: median(&mut errors)?,
            p10: quantile(&mut ratios, 0.1)?,
            p90: quantile(&mut ratios, 0.9)?,
        })
    }
}

/// Theil–Sen, one rate first and then one a class: each class in turn is fitted to what the others leave, until that settles.
pub fn fit(deltas: &[Delta]) -> Option<Rates> {
    let taken = deltas.len().min(MOST);
    let deltas: Vec<&Delta> = (0..taken).map(|at| &deltas[at * deltas.len() / taken]).collect();
    let all = |delta: &Delta| delta.characters.iter().sum::<u64>() as f64;
    let points: Vec<_> = deltas.iter().map(|delta| (all(delta), delta.tokens as f64)).collect();
    let common = bounded(slope(&points)?);
    let mut rates = [common; 4];
    let mut per_call = intercept(&deltas, &rates);
    let total: f64 = deltas.iter().map(|delta| all(delta)).sum();
    let has_own = |class: &usize| {
        let of_class = || deltas.iter().map(|delta| delta.characters[*class]).filter(|count| *count > 0);
        of_class().count() >= FEWEST && of_class().sum::<u64>() as f64 >= OWN_SHARE * total
    };
    let own: Vec<usize> = (0..rates.len()).filter(has_own).collect();
    for _ in 0..ROUNDS {
        let before = rates;
        for class in &own {
            let left = |delta: &&Delta| {
                let characters = delta.characters[*class] as f64;
                (characters, residual(delta, &rates) - per_call + characters * rates[*class])
            };
            let points: Vec<_> = deltas.iter().map(left).collect();
            rates[*class] = slope(&points).map_or(common, bounded);
        }
        per_call = intercept(&deltas, &rates);
        if rates.iter().zip(before).all(|(rate, before)| (rate - before).abs() < STEADY) {
            break;
        }
    }
    let by_class = rates.map(|rate| (rate * SCALE as f64).round() as u32);
    Some(Rates { by_class, per_call: per_call.round().max(0.0) as u32 })
}

fn bounded(rate: f64) -> f64 {
    rate.clamp(RATES.0, RATES.1)
}

/// What the rates leave of a delta's tokens.
fn residual(delta: &Delta, rates: &[f64; 4]) -> f64 {
    let told: f64 = delta.characters.iter().zip(rates).map(|(count, rate)| *count as f64 * rate).sum();
    delta.tokens as f64 - told
}

fn intercept(deltas: &[&Delta], rates: &[f64; 4]) -> f64 {
    median(&mut deltas.iter().map(|delta| residual(delta, rates)).collect::<Vec<_>>()).unwrap_or(0.0)
}
