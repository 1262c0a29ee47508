//! The rules of single words: paths, file names, versions, URLs, numbers, hashes and identifiers.

use super::FactKind;
use super::bytes::{self, DIGIT, DOT, JOINT, LETTER, LOWER, UNDERSCORE, UPPER, WORD};

/// Extensions that make a name with a dot a file name. Extensions that are as often methods or fields (`env`, `map`, `test`) are
/// not on the list.
pub const EXTENSIONS: [&str; 85] = [
    "bash", "bat", "c", "cc", "cfg", "cjs", "clj", "cmake", "conf", "cpp", "cs", "css", "csv", "cxx", "dart", "db", "diff", "ex",
    "exs", "fish", "gif", "go", "gradle", "graphql", "gz", "h", "hpp", "hs", "htm", "html", "ini", "ipynb", "java", "jl", "jpeg",
    "jpg", "js", "json", "jsonc", "jsonl", "jsx", "kt", "kts", "less", "lock", "log", "lua", "md", "mdx", "mjs", "ml", "nix",
    "patch", "pdf", "php", "pl", "png", "proto", "ps1", "py", "pyi", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "snap",
    "sql", "svelte", "svg", "swift", "tar", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml", "zig", "zip",
];

pub const MAX_EXTENSION_LEN: usize = 7;

/// A path and its canonical form: `src/net/pool.rs` → `net/pool.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedPath<'t> {
    /// The text from the next to last component to the end.
    pub canonical: &'t str,
    /// The last component.
    pub name: &'t str,
    /// The path without the sign of a diff.
    pub whole: &'t str,
}

impl<'t> ParsedPath<'t> {
    /// Whether its canonical form is a number and a word.
    pub fn is_numbered(self) -> bool {
        is_numbered(self.canonical.split('/').next().unwrap_or_default(), self.name)
    }

    /// Returns the canonical forms of the folders above the path: `me/src` and `src/net` for `me/src/net/pool.rs`.
    pub fn folders(self) -> impl Iterator<Item = &'t str> {
        let above = self.whole.rfind('/').map_or("", |slash| &self.whole[..slash]);
        let offset = |part: &str| part.as_ptr() as usize - above.as_ptr() as usize;
        let is_name = |part: &str| !matches!(part, "" | "." | ".." | "~");
        let pairs = above.split('/').zip(above.split('/').skip(1));
        pairs
            .filter(move |(folder, name)| is_name(folder) && is_name(name) && ends_path(name) && !name.ends_with('.'))
            .filter(|(folder, name)| !is_numbered(folder, name))
            .map(move |(folder, name)| &above[offset(folder)..offset(name) + name.len()])
    }
}

/// Whether a component can be the last one of a path: three characters or more, with a letter.
fn ends_path(name: &str) -> bool {
    name.len() >= 3 && name.chars().nth(2).is_some() && bytes::classes_of(name) & LETTER != 0
}

/// Whether a component and the next one are a number and a word, as in the address of a service: `235/comments`. The number has at
/// most five digits: a longer one is a name of its own.
fn is_numbered(folder: &str, name: &str) -> bool {
    bytes::classes_of(folder) == DIGIT && folder.len() <= 5 && bytes::classes_of(name) & !LETTER == 0
}

/// Splits a run at `-12-` after a file name. Search tools write `pool.rs-12-let x` for the context lines of a match.
pub fn split_search_line(run: &str, classes: u8) -> (&str, &str) {
    if classes & JOINT != 0 && classes & DIGIT != 0 && classes & DOT != 0 {
        for (dash, _) in run.match_indices('-') {
            let number = &run[dash + 1..];
            let after = number.trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() < number.len() && after.starts_with('-') && ends_with_extension(&run[..dash]) {
                return (&run[..dash], &after[1..]);
            }
        }
    }
    (run, "")
}

