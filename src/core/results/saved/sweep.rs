//! Results of a sweep over the parameters of policies, as plain data.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::metrics::column::{ColumnId, Direction};
use crate::metrics::column_map::Values;
use crate::metrics::metric::{cost, retention};

/// Shares of the facts in context for which a sweep names the cheapest configuration.
pub const LEVELS: [f64; 4] = [0.99, 0.97, 0.95, 0.90];

/// A sweep: configurations, their totals, and the recommended one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sweep {
    /// The parameters that were varied, by policy.
    pub parameters: Vec<ParameterRow>,
    /// The objectives, the most important first.
    pub objectives: Vec<Objective>,
    /// Conditions that a configuration must meet: `kept.hard <= 0.02`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// Sessions on which configurations were compared.
    pub sessions: usize,
    /// Held-out sessions, on which the chosen configurations are reported. If 0, they are reported on the sessions of the comparison.
    pub held_out: usize,
    /// Rounds of successive halving, in order; each uses more sessions and fewer configurations.
    #[serde(alias = "rungs")]
    pub rounds: Vec<RungRow>,
    /// What costs are compared with, on the sessions of the comparison; `None` if nothing that is known can run, and in results of older
    /// programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yardstick: Option<ReferenceRow>,
    /// Every configuration, in the order of the grid or the sample.
    pub configurations: Vec<ConfigurationRow>,
    /// `None` if no configuration meets the conditions.
    #[serde(default)]
    pub recommended: Option<Recommendation>,
    /// The configuration nearest to the conditions, if none meets them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// Effect of each parameter on each objective.
    pub sensitivity: Vec<SensitivityRow>,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Number of replayed calls: for each configuration, the recorded calls of its sessions.
    pub policy_calls: u64,
}

/// One parameter of one policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParameterRow {
    /// Name of the policy that is swept.
    pub of: String,
    /// Layer and setting: `micro.keep_recent_results`.
    pub parameter: String,
    /// The values tried, in the syntax of `--set`: `5`, `20k`.
    pub values: Vec<String>,
}

/// A column to optimise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Objective {
    pub column: ColumnId,
    /// Which values are better: lower or higher ones.
    pub better: Direction,
    /// Tolerance: two values that differ by at most this are equal.
    pub epsilon: f64,
}

/// One round of successive halving.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RungRow {
    pub sessions: usize,
    pub configurations: usize,
}

/// One configuration of a policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfigurationRow {
    /// Name of the configuration, also the policy name of its rows: `lcc-s08 micro.keep_recent_results=5`.
    pub policy: String,
    /// The policy that was varied.
    pub of: String,
    /// Parameters and values in the syntax of `--set`: `("micro.keep_recent_results", "5")`. Empty for the unchanged policy.
    pub settings: Vec<(String, String)>,
    /// Sessions on which it was replayed; fewer than for others if successive halving dropped it.
    pub sessions: usize,
    /// Totals over these sessions: the objectives and some more columns.
    pub values: Values,
    /// Whether it meets all conditions.
    pub allowed: bool,
    /// The columns of the conditions that it misses; `decided_by` for a policy that its user cannot switch on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// Whether it is on the Pareto front: it is allowed, and no other allowed configuration is at least as good in all objectives and
    /// better in one. Of configurations that are equal within the tolerances, only one is on the front.
    pub front: bool,
    /// Chance that another is better, for configurations on the front: the share of bootstrap resamples in which another allowed
    /// configuration is at least as good in all objectives, and better in one by more than its tolerance. `None` if there are too few
    /// sessions, or if an objective is a maximum, which cannot be bootstrapped.
    #[serde(default)]
    pub dominated: Option<f64>,
}

/// A policy that configurations are compared with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceRow {
    pub policy: String,
    /// Totals over the sessions of the comparison.
    pub values: Values,
}

/// The recommended configuration, or an unchanged policy: keep what you have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recommendation {
    pub policy: String,
    /// The unchanged policy that it is better than: in one objective, and not worse in the others. `None` for an unchanged policy, and
    /// if no unchanged policy meets the conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// The complete policy file.
    pub toml: String,
    /// Why it was chosen, in a few sentences.
    pub why: String,
    /// The next ones on the front, objective by objective.
    pub neighbours: Vec<Neighbour>,
}

