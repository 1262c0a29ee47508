//! Who held a conversation, as the record says it.

use serde::{Deserialize, Serialize};

/// Why a session began whose parent's agent started it.
pub const SUBAGENT: &str = "subagent";

/// Why a session began that goes on from a copy of its parent.
pub const FORK: &str = "fork";

/// The agent of a conversation, and its session. What the record does not name is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The program: `claude-code`, `opencode`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The version of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The id of the session; of a sub-agent without a session of its own, the id of the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The id of the parent session: its agent started this session, or this session began as a copy of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Why the session began: [`SUBAGENT`], [`FORK`], or the word of the record (`startup`, `resume`, `clear`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
}

impl Identity {
    /// Begins the identity of a session of this program.
    pub fn of(agent: &str) -> Self {
        Self { agent: Some(agent.to_owned()), ..Self::default() }
    }

    /// Makes it the session of a sub-agent, if there is a parent.
    pub fn started_by(self, parent: Option<String>) -> Self {
        let start = parent.as_ref().map(|_| SUBAGENT.to_owned()).or(self.start);
        Self { parent, start, ..self }
    }

    /// Returns whether the agent of another session started this one.
    pub fn is_sub_agent(&self) -> bool {
        self.start.as_deref() == Some(SUBAGENT)
    }

    /// Returns the program with its version: `opencode 1.18.33`.
    pub fn label(&self) -> Option<String> {
        let agent = self.agent.as_deref()?;
        Some(self.version.as_deref().map_or(agent.to_owned(), |version| format!("{agent} {version}")))
    }
}

#[cfg(test)]
mod tests {
    use crate::transcript::format::{ReadOptions, by_name};

    /// Reads the last conversation of a file: agent, session, parent and start.
    fn identity(format: &str, text: &str) -> String {
        let reading = (by_name(format).expect("a format").read)(text.as_bytes(), &ReadOptions::default());
        let identity = reading.conversations.into_iter().last().expect("a conversation").identity;
        let fields = [identity.label(), identity.session, identity.parent, identity.start];
        fields.map(|field| field.unwrap_or("-".to_owned())).join(", ")
    }

    #[test]
    fn each_format_names_who_held_the_conversation() {
        let side = r#"{"type":"user","uuid":"u","sessionId":"s","version":"2.1","isSidechain":true,"agentId":"a","message":{"role":"user","content":"go"}}"#;
        assert_eq!(identity("claude-code", side), "claude-code 2.1, a, s, subagent");
        let main = r#"{"type":"user","uuid":"u","parentUuid":"h","sessionId":"s","message":{"role":"user","content":"go"}}"#;
        let hook = |reason: &str| {
            let attachment = r#""type":"attachment","uuid":"h","sessionId":"s","attachment":{"type":"hook_success","hookName""#;
            format!("{{{attachment}:\"SessionStart:{reason}\"}}}}\n{main}")
        };
        assert_eq!(identity("claude-code", &hook("resume")), "claude-code, s, -, resume");
        assert_eq!(identity("claude-code", &hook("compact")), "claude-code, s, -, -");
        let rollout = |more: &str| {
            let meta = r#""type":"session_meta","payload":{"id":"s","cli_version":"0.1""#;
            let said = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}}"#;
            format!("{{{meta}{more}}}}}\n{said}")
        };
        assert_eq!(identity("codex", &rollout("")), "codex 0.1, s, -, -");
        assert_eq!(identity("codex", &rollout(r#","forked_from_id":"p""#)), "codex 0.1, s, p, fork");
        assert_eq!(identity("codex", &rollout(r#","parent_thread_id":"p""#)), "codex 0.1, s, p, subagent");
        let qwen =
            r#"{"uuid":"u","sessionId":"s","version":"0.24","type":"user","message":{"role":"user","parts":[{"text":"go"}]}}"#;
        assert_eq!(identity("qwen-code", qwen), "qwen-code 0.24, s, -, -");
        let pi = "{\"type\":\"session\",\"id\":\"s\",\"version\":3}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"go\"}}";
        assert_eq!(identity("pi", pi), "pi, s, -, -");
        let fork = pi.replace("\"version\"", r#""parentSession":"C:\\pi\\2026-10-05_p-1.jsonl","version""#);
        assert_eq!(identity("pi", &fork), "pi, s, p-1, -");
        let copilot = "{\"type\":\"session.start\",\"data\":{\"sessionId\":\"s\",\"copilotVersion\":\"1.0\"}}\n{\"type\":\"user.message\",\"data\":{\"content\":\"go\"}}";
        assert_eq!(identity("copilot-cli", copilot), "copilot-cli 1.0, s, -, -");
        let chat = "{\"sessionId\":\"s\",\n\"kind\":\"subagent\",\"messages\":[{\"type\":\"user\",\"content\":\"go\"}]}";
        assert_eq!(identity("gemini-cli", chat), "gemini-cli, s, -, subagent");
        let cline = r#"{"sessionId":"s","messages":[{"role":"user","content":"go"}]}"#;
        assert_eq!(identity("cline", cline), "cline, s, -, -");
        let steps = r#""steps":[{"source":"user","message":"go"}]"#;
        let agent = r#""agent":{"name":"terminus","version":"2""#;
        let root =
            format!(r#"{{{agent}}},"session_id":"s",{steps},"subagent_trajectories":[{{{agent}}},"session_id":"c",{steps}}}]}}"#);
        assert_eq!(identity("atif", &root), "terminus 2, c, s, subagent");
        assert_eq!(identity("atif", &root.replace("\"2\"", "\"unknown\"")), "terminus, c, s, subagent");
        assert_eq!(identity("openai-chat", r#"{"role":"user","content":"go"}"#), "-, -, -, -");
    }
}
