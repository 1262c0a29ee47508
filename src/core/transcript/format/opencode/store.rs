//! The database of opencode (`~/.local/share/opencode/opencode.db`), since version 1.2, and of its forks: kilo, mimocode, icodemate.
//!
//! The rows of a session become the document that `opencode export` writes, one message a line, so one reader reads both. The table
//! `event` is most of a database (70 to 95 %), holds each row again, and is never read.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::NAME;
use crate::transcript::format::sqlite::{has_index, has_tables, open, reason};
use crate::transcript::format::store::{Sessions, Store, StoreError, StoreFiles, StoredSession};

pub const STORE: Store = Store { files: StoreFiles::Databases, sessions, read };

/// The tables that are read.
const TABLES: &[&str] = &["session", "message", "part"];

/// The columns by which rows are found.
const INDICES: &[(&str, &str)] = &[("message", "session_id"), ("part", "message_id")];

/// Programs with the same tables in a database of their own name.
const FORKS: &[&str] = &["kilo", "mimocode", "icodemate"];

/// Most sessions of a database: the list of them is in memory.
const MOST_SESSIONS: usize = 200_000;

/// Most bytes of a value while the sessions are listed: ids and numbers.
const LISTED_BYTES: u64 = 1 << 20;

fn sessions(path: &Path, id: Option<&str>) -> Sessions {
    let database = open(path, LISTED_BYTES)?;
    if !has_tables(&database, TABLES).map_err(|error| reason(&error))? {
        return Ok(None);
    }
    for (table, column) in INDICES {
        if !has_index(&database, table, column).map_err(|error| reason(&error))? {
            let why = format!(
                "an opencode database whose `{table}` has no index of `{column}`: each session would take a search of it all"
            );
            return Err(StoreError(why));
        }
    }
    let listed = listed(&database, id).map_err(|error| reason(&error))?;
    if listed.len() > MOST_SESSIONS {
        return Err(StoreError(format!("a database of more than {MOST_SESSIONS} sessions")));
    }
    let places: HashMap<&str, usize> = listed.iter().enumerate().map(|(at, row)| (row.id.as_str(), at)).collect();
    let parents: Vec<_> = listed.iter().map(|row| row.parent.as_ref().and_then(|id| places.get(id.as_str())).copied()).collect();
    let heads = heads(&parents);
    let session = |(row, head): (&Listed, usize)| StoredSession {
        format: NAME,
        id: row.id.clone(),
        family: listed[head].id.clone(),
        changed: SystemTime::UNIX_EPOCH + Duration::from_millis(row.updated),
        size: row.size,
    };
    let is_wanted = |(row, _): &(&Listed, usize)| id.is_none_or(|id| row.id == id);
    Ok(Some(listed.iter().zip(heads).filter(is_wanted).map(session).collect()))
}

/// What a session is listed with.
struct Listed {
    id: String,
    parent: Option<String>,
    /// Milliseconds since 1970.
    updated: u64,
    size: u64,
}

/// Lists the sessions, or one with its parents, one more than the most at most. The sizes of their parts take no reading of the parts.
fn listed(database: &Connection, id: Option<&str>) -> rusqlite::Result<Vec<Listed>> {
    let size = match has_index(database, "part", "session_id")? {
        true => "(SELECT total(octet_length(data)) FROM part WHERE session_id = session.id)",
        false => "0.0",
    };
    let query = format!(
        "WITH RECURSIVE line (id) AS \
         (SELECT ?1 UNION SELECT parent_id FROM session JOIN line USING (id) WHERE parent_id IS NOT NULL) \
         SELECT id, parent_id, time_updated, {size} FROM session \
         WHERE typeof(id) = 'text' AND (?1 IS NULL OR id IN line) ORDER BY id LIMIT ?2"
    );
    let number = |value: ValueRef| value.as_i64().ok().and_then(|number| u64::try_from(number).ok()).unwrap_or(0);
    let row = |row: &Row| {
        Ok(Listed {
            id: row.get(0)?,
            parent: text(row.get_ref(1)?).map(str::to_owned),
            updated: number(row.get_ref(2)?),
            size: row.get_ref(3)?.as_f64().unwrap_or(0.0) as u64,
        })
    };
    database.prepare(&query)?.query_map((id, MOST_SESSIONS as i64 + 1), row)?.collect()
}

