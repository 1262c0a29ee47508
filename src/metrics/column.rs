//! Columns of results: what a measure promises to fill in, in which unit, and how conversations add up to a total.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What a value counts. Reports print by unit and know no column by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    Tokens,
    /// A part of a whole, 0 to 1; below 0 where something meant to save costs more.
    Share,
    Bytes,
    Count,
    Usd,
    /// One amount over another, without an upper end.
    Ratio,
}

impl Unit {
    /// Whether only whole numbers have a meaning.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Tokens | Self::Bytes | Self::Count)
    }
}

/// Which way a column is good: what a Pareto front and a gate compare by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    Lower,
    Higher,
    Neither,
}

/// How the values of several conversations become one. Rows where a value is missing do not take part; where none is
/// left, the total is missing too.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aggregation {
    /// There is no meaningful total.
    #[default]
    Nothing,
    Sum,
    Max,
    /// The plain mean, every conversation alike; rounded where the unit is whole.
    Mean,
    /// Σ over ÷ Σ under, of two other columns: long conversations weigh more than short ones.
    Ratio {
        over: ColumnId,
        under: ColumnId,
    },
    /// 1 − Σ over ÷ Σ under.
    Saving {
        over: ColumnId,
        under: ColumnId,
    },
    /// The mean, every conversation weighted by another column.
    Weighted {
        by: ColumnId,
    },
}

impl Aggregation {
    /// A ratio, a share or a mean: it does not grow with the number of sessions, so other sessions would give one like it. Sums
    /// and maxima are of these sessions only.
    pub fn is_average(&self) -> bool {
        match self {
            Self::Mean | Self::Ratio { .. } | Self::Saving { .. } | Self::Weighted { .. } => true,
            Self::Nothing | Self::Sum | Self::Max => false,
        }
    }
}

/// The id of a column: dotted, lower case, a promise to scripts (`tokens.sent`).
pub type ColumnId = Cow<'static, str>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub id: ColumnId,
    pub unit: Unit,
    pub better: Direction,
    /// One sentence: what is counted.
    pub about: Cow<'static, str>,
    /// Estimated by a model of tokenizer, cache or price; not counted.
    #[serde(default)]
    pub estimated: bool,
    /// Saved too, so that a part of the rows can be added up again. Columns saved without it have no total.
    #[serde(default)]
    pub combine: Aggregation,
    /// For those who go into the matter: in JSON and CSV, left out of the tables.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub detail: bool,
}

impl Column {
    /// A counted column, for tables of constants.
    pub const fn counted(id: &'static str, unit: Unit, better: Direction, combine: Aggregation, about: &'static str) -> Self {
        Self { id: Cow::Borrowed(id), unit, better, about: Cow::Borrowed(about), estimated: false, combine, detail: false }
    }

    /// An estimated column, for tables of constants.
    pub const fn estimated(id: &'static str, unit: Unit, better: Direction, combine: Aggregation, about: &'static str) -> Self {
        Self { id: Cow::Borrowed(id), unit, better, about: Cow::Borrowed(about), estimated: true, combine, detail: false }
    }

    /// The same column, left out of the tables.
    pub const fn in_detail(mut self) -> Self {
        self.detail = true;
        self
    }
}
