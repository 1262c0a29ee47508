//! A conversation of OpenHands as its SDK keeps it (`~/.openhands/conversations/<id>/`): `base_state.json`, and each event in a file of its
//! own, `events/event-00000-<uuid>.json`. The reader gets them as lines, in the order of their numbers: event 0 is on line 1.

use std::fs;
use std::path::{Path, PathBuf};

use super::NAME;
use crate::transcript::format::folder;
use crate::transcript::format::store::{Sessions, Store, StoreError, StoreFiles};

/// The folder of the events, beside the file of the state.
const EVENTS: &str = "events";

pub const STORE: Store = Store { files: StoreFiles::Folder { main: "base_state.json", others: &[EVENTS] }, sessions, read };

fn sessions(path: &Path, _: Option<&str>) -> Sessions {
    let events = events(path);
    Ok((!events.is_empty()).then(|| vec![folder::session(NAME, &events)]))
}

/// Returns the files of the events in their order.
fn events(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(path.with_file_name(EVENTS)) else { return Vec::new() };
    let numbered = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix("event-")?.strip_suffix(".json")?;
        let number: u64 = name.split('-').next()?.parse().ok()?;
        Some((number, path))
    };
    let mut events: Vec<(u64, PathBuf)> = entries.filter_map(|entry| numbered(entry.ok()?.path())).collect();
    events.sort();
    events.into_iter().map(|(_, path)| path).collect()
}

fn read(path: &Path, _: &str, limit: u64) -> Result<Vec<u8>, StoreError> {
    let mut lines = Vec::new();
    for event in events(path) {
        lines.extend(folder::on_one_line(&folder::read(&event, limit)?));
        lines.push(b'\n');
        if lines.len() as u64 > limit {
            break;
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tenth event comes behind the second, although its name sorts before it where numbers have no zeros.
    #[test]
    fn events_are_lines_in_the_order_of_their_numbers() {
        let place = tempfile::tempdir().expect("a folder");
        let state = place.path().join("base_state.json");
        fs::write(&state, "{}").expect("a file");
        assert_eq!(sessions(&state, None).expect("no error"), None);
        fs::create_dir(place.path().join(EVENTS)).expect("a folder");
        for (name, text) in [("event-10-c.json", "{\"n\":\n10}"), ("event-2-b.json", "{\"n\": 2}"), (".eventlog.lock", "x")] {
            fs::write(place.path().join(EVENTS).join(name), text).expect("a file");
        }
        assert_eq!(read(&state, "", 1_000).expect("lines"), b"{\"n\": 2}\n{\"n\": 10}\n");
        let listed = sessions(&state, None).expect("no error").expect("a session");
        assert_eq!((listed.len(), listed[0].size, listed[0].id.as_str()), (1, 17, ""));
    }
}
