//! The sessions whose files were changed last.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::SystemTime;

use super::sub_agent_files::stem;
use crate::transcript::source::Input;

/// Keeps the sessions that were changed last. The files of a session and of its sub-agents stay together.
pub(super) fn keep_newest(inputs: &mut Vec<Input>, sessions: usize) {
    let files: HashSet<String> = inputs.iter().map(|input| stem(&input.name).to_owned()).collect();
    let mut newest: BTreeMap<String, SystemTime> = BTreeMap::new();
    for input in &*inputs {
        let changed = newest.entry(session(input, &files)).or_insert(SystemTime::UNIX_EPOCH);
        *changed = input.changed().max(*changed);
    }
    let mut order: Vec<(Reverse<SystemTime>, String)> =
        newest.into_iter().map(|(session, time)| (Reverse(time), session)).collect();
    order.sort();
    let kept: BTreeSet<String> = order.into_iter().take(sessions).map(|(_, session)| session).collect();
    inputs.retain(|input| kept.contains(&session(input, &files)));
}

/// The session of a file; `files` are the names of all, without their endings. The files of sub-agents are in a folder named after their
/// session; in a store, they name it. Those of Qwen Code are in `subagents/SESSION`, and the session in `chats`.
fn session(input: &Input, files: &HashSet<String>) -> String {
    if let Some(session) = input.session() {
        return format!("{}#{}", input.path().display(), session.family);
    }
    let Some((folder, file)) = input.name.split_once("/subagents/") else {
        return stem(&input.name).to_owned();
    };
    // Claude Code, too, may have a folder there.
    let is_named_after_session = files.contains(folder);
    match file.split_once('/').filter(|(_, file)| !is_named_after_session && !file.contains('/')) {
        Some((session, _)) => format!("{folder}/chats/{session}"),
        None => folder.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_sub_agents_are_of_their_session() {
        let names = [
            "p/s.jsonl",
            "p/s/subagents/agent-a.jsonl",
            "p/s/subagents/w/agent-b.jsonl",
            "p/chats/s.jsonl",
            "p/subagents/s/agent-a.jsonl",
            "p/subagents/s/agent-a.meta.json",
            "p/gone/subagents/agent-a.jsonl",
        ];
        let inputs = names.map(|name| Input::built_in(name.to_owned(), &[]));
        let files = inputs.iter().map(|input| stem(&input.name).to_owned()).collect();
        let sessions = inputs.map(|input| session(&input, &files));
        assert_eq!(sessions, ["p/s", "p/s", "p/s", "p/chats/s", "p/chats/s", "p/chats/s", "p/gone"]);
    }
}
