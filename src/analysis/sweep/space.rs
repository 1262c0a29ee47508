//! Spaces: policies with their parameters, and the settings that may be tried.

use std::collections::BTreeSet;

use crate::analysis::spec::PolicySource;
use crate::engine::policy::{Policy, PolicyError, Setting, unknown_layer_message};
use crate::results::saved::ParameterRow;
use crate::util::ValueError;
use crate::util::toml_span::line_of_path;

use super::SweepError;
use super::parameter::Parameter;

/// One policy and its varied parameters.
#[derive(Debug)]
pub struct Space {
    pub(super) source: PolicySource,
    /// The policy without any changed setting.
    plain: Policy,
    /// Settings with one value.
    pub(super) fixed: Vec<Setting>,
    /// Settings with several values; the last one varies fastest.
    varied: Vec<Parameter>,
}

/// Returns every policy with the parameters that fit it; without parameters, with those of its own `[sweep]`. Each parameter must
/// fit at least one policy, and each of its values must give a valid policy.
pub fn spaces(sources: &[PolicySource], parameters: &[Parameter]) -> Result<Vec<Space>, SweepError> {
    let mut spaces: Vec<Space> = Vec::new();
    for source in sources {
        let plain = source.policy(&[])?;
        if spaces.iter().any(|known| known.plain.name == plain.name) {
            return Err(SweepError::Wrong(format!("the policy `{}` is named twice", plain.name)));
        }
        let mut space = Space { source: source.clone(), plain, fixed: Vec::new(), varied: Vec::new() };
        let own = if parameters.is_empty() { space.own_parameters()? } else { Vec::new() };
        let (fixed, varied): (Vec<_>, Vec<_>) = parameters
            .iter()
            .chain(&own)
            .filter(|parameter| space.plain.has_layer(parameter.layer.as_deref()))
            .partition(|parameter| parameter.values.count() == 1);
        space.fixed = fixed.into_iter().map(|parameter| parameter.setting(0)).collect::<Result<_, _>>()?;
        space.varied = varied.into_iter().cloned().collect();
        space.check()?;
        spaces.push(space);
    }
    for (at, parameter) in parameters.iter().enumerate() {
        if parameters[..at].iter().any(|earlier| earlier.name == parameter.name) {
            return Err(SweepError::Wrong(format!("--set {}: given twice; list its values: `1,2,3`", parameter.name)));
        }
        let plain: Vec<&Policy> = spaces.iter().map(|space| &space.plain).collect();
        if let Some(message) = unknown_layer_message(&parameter.name, parameter.layer.as_deref(), &plain) {
            return Err(SweepError::Wrong(message));
        }
    }
    if spaces.iter().all(|space| space.varied.is_empty()) {
        let message = match &spaces[..] {
            [Space { plain, .. }] if parameters.is_empty() => {
                let layer = plain.layers.first().map_or("LAYER", |layer| &layer.id);
                format!("`{}` has no [sweep] with values to try: give them, as in `--set {layer}.SETTING=1..10`", plain.name)
            }
            _ => "nothing is varied: give a setting several values, as in `--set micro.keep_recent_results=1..10`".to_owned(),
        };
        return Err(SweepError::Wrong(message));
    }
    Ok(spaces)
}

impl Space {
    /// Returns the parameters of the policy's `[sweep]`.
    fn own_parameters(&self) -> Result<Vec<Parameter>, SweepError> {
        let parameter = |layer: &String, field: &String, values: &String| {
            let name = format!("{layer}.{field}");
            let wrong = |what: String| {
                let line = line_of_path(&self.source.text, &["sweep", layer, field]);
                SweepError::from(PolicyError { origin: self.source.origin.clone(), line, what: format!("[sweep] {what}") })
            };
            if !self.plain.has_layer(Some(layer)) {
                return Err(wrong(format!("{name}: the policy has no layer `{layer}`")));
            }
            format!("{name}={values}").parse().map_err(|error: ValueError| wrong(error.to_string()))
        };
        let own = self.plain.sweep.iter();
        own.flat_map(|(layer, fields)| fields.iter().map(move |(field, values)| parameter(layer, field, values))).collect()
    }

    /// Parses the policy with the fixed settings, then with each value, so that an error names the setting.
    fn check(&self) -> Result<(), SweepError> {
        self.source.policy(&self.fixed)?;
        for parameter in &self.varied {
            for at in parameter.values.telling() {
                let setting = parameter.setting(at)?;
                self.source.policy(&[&self.fixed[..], &[setting]].concat())?;
            }
        }
        Ok(())
    }

    pub(super) fn counts(&self) -> Vec<u64> {
        self.varied.iter().map(|parameter| parameter.values.count()).collect()
    }

    pub(super) fn size(&self) -> u64 {
        self.counts().into_iter().fold(1, u64::saturating_mul)
    }

    /// Returns the parameters with those of their values that were chosen.
    pub fn rows(&self, chosen: impl Fn(usize) -> BTreeSet<u64>) -> Vec<ParameterRow> {
        let row = |(at, parameter): (usize, &Parameter)| ParameterRow {
            of: self.plain.name.clone(),
            parameter: parameter.name.clone(),
            values: chosen(at).into_iter().map(|value| parameter.values.at(value)).collect(),
        };
        self.varied.iter().enumerate().map(row).collect()
    }

    /// Returns the policy without any changed setting.
    pub fn plain(&self) -> &Policy {
        &self.plain
    }

    /// Returns the name of the policy.
    pub fn policy_name(&self) -> &str {
        &self.plain.name
    }

    /// Returns the parameters, in the order of the settings.
    pub fn parameters(&self) -> &[Parameter] {
        &self.varied
    }
}
