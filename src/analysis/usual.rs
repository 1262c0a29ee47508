//! The policies of a replay for which none is named.

use super::verdict::harness_of;
use crate::engine::policy::RECORDED;

/// What is replayed of any sessions: what was recorded, the presets of the two harnesses that most people have, and one preset for each
/// way to compact that is in wide use.
const OF_ANY: [&str; 8] = [
    RECORDED,
    "claude-code",
    "codex-cli",
    "claude-code-cached-mc",
    "anthropic-clear",
    "observation-mask",
    "sliding-window",
    "lcc-s08-late",
];

/// Returns the policies that are replayed if none is named, for transcripts in these formats: the preset of the harness that recorded
/// them is always one.
pub fn usual_policies<'f>(formats: impl IntoIterator<Item = &'f str>) -> Vec<String> {
    let mut policies = OF_ANY.map(str::to_owned).to_vec();
    for harness in formats.into_iter().filter_map(harness_of) {
        if !policies.iter().any(|policy| policy == harness) {
            policies.push(harness.to_owned());
        }
    }
    policies
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preset_of_the_harness_is_a_policy() {
        assert_eq!(usual_policies(["claude-code", "codex", "openai-chat"]), OF_ANY);
        assert_eq!(usual_policies(["pi", "copilot-cli", "pi"])[OF_ANY.len()..], ["pi", "copilot-cli"]);
    }
}
