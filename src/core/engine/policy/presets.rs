//! The presets are policies embedded as TOML, one file each.

use super::{Policy, PolicyError, Setting};

/// A policy that is part of the program.
pub struct Preset {
    pub name: &'static str,
    pub toml: &'static str,
}

/// Presets that belong together.
pub struct Family {
    /// As it is written after `-p`.
    pub name: &'static str,
    /// Its name, and what its presets are.
    pub heading: &'static str,
    /// The names of its presets.
    pub presets: &'static [&'static str],
}

macro_rules! presets {
    ($($family:literal, $about:literal: [$($name:literal),* $(,)?])*) => {
        /// All families, the bounds first.
        pub const FAMILIES: &[Family] = &[$(Family { name: $family, heading: concat!($family, ": ", $about), presets: &[$($name),*] }),*];
        /// All presets, by family.
        pub const PRESETS: &[Preset] = &[$($(Preset { name: $name, toml: include_str!(concat!($name, ".toml")) }),*),*];
    };
}

/// Names of the presets that have a role of their own: the bound that never compacts, the bound that keeps only the newest
/// messages, and what the recorded agent's harness did.
pub const KEEP_ALL: &str = "keep-all";
/// Name of the preset that sends only new messages: the lower bound of retention.
pub const DROP_ALL: &str = "drop-all";
/// Name of the preset that repeats the compactions of the record.
pub const RECORDED: &str = "recorded";

presets! {
    "bounds", "the two bounds, and what the recorded agent sent": [
        "keep-all",
        "drop-all",
        "recorded",
    ]
    "examples", "simple ways to compact": [
        "observation-mask",
        "sliding-window",
        "complexity-trap-summary",
        "complexity-trap-hybrid",
    ]
    "coding-agents", "programs that people run": [
        "claude-code",
        "claude-code-2.1.20",
        "claude-code-cached-mc",
        "codex-cli",
        "gemini-cli",
        "qwen-code",
        "opencode",
        "pi",
        "crush",
        "goose",
        "kimi-cli",
        "cline",
        "roo",
        "aider",
        "hermes",
        "openclaw",
        "copilot-chat",
        "copilot-cli",
        "openhands",
        "openhands-recent",
        "openhands-amortized",
        "swe-agent",
        "swe-agent-polling",
        "mini-swe-agent",
    ]
    "learn-claude-code", "the lessons and ports of one tutorial": [
        "lcc-s06",
        "lcc-s06-preserve",
        "lcc-s06-java",
        "lcc-s08",
        "lcc-s08-late",
        "lcc-s08-fit",
    ]
    "providers", "what an API does on its server": [
        "anthropic-clear",
        "anthropic-clear-all",
        "anthropic-compact",
        "openai-compact",
        "openai-truncation",
    ]
    "agent-framework", "Microsoft's agent-framework": [
        "agent-framework-window",
        "agent-framework-truncation",
        "agent-framework-summary",
        "agent-framework-tools",
        "agent-framework-results",
        "agent-framework-context-window",
    ]
    "libraries", "other libraries for agents": [
        "langchain-clear",
        "langchain-summarize",
        "langchain-trim",
        "deepagents",
        "openai-agents-trimmer",
        "autogen-buffered",
        "autogen-head-and-tail",
        "autogen-token-limited",
        "strands-window",
        "strands-summary",
        "vercel-prune",
        "semantic-kernel-truncation",
        "semantic-kernel-summary",
        "google-adk",
        "haystack-prune",
        "haystack-offload",
        "inspect-edit",
        "inspect-summary",
        "crewai",
        "mastra-tools",
        "spring-ai",
        "smolagents",
        "letta",
        "llama-index-buffer",
        "llama-index-summary",
        "llama-index-memory",
        "camel",
    ]
}

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

/// Returns the family with this name.
pub fn family(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
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

    #[test]
    fn names_of_families_are_names_of_no_preset() {
        for family in FAMILIES {
            assert!(preset(family.name).is_none(), "{}", family.name);
        }
    }
}
