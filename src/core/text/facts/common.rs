//! The stop list: names that are too common to be facts.
//!
//! A name is on the list if an agent writes it without having read it anywhere: names in every project of a language
//! (`package.json`, `__init__`), errors and methods of the languages (`TypeError`, `toString`), tools of the harnesses and their
//! arguments (`file_path`), and general terms (`GitHub`). Names that only some projects have are not on it, even if they are
//! frequent: their rarity within a conversation decides.

use std::sync::LazyLock;

use super::FactKind;
use super::key;

const IDENTIFIERS: &[&str] = &[
    // Tools of coding agents, their arguments and results.
    "tool_use",
    "tool_use_id",
    "tool_result",
    "tool_call_id",
    "file_path",
    "old_string",
    "new_string",
    "old_str",
    "new_str",
    "replace_all",
    "output_mode",
    "files_with_matches",
    "head_limit",
    "run_in_background",
    "subagent_type",
    "activeForm",
    "in_progress",
    "exit_code",
    "session_id",
    "apply_patch",
    "exec_command",
    "write_stdin",
    "update_plan",
    "yield_time_ms",
    "max_output_tokens",
    "TodoWrite",
    "MultiEdit",
    "WebFetch",
    "WebSearch",
    // General terms.
    "GitHub",
    "GitLab",
    "JavaScript",
    "TypeScript",
    "node_modules",
    // Errors of the languages.
    "TypeError",
    "ValueError",
    "KeyError",
    "ImportError",
    "RuntimeError",
    "AttributeError",
    "SyntaxError",
    "AssertionError",
    "ReferenceError",
    "FileNotFoundError",
    "ModuleNotFoundError",
    // Built-in names of the languages.
    "__init__",
    "__main__",
    "__name__",
    "__file__",
    "__pycache__",
    "toString",
    "forEach",
    "indexOf",
    "className",
    "addEventListener",
    "getElementById",
    "setTimeout",
    "readFileSync",
    "to_string",
    "is_empty",
    "HashMap",
    "PathBuf",
];

const FILES: &[&str] = &[
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CLAUDE.md",
    "AGENTS.md",
    "package.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "tsconfig.json",
    "Cargo.toml",
    "Cargo.lock",
    "pyproject.toml",
    "setup.py",
    "requirements.txt",
    "docker-compose.yml",
    "index.html",
    "index.js",
    "index.ts",
    "main.py",
    "main.rs",
    "__init__.py",
    "Node.js",
    "node.js",
    "Next.js",
    "console.log",
    "response.json",
    "res.json",
    "req.json",
];

const PATHS: &[&str] = &["dev/null", "bin/bash", "bin/env", "usr/bin", "usr/local", "local/bin"];

const URLS: &[&str] = &["http://localhost", "https://localhost", "http://127.0.0.1", "https://github.com", "https://example.com"];

const NUMBERS: &[&str] = &["127.0.0.1", "0.0.0.0", "10000", "100000", "1000000"];

const LISTS: [(FactKind, &[&str]); 5] = [
    (FactKind::Identifier, IDENTIFIERS),
    (FactKind::File, FILES),
    (FactKind::Path, PATHS),
    (FactKind::Url, URLS),
    (FactKind::Number, NUMBERS),
];

/// Returns all entries of the list.
pub fn entries() -> impl Iterator<Item = (FactKind, &'static str)> {
    LISTS.into_iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, *text)))
}

/// A hash table of keys with linear probing. Most slots are free, so a lookup ends at once.
struct KeyTable([u64; 512]);

static COMMON_KEYS: LazyLock<KeyTable> = LazyLock::new(|| {
    let mut table = KeyTable([0; 512]);
    for (kind, text) in entries() {
        let key = key(kind, text);
        let slot = table.slot(key);
        table.0[slot] = key;
    }
    table
});

impl KeyTable {
    /// Returns the slot of a key, or the free slot for it.
    fn slot(&self, key: u64) -> usize {
        let mut slot = key as usize % self.0.len();
        while self.0[slot] != 0 && self.0[slot] != key {
            slot = (slot + 1) % self.0.len();
        }
        slot
    }
}

/// Whether the fact with this key is on the list.
pub fn is_common(key: u64) -> bool {
    COMMON_KEYS.0[COMMON_KEYS.slot(key)] == key && key != 0
}
