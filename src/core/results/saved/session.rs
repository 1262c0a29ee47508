//! Groups rows into sessions, the unit of all statistics.

use std::fmt;

use super::Row;

/// One piece of work by one agent and its sub-agents. Sessions are independent of each other; the conversations of one session are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session<'a> {
    /// Path of the transcript without its extension; for a sub-agent, the part that names the session.
    transcript: &'a str,
    /// Number of the conversation, if its file is a list: `17` and `18` are two sessions. Several trials of one task (`17`,
    /// `17-trial1`) are one session.
    list_number: Option<&'a str>,
}

impl<'a> Session<'a> {
    /// Returns the session of a conversation by its path alone: the file of a sub-agent is in a folder named after its session.
    /// [`Families`](super::Families) joins those whose records name a parent.
    pub fn new(transcript: &'a str, conversation: &'a str) -> Self {
        let file = transcript.split_once("/subagents/").map_or(transcript, |(session, _)| session);
        let number = conversation.find(|c: char| !c.is_ascii_digit()).map_or(conversation, |end| &conversation[..end]);
        Self { transcript: file.strip_suffix(".jsonl").unwrap_or(file), list_number: Some(number).filter(|n| !n.is_empty()) }
    }

    /// Returns the session with a name that was written before.
    pub fn named(name: &'a str) -> Self {
        Self { transcript: name, list_number: None }
    }
}

/// A name for tables: `runs/a`, and `tasks.json/17` for a conversation of a list.
impl fmt::Display for Session<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.list_number {
            Some(number) => write!(f, "{}/{number}", self.transcript),
            None => f.write_str(self.transcript),
        }
    }
}

impl Row {
    /// Returns the session of this row's conversation. Results of version 1 do not name it; there the path does.
    pub fn session(&self) -> Session<'_> {
        match self.recording.session.as_str() {
            "" => Session::new(&self.transcript, &self.conversation),
            name => Session::named(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_groups_sub_agents_and_trials_but_not_lists() {
        let same = |one: (&str, &str), other: (&str, &str)| Session::new(one.0, one.1) == Session::new(other.0, other.1);
        assert!(same(("a/s.jsonl", "main"), ("a/s/subagents/agent-1.jsonl", "agent-1")));
        assert!(same(("a/s.jsonl", "main"), ("a/s.jsonl", "agent-1")));
        assert!(!same(("a/s.jsonl", "main"), ("a/t.jsonl", "main")));
        assert!(!same(("list.json", "17"), ("list.json", "18")));
        assert!(same(("list.json", "17"), ("list.json", "17-trial1")));
        let names = [("a/s/subagents/agent-1.jsonl", "agent-1"), ("list.json", "17-trial1")];
        assert_eq!(names.map(|(transcript, name)| Session::new(transcript, name).to_string()), ["a/s", "list.json/17"]);
    }

    #[test]
    fn a_row_is_of_the_session_that_its_recording_names() {
        let mut row = Row { transcript: "b.jsonl".into(), conversation: "main".into(), ..Row::default() };
        assert_eq!(row.session().to_string(), "b", "a row of version 1 has no name");
        row.recording = super::super::Recording { session: "a".to_owned(), ..Default::default() }.into();
        assert_eq!(row.session().to_string(), "a");
    }
}
