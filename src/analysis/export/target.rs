//! The forms of configuration that can be written, one file each.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::Syntax;
use crate::engine::policy::{Policy, preset};
use crate::util::text::wrap;

/// One form of configuration of a harness, as its file describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Name of the file, and of the preset that does the same.
    #[serde(skip)]
    pub name: String,
    /// The harness, which may have several forms.
    pub harness: String,
    /// What is written.
    pub about: String,
    /// With what the names of the settings were compared.
    pub checked: String,
    /// Where the text belongs.
    #[serde(default)]
    pub place: String,
    /// Why nothing can be written; then the file has no template.
    #[serde(default)]
    pub unavailable: Option<String>,
    #[serde(default)]
    pub syntax: Syntax,
    /// The text, with `{name}` where a value belongs. A line whose value is left out is left out too.
    #[serde(default)]
    pub template: String,
    /// The values, by name.
    #[serde(default)]
    pub values: BTreeMap<String, ValueRule>,
    /// Settings that follow from others in the harness.
    #[serde(default, rename = "follows")]
    pub follows: Vec<Follows>,
}

/// How a value of the harness follows from settings of the policy.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum ValueRule {
    /// A setting (`clear.threshold`), or a formula of some.
    Plain(String),
    Detailed(DetailedRule),
}

/// A value with limits or other words.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DetailedRule {
    /// A setting, or a formula of some.
    pub of: String,
    /// Written as a share of the context window.
    #[serde(default)]
    pub share_of_window: bool,
    /// What is written for each value of the setting; other values cannot be expressed.
    #[serde(default)]
    pub cases: BTreeMap<String, String>,
    /// Smallest number that the harness takes.
    #[serde(default)]
    pub at_least: Option<f64>,
    /// Largest number that the harness takes.
    #[serde(default)]
    pub at_most: Option<f64>,
    /// The value that the harness has without the line; then the line is left out.
    #[serde(default)]
    pub leave_out: Option<toml::Value>,
    /// What is written if the policy does not set the setting.
    #[serde(default)]
    pub not_set: Option<String>,
    /// What is written if the policy does not have the layer: the harness turns it off.
    #[serde(default)]
    pub without_layer: Option<String>,
}

/// A setting that the harness computes from others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follows {
    pub setting: String,
    /// A formula of other settings.
    pub from: String,
    /// The rule in the words of the harness.
    pub rule: String,
}

impl ValueRule {
    /// Returns the setting or formula.
    pub fn formula(&self) -> &str {
        match self {
            Self::Plain(formula) => formula,
            Self::Detailed(rule) => &rule.of,
        }
    }

    pub(super) fn detailed(&self) -> DetailedRule {
        match self {
            Self::Detailed(rule) => rule.clone(),
            Self::Plain(of) => DetailedRule { of: of.clone(), ..DetailedRule::default() },
        }
    }
}

impl Target {
    /// Returns the settings of a policy that the harness has, or computes from those.
    pub fn settings(&self) -> Vec<String> {
        let formulas =
            self.values.values().map(ValueRule::formula).chain(self.follows.iter().map(|follows| follows.from.as_str()));
        let named = formulas.flat_map(settings_in).map(str::to_owned);
        let mut settings: Vec<String> = named.chain(self.follows.iter().map(|follows| follows.setting.clone())).collect();
        settings.sort();
        settings.dedup();
        settings
    }

    /// Returns what the harness does: its preset.
    pub(super) fn base(&self) -> Policy {
        preset(&self.name).and_then(|preset| preset.policy(&[]).ok()).expect("a test: every form has a preset")
    }

    /// Returns a page for the catalog: what is written, and from which settings.
    pub fn page(&self) -> String {
        const WIDTH: usize = 100;
        let line = |begin: &str, text: &str| if text.is_empty() { String::new() } else { wrap(begin, text, WIDTH) };
        let head = line("", &format!("{}: {}", self.name, self.about));
        let parts = [
            line("Where it belongs:  ", &self.place),
            line("Not written:       ", self.unavailable.as_deref().unwrap_or_default()),
            line("Names of settings: ", &self.checked),
        ];
        let width = self.values.keys().map(String::len).max().unwrap_or(0);
        let value = |(name, rule): (&String, &ValueRule)| format!("  {name:width$}  {}\n", rule.formula());
        let values: String = self.values.iter().map(value).collect();
        let follows = self.follows.iter().map(|follows| format!("  {}: there it is {}\n", follows.setting, follows.rule));
        let values: String = std::iter::once(values).chain(follows).collect();
        let values = if values.is_empty() {
            values
        } else {
            format!("\nValues, and the settings of a policy that they follow from:\n\n{values}")
        };
        let template = if self.template.is_empty() { String::new() } else { format!("\n{}", self.template) };
        format!("{head}\n{}{values}{template}", parts.concat())
    }

