//! How the rows of a column add up: what each row adds, and the total of what was added.

use serde::{Deserialize, Serialize};

use crate::metrics::column::{Column, Combine};
use crate::metrics::column_map::Values;

/// What rows add to the total of a column, summed: rows of one session, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// What is divided, or the sum itself; the largest value where the largest counts.
    pub over: f64,
    /// What it is divided by: another column's sum, the sum of the weights, how many rows.
    pub under: f64,
}

impl Column {
    /// What one row adds; `None` where it has no value, or the column has no total.
    pub fn adds(&self, values: &Values) -> Option<Added> {
        let of = |over: f64, under: f64| Added { over, under };
        match &self.combine {
            Combine::Nothing => None,
            Combine::Sum | Combine::Max | Combine::Mean => Some(of(values.get(&self.id)?, 1.0)),
            Combine::Ratio { over, under } | Combine::Saving { over, under } => Some(of(values.get(over)?, values.get(under)?)),
            Combine::Weighted { by } => {
                let (value, weight) = (values.get(&self.id)?, values.get(by)?);
                Some(of(value * weight, weight))
            }
        }
    }

    /// Two parts together.
    pub fn add(&self, one: Added, other: Added) -> Added {
        let over = if self.combine == Combine::Max { one.over.max(other.over) } else { one.over + other.over };
        Added { over, under: one.under + other.under }
    }

    /// The total of all that was added; `None` where that is divided by nothing. A mean of whole numbers is rounded.
    pub fn total_of(&self, added: Added) -> Option<f64> {
        let total = self.exact_total_of(added)?;
        let rounded = self.combine == Combine::Mean && self.unit.is_whole();
        Some(if rounded { total.round() } else { total })
    }

    /// The same, not rounded.
    pub fn exact_total_of(&self, Added { over, under }: Added) -> Option<f64> {
        match &self.combine {
            Combine::Nothing => None,
            _ if under == 0.0 => None,
            Combine::Sum | Combine::Max => Some(over),
            Combine::Mean | Combine::Ratio { .. } | Combine::Weighted { .. } => Some(over / under),
            Combine::Saving { .. } => Some(1.0 - over / under),
        }
    }

    /// Adds a part to a sum where there is one; `None` adds nothing.
    pub fn put(&self, sum: &mut Option<Added>, one: Option<Added>) {
        *sum = match (*sum, one) {
            (Some(sum), Some(one)) => Some(self.add(sum, one)),
            (sum, one) => sum.or(one),
        };
    }

    /// The total of several parts; `None` where there are none.
    pub fn total_of_all(&self, parts: impl Iterator<Item = Added>) -> Option<f64> {
        self.total_of(parts.reduce(|sum, one| self.add(sum, one))?)
    }

    /// The total of several rows.
    pub fn total<'a>(&self, rows: impl Iterator<Item = &'a Values>) -> Option<f64> {
        self.total_of_all(rows.filter_map(|values| self.adds(values)))
    }
}