/// Whether a name ends with a known extension. Reads only as many bytes as the longest extension has.
fn ends_with_extension(name: &str) -> bool {
    let last = &name.as_bytes()[name.len().saturating_sub(MAX_EXTENSION_LEN + 1)..];
    let dot = last.iter().rposition(|byte| *byte == b'.');
    dot.and_then(|dot| str::from_utf8(&last[dot + 1..]).ok()).is_some_and(is_extension)
}

fn is_extension(extension: &str) -> bool {
    extension.len() <= MAX_EXTENSION_LEN && EXTENSIONS.binary_search(&extension).is_ok()
}

/// Returns a run without the sign of a diff before it, and without the last slash and the full stop of its sentence.
fn trim_path(run: &str) -> &str {
    run.trim_start_matches(['-', '+']).trim_end_matches(['.', '/'])
}

/// Splits a run at the dots between two branches or commits of git: `main...feat/idle`.
pub fn split_range(run: &str) -> Option<(&str, &str)> {
    // Runs are short, so a search that prepares itself would take longer.
    let dots = run.as_bytes().windows(2).position(|two| two == b"..")?;
    let (before, after) = (&run[..dots], &run[dots + 2..]);
    let after = after.strip_prefix('.').unwrap_or(after);
    let is_name = |byte: Option<&u8>| byte.is_some_and(|byte| bytes::has_class(*byte, WORD));
    (is_name(before.as_bytes().last()) && is_name(after.as_bytes().first())).then_some((before, after))
}

/// Parses a run as a path: two components or more, the last of three characters or more with a letter. Names of files with slashes
/// between them are a list.
pub fn parse_path(run: &str) -> Option<ParsedPath<'_>> {
    let run = trim_path(run);
    let (before, name) = run.rsplit_once('/')?;
    if !ends_path(name) || run.split('/').all(|part| parse_file_name(part) == Some(part)) {
        return None;
    }
    let mut end = before.len();
    loop {
        let start = before[..end].rfind('/').map_or(0, |slash| slash + 1);
        match &before[start..end] {
            "" | "." | ".." | "~" if start == 0 => return None,
            "" | "." | ".." | "~" => end = start - 1,
            _ => return Some(ParsedPath { canonical: &run[start..], name, whole: run }),
        }
    }
}

/// Folders of sources: three words or more with one of them above the last are a path.
const SOURCE_FOLDERS: [&str; 17] = [
    "app", "apps", "assets", "bin", "cmd", "config", "crates", "docs", "internal", "lib", "packages", "pkg", "priv", "spec",
    "src", "test", "tests",
];

/// Whether a run is a list of plain words, as people write them: `read/write`, `raw/gzip/brotli`. Two words may be a folder and its
/// file, too; three with a folder of sources or camel case are no list.
pub fn is_list_of_words(run: &str) -> bool {
    let run = trim_path(run);
    let is_word = |word: &str| !word.is_empty() && bytes::classes_of(word) & !LETTER == 0;
    let Some((above, last)) = run.rsplit_once('/').filter(|_| run.split('/').all(is_word)) else { return false };
    let is_name = |word: &str| SOURCE_FOLDERS.contains(&word) || has_camel_case(word, bytes::classes_of(word));
    !above.contains('/') || !(above.split('/').any(is_name) || has_camel_case(last, bytes::classes_of(last)))
}

/// Parses a piece of letters, digits, `_`, `-` and dots as a file name.
pub fn parse_file_name(piece: &str) -> Option<&str> {
    let name = piece.trim_start_matches(['.', '-']).trim_end_matches('.');
    let (stem, extension) = name.rsplit_once('.')?;
    // `.tar.gz` and `.spec.ts` are endings.
    let is_ending = name.len() < piece.len() && (is_extension(stem) || matches!(stem, "spec" | "test" | "config" | "d"));
    (is_extension(extension) && !is_ending && !stem.is_empty() && !stem.ends_with('.') && !stem.contains("..")).then_some(name)
}

