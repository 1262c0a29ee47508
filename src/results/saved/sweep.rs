//! What a sweep over a policy's parameters found, as plain data.

use serde::{Deserialize, Serialize};

use crate::metrics::column::{ColumnId, Direction};
use crate::metrics::column_map::Values;

/// A sweep: what was tried, what came of it, and what to take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// The parameters that were varied, by policy.
    pub parameters: Vec<ParameterRow>,
    /// What is to be good, the most important first.
    pub objectives: Vec<Objective>,
    /// What must hold: `kept.hard <= 0.02`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// Sessions the configurations were chosen on.
    pub sessions: usize,
    /// Sessions kept apart, on which what was chosen is reported; 0: it is reported on those it was chosen on.
    pub held_out: usize,
    /// How many configurations were tried on how many sessions; one after another, each on more sessions.
    pub rungs: Vec<RungRow>,
    /// Every configuration, in the order of the grid or the sample.
    pub configurations: Vec<ConfigurationRow>,
    /// None where no configuration meets the conditions.
    #[serde(default)]
    pub recommended: Option<Recommendation>,
    /// The configuration that comes nearest to the conditions, where none meets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// What each parameter does to each objective.
    pub sensitivity: Vec<SensitivityRow>,
    pub seed: u64,
    /// Recorded calls times configurations that were replayed.
    pub policy_calls: u64,
}

/// One parameter of one policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ParameterRow {
    /// The policy that is swept, by its own name.
    pub of: String,
    /// `micro.keep_recent`
    pub parameter: String,
    /// Those that were tried, as `--set` takes them: `5`, `20k`.
    pub values: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    pub column: ColumnId,
    /// Never [`Direction::Neither`].
    pub better: Direction,
    /// Differences up to this do not count.
    pub epsilon: f64,
}

/// One round of successive halving.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RungRow {
    pub sessions: usize,
    pub configurations: usize,
}

/// One configuration of a policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfigurationRow {
    /// Its name, which is that of its policy in the rows where it has any: `lcc-s08-17`.
    pub policy: String,
    /// The policy that was varied.
    pub of: String,
    /// By parameter, as `--set` takes it: `("micro.keep_recent", "5")`. Empty for a policy as it is.
    pub settings: Vec<(String, String)>,
    /// Sessions it was tried on: fewer than others where halving left it behind.
    pub sessions: usize,
    /// Totals over these sessions, of the objectives and some columns more.
    pub values: Values,
    /// Whether it meets all conditions.
    pub allowed: bool,
    /// It is allowed, and no other allowed configuration is at least as good in all objectives and better in one; of those that
    /// differ by no more than the tolerances, one.
    pub front: bool,
    /// For those on the front: the share of bootstrap draws in which another allowed configuration is at least as good in all
    /// objectives, and better in one by more than its tolerance. None where there are too few sessions, or where an objective is a
    /// largest value, of which draws say nothing.
    #[serde(default)]
    pub dominated: Option<f64>,
}

/// What to ship.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    pub policy: String,
    /// The whole policy, ready to be saved and used.
    pub toml: String,
    /// How it was chosen, in a sentence.
    pub why: String,
    /// The next ones on the front, objective by objective.
    pub neighbours: Vec<Neighbour>,
}

/// Another configuration on the front, and what it would give and take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    pub policy: String,
    /// The objective in which it is the next better one.
    pub by: ColumnId,
    /// The neighbour's objectives less the recommended one's.
    pub differences: Values,
}

/// What a parameter does to an objective, over the configurations of the first rung.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRow {
    pub of: String,
    pub parameter: String,
    pub column: ColumnId,
    /// The share of the objective's variance that goes with the parameter alone (first order): 0 none, 1 all.
    pub share: f64,
    /// The objective's mean at each of the parameter's values.
    pub means: Vec<(String, f64)>,
}
