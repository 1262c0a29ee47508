//! How the rows of a column add up: what each row adds, and the total of what was added.

use serde::{Deserialize, Serialize};

use crate::metrics::column::{Aggregation, Column};
use crate::metrics::column_map::Values;

/// What rows add to the total of a column, summed: rows of one session, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Accumulator {
    /// What is divided, or the sum itself; the largest value where the largest counts.
    pub over: f64,
    /// What it is divided by: another column's sum, the sum of the weights, how many rows.
    pub under: f64,
}

impl Column {
    /// What one row adds; `None` where it has no value, or the column has no total.
    pub fn adds(&self, values: &Values) -> Option<Accumulator> {
        let of = |over: f64, under: f64| Accumulator { over, under };
        match &self.combine {
            Aggregation::Nothing => None,
            Aggregation::Sum | Aggregation::Max | Aggregation::Mean => Some(of(values.get(&self.id)?, 1.0)),
            Aggregation::Ratio { over, under } | Aggregation::Saving { over, under } => {
                Some(of(values.get(over)?, values.get(under)?))
            }
            Aggregation::Weighted { by } => {
                let (value, weight) = (values.get(&self.id)?, values.get(by)?);
                Some(of(value * weight, weight))
            }
        }
    }

    /// Two parts together.
    pub fn add(&self, one: Accumulator, other: Accumulator) -> Accumulator {
        let over = if self.combine == Aggregation::Max { one.over.max(other.over) } else { one.over + other.over };
        Accumulator { over, under: one.under + other.under }
    }

    /// The total of all that was added; `None` where that is divided by nothing. A mean of whole numbers is rounded.
    pub fn total_of(&self, added: Accumulator) -> Option<f64> {
        let total = self.exact_total_of(added)?;
        let rounded = self.combine == Aggregation::Mean && self.unit.is_whole();
        Some(if rounded { total.round() } else { total })
    }

    /// The same, not rounded.
    pub fn exact_total_of(&self, Accumulator { over, under }: Accumulator) -> Option<f64> {
        match &self.combine {
            Aggregation::Nothing => None,
            _ if under == 0.0 => None,
            Aggregation::Sum | Aggregation::Max => Some(over),
            Aggregation::Mean | Aggregation::Ratio { .. } | Aggregation::Weighted { .. } => Some(over / under),
            Aggregation::Saving { .. } => Some(1.0 - over / under),
        }
    }

    /// Adds a part to a sum where there is one; `None` adds nothing.
    pub fn put(&self, sum: &mut Option<Accumulator>, one: Option<Accumulator>) {
        *sum = match (*sum, one) {
            (Some(sum), Some(one)) => Some(self.add(sum, one)),
            (sum, one) => sum.or(one),
        };
    }

    /// The total of several parts; `None` where there are none.
    pub fn total_of_all(&self, parts: impl Iterator<Item = Accumulator>) -> Option<f64> {
        self.total_of(parts.reduce(|sum, one| self.add(sum, one))?)
    }

    /// The total of several rows.
    pub fn total<'a>(&self, rows: impl Iterator<Item = &'a Values>) -> Option<f64> {
        self.total_of_all(rows.filter_map(|values| self.adds(values)))
    }
}
