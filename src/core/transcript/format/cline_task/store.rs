//! The folder of a task (`…/globalStorage/<extension>/tasks/<id>/`): the messages, what was on the screen, and which models were asked.
//!
//! The reader gets one document: the other files on its first line, and the messages behind them as they are, so that their lines stay.

use std::path::{Path, PathBuf};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::NAME;
use crate::transcript::format::folder;
use crate::transcript::format::store::{Sessions, Store, StoreError, StoreFiles};

/// The other files, whose names without the ending are their fields.
const OTHERS: &[&str] = &["ui_messages.json", "task_metadata.json", "context_history.json"];

pub const STORE: Store =
    Store { files: StoreFiles::Folder { main: "api_conversation_history.json", others: OTHERS }, sessions, read };

/// The extensions by their ids, and the names of their programs.
const PROGRAMS: &[(&str, &str)] = &[
    ("saoudrizwan.claude-dev", "cline"),
    (".cline", "cline"),
    ("rooveterinaryinc.roo-cline", "roo-code"),
    ("kilocode.kilo-code", "kilo-code"),
];

fn sessions(path: &Path, _: Option<&str>) -> Sessions {
    let files: Vec<PathBuf> = OTHERS.iter().map(|name| path.with_file_name(name)).chain([path.to_owned()]).collect();
    Ok(Some(vec![folder::session(NAME, &files)]))
}

fn read(path: &Path, _: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
    let mut document = b"{".to_vec();
    let mut field = |name: &str, json: &[u8]| {
        document.extend_from_slice(format!("\"{name}\":").as_bytes());
        document.extend_from_slice(json);
        document.push(b',');
    };
    let names: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    if let Some((_, program)) = PROGRAMS.iter().find(|(id, _)| names.contains(id)) {
        field("program", json!(program).to_string().as_bytes());
    }
    if let Some(task) = names.iter().rev().nth(1) {
        field("task", json!(task).to_string().as_bytes());
    }
    let (mut left, mut unread) = (limit, Vec::new());
    for name in OTHERS {
        let other = path.with_file_name(name);
        if !other.exists() {
            continue;
        }
        let bytes = folder::read(&other, left)?;
        left = left.saturating_sub(bytes.len() as u64);
        let line = folder::on_one_line(&bytes);
        match serde_json::from_slice::<&RawValue>(&line) {
            Ok(_) => field(name.trim_end_matches(".json"), &line),
            Err(_) => unread.push(Value::from(*name)),
        }
    }
    field("unread", Value::Array(unread).to_string().as_bytes());
    document.extend_from_slice(b"\"messages\":");
    let messages = folder::read(path, left)?;
    document.extend_from_slice(messages.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&messages));
    document.push(b'}');
    Ok(document)
}
