//! The presets are policies embedded as TOML, one file each.

use super::{Policy, PolicyError, Setting};

/// A policy that is part of the program.
pub struct Preset {
    pub name: &'static str,
    pub toml: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        /// All presets, the bounds first.
        pub const PRESETS: &[Preset] =
            &[$(Preset { name: $name, toml: include_str!(concat!($name, ".toml")) }),*];
    };
}

/// Names of the presets that have a role of their own: the bound that never compacts, the bound that keeps only the newest
/// messages, and what the recorded agent's harness did.
pub const KEEP_ALL: &str = "keep-all";
/// Name of the preset that sends only new messages: the lower bound of retention.
pub const DROP_ALL: &str = "drop-all";
/// Name of the preset that repeats the compactions of the record.
pub const RECORDED: &str = "recorded";

presets![
    "keep-all",
    "drop-all",
    "recorded",
    "lcc-s06",
    "lcc-s06-preserve",
    "lcc-s06-java",
    "lcc-s08",
    "lcc-s08-late",
    "claude-code",
    "claude-code-2.1.20",
    "claude-code-cached-mc",
    "anthropic-clear",
    "observation-mask",
    "sliding-window",
    "swe-agent",
    "mini-swe-agent",
    "smolagents",
    "langchain-clear",
    "openai-agents-trimmer",
    "autogen-buffered",
    "autogen-head-and-tail",
    "autogen-token-limited",
    "strands-window",
    "vercel-prune",
    "semantic-kernel-truncation",
    "langchain-summarize",
    "openhands",
    "swe-agent-polling",
    "google-adk",
    "openhands-recent",
    "openhands-amortized",
    "deepagents",
    "anthropic-compact",
    "complexity-trap-summary",
    "complexity-trap-hybrid",
    "crush",
    "goose",
    "kimi-cli",
    "qwen-code",
    "roo",
    "hermes",
    "codex-cli",
    "opencode",
    "gemini-cli",
    "pi",
    "cline",
    "letta",
    "langchain-trim",
    "agent-framework-window",
    "agent-framework-truncation",
    "semantic-kernel-summary",
    "strands-summary",
    "llama-index-buffer",
    "llama-index-summary",
    "agent-framework-summary",
    "agent-framework-tools",
    "agent-framework-results",
    "agent-framework-context-window",
    "llama-index-memory",
    "camel",
    "aider",
];

impl Preset {
    /// Parses the policy and applies the settings.
    pub fn policy(&self, settings: &[Setting]) -> Result<Policy, PolicyError> {
        Policy::parse(self.toml, self.name, settings)
    }
}

impl Policy {
    /// The bound that never compacts.
    pub fn keep_all() -> Self {
        unchanged(KEEP_ALL)
    }

    /// The bound that drops whatever can be dropped.
    pub fn drop_all() -> Self {
        unchanged(DROP_ALL)
    }

    /// Repeats the recorded compactions.
    pub fn recorded() -> Self {
        unchanged(RECORDED)
    }
}

fn unchanged(name: &str) -> Policy {
    preset(name).and_then(|preset| preset.policy(&[]).ok()).expect("a test loads every preset")
}

/// Returns the preset with this name, or with this alias.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name).or_else(|| {
        let is_alias = |preset: &&Preset| preset.policy(&[]).is_ok_and(|policy| policy.aliases.iter().any(|alias| alias == name));
        // Most names are of files and of programs: no preset has to be parsed for them.
        let quoted = format!("\"{name}\"");
        PRESETS.iter().filter(|preset| preset.toml.contains(&quoted)).find(is_alias)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_loads_and_reads_back_from_its_own_toml() {
        for preset in PRESETS {
            let policy = preset.policy(&[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(policy.name, preset.name);
            // The API enforces the window of the session's model, and harnesses ask for it.
            assert_eq!(policy.window, None, "{}", preset.name);
            let origin = [&policy.source, &policy.date, &policy.evidence];
            assert!(
                !policy.about.is_empty() && origin.iter().all(|part| part.is_some()),
                "{} says where it is from",
                preset.name
            );
            for alias in &policy.aliases {
                assert_eq!(super::preset(alias).map(|preset| preset.name), Some(preset.name), "{alias}");
            }
            // A setting that is called something in the harness is a setting here.
            for (layer, names) in &policy.harness {
                let layer = policy.layers.iter().find(|known| known.id == *layer).expect(layer);
                let known =
                    [layer.spec.settings(), crate::engine::layer::COMMON_SETTINGS.iter().map(|s| (*s).to_owned()).collect()];
                assert!(names.keys().all(|name| known.concat().contains(name)), "{}: {names:?}", preset.name);
            }
            let again = Policy::parse(&policy.to_toml(), preset.name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(again, policy);
        }
    }
}