/// Returns for each session the one at the head of its parents; in a circle of parents, any of them.
fn heads(parents: &[Option<usize>]) -> Vec<usize> {
    let mut heads: Vec<Option<usize>> = vec![None; parents.len()];
    for start in 0..parents.len() {
        let (mut at, mut path) = (start, Vec::new());
        let head = loop {
            if let Some(head) = heads[at] {
                break head;
            }
            heads[at] = Some(at);
            path.push(at);
            match parents[at] {
                Some(parent) => at = parent,
                None => break at,
            }
        };
        path.into_iter().for_each(|at| heads[at] = Some(head));
    }
    heads.into_iter().enumerate().map(|(at, head)| head.unwrap_or(at)).collect()
}

fn read(path: &Path, id: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
    let database = open(path, limit)?;
    let file = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let program = FORKS.iter().find(|fork| file.starts_with(**fork)).unwrap_or(&NAME);
    document(&database, id, program, limit).map_err(|error| reason(&error))
}

/// Writes a session as a document. All rows are of one moment.
fn document(database: &Connection, id: &str, program: &str, limit: u64) -> rusqlite::Result<Vec<u8>> {
    let transaction = database.unchecked_transaction()?;
    let info = transaction.query_row("SELECT * FROM session WHERE id = ?", [id], |row| Ok(info(row, program)))?;
    let mut document = format!("{{\"info\":{info},\"messages\":[").into_bytes();
    let mut messages = transaction.prepare("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id")?;
    let mut parts = transaction.prepare("SELECT data FROM part WHERE message_id = ? ORDER BY id")?;
    let mut rows = messages.query([id])?;
    let mut separator = "";
    while let Some(row) = rows.next()? {
        let id = text(row.get_ref(0)?).unwrap_or_default();
        document.extend_from_slice(separator.as_bytes());
        document.extend_from_slice(b"{\"info\":");
        push(&mut document, row.get_ref(1)?, Some(id));
        document.extend_from_slice(b",\"parts\":[");
        let mut parts = parts.query([id])?;
        let mut is_first = true;
        while let Some(part) = parts.next()? {
            if !std::mem::take(&mut is_first) {
                document.push(b',');
            }
            push(&mut document, part.get_ref(0)?, None);
            if document.len() as u64 > limit {
                return Ok(document);
            }
        }
        document.extend_from_slice(b"]}");
        separator = ",\n";
    }
    document.extend_from_slice(b"\n]}\n");
    Ok(document)
}

/// The `info` of a session. Versions differ in their columns.
fn info(row: &Row, program: &str) -> Value {
    let column = |name: &str| row.get_ref(name).ok().and_then(text);
    let mut info = Map::new();
    for (key, name) in [("id", "id"), ("parentID", "parent_id"), ("directory", "directory"), ("version", "version")] {
        info.extend(column(name).map(|text| (key.to_owned(), text.into())));
    }
    if program != NAME {
        info.insert("program".to_owned(), program.into());
    }
    info.extend(column("revert").and_then(|json| Some(("revert".to_owned(), serde_json::from_str(json).ok()?))));
    Value::Object(info)
}

/// Writes what a row holds: an object, with the id that the export puts into it. What is no JSON is written as a text, about which the
/// reader notes that it is none of opencode's.
fn push(document: &mut Vec<u8>, data: ValueRef, id: Option<&str>) {
    let bytes = data.as_bytes().unwrap_or_default();
    let written = String::from_utf8_lossy(bytes);
    let fields = serde_json::from_str::<&RawValue>(&written).ok().and_then(|raw| raw.get().strip_prefix('{'));
    let (Some(fields), ValueRef::Text(_)) = (fields, data) else {
        return document.extend_from_slice(Value::from(written.as_ref()).to_string().as_bytes());
    };
    document.push(b'{');
    if let Some(id) = id {
        document.extend_from_slice(format!("\"id\":{}", Value::from(id)).as_bytes());
        if !fields.trim_start().starts_with('}') {
            document.push(b',');
        }
    }
    document.extend_from_slice(fields.as_bytes());
}

fn text(value: ValueRef<'_>) -> Option<&str> {
    value.as_str().ok()
}

#[cfg(test)]
mod tests;
