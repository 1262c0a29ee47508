//! Refuses to write over a file that is also read, and to write one file twice.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::Failure;
use super::output::without_dangling_links;
use recompact::transcript::source::{display_path, is_special};

/// The files that a command reads and writes, with the options that name them. Transcripts are checked when they are found.
#[derive(Debug, Default)]
pub struct FileUses {
    reads: Vec<(String, PathBuf)>,
    writes: Vec<(String, PathBuf)>,
}

impl FileUses {
    /// Adds a file or a folder that an option names for reading. Names that are no files, such as presets, do no harm.
    pub fn read(&mut self, option: &str, path: impl Into<PathBuf>) {
        self.reads.push((option.to_owned(), path.into()));
    }

    /// Adds a file that an option names for writing.
    pub fn write(&mut self, option: &str, path: Option<&Path>) {
        self.writes.extend(path.map(|path| (option.to_owned(), path.to_owned())));
    }

    /// Fails if a file would be written over. Nothing has been read or written before.
    pub fn check(&self) -> Result<(), Failure> {
        for (index, (option, path)) in self.writes.iter().enumerate() {
            // Several reports may be written to /dev/null.
            if is_special(path) {
                continue;
            }
            let target = identity(path);
            let refuse = |why: String| Err(Failure::Usage(format!("{option} {}: {why}; name another file", display_path(path))));
            if let Some((other, _)) = self.reads.iter().find(|(_, read)| read.exists() && target.starts_with(identity(read))) {
                return refuse(format!("{other} reads this file, so it cannot be written too"));
            }
            if let Some((other, _)) = self.writes[..index].iter().find(|(_, written)| identity(written) == target) {
                return refuse(format!("{other} writes this file too"));
            }
        }
        Ok(())
    }
}

/// Returns a path that is the same for all paths to one file, whether it exists or not.
fn identity(path: &Path) -> PathBuf {
    let path = without_dangling_links(path);
    fs::canonicalize(&path).unwrap_or_else(|_| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let parent = fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned());
        path.file_name().map_or(parent.clone(), |name| parent.join(name))
    })
}
