//! Assigns each record to a thread: the main agent, a side chain (sub-agent), or another session in the same file.

use std::collections::{HashMap, HashSet};

use super::record::Record;
use super::text::Text;

/// The threads of a file. A thread is the conversation of one agent, with all its branches.
pub struct Threads<'a> {
    /// Names of the threads.
    pub names: Vec<String>,
    /// Thread of each record; `None` for bookkeeping outside the tree.
    pub thread_of: Vec<Option<usize>>,
    by_uuid: HashMap<&'a str, usize>,
}

impl<'a> Threads<'a> {
    pub fn new(records: &'a [Record]) -> Self {
        let mut by_uuid = HashMap::with_capacity(records.len());
        for (i, record) in records.iter().enumerate() {
            if let Some(uuid) = record.uuid.get() {
                by_uuid.entry(uuid).or_insert(i);
            }
        }
        let mut assigner = ThreadAssigner::default();
        let mut thread_of = Vec::with_capacity(records.len());
        for record in records {
            let is_part = record.is_conversation() || record.attachment.is_some() || record.is_compact_boundary();
            let in_tree = record.uuid.get().is_some() || is_part;
            let parents = [&record.parent_uuid, &record.logical_parent_uuid];
            let parent = parents.into_iter().find_map(|text| text.get().and_then(|uuid| by_uuid.get(uuid)));
            let parent = parent.and_then(|parent| thread_of.get(*parent).copied().flatten());
            thread_of.push(in_tree.then(|| assigner.assign(record, parent)));
        }
        Self { names: assigner.names, thread_of, by_uuid }
    }

    /// Returns the record with this id if it is in this thread.
    pub fn find(&self, uuid: &str, thread: usize) -> Option<usize> {
        self.by_uuid.get(uuid).copied().filter(|i| self.thread_of[*i] == Some(thread))
    }
}

#[derive(Default)]
struct ThreadAssigner<'a> {
    names: Vec<String>,
    taken: HashSet<String>,
    is_side: Vec<bool>,
    /// Whether a response is in the thread.
    is_answered: Vec<bool>,
    sessions: HashMap<&'a str, usize>,
    agents: HashMap<&'a str, usize>,
    main: Option<usize>,
    /// The last active side chain without an agent id.
    unnamed: Option<usize>,
    /// Number of side chains without an agent id.
    unnamed_count: usize,
}

impl<'a> ThreadAssigner<'a> {
    /// Returns the thread of a record. `parent` is the thread of its parent, if the parent comes before it in the file.
    fn assign(&mut self, record: &'a Record, parent: Option<usize>) -> usize {
        let thread = self.thread_of(record, parent);
        self.is_answered[thread] |= record.is_assistant();
        thread
    }

    fn thread_of(&mut self, record: &'a Record, parent: Option<usize>) -> usize {
        if !record.is_side() {
            return self.session_thread(record, parent.filter(|thread| !self.is_side[*thread]));
        }
        match record.agent_id.get() {
            Some(agent) => match self.agents.get(agent) {
                Some(existing) => *existing,
                None => {
                    let thread = self.add(format!("agent-{agent}"), true);
                    self.agents.insert(agent, thread);
                    thread
                }
            },
            None => self.side_chain_thread(record, parent.filter(|thread| self.is_side[*thread])),
        }
    }

    /// Returns the thread of a session. A resumed session may continue with a new id, so the parent counts more than the session id. After
    /// the context was emptied, a new conversation begins in the same file.
    fn session_thread(&mut self, record: &'a Record, parent: Option<usize>) -> usize {
        let session = record.session_id.get();
        let existing = match session {
            Some(id) => self.sessions.get(id).copied(),
            None => self.main,
        };
        let is_new = record.is_after_clear && existing.is_some_and(|thread| self.is_answered[thread]);
        let thread = parent.or(existing).filter(|_| !is_new).unwrap_or_else(|| match (self.main, session) {
            (None, _) => self.add("main".to_owned(), false),
            (Some(_), Some(id)) if !is_new => self.add(id.to_owned(), false),
            (Some(_), _) => self.add("main".to_owned(), false),
        });
        if is_new || self.main.is_none() {
            self.main = Some(thread);
        }
        if let Some(id) = session {
            let of_session = self.sessions.entry(id).or_insert(thread);
            if is_new {
                *of_session = thread;
            }
        }
        thread
    }

    /// Returns the thread of a side chain without an agent id, as old versions write it: a root begins a new side chain; other records
    /// belong to the thread of their parent, or to the last active side chain.
    fn side_chain_thread(&mut self, record: &Record, parent: Option<usize>) -> usize {
        let is_root = record.parent_uuid == Text::Null;
        let existing = parent.or(if is_root { None } else { self.unnamed });
        let thread = existing.unwrap_or_else(|| {
            self.unnamed_count += 1;
            self.add(format!("sidechain-{}", self.unnamed_count), true)
        });
        self.unnamed = Some(thread);
        thread
    }

    fn add(&mut self, name: String, is_side: bool) -> usize {
        // `~2` marks another branch of a thread, so names must not contain a tilde.
        let name = name.replace('~', "-");
        let mut unique = name.clone();
        let mut count = 1;
        while !self.taken.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}-{count}");
        }
        self.names.push(unique);
        self.is_side.push(is_side);
        self.is_answered.push(false);
        self.names.len() - 1
    }
}
