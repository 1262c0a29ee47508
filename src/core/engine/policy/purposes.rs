//! Policies to begin with, one commented file for each purpose: `recompact policy new` prints them.
//!
//! A preset says what a known harness does. These files are for a policy of one's own: each setting has a comment with its unit, and
//! when to change it. The proposals are what people ask for in public, in at most fifteen lines each.

/// A purpose that people have for a policy, with a file to begin with.
pub struct Purpose {
    /// The name that `recompact policy new` takes. The policy in the file is named `my-` and this.
    pub name: &'static str,
    /// The file.
    pub toml: &'static str,
}

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(Purpose { name: $name, toml: include_str!(concat!($folder, "/", $name, ".toml")) }),*]
    };
}

/// All purposes.
pub const PURPOSES: &[Purpose] = files![
    "purposes":
    "clear-old-results",
    "server-side-clear",
    "offload-large-results",
    "cut-long-results",
    "summarise-when-full",
    "sliding-window",
    "keep-newest-turns",
    "offload-clear-summarise",
];

/// What people propose in public, one policy each.
pub const PROPOSALS: &[Purpose] = files![
    "proposals":
    "read-again",
    "errors-stay",
    "newest-of-each-tool",
    "head-and-tail-lines",
    "graded-ages",
    "full-to-half",
    "background-summary",
    "old-thinking",
    "task-and-todos",
    "repeated-reads",
    "idle",
    "named-files",
    "written-files",
];

impl Purpose {
    /// Returns what the policy does, in one sentence: the first comment of the file.
    pub fn about(&self) -> String {
        let comment = self.toml.lines().map_while(|line| line.strip_prefix("# "));
        comment.collect::<Vec<_>>().join(" ")
    }
}

/// Returns the purpose, or the proposal, with this name.
pub fn purpose(name: &str) -> Option<&'static Purpose> {
    PURPOSES.iter().chain(PROPOSALS).find(|purpose| purpose.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::policy::{Policy, preset};

    #[test]
    fn every_file_is_a_policy_with_the_name_of_its_purpose() {
        for purpose in PURPOSES {
            let policy = Policy::parse(purpose.toml, purpose.name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(policy.name, format!("my-{}", purpose.name));
            // It may be compared with every preset.
            assert!(preset(&policy.name).is_none());
            assert!(purpose.about().ends_with('.') && !policy.about.is_empty(), "{}", purpose.name);
            assert!(!policy.sweep.is_empty() && !policy.layers.is_empty(), "{}", purpose.name);
        }
    }

    #[test]
    fn every_proposal_is_a_policy_of_at_most_fifteen_lines() {
        for proposal in PROPOSALS {
            let policy = Policy::parse(proposal.toml, proposal.name, &[]).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(policy.name, format!("my-{}", proposal.name));
            assert!(proposal.about().ends_with('.') && proposal.toml.lines().count() <= 15, "{}", proposal.name);
        }
    }

    /// A comment explains the lines up to the next empty one.
    #[test]
    fn every_setting_of_a_first_layer_has_a_comment() {
        for purpose in PURPOSES {
            let layers = purpose.toml.split("\n[[layer]]\n").skip(1);
            for layer in layers.take(1) {
                for paragraph in layer.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
                    assert!(paragraph.starts_with('#'), "{}: {paragraph}", purpose.name);
                }
            }
            let wide = purpose.toml.lines().find(|line| line.starts_with('#') && line.chars().count() > 100);
            assert_eq!(wide, None, "{}", purpose.name);
        }
    }
}
