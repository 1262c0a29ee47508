//! The stop list: names that are too common to be facts.
//!
//! A name is on the list if an agent writes it without having read it anywhere: names in every project of a language
//! (`package.json`, `__init__`), names that the languages and the web define (`TypeError`, `toString`, `fontWeight`), tools of the
//! harnesses and their arguments (`file_path`), names that many packages have (`SeekFrom`, `startTime`), general terms (`GitHub`), and names of examples (`file1.txt`). Names
//! that only some projects have are not on it, even if they are frequent: their rarity within a conversation decides.

use std::sync::LazyLock;

use memchr::memchr_iter;

use super::FactKind;
use super::key;

/// Identifiers, a paragraph for each group.
const IDENTIFIERS: [&str; 3] =
    [include_str!("common/built_in.txt"), include_str!("common/packages.txt"), include_str!("common/harnesses.txt")];

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
    "build.gradle",
    "build.zig",
    "CMakeLists.txt",
    "pom.xml",
    "requirements.txt",
    "docker-compose.yml",
    "index.html",
    "index.js",
    "index.ts",
    "main.py",
    "main.rs",
    "main.go",
    "main.ts",
    "main.js",
    "app.js",
    "app.py",
    "config.json",
    "settings.json",
    "metadata.json",
    "result.json",
    "results.json",
    "summary.json",
    "pre-commit-config.yaml",
    "conftest.py",
    "__init__.py",
    "Node.js",
    "node.js",
    "Next.js",
    "console.log",
    "response.json",
    "res.json",
    "req.json",
];

const PATHS: &[&str] = &[
    "dev/null",
    "bin/bash",
    "bin/env",
    "usr/bin",
    "usr/local",
    "local/bin",
    ".github/workflows",
    "tests/conftest.py",
    "workflows/ci.yml",
    "workflows/release.yml",
    "priv/repo",
    "repo/migrations",
    "v1/traces",
    "v1/messages",
    "v1/models",
    "chat/completions",
    "application/json",
    "application/octet-stream",
    "multipart/form-data",
    "text/event-stream",
    "image/svg+xml",
    "encoding/json",
    "path/filepath",
    "net/http",
    "net/url",
    "http/httptest",
    "os/exec",
    "crypto/sha256",
    "crypto/rand",
    "math/rand",
    "sync/atomic",
    "text/template",
    "html/template",
    "go/ast",
    "go/parser",
    "unicode/utf8",
    "archive/tar",
    "archive/zip",
    "compress/gzip",
    "encoding/hex",
    "encoding/base64",
    "testify/assert",
    "testify/require",
];

const URLS: &[&str] = &["http://localhost", "https://localhost", "http://127.0.0.1", "https://github.com", "https://example.com"];

const NUMBERS: &[&str] = &["127.0.0.1", "0.0.0.0"];

const LISTS: [(FactKind, &[&str]); 4] =
    [(FactKind::File, FILES), (FactKind::Path, PATHS), (FactKind::Url, URLS), (FactKind::Number, NUMBERS)];

/// Words that people name anything with. With digits after them they are no facts, and as file names neither.
const STAND_INS: [&str; 26] = [
    "abc", "bar", "baz", "config", "data", "def", "demo", "doc", "example", "file", "foo", "hello", "image", "input", "item",
    "line", "notes", "output", "page", "plan", "sample", "temp", "test", "text", "tmp", "user",
];

/// The ports of development servers unless somebody sets another: Node.js and Rails, Angular, Flask, Vite, Django, and web servers.
const DEFAULT_PORTS: [&str; 6] = ["3000", "4200", "5000", "5173", "8000", "8080"];

/// Whether a host and port are this machine and a port that servers have by default: `localhost:8080`.
fn is_default_address(address: &str) -> bool {
    let own = |host| matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0");
    address.split_once(':').is_some_and(|(host, port)| own(host) && DEFAULT_PORTS.contains(&port))
}

/// What redactors put in the place of a secret, besides the letter x.
const REDACTED: &[u8] = b"REDACTED";

/// Whether a name is what a redactor left of another one: `[REDACTED_TOKEN]`, `xxxx@xxxxx.xx`.
fn is_redacted(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_masked = || bytes.iter().all(|byte| matches!(byte, b'x' | b'X') || byte.is_ascii_punctuation());
    let is_marked = || bytes.len() >= REDACTED.len() && memchr_iter(b'R', bytes).any(|at| bytes[at..].starts_with(REDACTED));
    bytes.first() == Some(&b'x') && is_masked() || is_marked()
}

/// Whether a name is an example for any other: `test123`, `file1.txt`, `http://localhost:8080`.
pub fn is_stand_in(kind: FactKind, text: &str) -> bool {
    if is_redacted(text) {
        return true;
    }
    let stem = match kind {
        FactKind::Url => {
            let address = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
            return address.is_some_and(|address| is_default_address(address.trim_end_matches('/')));
        }
        // A port ends with a digit, too.
        FactKind::Identifier if text.ends_with(|c: char| c.is_ascii_digit()) => {
            if is_default_address(text) {
                return true;
            }
            text
        }
        FactKind::File => text.split('.').next().unwrap_or_default(),
        _ => return false,
    };
    let word = stem.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-']);
    STAND_INS.binary_search(&word).is_ok()
}

/// Whose addresses a harness writes under its commits, also with another user in place of a secret one.
const OWN_HOSTS: [&str; 2] = ["@anthropic.com", "@openai.com"];

/// Whether an address is one of the harnesses' own.
pub fn is_own_address(address: &str) -> bool {
    OWN_HOSTS.iter().any(|host| address.ends_with(host))
}

/// Returns all entries of the list.
pub fn entries() -> impl Iterator<Item = (FactKind, &'static str)> {
    let lines = IDENTIFIERS.into_iter().flat_map(str::lines).filter(|line| !line.starts_with('#'));
    let identifiers = lines.flat_map(str::split_whitespace).map(|text| (FactKind::Identifier, text));
    identifiers.chain(LISTS.into_iter().flat_map(|(kind, texts)| texts.iter().map(move |text| (kind, *text))))
}

/// A hash table of keys with linear probing. Most slots are free, so a lookup ends at once.
struct KeyTable([u64; 8192]);

static COMMON_KEYS: LazyLock<KeyTable> = LazyLock::new(|| {
    let mut table = KeyTable([0; 8192]);
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
