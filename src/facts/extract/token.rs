//! What a word is: the rules of paths, file names, versions and simple words, each on its own.

use super::FactKind;
use super::bytes::{self, DIGIT, DOT, JOINT, LETTER, LOWER, UNDERSCORE, UPPER, WORD};

/// Extensions that make a name with a dot a file's. Those that are methods or fields as often as files (`env`, `map`, `test`)
/// are not among them.
pub const EXTENSIONS: [&str; 85] = [
    "bash", "bat", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "db", "diff", "ex",
    "exs", "fish", "gif", "go", "gradle", "graphql", "gz", "h", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jl", "jpeg",
    "jpg", "js", "json", "jsonc", "jsonl", "jsx", "kt", "kts", "less", "lock", "log", "lua", "md", "mdx", "mjs", "ml", "nix",
    "patch", "pdf", "php", "pl", "png", "proto", "ps1", "py", "pyi", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "snap",
    "sql", "svelte", "svg", "swift", "tar", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zip",
];

pub const LONGEST_EXTENSION: usize = 7;

/// `src/net/pool.rs` → `net/pool.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path<'t> {
    /// The last two components. They stand together in the text, with what is between them.
    pub canonical: &'t str,
    pub name: &'t str,
}

/// What stands before `-12-` where that follows a file's name, and what stands behind: searches write `pool.rs-12-let x` for the
/// lines around what they found.
pub fn of_search(run: &str, classes: u8) -> (&str, &str) {
    if classes & JOINT != 0 && classes & DIGIT != 0 && classes & DOT != 0 {
        for (dash, _) in run.match_indices('-') {
            let number = &run[dash + 1..];
            let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() < number.len() && after.starts_with('-') && ends_as_file(&run[..dash]) {
                return (&run[..dash], &after[1..]);
            }
        }
    }
    (run, "")
}

/// Looks back no further than an extension is long.
fn ends_as_file(name: &str) -> bool {
    let last = &name.as_bytes()[name.len().saturating_sub(LONGEST_EXTENSION + 1)..];
    let dot = last.iter().rposition(|byte| *byte == b'.');
    dot.and_then(|dot| str::from_utf8(&last[dot + 1..]).ok()).is_some_and(is_known)
}

fn is_known(extension: &str) -> bool {
    extension.len() <= LONGEST_EXTENSION && EXTENSIONS.binary_search(&extension).is_ok()
}

/// The path that a run is, if it is one: two components or more, the last of three characters or more with a letter.
pub fn path(run: &str) -> Option<Path<'_>> {
    // The sign of a diff is not the path's.
    let run = run.trim_start_matches(['-', '+']).trim_end_matches(['.', '/']);
    let (before, name) = run.rsplit_once('/')?;
    let is_long = name.len() >= 3 && name.chars().nth(2).is_some();
    if !is_long || bytes::classes_of(name) & LETTER == 0 {
        return None;
    }
    let mut end = before.len();
    loop {
        let start = before[..end].rfind('/').map_or(0, |slash| slash + 1);
        match &before[start..end] {
            "" | "." | ".." | "~" if start == 0 => return None,
            "" | "." | ".." | "~" => end = start - 1,
            _ => return Some(Path { canonical: &run[start..], name }),
        }
    }
}

/// The file's name in a piece of letters, digits, `_`, `-` and dots, if it is one.
pub fn file(piece: &str) -> Option<&str> {
    let name = piece.trim_start_matches(['.', '-']).trim_end_matches('.');
    let (stem, extension) = name.rsplit_once('.')?;
    (is_known(extension) && !stem.is_empty() && !stem.ends_with('.') && !stem.contains("..")).then_some(name)
}

/// A version in a piece of letters, digits, `_` and dots: two dots or more between digits, `v` before them or not.
pub fn version(piece: &str) -> Option<&str> {
    let version = piece.trim_matches('.');
    let numbers = version.strip_prefix('v').unwrap_or(version);
    let mut parts = 0;
    for part in numbers.split('.') {
        parts += 1;
        if part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    (parts >= 3).then_some(version)
}

/// Whether a word of such bytes can be a number, a hash or an identifier: most words of a language cannot.
pub fn may_be_simple(classes: u8) -> bool {
    classes & (DIGIT | UNDERSCORE) != 0 || classes & (LOWER | UPPER) == LOWER | UPPER
}

/// What a word of letters, digits and `_` is: a number, a hash, an identifier, or nothing.
pub fn simple(word: &str, classes: u8) -> Option<FactKind> {
    if classes == DIGIT {
        return (word.len() >= 5).then_some(FactKind::Number);
    }
    if word.len() < 6 || classes & LETTER == 0 {
        return None;
    }
    if is_hash(word, classes) {
        return Some(FactKind::Hash);
    }
    let begins_with_digit = word.as_bytes()[0].is_ascii_digit();
    let is_name = classes & UNDERSCORE != 0 || classes & DIGIT != 0 && !begins_with_digit || has_hump(word, classes);
    let is_long = word.len() >= 18 || word.chars().nth(5).is_some();
    (is_name && is_long).then_some(FactKind::Identifier)
}

fn is_hash(word: &str, classes: u8) -> bool {
    let may_be = classes & DIGIT != 0 && classes & UNDERSCORE == 0 && (7..=40).contains(&word.len());
    may_be && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A small letter before a capital.
fn has_hump(word: &str, classes: u8) -> bool {
    let both = LOWER | UPPER;
    classes & both == both && word.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
}

/// The URL whose scheme is at the end of a run, without trailing punctuation.
pub fn url(line: &str, start: usize, end: usize) -> Option<&str> {
    let run = &line[start..end];
    let scheme = ["http", "https"].into_iter().find(|scheme| run.ends_with(scheme))?;
    let begin = end - scheme.len();
    let (bytes, host) = (line.as_bytes(), end + "://".len());
    if !bytes[end..].starts_with(b"://") {
        return None;
    }
    if begin > start && bytes::is(bytes[begin - 1], WORD) || !bytes.get(host).is_some_and(|first| bytes::is(*first, WORD)) {
        return None;
    }
    let ends = |(at, byte): (usize, &u8)| match byte {
        0..=b' ' | 0x7F | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'{' | b'}' | b'|' | b'^' => true,
        0xC0.. => bytes::separates(&bytes[host + at..]),
        _ => false,
    };
    let stop = bytes[host..].iter().enumerate().position(|(at, byte)| ends((at, byte))).map_or(bytes.len(), |at| host + at);
    let url = line[begin..stop].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*', '$']);
    (url.len() > scheme.len() + "://".len()).then_some(url)
}
