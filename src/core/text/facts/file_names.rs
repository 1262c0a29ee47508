//! The file names of one block.

use rustc_hash::FxHashSet;

use super::FactMatch;
use super::{FactKind, key};

/// File names. They are reported at the end of the block, unless a path in the block ends with the same name.
#[derive(Default)]
pub struct FileNames {
    /// The names, concatenated.
    text: String,
    names: Vec<FileName>,
    /// Keys of the names at the end of paths.
    in_paths: FxHashSet<u64>,
}

struct FileName {
    /// End offset in `FileNames::text`; the name begins at the end of the previous one.
    end: usize,
    key: u64,
    line: u32,
    line_bytes: u32,
    in_file: bool,
}

impl FileNames {
    /// Adds the name at the end of a path. Returns its key, and whether it is new.
    pub fn add_in_path(&mut self, name: &str) -> (u64, bool) {
        let key = key(FactKind::File, name);
        (key, self.in_paths.insert(key))
    }

    /// Adds a name; `line`, `line_bytes` and `in_file` are those of its match.
    pub fn add(&mut self, name: &str, key: u64, (line, line_bytes, in_file): (u32, u32, bool)) {
        self.text.push_str(name);
        self.names.push(FileName { end: self.text.len(), key, line, line_bytes, in_file });
    }

    /// Reports the names.
    pub fn report(self, on_match: &mut dyn FnMut(FactMatch)) {
        let mut start = 0;
        for FileName { end, key, line, line_bytes, in_file } in self.names {
            if !self.in_paths.contains(&key) {
                let text = &self.text[start..end];
                on_match(FactMatch { kind: FactKind::File, text, key, line, line_bytes, anchors: &[], said: true, in_file });
            }
            start = end;
        }
    }
}
