//! The stop list: facts of every session and so of none.
//!
//! The rule: a name is on it that an agent writes without having read it anywhere. Those are names every project of a language
//! has (`package.json`, `__init__`), names of the languages' own errors and methods (`TypeError`, `toString`), names of the
//! harnesses' tools and of their arguments (`file_path`), and names of the trade (`GitHub`). What only some projects have is
//! not on it, however frequent: rarity within a conversation decides on that.

use std::sync::LazyLock;

use super::FactKind;
use super::key;

const IDENTIFIERS: &[&str] = &[
    // Tools of coding agents, their arguments and answers.
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
    // Names of the trade.
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
    // What the languages bring.
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

/// The list.
pub fn entries() -> impl Iterator<Item = (FactKind, &'static str)> {
    LISTS.into_iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, *text)))
}

/// Keys by their low bits; a place that is taken moves to the next one. Most places are free, so a look-up ends at once.
struct Table([u64; 512]);

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table([0; 512]);
    for (kind, text) in entries() {
        let key = key(kind, text);
        let place = table.place(key);
        table.0[place] = key;
    }
    table
});

impl Table {
    /// Where a key is, or would be.
    fn place(&self, key: u64) -> usize {
        let mut place = key as usize % self.0.len();
        while self.0[place] != 0 && self.0[place] != key {
            place = (place + 1) % self.0.len();
        }
        place
    }
}

/// Whether the fact with this key is on the list.
pub fn is_common(key: u64) -> bool {
    TABLE.0[TABLE.place(key)] == key && key != 0
}
