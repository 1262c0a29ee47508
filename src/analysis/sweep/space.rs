//! Policies × parameters → spaces: what may be tried.

use std::collections::BTreeSet;

use crate::analysis::study::BOUNDS;
use crate::engine::policy::{Policy, PolicyError, Setting, preset, taken_by_none};
use crate::results::saved::ParameterRow;

use super::SweepError;
use super::parameter::Parameter;

/// A policy as it was named, which can be read with any settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What errors call it: the name of the preset, or the path of the file.
    pub origin: String,
    pub text: String,
}

impl Source {
    /// # Errors
    ///
    /// What is wrong with it. A policy of one's own cannot have the name of a bound, or it would be taken for that.
    pub fn policy(&self, settings: &[Setting]) -> Result<Policy, PolicyError> {
        let policy = Policy::parse(&self.text, &self.origin, settings)?;
        let bound = preset(&policy.name).filter(|bound| BOUNDS.contains(&bound.name));
        if bound.is_some_and(|bound| bound.policy(&[]).is_ok_and(|bound| bound.to_toml() != policy.to_toml())) {
            let what = format!("`{}` is the name of a bound: a policy that does something else needs another", policy.name);
            return Err(PolicyError { origin: self.origin.clone(), line: None, what });
        }
        Ok(policy)
    }
}

/// One policy, and what of it is varied.
#[derive(Debug)]
pub struct Space {
    pub(super) source: Source,
    /// As it is, no setting changed.
    plain: Policy,
    /// Settings with one value.
    pub(super) fixed: Vec<Setting>,
    /// Those with several; the last one varies fastest.
    varied: Vec<Parameter>,
}

/// Every policy with the parameters that fit it. A parameter must fit at least one of them, and each of its values must make a
/// policy.
pub fn spaces(sources: &[Source], parameters: &[Parameter]) -> Result<Vec<Space>, SweepError> {
    let mut spaces: Vec<Space> = Vec::new();
    for source in sources {
        let plain = source.policy(&[])?;
        if spaces.iter().any(|known| known.plain.name == plain.name) {
            return Err(SweepError::Wrong(format!("the policy `{}` is named twice", plain.name)));
        }
        let mut space = Space { source: source.clone(), plain, fixed: Vec::new(), varied: Vec::new() };
        let (fixed, varied): (Vec<_>, Vec<_>) = parameters
            .iter()
            .filter(|parameter| space.plain.has_layer(parameter.layer.as_deref()))
            .partition(|parameter| parameter.values.count() == 1);
        let fixed: Result<Vec<Setting>, String> = fixed.into_iter().map(|parameter| parameter.setting(0)).collect();
        space.fixed = fixed.map_err(SweepError::Wrong)?;
        space.varied = varied.into_iter().cloned().collect();
        space.check()?;
        spaces.push(space);
    }
    for (at, parameter) in parameters.iter().enumerate() {
        if parameters[..at].iter().any(|earlier| earlier.name == parameter.name) {
            return Err(SweepError::Wrong(format!("--set {}: given twice; list its values: `1,2,3`", parameter.name)));
        }
        let plain: Vec<&Policy> = spaces.iter().map(|space| &space.plain).collect();
        if let Some(what) = taken_by_none(&parameter.name, parameter.layer.as_deref(), &plain) {
            return Err(SweepError::Wrong(what));
        }
    }
    if spaces.iter().all(|space| space.varied.is_empty()) {
        let what = "nothing is varied: give a setting several values, as in `--set micro.keep_recent=1..10`";
        return Err(SweepError::Wrong(what.to_owned()));
    }
    Ok(spaces)
}

impl Space {
    /// Tries the fixed settings, then each value beside them: what is wrong is then named.
    fn check(&self) -> Result<(), SweepError> {
        self.source.policy(&self.fixed)?;
        for parameter in &self.varied {
            for at in parameter.values.telling() {
                let setting = parameter.setting(at).map_err(SweepError::Wrong)?;
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

    /// The parameters, with those of their values that were chosen.
    pub fn rows(&self, chosen: impl Fn(usize) -> BTreeSet<u64>) -> Vec<ParameterRow> {
        let row = |(at, parameter): (usize, &Parameter)| ParameterRow {
            of: self.plain.name.clone(),
            parameter: parameter.name.clone(),
            values: chosen(at).into_iter().map(|value| parameter.values.at(value)).collect(),
        };
        self.varied.iter().enumerate().map(row).collect()
    }

    /// The policy as it is.
    pub fn plain(&self) -> &Policy {
        &self.plain
    }

    /// The policy that is varied, by its own name.
    pub fn of(&self) -> &str {
        &self.plain.name
    }

    pub fn parameters(&self) -> &[Parameter] {
        &self.varied
    }
}
