//! The policies of a spec: their texts, and the policies with the settings that fit them.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::sync::Arc;

use toml::Value;

use super::load::SpecError;
use super::{PolicySpec, ProgramRequest, Resources, StudySpec};
use crate::engine::external::{ExternalPolicies, NoExternalPolicies};
use crate::engine::policy::{PRESETS, Policy, PolicyError, Setting, preset, unknown_layer_message};
use crate::results::Role;
use crate::util::ValueError;
use crate::util::text::closest;

/// Text of a policy as the user named it; it can be parsed with any settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicySource {
    /// Name in errors: the name of the preset, or the path of the file.
    pub origin: String,
    pub text: String,
}

/// Returns the text of an unchanged preset, as a study writes it into its results.
pub fn preset_text(name: &str) -> Option<String> {
    Some(preset(name)?.policy(&[]).ok()?.to_toml())
}

impl PolicySource {
    /// Parses the policy and applies settings.
    ///
    /// # Errors
    ///
    /// Fails if the policy is not valid. A user's policy cannot have a name that has a [`Role`], because reports would treat it as a
    /// bound, or as the recorded session.
    pub fn policy(&self, settings: &[Setting]) -> Result<Policy, PolicyError> {
        let policy = Policy::parse(&self.text, &self.origin, settings)?;
        let (named, settings) = match Role::of(&policy.name) {
            Role::Recorded => ("the recorded session", settings),
            role if role.is_bound() => ("a bound", &[][..]),
            _ => return Ok(policy),
        };
        let preset = preset(&policy.name).and_then(|preset| preset.policy(settings).ok());
        if preset.is_none_or(|preset| preset.to_toml() != policy.to_toml()) {
            let what = format!("`{}` is the name of {named}: a policy that does something else needs another name", policy.name);
            return Err(PolicyError { origin: self.origin.clone(), line: None, what });
        }
        Ok(policy)
    }
}

impl StudySpec {
    /// Returns the texts of the policies.
    ///
    /// # Errors
    ///
    /// Fails if a policy is neither a preset nor a file that can be read.
    pub fn sources(&self, resources: &dyn Resources) -> Result<Vec<PolicySource>, SpecError> {
        let source = |(item, policy): (usize, &PolicySpec)| {
            let source = match policy {
                PolicySpec::Named(name) => source_of(name, resources),
                PolicySpec::Inline(table) => Ok(PolicySource {
                    origin: table.get("name").and_then(Value::as_str).unwrap_or("a policy without a name").to_owned(),
                    text: table.to_string(),
                }),
            };
            source.map_err(|error| SpecError::file("policies", error).at(item))
        };
        self.policies.iter().enumerate().map(source).collect()
    }

    /// Asks for each program of the policies whether it may be started.
    pub(super) fn programs(
        &self,
        policies: &[Policy],
        resources: &dyn Resources,
    ) -> Result<Arc<dyn ExternalPolicies>, SpecError> {
        let mut external: Arc<dyn ExternalPolicies> = Arc::new(NoExternalPolicies);
        let typed: BTreeSet<&str> = self.named().filter_map(typed_program).map(|(_, command)| command).collect();
        for policy in policies {
            for command in policy.layers.iter().filter(|layer| layer.enabled).filter_map(|layer| layer.spec.traits().program) {
                let request = ProgramRequest { command, policy: &policy.name, is_typed: typed.contains(command) };
                external = resources.program(&request).map_err(|what| SpecError::value("policies", what))?;
            }
        }
        Ok(external)
    }

    /// What names the policies and the baseline.
    fn named(&self) -> impl Iterator<Item = &str> {
        let policies = self.policies.iter().filter_map(|policy| match policy {
            PolicySpec::Named(name) => Some(name.as_str()),
            PolicySpec::Inline(_) => None,
        });
        policies.chain([self.baseline.as_str()])
    }

    /// Returns the policies. A setting must fit at least one of them, and is applied to those it fits.
    pub(super) fn with_settings(&self, sources: &[PolicySource]) -> Result<Vec<Policy>, SpecError> {
        let mut settings: Vec<Setting> = Vec::new();
        for (item, written) in self.set.iter().enumerate() {
            settings.push(written.parse().map_err(|what: ValueError| SpecError::value("set", what).at(item))?);
        }
        let mut policies: Vec<Policy> = Vec::new();
        for (item, source) in sources.iter().enumerate() {
            let unchanged = source.policy(&[]).map_err(|error| SpecError::file("policies", error).at(item))?;
            let fits = |setting: &&Setting| unchanged.has_layer(setting.layer.as_deref());
            let fitting: Vec<_> = settings.iter().filter(fits).cloned().collect();
            // The policy is valid without settings, so one of them is wrong, and the error names it.
            let policy = source.policy(&fitting).map_err(|error| {
                let item = settings.iter().position(|setting| error.origin.ends_with(&setting.written));
                SpecError { item, ..SpecError::file("set", error) }
            })?;
            if policies.iter().any(|known| known.name == policy.name) {
                let what = format!("the policy `{}` is named twice", policy.name);
                return Err(SpecError::value("policies", what).at(item));
            }
            policies.push(policy);
        }
        let all: Vec<&Policy> = policies.iter().collect();
        for (item, setting) in settings.iter().enumerate() {
            if let Some(what) = unknown_layer_message(&setting.written, setting.layer.as_deref(), &all) {
                return Err(SpecError::value("set", what).at(item));
            }
        }
        Ok(policies)
    }
}

/// Returns the name of the policy and the command of a program: `NAME=command:PROGRAM`.
pub fn typed_program(written: &str) -> Option<(&str, &str)> {
    written.split_once("=command:")
}

/// Returns the policy that asks a program, as a file would hold it.
fn program_source(written: &str, name: &str, command: &str) -> PolicySource {
    let text = |text: &str| Value::from(text).to_string();
    let about = text(&format!("The program `{command}`."));
    let layer = format!("[[layer]]\nid = \"program\"\ndo = \"program\"\ncommand = {}\n", text(command));
    PolicySource { origin: written.to_owned(), text: format!("name = {}\nabout = {about}\n\n{layer}", text(name)) }
}

fn no_such_preset(name: &str) -> String {
    let known: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    let nearest = closest(name, &known).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("there is no preset and no file of this name; {nearest}`recompact catalog policies` lists the presets")
}

/// Returns the text of a preset, a program or a file.
pub(super) fn source_of(name: &str, resources: &dyn Resources) -> Result<PolicySource, PolicyError> {
    if let Some((policy, command)) = typed_program(name) {
        return Ok(program_source(name, policy, command));
    }
    if let Some(preset) = preset(name) {
        return Ok(PolicySource { origin: name.to_owned(), text: preset.toml.to_owned() });
    }
    let origin = resources.name_of(name);
    let text = resources.read(name).map_err(|error| {
        let is_file = name.ends_with(".toml") || name.contains(['/', '\\']) || error.kind() != ErrorKind::NotFound;
        let what = if is_file {
            format!("this policy file cannot be read: {error}; `recompact policy new` begins one")
        } else {
            no_such_preset(name)
        };
        PolicyError { origin: origin.clone(), line: None, what }
    })?;
    Ok(PolicySource { origin, text })
}