/// Parses a piece of letters, digits, `_` and dots as a version: at least two dots between digits, optionally after `v`.
pub fn parse_version(piece: &str) -> Option<&str> {
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

/// Whether a word with these byte classes can be a number, a hash or an identifier. Most words of a language cannot.
pub fn may_be_simple(classes: u8) -> bool {
    classes & (DIGIT | UNDERSCORE) != 0 || classes & (LOWER | UPPER) == LOWER | UPPER
}

/// Classifies a word of letters, digits and `_` as a number, a hash or an identifier.
pub fn classify_simple(word: &str, classes: u8) -> Option<FactKind> {
    if classes == DIGIT {
        return is_telling(word).then_some(FactKind::Number);
    }
    if word.len() < 6 || classes & LETTER == 0 {
        return is_code(word, classes).then_some(FactKind::Identifier);
    }
    if is_hash(word, classes) {
        return Some(FactKind::Hash);
    }
    let begins_with_digit = word.as_bytes()[0].is_ascii_digit();
    let is_name = classes & UNDERSCORE != 0 || classes & DIGIT != 0 && !begins_with_digit || has_camel_case(word, classes);
    let is_long = word.len() >= 18 || word.chars().nth(5).is_some();
    (is_name && is_long).then_some(FactKind::Identifier)
}

/// Whether a number has four digits or more and is not round: no thousands. Of four digits, it is no year and no multiple of 256
/// either.
fn is_telling(word: &str) -> bool {
    let is_power = || word.parse::<u32>().is_ok_and(|number| number % 256 == 0);
    let is_usual = || word.starts_with("19") || word.starts_with("20") || is_power();
    word.len() >= 4 && !word.ends_with("000") && !(word.len() == 4 && is_usual())
}

/// Whether a word of four or five characters is a code such as `E0382`: one to three capital letters, then digits.
fn is_code(word: &str, classes: u8) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let has_digits = word.len() >= letters + 2 && word.bytes().skip(letters).all(|byte| byte.is_ascii_digit());
    classes == UPPER | DIGIT && (4..=5).contains(&word.len()) && (1..=3).contains(&letters) && has_digits
}

fn is_hash(word: &str, classes: u8) -> bool {
    let may_be = classes & DIGIT != 0 && classes & UNDERSCORE == 0 && (7..=40).contains(&word.len());
    may_be && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a word has a lower-case letter before an upper-case one.
fn has_camel_case(word: &str, classes: u8) -> bool {
    let both = LOWER | UPPER;
    classes & both == both && word.as_bytes().windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase())
}

/// Returns the URL whose scheme is at the end of the run `start..end`, without trailing punctuation.
pub fn parse_url(line: &str, start: usize, end: usize) -> Option<&str> {
    let run = &line[start..end];
    let scheme = ["http", "https"].into_iter().find(|scheme| run.ends_with(scheme))?;
    let begin = end - scheme.len();
    let (bytes, host) = (line.as_bytes(), end + "://".len());
    if !bytes[end..].starts_with(b"://") {
        return None;
    }
    if begin > start && bytes::has_class(bytes[begin - 1], WORD)
        || !bytes.get(host).is_some_and(|first| bytes::has_class(*first, WORD))
    {
        return None;
    }
    let ends = |(at, byte): (usize, &u8)| match byte {
        // The text of a link ends: `[https://a.example](https://a.example)`.
        b']' => bytes.get(host + at + 1) == Some(&b'('),
        0..=b' ' | 0x7F | b'"' | b'\'' | b'<' | b'>' | b'`' | b'\\' | b'{' | b'}' | b'|' | b'^' => true,
        0xC0.. => bytes::is_separator(&bytes[host + at..]),
        _ => false,
    };
    let stop = bytes[host..].iter().enumerate().position(|(at, byte)| ends((at, byte))).map_or(bytes.len(), |at| host + at);
    let url = line[begin..stop].trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '*', '$']);
    // A browser puts the line in the page behind its path.
    let url = match url.rsplit_once(':') {
        Some((page, number))
            if page.rfind('/').is_some_and(|slash| slash > scheme.len() + 2) && bytes::classes_of(number) == DIGIT =>
        {
            page
        }
        _ => url,
    };
    (url.len() > scheme.len() + "://".len()).then_some(url)
}