    /// Returns whether the harness can turn this layer off.
    pub(super) fn turns_off(&self, layer: &str) -> bool {
        let rules = self.values.values().map(ValueRule::detailed).filter(|rule| rule.without_layer.is_some());
        rules.into_iter().any(|rule| rule.of.split_once('.').is_some_and(|(id, _)| id == layer))
    }

    /// Returns whether it says what a setting is that the policy does not set; that of a word that is not known is an error already.
    pub(super) fn expresses_unset(&self, setting: &str) -> bool {
        let rules = self.values.values().map(ValueRule::detailed);
        rules.filter(|rule| rule.of == setting).any(|rule| rule.not_set.is_some() || !rule.cases.is_empty())
    }
}

/// Returns the settings that a formula names: words with a point that begin with a letter. A minus has spaces around it, because
/// names have hyphens.
pub(super) fn settings_in(formula: &str) -> impl Iterator<Item = &str> {
    let words = formula.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-')));
    words.filter(|word| word.contains('.') && word.starts_with(|c: char| c.is_alphabetic()))
}

/// A file of a target.
pub struct TargetFile {
    pub name: &'static str,
    pub toml: &'static str,
}

macro_rules! targets {
    ($($name:literal),* $(,)?) => {
        /// The files of all targets.
        pub const TARGETS: &[TargetFile] =
            &[$(TargetFile { name: $name, toml: include_str!(concat!("targets/", $name, ".toml")) }),*];
    };
}

targets![
    "agent-framework-context-window",
    "agent-framework-results",
    "agent-framework-summary",
    "agent-framework-tools",
    "agent-framework-truncation",
    "agent-framework-window",
    "aider",
    "anthropic-clear",
    "anthropic-clear-all",
    "anthropic-compact",
    "autogen-buffered",
    "autogen-head-and-tail",
    "autogen-token-limited",
    "camel",
    "claude-code",
    "claude-code-cached-mc",
    "cline",
    "codex-cli",
    "copilot-cli",
    "gemini-cli",
    "google-adk",
    "goose",
    "haystack-offload",
    "haystack-prune",
    "inspect-edit",
    "inspect-summary",
    "kimi-cli",
    "langchain-clear",
    "langchain-summarize",
    "langchain-trim",
    "llama-index-buffer",
    "llama-index-memory",
    "llama-index-summary",
    "mini-swe-agent",
    "openai-agents-trimmer",
    "openai-compact",
    "openclaw",
    "opencode",
    "openhands",
    "openhands-amortized",
    "openhands-recent",
    "pi",
    "qwen-code",
    "roo",
    "semantic-kernel-summary",
    "semantic-kernel-truncation",
    "smolagents",
    "strands-summary",
    "strands-window",
    "swe-agent",
    "swe-agent-polling",
    "vercel-prune",
];

/// Returns all targets, each read once.
pub fn targets() -> &'static [Target] {
    static ALL: LazyLock<Vec<Target>> = LazyLock::new(|| TARGETS.iter().map(TargetFile::target).collect());
    &ALL
}

impl TargetFile {
    /// Parses the file, which is part of the program.
    pub fn target(&self) -> Target {
        let target: Target = toml::from_str(self.toml).expect("a test reads every target");
        Target { name: self.name.to_owned(), ..target }
    }
}

/// Returns the forms of a harness, or the one form with this name. The form that is named like the harness comes first.
pub fn targets_of(name: &str) -> Vec<&'static Target> {
    let mut forms: Vec<_> = targets().iter().filter(|target| target.harness == name).collect();
    forms.sort_by_key(|target| target.name != name);
    if forms.is_empty() { targets().iter().filter(|target| target.name == name).collect() } else { forms }
}

/// Returns the names of all harnesses and forms, each once.
pub fn target_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = targets().iter().flat_map(|target| [target.harness.as_str(), target.name.as_str()]).collect();
    names.sort_unstable();
    names.dedup();
    names
}
