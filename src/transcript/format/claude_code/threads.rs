//! Which agent a record belongs to: the main thread, a side chain (sub-agent), or another session in the same file.

use std::collections::{HashMap, HashSet};

use super::record::Record;
use super::text::Text;

/// The records of a file sorted by agent, and who is whose parent within each.
pub struct Threads<'a> {
    pub names: Vec<String>,
    /// The thread of each record; bookkeeping outside the tree has none.
    pub of: Vec<Option<usize>>,
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
        let mut sorter = Sorter::default();
        let mut of = Vec::with_capacity(records.len());
        for record in records {
            let in_tree = record.uuid.get().is_some() || record.is_said();
            let parents = [&record.parent_uuid, &record.logical_parent_uuid];
            let parent = parents.into_iter().find_map(|text| text.get().and_then(|uuid| by_uuid.get(uuid)));
            let parent = parent.and_then(|parent| of.get(*parent).copied().flatten());
            of.push(in_tree.then(|| sorter.thread(record, parent)));
        }
        Self { names: sorter.names, of, by_uuid }
    }

    /// The record with this id, if it is in this thread.
    pub fn find(&self, uuid: &str, thread: usize) -> Option<usize> {
        self.by_uuid.get(uuid).copied().filter(|i| self.of[*i] == Some(thread))
    }
}

#[derive(Default)]
struct Sorter<'a> {
    names: Vec<String>,
    taken: HashSet<String>,
    is_side: Vec<bool>,
    sessions: HashMap<&'a str, usize>,
    agents: HashMap<&'a str, usize>,
    main: Option<usize>,
    /// The side chain without an agent id that spoke last, and how many there are.
    nameless: Option<usize>,
    nameless_count: usize,
}

impl<'a> Sorter<'a> {
    /// The thread of a record whose parent, if it stands before it in the file, is in the thread `parent`.
    fn thread(&mut self, record: &'a Record, parent: Option<usize>) -> usize {
        if !record.is_side() {
            return self.session(record, parent.filter(|thread| !self.is_side[*thread]));
        }
        match record.agent_id.get() {
            Some(agent) => match self.agents.get(agent) {
                Some(known) => *known,
                None => {
                    let thread = self.add(format!("agent-{agent}"), true);
                    self.agents.insert(agent, thread);
                    thread
                }
            },
            None => self.nameless(record, parent.filter(|thread| self.is_side[*thread])),
        }
    }

    /// A resumed session may go on under a new id: the tree of parents holds it together.
    fn session(&mut self, record: &'a Record, parent: Option<usize>) -> usize {
        let session = record.session_id.get();
        let known = match session {
            Some(id) => self.sessions.get(id).copied(),
            None => self.main,
        };
        let thread = parent.or(known).unwrap_or_else(|| match (self.main, session) {
            (None, _) => self.add("main".to_owned(), false),
            (Some(_), id) => self.add(id.unwrap_or("main").to_owned(), false),
        });
        self.main.get_or_insert(thread);
        if let Some(id) = session {
            self.sessions.entry(id).or_insert(thread);
        }
        thread
    }

    /// Old versions name no agent: a root begins a side chain, everything else follows its parent, or the one that spoke last.
    fn nameless(&mut self, record: &Record, parent: Option<usize>) -> usize {
        let is_root = record.parent_uuid == Text::Null;
        let known = parent.or(if is_root { None } else { self.nameless });
        let thread = known.unwrap_or_else(|| {
            self.nameless_count += 1;
            self.add(format!("sidechain-{}", self.nameless_count), true)
        });
        self.nameless = Some(thread);
        thread
    }

    fn add(&mut self, name: String, is_side: bool) -> usize {
        // A tilde and a number name another branch of a thread.
        let name = name.replace('~', "-");
        let mut unique = name.clone();
        let mut count = 1;
        while !self.taken.insert(unique.clone()) {
            count += 1;
            unique = format!("{name}-{count}");
        }
        self.names.push(unique);
        self.is_side.push(is_side);
        self.names.len() - 1
    }
}