/// Another configuration on the front, compared with the recommended one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbour {
    pub policy: String,
    /// The objective in which it is the next better configuration.
    pub by: ColumnId,
    /// The neighbour's objectives minus those of the recommended configuration.
    pub differences: Values,
}

/// Effect of a parameter on an objective, over the configurations of the first round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SensitivityRow {
    /// Name of the policy that is swept.
    pub of: String,
    /// Layer and setting: `micro.keep_recent_results`.
    pub parameter: String,
    /// The objective.
    pub column: ColumnId,
    /// First-order sensitivity: the share of the objective's variance that this parameter alone explains, from 0 to 1.
    pub share: f64,
    /// Each value of the parameter, with the mean of the objective.
    pub means: Vec<(String, f64)>,
}

impl ConfigurationRow {
    /// The value of a parameter as `--set` takes it; `None` if the configuration leaves it as it is.
    pub fn setting(&self, parameter: &str) -> Option<&str> {
        self.settings.iter().find(|(name, _)| name == parameter).map(|(_, value)| value.as_str())
    }
}

impl Sweep {
    /// The parameters that were varied, each once.
    pub fn varied(&self) -> Vec<&str> {
        distinct(self.parameters.iter().map(|row| row.parameter.as_str()))
    }

    /// The columns of which a configuration has a value.
    pub fn columns(&self) -> Vec<&str> {
        distinct(self.configurations.iter().flat_map(|row| row.values.ids()))
    }

    /// The policy that is swept, if it is the only one.
    pub fn only_policy(&self) -> Option<&str> {
        let mut policies = self.configurations.iter().map(|row| row.of.as_str());
        let first = policies.next()?;
        policies.all(|of| of == first).then_some(first)
    }

    /// The settings of a configuration: its name, without that of the policy if only one is swept.
    pub fn label<'a>(&self, policy: &'a str) -> &'a str {
        let settings = self.only_policy().and_then(|of| policy.strip_prefix(of)?.strip_prefix(' '));
        settings.unwrap_or(policy)
    }

    /// Returns whether the recommendation is the policy as it is. Of several policies, the user does not have all.
    pub fn keeps_unchanged(&self) -> bool {
        self.recommended.as_ref().is_some_and(|best| self.only_policy() == Some(&best.policy))
    }

    /// The row of a configuration.
    pub fn configuration(&self, policy: &str) -> Option<&ConfigurationRow> {
        self.configurations.iter().find(|row| row.policy == policy)
    }

    /// Returns the configurations that cost less than the recommended one and miss a condition, the cheapest first.
    pub fn cheaper_excluded(&self) -> Vec<&ConfigurationRow> {
        let cost = |row: &ConfigurationRow| row.values.get(cost::RATIO).unwrap_or(f64::INFINITY);
        let Some(recommended) = self.recommended.as_ref().and_then(|best| self.configuration(&best.policy)) else {
            return Vec::new();
        };
        let whole = self.rounds.last().map_or(0, |round| round.sessions);
        let excluded = self.configurations.iter().filter(|row| !row.missed.is_empty() && row.sessions == whole);
        let mut cheaper: Vec<&ConfigurationRow> = excluded.filter(|row| cost(row) < cost(recommended)).collect();
        cheaper.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
        cheaper
    }

    /// Of the configurations on the front, those that cost least and keep at least 99, 97, 95 and 90 % of the facts in
    /// context: each of these shares that one of them keeps, with its name.
    pub fn cheapest_by_level(&self) -> Vec<(f64, &str)> {
        let cost = |row: &&ConfigurationRow| row.values.get(cost::RATIO);
        let cheapest = |level: f64| {
            let keeps = |row: &&ConfigurationRow| row.front && row.values.get(retention::HIT).is_some_and(|hit| hit >= level);
            let kept = self.configurations.iter().filter(keeps).filter(|row| cost(row).is_some());
            let cheapest = kept.min_by(|a, b| cost(a).unwrap_or(f64::INFINITY).total_cmp(&cost(b).unwrap_or(f64::INFINITY)))?;
            Some((level, cheapest.policy.as_str()))
        };
        LEVELS.into_iter().filter_map(cheapest).collect()
    }
}

/// Returns each text once, in the order of first appearance.
fn distinct<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}
