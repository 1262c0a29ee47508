//! Columns of results: the unit of a value, and how the values of several conversations become one total.

use std::borrow::Cow;
use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of a value. Reports format values by unit and know no column by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Tokens,
    /// Part of a whole, 0 to 1; negative if something that should save costs more.
    Share,
    Bytes,
    Count,
    Usd,
    /// One amount divided by another; has no upper limit.
    Ratio,
}

impl Unit {
    /// Returns whether only whole numbers have a meaning.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Tokens | Self::Bytes | Self::Count)
    }
}

/// Which direction of a column is better; Pareto fronts and gates compare by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Lower,
    Higher,
    Neither,
}

impl Direction {
    /// Orders two values of a column: the better one first, a missing one last.
    pub fn compare(self, one: Option<f64>, other: Option<f64>) -> Ordering {
        let loss = |value: Option<f64>| match (self, value) {
            (_, None) => f64::INFINITY,
            (Self::Higher, Some(value)) => -value,
            (Self::Lower | Self::Neither, Some(value)) => value,
        };
        loss(one).total_cmp(&loss(other))
    }
}

/// How the values of several conversations become one total. Rows without a value do not take part; if no row has a value,
/// the total is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// There is no meaningful total.
    #[default]
    Nothing,
    Sum,
    Max,
    /// Plain mean: every conversation has the same weight. Rounded if the unit is whole.
    Mean,
    /// Σ `over` ÷ Σ `under`, of two other columns: long conversations weigh more than short ones.
    Ratio {
        over: ColumnId,
        under: ColumnId,
    },
    /// 1 − Σ `over` ÷ Σ `under`.
    Saving {
        over: ColumnId,
        under: ColumnId,
    },
    /// Mean, each conversation weighted by the column `by`.
    Weighted {
        by: ColumnId,
    },
}

impl Aggregation {
    /// Returns true for ratios, shares and means: they do not grow with the number of sessions, so they also estimate the
    /// value for other sessions. Sums and maxima describe only these sessions.
    pub fn is_average(&self) -> bool {
        match self {
            Self::Mean | Self::Ratio { .. } | Self::Saving { .. } | Self::Weighted { .. } => true,
            Self::Nothing | Self::Sum | Self::Max => false,
        }
    }
}

/// Id of a column: dotted, lower case (`tokens.sent`). Scripts rely on it, so it never changes.
pub type ColumnId = Cow<'static, str>;

/// A column of results: what a value means, its unit, and how the values of several conversations become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    pub id: ColumnId,
    pub unit: Unit,
    pub better: Direction,
    /// What the column counts, in one sentence.
    pub about: Cow<'static, str>,
    /// The value depends on a model of tokenizer, cache or price; it is not counted exactly.
    #[serde(default)]
    pub estimated: bool,
    /// Saved too, so that a subset of the rows can be totalled again. Saved columns without it have no total.
    #[serde(default)]
    pub combine: Aggregation,
    /// For experts: in JSON and CSV only, not in the tables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detail: bool,
}

impl Column {
    /// Builds a column that is counted exactly, for tables of constants.
    pub const fn counted(id: &'static str, unit: Unit, better: Direction, combine: Aggregation, about: &'static str) -> Self {
        Self { id: Cow::Borrowed(id), unit, better, about: Cow::Borrowed(about), estimated: false, combine, detail: false }
    }

    /// Builds an estimated column, for tables of constants.
    pub const fn estimated(id: &'static str, unit: Unit, better: Direction, combine: Aggregation, about: &'static str) -> Self {
        Self { id: Cow::Borrowed(id), unit, better, about: Cow::Borrowed(about), estimated: true, combine, detail: false }
    }
}
