//! Splits the arguments of programs into options, values of options, and operands. It lists the programs with which agents read files.

use super::shell::Word;

/// The options of a program, as far as needed to separate operands from values of options.
#[derive(Default)]
pub struct Options {
    /// Letters of options whose value is the rest of the word, or the next word.
    pub valued: &'static str,
    /// Letters of options whose value can only be the rest of the word.
    pub attached: &'static str,
    /// Long options whose value is the next word.
    pub long: &'static [&'static str],
    /// Number of operands before the files, such as a search pattern or a program text.
    pub leading: usize,
    /// Options that replace these leading operands (`grep -e PATTERN`).
    pub replaces_leading: &'static [&'static str],
}

/// The arguments of a program, split.
#[derive(Default)]
pub struct ParsedArguments<'w, 'a> {
    /// The letters of all short options.
    pub letters: String,
    /// The files.
    pub operands: Vec<&'w Word<'a>>,
}

/// Options of `jq` that take two values.
const TWO_VALUE_OPTIONS: [&str; 4] = ["arg", "argjson", "slurpfile", "rawfile"];

impl Options {
    /// Splits the arguments of a program.
    pub fn split<'w, 'a>(&self, arguments: &'w [Word<'a>]) -> ParsedArguments<'w, 'a> {
        let mut parsed = ParsedArguments::default();
        let mut leading = self.leading;
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let text = &*word.text;
            if text == "--" {
                parsed.operands.extend(rest.by_ref());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
                let values =
                    if TWO_VALUE_OPTIONS.contains(&name) { 2 } else { usize::from(self.long.contains(&name) && value.is_none()) };
                rest.by_ref().take(values).for_each(drop);
                leading = if self.replaces_leading.contains(&name) { 0 } else { leading };
            } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
                for (at, letter) in letters.char_indices() {
                    parsed.letters.push(letter);
                    let last = at + letter.len_utf8() == letters.len();
                    leading = if self.replaces_leading.contains(&&letters[at..at + letter.len_utf8()]) { 0 } else { leading };
                    if self.valued.contains(letter) && last {
                        rest.next();
                    }
                    if self.valued.contains(letter) || self.attached.contains(letter) {
                        break;
                    }
                }
            } else {
                parsed.operands.push(word);
            }
        }
        parsed.operands.drain(..leading.min(parsed.operands.len()));
        parsed
    }
}

/// A program that prints the content of its operands.
pub struct Reader {
    /// Names under which the program is called.
    pub names: &'static [&'static str],
    pub options: Options,
}

const fn reader(names: &'static [&'static str], valued: &'static str, long: &'static [&'static str]) -> Reader {
    Reader { names, options: Options { valued, attached: "", long, leading: 0, replaces_leading: &[] } }
}

const fn searcher(
    names: &'static [&'static str],
    valued: &'static str,
    long: &'static [&'static str],
    replaces_leading: &'static [&'static str],
) -> Reader {
    Reader { names, options: Options { valued, attached: "", long, leading: 1, replaces_leading } }
}

/// The programs that read files.
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
    // Tools of SWE-agent, as its trajectories call them.
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
