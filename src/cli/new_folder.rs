//! A new folder whose files are named by texts of transcripts and policies.
//!
//! Such texts may be hostile. So each part of a path is cleaned, and the folder is opened once as a capability: no path, link or `..`
//! leads out of it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::error::Failure;

/// Name of a file until it is complete.
const DRAFT: &str = ".recompact-draft";

/// A folder that was empty when it was opened.
pub struct NewFolder {
    folder: Dir,
    /// The paths written, by their lower-case form: some file systems do not tell `A` from `a`.
    written: HashMap<String, PathBuf>,
}

impl NewFolder {
    /// Opens the folder that an option names. It must be empty, so that no file of the user is overwritten.
    pub fn create(option: &str, path: &Path) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::Usage(format!("{option} {}: {error}", path.display()));
        if path.is_file() {
            return Err(Failure::Usage(format!("{option} {}: is a file; name a new folder", path.display())));
        }
        std::fs::create_dir_all(path).map_err(failed)?;
        let folder = Dir::open_ambient_dir(path, ambient_authority()).map_err(failed)?;
        if folder.entries().map_err(failed)?.next().is_some() {
            let message = "the folder is not empty; name a new one, so that nothing in it is overwritten";
            return Err(Failure::Usage(format!("{option} {}: {message}", path.display())));
        }
        Ok(Self { folder, written: HashMap::new() })
    }

    /// Returns a path that is different from all others on every file system.
    pub fn unique(&mut self, path: PathBuf) -> PathBuf {
        let text = path.to_string_lossy().into_owned();
        match self.written.get(&text.to_lowercase()) {
            Some(other) if *other != path => {
                let unique =
                    path.with_file_name(format!("{:016x}_{}", fnv1a(&text), path.file_name().unwrap_or_default().display()));
                self.written.insert(unique.to_string_lossy().to_lowercase(), unique.clone());
                unique
            }
            _ => {
                self.written.insert(text.to_lowercase(), path.clone());
                path
            }
        }
    }

    /// Writes a file, with the folders that it is in.
    pub fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            self.folder.create_dir_all(folder)?;
        }
        if self.folder.symlink_metadata(path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let written = self.folder.write(DRAFT, text).and_then(|()| self.folder.rename(DRAFT, &self.folder, path));
        written.inspect_err(|_| drop(self.folder.remove_file(DRAFT)))
    }
}

/// Maximum characters of a path part; file systems allow 255 bytes.
const MAX_PART_LENGTH: usize = 120;
/// Names that are devices on Windows, in any case and with any ending; `com` and `lpt` with a digit behind.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Converts a text to one part of a path: letters, digits, `.`, `_`, `-`. If that changes the text, a hash of the text
/// is added, so that two texts never get the same name.
pub fn path_part(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let cleaned: String =
        text.chars().map(|c| if allowed(c) || c.is_ascii_uppercase() { c } else { '_' }).take(MAX_PART_LENGTH).collect();
    // Windows leaves out dots at the end.
    let ends_with_dot = cleaned.is_empty() || cleaned.ends_with('.');
    if cleaned == text && !ends_with_dot && !is_device(&cleaned) {
        cleaned
    } else {
        format!("{}_{:016x}", cleaned.replace("..", "__"), fnv1a(text))
    }
}

fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_number = |digit: &str| digit.len() == 1 && digit.bytes().all(|byte| byte.is_ascii_digit());
    DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(|name| stem.strip_prefix(name).is_some_and(is_number))
}

/// The FNV-1a hash, which never changes, unlike the standard library's.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::path_part;

    #[test]
    fn materialized_names_cannot_escape_the_folder() {
        for hostile in
            ["..", ".", "", "../../etc/passwd", "/abs", "a\0b", "CON", "con.txt", &"x".repeat(4_000), "é", "a\u{202e}b"]
        {
            let name = path_part(hostile);
            assert!(
                !name.is_empty() && name.len() < 200 && name != ".." && !name.contains(['/', '\\', '\0']),
                "{hostile:?}: {name}"
            );
        }
        for odd in ["CON", "aux.txt", "Com1", "lpt9.jsonl", "ends.", "a:b", "a?b"] {
            let name = path_part(odd);
            assert!(name != odd && !name.ends_with('.') && !name.contains([':', '?']), "{odd}: {name}");
        }
        for plain in ["common", "com10", "console.txt", "lpt", "a.b"] {
            assert_eq!(path_part(plain), plain);
        }
        assert_eq!(path_part(".task_outputs"), ".task_outputs");
        assert_ne!(path_part("a/b"), path_part("a:b"));
    }

    #[test]
    fn names_that_differ_in_case_only_become_different_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut files = super::NewFolder::create("--out", &folder.path().join("new")).expect("a new folder");
        let mut unique = |path: &str| files.unique(path.into()).to_string_lossy().to_lowercase();
        let [one, other, again] = ["p/Call_A.txt", "p/call_a.txt", "p/Call_A.txt"].map(&mut unique);
        assert_ne!(one, other);
        assert_eq!(one, again, "a file that is written again keeps its name");
    }
}
