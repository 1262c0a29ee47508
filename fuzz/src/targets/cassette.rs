//! Entries of a cassette: an entry under its own key is read, and nothing else is.

use recompact::llm::client::CassetteEntry;

pub fn run(data: &[u8]) {
    let _ = CassetteEntry::parse(data, "0");
    let Ok(entry) = serde_json::from_slice::<CassetteEntry>(data) else { return };
    let key = entry.key();
    let written = serde_json::to_vec_pretty(&entry).expect("plain data");
    match CassetteEntry::parse(&written, &key) {
        Ok(again) => assert_eq!(again, entry),
        Err(error) => assert!(entry.outcome().is_none(), "{error}"),
    }
    assert!(CassetteEntry::parse(&written, "another key").is_err());
}
