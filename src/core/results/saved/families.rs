//! Joins the sessions of children with that of their parent, by the ids in their records.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{Row, Session, recording};
use crate::transcript::conversation::Conversation;

/// What a record says of the family of one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kinship {
    /// Name of the session, by the path alone.
    session: String,
    /// Id of the format. The ids of two programs have nothing to do with each other.
    format: String,
    /// Id of the conversation, or of its session.
    id: Option<String>,
    /// Id of the parent: its agent started this conversation, or this one went on from a copy of it.
    parent: Option<String>,
    /// Name of the folder of a sub-agent whose record names no parent: Gemini CLI names it after the parent.
    folder: Option<String>,
}

impl Kinship {
    /// Returns what the record of a conversation says.
    pub fn new(transcript: &str, conversation: &Conversation) -> Self {
        let identity = &conversation.identity;
        let folder = transcript.rsplit('/').nth(1).filter(|_| identity.is_sub_agent() && identity.parent.is_none());
        Self {
            session: Session::new(transcript, &conversation.name).to_string(),
            format: conversation.format.to_owned(),
            id: identity.session.clone(),
            parent: identity.parent.clone(),
            folder: folder.map(str::to_owned),
        }
    }

    /// Returns the name of the session, by the path alone.
    pub fn session(&self) -> &str {
        &self.session
    }
}

/// The sessions of several transcripts, each child with the head of its family. Children of one parent are a family without it, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Families {
    /// Name of the session of the head, by the name of the session of another member.
    heads: HashMap<String, String>,
}

impl Families {
    /// Joins sessions. If several transcripts have a conversation with the id of a parent, it is the first one, or that of the child's own
    /// session.
    pub fn new<'a>(all: impl IntoIterator<Item = &'a Kinship>) -> Self {
        let all: Vec<&Kinship> = all.into_iter().collect();
        let mut nodes: HashMap<Node, usize> = HashMap::new();
        let mut by_id: HashMap<[&str; 2], usize> = HashMap::new();
        let mut own: HashMap<[&str; 2], Vec<usize>> = HashMap::new();
        let mut names = Vec::new();
        for kin in &all {
            let node = *nodes.entry(Node::Session(&kin.session)).or_insert(names.len());
            if node == names.len() {
                names.push(kin.session.as_str());
            }
            if let Some(id) = &kin.id {
                by_id.entry([&kin.format, id]).or_insert(node);
                own.entry([&kin.format, id]).or_default().push(node);
            }
        }
        let mut groups = Groups((0..names.len()).collect());
        let mut is_child = vec![false; names.len()];
        for kin in &all {
            let folder = kin.folder.as_ref().filter(|folder| by_id.contains_key(&[kin.format.as_str(), folder]));
            let (child, Some(parent)) = (nodes[&Node::Session(&kin.session)], kin.parent.as_ref().or(folder)) else { continue };
            let key = [kin.format.as_str(), parent];
            if own.get(&key).is_some_and(|nodes| nodes.contains(&child)) {
                continue;
            }
            let parent =
                by_id.get(&key).copied().unwrap_or_else(|| *nodes.entry(Node::Absent(key)).or_insert_with(|| groups.add()));
            is_child[child] = true;
            groups.join(child, parent);
        }
        let mut heads: HashMap<usize, usize> = HashMap::new();
        let oldest_first = (0..names.len()).filter(|node| !is_child[*node]).chain(0..names.len());
        oldest_first.for_each(|node| {
            heads.entry(groups.of(node)).or_insert(node);
        });
        let others = (0..names.len()).map(|node| (node, heads[&groups.of(node)])).filter(|(node, head)| node != head);
        Self { heads: others.map(|(node, head)| (names[node].to_owned(), names[head].to_owned())).collect() }
    }

    /// Returns the name of the session with which one counts, itself if it has no parent.
    pub fn head<'a>(&'a self, session: &'a str) -> &'a str {
        self.heads.get(session).map_or(session, String::as_str)
    }

    /// Gives rows the sessions with which they count.
    pub fn group(&self, rows: &mut [Row]) {
        rows.iter_mut().for_each(|row| recording::move_to(&mut row.recording, self));
    }
}

/// What is joined: a session, or the id of a parent that is in no transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node<'a> {
    Session(&'a str),
    Absent([&'a str; 2]),
}

/// Disjoint groups of nodes: each node points to another one of its group, the last to itself.
struct Groups(Vec<usize>);

impl Groups {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    fn of(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one] = other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it shows; sessions with what their records say; the heads.
    type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str);

    /// The heads of sessions, each with its format, id and parent; `-` for none.
    fn heads(sessions: &[(&str, &str)]) -> String {
        let known = |word: &str| Some(word).filter(|word| *word != "-").map(str::to_owned);
        let kin: Vec<Kinship> = sessions
            .iter()
            .map(|(session, said)| {
                let [format, id, parent] = said.split(' ').collect::<Vec<_>>().try_into().expect("three words");
                Kinship {
                    session: (*session).to_owned(),
                    format: format.to_owned(),
                    id: known(id),
                    parent: known(parent),
                    folder: None,
                }
            })
            .collect();
        let families = Families::new(&kin);
        sessions.iter().map(|(session, _)| families.head(session)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn children_count_with_the_head_of_their_family() {
        let cases: [Case; 9] = [
            ("alone", &[("a", "pi 1 -"), ("b", "pi 2 -"), ("c", "pi - -")], "a b c"),
            ("the child is read first", &[("a", "pi 2 1"), ("b", "pi 1 -")], "b b"),
            ("a chain", &[("a", "pi 3 2"), ("b", "pi 2 1"), ("c", "pi 1 -"), ("d", "pi 4 -")], "c c c d"),
            ("a circle", &[("a", "pi 1 2"), ("b", "pi 2 1")], "a a"),
            ("its own parent", &[("a", "pi 1 1"), ("b", "pi 2 -")], "a b"),
            ("a parent that is not here", &[("a", "pi 1 9"), ("b", "pi 2 9"), ("c", "pi 3 8")], "a a c"),
            ("the same id in another format", &[("a", "pi 1 -"), ("b", "codex 2 1")], "a b"),
            ("a copy of a parent", &[("a", "pi 1 -"), ("b", "pi 1 -"), ("c", "pi 2 1")], "a b a"),
            ("the parent of the same session", &[("a", "pi 1 -"), ("b", "pi 1 -"), ("b", "pi 2 1")], "a b b"),
        ];
        for (what, sessions, expected) in cases {
            assert_eq!(heads(sessions), expected, "{what}");
        }
    }

    #[test]
    fn rows_of_a_family_share_its_session() {
        let kin = |session: &str, id: &str, parent: Option<&str>| Kinship {
            session: session.to_owned(),
            id: Some(id.to_owned()),
            parent: parent.map(str::to_owned),
            ..Kinship::default()
        };
        let recording = |session: &str| recording::Recording { session: session.to_owned(), ..Default::default() }.into();
        let mut rows: Vec<Row> = ["a", "b", "c"].map(|session| Row { recording: recording(session), ..Row::default() }).into();
        Families::new(&[kin("a", "1", None), kin("b", "2", Some("1")), kin("c", "3", None)]).group(&mut rows);
        let sessions: Vec<String> = rows.iter().map(|row| row.session().to_string()).collect();
        assert_eq!(sessions, ["a", "a", "c"]);
    }
}
