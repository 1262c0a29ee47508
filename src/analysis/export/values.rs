//! Computes the values of a configuration, and fills them into its text.

use std::collections::BTreeMap;

use toml::Value;

use super::matched::MatchedLayers;
use super::target::{DetailedRule, Target, settings_in};
use crate::analysis::settings::{common_settings, own_settings};
use crate::engine::layer::LAYERS;
use crate::engine::size::{Limits, Size};
use crate::util::template;

/// Shares of the window have six digits: a token of a window of a million.
const SHARE_DIGITS: f64 = 1e6;

/// More than any number in a policy.
const OFFSET: f64 = 1e12;

/// The values of a configuration.
#[derive(Default)]
pub struct Computed {
    /// The value of each name, as the language writes it; `None` is left out.
    pub literals: BTreeMap<String, Option<String>>,
    /// What the harness computes otherwise, and how.
    pub problems: Vec<String>,
    /// Values that the harness does not accept: without them the text would make no sense.
    pub unacceptable: Vec<String>,
}

/// Computes the values for a model with these limits. What needs a setting that the policy has not is left out.
pub fn compute(target: &Target, layers: &MatchedLayers, limits: Limits) -> Computed {
    let mut computed = Computed::default();
    for (name, rule) in &target.values {
        let value = value(target, name, &rule.detailed(), layers, limits);
        let literal = value.unwrap_or_else(|problem| {
            computed.unacceptable.push(problem);
            None
        });
        computed.literals.insert(name.clone(), literal);
    }
    for follows in &target.follows {
        let numbers = (layers.settings.get(&follows.setting), number(&follows.from, layers, limits));
        if let (Some(Value::Integer(own)), Ok(Some(computes))) = numbers
            && *own as f64 != computes
        {
            let (setting, rule) = (layers.own_name(&follows.setting), &follows.rule);
            computed.problems.push(format!("{setting} = {own}: there it is {computes}, by the rule {rule}"));
        }
    }
    computed
}

fn value(
    target: &Target,
    name: &str,
    rule: &DetailedRule,
    layers: &MatchedLayers,
    limits: Limits,
) -> Result<Option<String>, String> {
    let setting = settings_in(&rule.of).next().filter(|setting| *setting == rule.of);
    if layers.is_missing(settings_in(&rule.of).next().unwrap_or_default()) {
        return Ok(rule.without_layer.clone());
    }
    let plain = setting.map(|setting| layers.settings.get(setting));
    let as_text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if !rule.cases.is_empty() {
        // A setting that is a table, such as `when = { calls = 3 }`, has its values below its own path.
        let inside = format!("{}.", rule.of);
        let parts = layers.settings.iter().filter_map(|(path, value)| Some((path.strip_prefix(&inside)?, value)));
        let parts = || parts.clone().map(|(key, value)| format!("{key} = {value}")).collect::<Vec<_>>().join(", ");
        let written = plain.flatten().map_or_else(|| format!("{{ {} }}", parts()), as_text);
        let known = || rule.cases.keys().map(|case| format!("`{case}`")).collect::<Vec<_>>().join(" or ");
        let unknown = || format!("{} = {written}: `{name}` expresses only {}", layers.own_name(&rule.of), known());
        return rule.cases.get(&written).cloned().map(Some).ok_or_else(unknown);
    }
    if plain.is_some_and(|value| value.is_some() && value == rule.leave_out.as_ref()) {
        return Ok(None);
    }
    match plain {
        Some(None) => Ok(rule.not_set.clone()),
        Some(Some(Value::Float(number))) => within_limits(name, rule, layers, *number),
        Some(Some(value)) if !value.is_integer() && !setting.is_some_and(|setting| is_size(layers, setting)) => {
            Ok(Some(target.syntax.literal(value)))
        }
        _ => sized(name, rule, layers, limits),
    }
}

/// Returns whether a setting is a size, which may be a formula, and not a text.
fn is_size(layers: &MatchedLayers, setting: &str) -> bool {
    let Some((id, field)) = setting.split_once('.') else { return false };
    let kind = LAYERS.iter().find(|kind| layers.layer(id).is_some_and(|layer| layer.spec.name() == kind.name));
    let settings = kind.into_iter().flat_map(own_settings).chain(common_settings());
    settings.into_iter().any(|setting| setting.name == field && setting.kind == "size")
}

/// Returns a number that is computed, within the limits of the harness.
fn sized(name: &str, rule: &DetailedRule, layers: &MatchedLayers, limits: Limits) -> Result<Option<String>, String> {
    let computed = if rule.share_of_window {
        let millionths = number(&format!("{SHARE_DIGITS} * ({}) / window + 0.5", rule.of), layers, limits)?;
        millionths.map(|millionths| millionths / SHARE_DIGITS)
    } else {
        number(&rule.of, layers, limits)?
    };
    computed.map_or(Ok(None), |number| within_limits(name, rule, layers, number))
}

/// Writes a number that the harness takes. No harness takes a negative one.
fn within_limits(name: &str, rule: &DetailedRule, layers: &MatchedLayers, number: f64) -> Result<Option<String>, String> {
    let least = rule.at_least.unwrap_or(0.0);
    let out_of_range = |which: &str, limit: f64| {
        let of = settings_in(&rule.of).next().map_or_else(String::new, |setting| layers.own_name(setting));
        Err(format!("{of} makes `{name}` {number}, and {which} {limit} is accepted"))
    };
    match rule.at_most {
        _ if number < least => out_of_range("nothing below", least),
        Some(most) if number > most => out_of_range("nothing above", most),
        _ => Ok(Some(number.to_string())),
    }
}

/// Computes a formula, rounded down; `None` if the policy lacks a setting that it names.
fn number(formula: &str, layers: &MatchedLayers, limits: Limits) -> Result<Option<f64>, String> {
    let mut written = formula.to_owned();
    let mut settings: Vec<&str> = settings_in(formula).collect();
    // The longer name first, because one may begin like another.
    settings.sort_by_key(|setting| std::cmp::Reverse(setting.len()));
    for setting in settings {
        match layers.settings.get(setting) {
            Some(Value::Integer(number)) => written = written.replace(setting, &number.to_string()),
            Some(Value::String(size)) => written = written.replace(setting, &format!("({size})")),
            Some(other) => return Err(format!("{} = {other} is not a number", layers.own_name(setting))),
            None => return Ok(None),
        }
    }
    // A size is never negative, but a difference may be.
    let size: Size = format!("{OFFSET} + ({written})").parse()?;
    Ok(Some(size.resolve(limits) as f64 - OFFSET))
}

/// Fills the values into the text. A line with a value that is left out is left out.
pub fn fill(target: &Target, literals: &BTreeMap<String, Option<String>>) -> String {
    let is_left_out =
        |line: &&str| literals.iter().any(|(name, literal)| literal.is_none() && template::has_placeholder(line, name));
    let values: Vec<(&str, &str)> =
        literals.iter().filter_map(|(name, literal)| Some((name.as_str(), literal.as_deref()?))).collect();
    let lines = target.template.lines().filter(|line| !is_left_out(line));
    lines.map(|line| template::fill(line, &values) + "\n").collect()
}
