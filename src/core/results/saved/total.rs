//! Totals of columns: what each row contributes, and the total of all contributions.

use serde::{Deserialize, Serialize};

use crate::metrics::column::{Aggregation, Column};
use crate::metrics::column_map::{ColumnMap, List, Values};

/// Sum of what rows contribute to the total of a column: the rows of one session, or all rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    /// Numerator, or the sum itself; for a maximum, the largest value.
    pub numerator: f64,
    /// Denominator: the sum of another column, the sum of the weights, or the number of rows.
    pub denominator: f64,
}

impl Column {
    /// Returns what one row contributes; `None` if it has no value, or the column has no total.
    pub fn contribution(&self, values: &Values) -> Option<Accumulator> {
        self.contributions()(values)
    }

    /// Returns a function like [`Self::contribution`] that is faster for many rows.
    pub fn contributions<L: List<Item = Option<f64>>>(&self) -> impl FnMut(&ColumnMap<L>) -> Option<Accumulator> {
        let [mut first, mut second] = [0; 2];
        move |values: &ColumnMap<L>| {
            let mut one = |id| values.get_near(id, &mut first);
            let mut other = |id| values.get_near(id, &mut second);
            let (numerator, denominator) = match &self.combine {
                Aggregation::Nothing => return None,
                Aggregation::Sum | Aggregation::Max | Aggregation::Mean => (one(&self.id)?, 1.0),
                Aggregation::Ratio { over, under } | Aggregation::Saving { over, under } => (one(over)?, other(under)?),
                Aggregation::Weighted { by } => {
                    let (value, weight) = (one(&self.id)?, other(by)?);
                    (value * weight, weight)
                }
            };
            Some(Accumulator { numerator, denominator })
        }
    }

    /// Adds two contributions.
    pub fn add(&self, one: Accumulator, other: Accumulator) -> Accumulator {
        let over =
            if self.combine == Aggregation::Max { one.numerator.max(other.numerator) } else { one.numerator + other.numerator };
        Accumulator { numerator: over, denominator: one.denominator + other.denominator }
    }

    /// Returns the total of a sum of contributions; `None` if the denominator is 0. A mean of whole numbers is rounded.
    pub fn total_of(&self, added: Accumulator) -> Option<f64> {
        let total = self.exact_total_of(added)?;
        let rounded = self.combine == Aggregation::Mean && self.unit.is_whole();
        Some(if rounded { total.round() } else { total })
    }

    /// Like [`Self::total_of`], but never rounds.
    pub fn exact_total_of(&self, Accumulator { numerator: over, denominator: under }: Accumulator) -> Option<f64> {
        match &self.combine {
            Aggregation::Nothing => None,
            _ if under == 0.0 => None,
            Aggregation::Sum | Aggregation::Max => Some(over),
            Aggregation::Mean | Aggregation::Ratio { .. } | Aggregation::Weighted { .. } => Some(over / under),
            Aggregation::Saving { .. } => Some(1.0 - over / under),
        }
    }

    /// Adds a contribution to a sum; `None` adds nothing.
    pub fn combine_into(&self, sum: &mut Option<Accumulator>, one: Option<Accumulator>) {
        *sum = match (*sum, one) {
            (Some(sum), Some(one)) => Some(self.add(sum, one)),
            (sum, one) => sum.or(one),
        };
    }

    /// Returns the total of several contributions; `None` if there are none.
    pub fn total_of_all(&self, parts: impl Iterator<Item = Accumulator>) -> Option<f64> {
        self.total_of(parts.reduce(|sum, one| self.add(sum, one))?)
    }

    /// Returns the total of several rows.
    pub fn total<'a>(&self, rows: impl Iterator<Item = &'a Values>) -> Option<f64> {
        self.total_of_all(rows.filter_map(self.contributions()))
    }
}

/// Returns the totals of several columns. It reads and unpacks each row once: many rows do not fit into the processor's cache.
pub fn totals<'a>(columns: &[Column], rows: impl Iterator<Item = &'a Values>) -> Vec<Option<f64>> {
    let mut sums: Vec<_> = columns.iter().map(|column| (column, column.contributions(), None)).collect();
    for values in rows.map(Values::unpacked) {
        for (column, contribution, sum) in &mut sums {
            column.combine_into(sum, contribution(&values));
        }
    }
    sums.into_iter().map(|(column, _, sum)| column.total_of(sum?)).collect()
}
