//! Names that the agent made up are no needs.

use crate::metrics::retention_page::looked_up;
use crate::support::notation;
use crate::support::trial::{Trial, preset_with};

/// Returns whether the last call uses a fact of the first lines.
fn is_use(first: &str, fact: &str) -> bool {
    let on = "assistant: I go on [Bash#8 make]\nresult#8: made\nassistant: I go on [Bash#9 make]\nresult#9: made\n";
    let text = format!("user: Look around\n{first}\n{on}assistant: I write {fact}\n");
    let conversation = notation::parse(&text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let (references, _) = looked_up(&conversation, &Trial::new(preset_with("keep-all", &[])));
    references.uses.iter().any(|used| references.facts[used.fact as usize].text == fact)
}

#[test]
fn what_only_the_agent_wrote_in_prose_and_scripts_is_its_own() {
    for (first, fact) in [
        ("assistant: I print it [Bash#1 node -e max_idle=pool()]\nresult#1: max_idle 8", "max_idle"),
        ("assistant: a low-water-mark", "low-water-mark"),
        ("assistant: the net2/idle-list view", "net2/idle-list"),
    ] {
        assert!(!is_use(first, fact), "{first}");
    }
    for (first, fact) in [
        // A tool, a person, a search or a file had it; or a script made a thing of this name.
        ("assistant: I look [Bash#1 node pool.js]\nresult#1: max_idle 8", "max_idle"),
        ("user: see max_idle", "max_idle"),
        ("assistant: I look [Bash#1 grep -r max_idle src]\nresult#1: max_idle 8", "max_idle"),
        ("assistant: I write it [Bash#1 echo max_idle=8 > pool.txt]\nresult#1: done", "max_idle"),
        ("assistant: I make it [Bash#1 git checkout -b low-water-mark]\nresult#1: done", "low-water-mark"),
        ("assistant: in src/net2/idle-list.rs", "net2/idle-list.rs"),
    ] {
        assert!(is_use(first, fact), "{first}");
    }
}
