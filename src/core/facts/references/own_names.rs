//! Names that the agent made up for itself: a variable of a script, a word of its own. It can make them up again.
//!
//! A name is the agent's own while only its prose and the scripts that it ran have it, with the results that answer such a script.
//! What it wrote to a file, what a tool or a person said first, and what a command that only reads found are none: those exist
//! without it. Branches and other handles may be made by a script, so names with hyphens and paths are its own in prose alone.

use crate::facts::extract::FactKind;
use crate::transcript::conversation::{BlockId, BlockKind, Conversation, Origin};

use super::Fact;
use super::accesses::Accesses;

/// Whether only the agent has written a fact so far. `holders`: the blocks with it that have entered.
pub(super) fn is_own(conversation: &Conversation, accesses: &Accesses, fact: &Fact, holders: &[BlockId]) -> bool {
    let may_be_handle = match fact.kind {
        FactKind::Identifier if is_of(&fact.text, "_") => false,
        FactKind::Identifier if is_of(&fact.text, "_-") => true,
        // A path with an extension is a file.
        FactKind::Path if !fact.text.contains('.') => true,
        _ => return false,
    };
    let is_script = |id: BlockId| !may_be_handle && accesses.scripts.contains(&id);
    let is_own_holder = |id: &BlockId| {
        let block = conversation.block(*id);
        match block.kind {
            BlockKind::Text => block.origin == Origin::Agent,
            BlockKind::ToolUse(_) => is_script(*id),
            BlockKind::ToolResult(pair) => {
                conversation.pair(pair).tool_use.is_some_and(|tool_use| is_script(tool_use) && holders.contains(&tool_use))
            }
            _ => false,
        }
    };
    !holders.is_empty() && holders.iter().all(is_own_holder)
}

fn is_of(name: &str, signs: &str) -> bool {
    name.chars().all(|c| c.is_alphanumeric() || signs.contains(c))
}
