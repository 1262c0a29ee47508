//! Recorded chat completions.

use recompact::transcript::conversation::Conversation;
use recompact::transcript::format;

use crate::support::transcripts::{assert_api_valid, folder, read};

/// Conversations, messages as recorded, calls, results.
const EXPECTED: [(&str, [usize; 4]); 10] = [
    ("openai-chat-derived/mise-b8-f187.jsonl", [1, 279, 174, 174]),
    ("openai-chat/tau-gpt-4o-airline.json", [200, 5308, 1164, 1164]),
    ("mini-swe-agent/github_issue.traj.json", [1, 22, 10, 10]),
    ("openhands-llm-log/fncall-llm-message.json", [1, 14, 6, 6]),
    ("openhands-llm-log/llm-logs__litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015025.972.json", [1, 1, 1, 0]),
    ("openhands-llm-log/llm-logs__litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015029.090.json", [1, 1, 2, 1]),
    ("openhands-llm-log/llm-logs__litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015033.222.json", [1, 1, 3, 2]),
    ("openhands-llm-log/llm-logs__litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015036.544.json", [1, 1, 4, 3]),
    ("openhands-llm-log/llm-logs__litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015040.416.json", [1, 1, 5, 4]),
    ("openhands-llm-log/llm-logs__litellm_proxy__anthropic__claude-sonnet-4-20250514-1757015046.707.json", [1, 1, 6, 5]),
];

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn openai_chats_have_known_counts() {
    let folder = folder("");
    for (file, expected) in EXPECTED {
        // A request is one record, whatever it repeats.
        let format = if file.contains("/llm-logs") { "requests" } else { "openai-chat" };
        let reading = read(&folder.join(file), format);
        reading.conversations.iter().for_each(assert_api_valid);
        let sum = |count: fn(&Conversation) -> usize| reading.conversations.iter().map(count).sum::<usize>();
        let counts = [
            reading.conversations.len(),
            sum(|conversation| conversation.records),
            sum(Conversation::tool_uses),
            sum(Conversation::tool_results),
        ];
        assert_eq!(counts, expected, "{file}");
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn benchmark_trials_have_unique_names() {
    let folder = folder("openai-chat");
    let reading = read(&folder.join("tau-gpt-4o-airline.json"), "openai-chat");
    let mut names: Vec<_> = reading.conversations.iter().map(|conversation| conversation.name.as_str()).collect();
    assert!(names.contains(&"12") && names.contains(&"12-trial1"));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 200);
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn openai_chat_does_not_claim_other_formats() {
    for name in ["anthropic-messages-derived", "claude-code", "codex", "gemini-cli", "pi", "swe-agent-traj"] {
        let folder = folder(name);
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                let found = format::sniff(&std::fs::read(&path).expect("a readable file")).map(|format| format.name);
                assert_ne!(found, Some("openai-chat"), "{}", path.display());
                assert_eq!(found == Some("codex"), name == "codex", "{}", path.display());
            }
        }
    }
}
