//! The arguments of programs: which are options, which are options' values, and which are files. Only what agents look at files
//! with is listed.

use super::shell::Word;

/// The options of a program, as far as they matter for telling its operands from the options' values.
#[derive(Default)]
pub struct Options {
    /// Letters of options whose value follows, in the same word or in the next.
    pub valued: &'static str,
    /// Letters of options whose value can only be in the same word.
    pub attached: &'static str,
    pub long: &'static [&'static str],
    /// How many operands come before the files: a pattern, a program.
    pub first: usize,
    /// Options that give what else comes before the files.
    pub instead: &'static [&'static str],
}

/// The arguments of a program, told apart.
#[derive(Default)]
pub struct Told<'w, 'a> {
    pub letters: String,
    pub operands: Vec<&'w Word<'a>>,
}

/// Options of `jq` that take two values.
const PAIRS: [&str; 4] = ["arg", "argjson", "slurpfile", "rawfile"];

impl Options {
    pub fn split<'w, 'a>(&self, arguments: &'w [Word<'a>]) -> Told<'w, 'a> {
        let mut told = Told::default();
        let mut first = self.first;
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let text = &*word.text;
            if text == "--" {
                told.operands.extend(rest.by_ref());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let values = if PAIRS.contains(&name) { 2 } else { usize::from(self.long.contains(&name) && value.is_none()) };
                rest.by_ref().take(values).for_each(drop);
                first = if self.instead.contains(&name) { 0 } else { first };
            } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                for (at, letter) in letters.char_indices() {
                    told.letters.push(letter);
                    let last = at + letter.len_utf8() == letters.len();
                    first = if self.instead.contains(&&letters[at..at + letter.len_utf8()]) { 0 } else { first };
                    if self.valued.contains(letter) && last {
                        rest.next();
                    }
                    if self.valued.contains(letter) || self.attached.contains(letter) {
                        break;
                    }
                }
            } else {
                told.operands.push(word);
            }
        }
        told.operands.drain(..first.min(told.operands.len()));
        told
    }
}

/// A program that prints what is in its operands.
pub struct Reader {
    pub names: &'static [&'static str],
    pub options: Options,
}

const fn reader(names: &'static [&'static str], valued: &'static str, long: &'static [&'static str]) -> Reader {
    Reader { names, options: Options { valued, attached: "", long, first: 0, instead: &[] } }
}

const fn searcher(
    names: &'static [&'static str],
    valued: &'static str,
    long: &'static [&'static str],
    instead: &'static [&'static str],
) -> Reader {
    Reader { names, options: Options { valued, attached: "", long, first: 1, instead } }
}

pub const READERS: &[Reader] = &[
    reader(&["cat", "tac", "wc", "file", "sha256sum", "md5sum", "zcat", "gunzip", "readlink", "realpath"], "", &[]),
    reader(&["head", "tail"], "nc", &["lines", "bytes"]),
    reader(&["nl"], "bvwshfnlid", &[]),
    reader(&["bat", "batcat"], "rlHm", &["line-range", "language", "style", "theme", "paging", "color"]),
    reader(&["less", "more"], "pPxoj", &[]),
    reader(&["sort", "uniq"], "ktoSTfsw", &["key"]),
    reader(&["cut"], "dfbc", &["delimiter", "fields"]),
    reader(&["xxd", "od", "hexdump", "strings"], "lscogtjNAwne", &[]),
    reader(&["stat", "du"], "cfdBt", &["format", "max-depth"]),
    reader(&["ls", "eza", "exa"], "IwT", &["ignore", "level"]),
    reader(&["tree"], "LIP", &[]),
    reader(&["diff", "cmp", "comm"], "UCxIWF", &["unified", "exclude"]),
    searcher(&["awk", "gawk", "mawk"], "Fvf", &[], &["f"]),
    searcher(&["grep", "egrep", "fgrep", "zgrep"], "ABCmefdD", GREP_LONG, &["e", "f", "regexp", "file"]),
    searcher(&["ag", "ack"], "ABCmGg", GREP_LONG, &[]),
    searcher(&["rg"], "ABCmegtTfjMrdE", RG_LONG, &["e", "f", "regexp", "file", "files"]),
    searcher(&["fd", "fdfind"], "etdEcjxXSo", &["extension", "type", "max-depth", "exclude"], &[]),
    searcher(&["jq", "yq"], "L", &["indent"], &["from-file"]),
    // What the trajectories of SWE-agent call its tools with.
    searcher(&["search_file", "search_dir", "find_file"], "", &[], &[]),
];

const GREP_LONG: &[&str] =
    &["include", "exclude", "exclude-dir", "regexp", "file", "max-count", "after-context", "before-context", "context"];
const RG_LONG: &[&str] = &[
    "glob",
    "iglob",
    "type",
    "type-not",
    "regexp",
    "file",
    "max-count",
    "after-context",
    "before-context",
    "context",
    "sort",
    "sortr",
    "replace",
    "threads",
    "color",
    "colors",
    "max-columns",
    "max-depth",
    "encoding",
];
