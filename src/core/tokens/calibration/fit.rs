//! Fits rates (tokens per character) to deltas.

use super::deltas::Delta;
use super::theil_sen::{median, quantile, slope};
use crate::tokens::meter::{Rates, SCALE};

/// Minimum number of deltas. With fewer, the rates of other sessions are better estimates.
pub const MIN_DELTAS: usize = 30;
/// A class gets its own rate if it has at least this share of all characters and occurs in at least [`MIN_DELTAS`] deltas.
const MIN_CLASS_SHARE: f64 = 0.05;
/// Maximum deltas to use, at even distances. The number of pairs is the square of the number of deltas.
const MAX_DELTAS: usize = 600;
/// Plausible tokens per character: from long English words or runs of spaces to scripts that split characters.
const RATE_RANGE: (f64, f64) = (0.1, 1.2);
/// Maximum rounds over all classes.
const MAX_ROUNDS: usize = 24;
/// The fit is done when every rate changes by less than this in one round.
const CONVERGENCE: f64 = 1e-5;

/// Fitted rates, and how well they predict calls they were not fitted to.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub rates: Rates,
    /// Number of calls the rates were fitted to.
    pub deltas: usize,
    /// Estimated tokens of each of these calls by rates that were found on the other half of them.
    pub held_out: Vec<f64>,
    pub spread: Spread,
}

/// How much estimates differ from recorded tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Sum of the estimates ÷ sum of the recorded tokens.
    pub ratio: f64,
    /// Median of |estimate − recorded| ÷ recorded.
    pub error: f64,
    /// 10th percentile of recorded ÷ estimated.
    pub p10: f64,
    /// 90th percentile of recorded ÷ estimated.
    pub p90: f64,
}

impl Fit {
    /// Fits rates to all deltas: several rates and a constant, or [`one_rate`] if that predicts the held-out calls better. The spread is
    /// measured on each half with the rates of the other half. `None` if there are too few deltas.
    pub fn from_deltas(deltas: &[Delta]) -> Option<Self> {
        if deltas.len() < MIN_DELTAS {
            return None;
        }
        let fits = [fit as Method, one_rate].into_iter().filter_map(|method| {
            let held_out = held_out(deltas, method);
            let spread = Spread::from_pairs(held_out.iter().copied().zip(deltas.iter().map(|delta| delta.tokens)))?;
            Some(Self { rates: method(deltas)?, deltas: deltas.len(), held_out, spread })
        });
        // Of two equal ones the first.
        fits.min_by(|one, other| one.spread.error.total_cmp(&other.spread.error))
    }
}

/// A way to find rates.
type Method = fn(&[Delta]) -> Option<Rates>;

/// Returns the estimated tokens of each delta by rates that were found on the other half (first or last) of the session.
fn held_out(deltas: &[Delta], method: Method) -> Vec<f64> {
    let (first, last) = deltas.split_at(deltas.len() / 2);
    let estimates = |test: &[Delta], training: &[Delta]| {
        let rates = method(training).unwrap_or_default();
        test.iter().map(|delta| estimate(&rates, delta)).collect::<Vec<_>>()
    };
    [estimates(first, last), estimates(last, first)].concat()
}

/// Returns the estimated tokens of a delta.
pub fn estimate(rates: &Rates, delta: &Delta) -> f64 {
    (rates.characters_size(delta.characters) + rates.call_size()) as f64 / SCALE as f64
}

impl Spread {
    /// Computes the spread of `(estimate, recorded)` pairs; `None` if there are none.
    pub fn from_pairs(pairs: impl IntoIterator<Item = (f64, u64)>) -> Option<Self> {
        let pairs: Vec<(f64, f64)> = pairs.into_iter().map(|(estimate, recorded)| (estimate, recorded as f64)).collect();
        let (estimated, recorded) = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
        let mut errors: Vec<f64> = pairs.iter().map(|(estimate, recorded)| (estimate - recorded).abs() / recorded).collect();
        // An estimate below one token counts as one, so that no ratio is infinite.
        let mut ratios: Vec<f64> = pairs.iter().map(|(estimate, recorded)| recorded / estimate.max(1.0)).collect();
        Some(Self {
            ratio: estimated / recorded,
            error: median(&mut errors)?,
            p10: quantile(&mut ratios, 0.1)?,
            p90: quantile(&mut ratios, 0.9)?,
        })
    }
}

/// Returns the same rate for all characters and no constant: the median of tokens per character. Where calls bring much the same, a line
/// through them says nothing about their parts.
pub fn one_rate(deltas: &[Delta]) -> Option<Rates> {
    let with_text = deltas.iter().map(|delta| (delta.tokens, delta.characters.iter().sum::<u64>())).filter(|(_, sum)| *sum > 0);
    let rate = median(&mut with_text.map(|(tokens, characters)| tokens as f64 / characters as f64).collect::<Vec<_>>())?;
    Some(Rates { by_class: [(rate * SCALE as f64).round() as u32; 4], per_call: 0 })
}

/// Fits rates by Theil–Sen: first one common rate, then one rate per class. Each class in turn is fitted to the tokens that the
/// other classes leave unexplained, until the rates converge.
pub fn fit(deltas: &[Delta]) -> Option<Rates> {
    let used = deltas.len().min(MAX_DELTAS);
    let deltas: Vec<&Delta> = (0..used).map(|at| &deltas[at * deltas.len() / used]).collect();
    let characters = |delta: &Delta| delta.characters.iter().sum::<u64>() as f64;
    let points: Vec<_> = deltas.iter().map(|delta| (characters(delta), delta.tokens as f64)).collect();
    let common = clamp_rate(slope(&points)?);
    let mut rates = [common; 4];
    let mut per_call = intercept(&deltas, &rates);
    let total: f64 = deltas.iter().map(|delta| characters(delta)).sum();
    let is_large = |class: &usize| {
        let counts = || deltas.iter().map(|delta| delta.characters[*class]).filter(|count| *count > 0);
        counts().count() >= MIN_DELTAS && counts().sum::<u64>() as f64 >= MIN_CLASS_SHARE * total
    };
    let large_classes: Vec<usize> = (0..rates.len()).filter(is_large).collect();
    for _ in 0..MAX_ROUNDS {
        let before = rates;
        for class in &large_classes {
            let point = |delta: &&Delta| {
                let characters = delta.characters[*class] as f64;
                (characters, residual(delta, &rates) - per_call + characters * rates[*class])
            };
            let points: Vec<_> = deltas.iter().map(point).collect();
            rates[*class] = slope(&points).map_or(common, clamp_rate);
        }
        per_call = intercept(&deltas, &rates);
        if rates.iter().zip(before).all(|(rate, before)| (rate - before).abs() < CONVERGENCE) {
            break;
        }
    }
    let by_class = rates.map(|rate| (rate * SCALE as f64).round() as u32);
    Some(Rates { by_class, per_call: per_call.round().max(0.0) as u32 })
}

fn clamp_rate(rate: f64) -> f64 {
    rate.clamp(RATE_RANGE.0, RATE_RANGE.1)
}

/// Returns the tokens of a delta that the rates do not explain.
fn residual(delta: &Delta, rates: &[f64; 4]) -> f64 {
    let explained: f64 = delta.characters.iter().zip(rates).map(|(count, rate)| *count as f64 * rate).sum();
    delta.tokens as f64 - explained
}

/// Returns the median residual: the tokens per call that belong to no character.
fn intercept(deltas: &[&Delta], rates: &[f64; 4]) -> f64 {
    median(&mut deltas.iter().map(|delta| residual(delta, rates)).collect::<Vec<_>>()).unwrap_or(0.0)
}
