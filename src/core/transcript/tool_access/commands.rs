//! Finds the files that shell commands read and write.
//!
//! It knows the programs with which agents read and change files. Any other program (a build, a test run) counts as reading nothing,
//! because running it again may give another result.

use std::borrow::Cow;

use super::options::{Options, ParsedArguments, READERS};
use super::shell::{self, SimpleCommand, Word};
use super::{Access, is_path, patch};

/// Maximum nesting depth of scripts (`bash -lc "bash -c …"`).
pub const MAX_SCRIPT_DEPTH: usize = 4;

/// Returns what a script reads and writes.
pub fn script_access(script: &str) -> Access<'_> {
    // After SWE-agent's own `edit 3:9` come new lines for the open file: neither commands nor a file name.
    if script.starts_with("edit ") { Access::default() } else { access_at_depth(script, 0) }
}

/// Returns what one program reads and writes. The first argument is the program.
pub fn argv_access<'a>(arguments: impl Iterator<Item = &'a str>) -> Access<'a> {
    let words = arguments.map(|text| Word { text: Cow::Borrowed(text), has_expansion: false }).collect();
    command_access(&SimpleCommand { words, ..SimpleCommand::default() }, 0)
}

fn access_at_depth(script: &str, depth: usize) -> Access<'_> {
    let mut access = Access::default();
    let mut patches = false;
    for pipeline in shell::commands(script).chunk_by(|_, next| next.piped) {
        let redirects_stdout = pipeline.iter().any(|command| command.redirects_stdout);
        for (at, command) in pipeline.iter().enumerate() {
            let mut own = command_access(command, depth);
            // Only the first command of a pipeline prints content of files; later commands filter it.
            if at > 0 || redirects_stdout {
                own.reads.clear();
            }
            access.extend(own);
            patches |= matches!(program(&command.words), ("patch", _)) || is_git_apply(&command.words);
        }
    }
    if patches {
        access.writes.extend(patch::targets_of_diff(script));
    }
    access
}

fn is_git_apply(words: &[Word]) -> bool {
    matches!(program(words), ("git", [first, ..]) if first.text == "apply")
}

fn command_access<'a>(command: &SimpleCommand<'a>, depth: usize) -> Access<'a> {
    let (name, arguments) = program(&command.words);
    let mut access = Access::default();
    if let Some(script) = nested_script(name, arguments).filter(|_| depth < MAX_SCRIPT_DEPTH) {
        match &script.text {
            Cow::Borrowed(script) => access = access_at_depth(script, depth + 1),
            Cow::Owned(script) => access = access_at_depth(script, depth + 1).into_owned(),
        }
    } else if let Some(reader) = READERS.iter().find(|reader| reader.names.contains(&name)) {
        access.reads = paths(reader.options.split(arguments).operands);
        access.reads.extend(paths(&command.input));
    } else {
        add_program_access(name, arguments, &mut access);
    }
    if name != "[[" {
        access.writes.extend(paths(&command.outputs));
    }
    access
}

/// Returns the words that can be paths. Skips words with expansions and pathspecs of git (`:(exclude)…`).
fn paths<'w, 'a: 'w>(words: impl IntoIterator<Item = &'w Word<'a>>) -> Vec<Cow<'a, str>> {
    words
        .into_iter()
        .filter(|word| !word.has_expansion && is_path(&word.text) && !word.text.starts_with(":("))
        .map(|word| word.text.clone())
        .collect()
}

/// Returns the program of a command, without its folder, and its arguments. Skips assignments, keywords and wrappers (`sudo`,
/// `timeout`).
pub fn program<'w, 'a>(words: &'w [Word<'a>]) -> (&'w str, &'w [Word<'a>]) {
    let mut rest = words;
    while let [first, after @ ..] = rest {
        let name = first.text.rsplit('/').next().unwrap_or_default();
        let assigns = first.text.split_once('=').is_some_and(|(name, _)| is_variable_name(name));
        let options = |words: &[Word]| words.iter().take_while(|word| word.text.starts_with('-')).count();
        rest = match name {
            _ if assigns => after,
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{" | "}" | "time" | "command" | "exec"
            | "nohup" => after,
            "sudo" | "env" | "stdbuf" | "nice" => &after[options(after)..],
            // A duration comes before the program.
            "timeout" => after.get(options(after) + 1..).unwrap_or_default(),
            _ => return (name, after),
        };
    }
    ("", rest)
}

fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the script of `bash -c SCRIPT` and similar commands.
pub fn nested_script<'w, 'a>(name: &str, arguments: &'w [Word<'a>]) -> Option<&'w Word<'a>> {
    if !matches!(name, "bash" | "sh" | "zsh" | "dash" | "ksh") {
        return None;
    }
    let is_option = |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c');
    arguments.get(arguments.iter().position(is_option)? + 1)
}

/// Adds what a program reads and writes, for programs with their own syntax and programs that change files.
fn add_program_access<'a>(name: &str, arguments: &[Word<'a>], access: &mut Access<'a>) {
    let operands = || Options::default().split(arguments).operands;
    match name {
        "sed" => {
            let mut options = Options { valued: "ef", attached: "i", leading: 0, ..Options::default() };
            options.long = &["expression", "file"];
            let ParsedArguments { letters, mut operands } = options.split(arguments);
            // On BSD, an extension follows `-i`; it is mostly an empty word.
            operands.retain(|word| !word.text.is_empty());
            let script = usize::from(!letters.contains(['e', 'f']));
            operands.drain(..script.min(operands.len()));
            let in_place = letters.contains('i') || arguments.iter().any(|word| word.text.starts_with("--in-place"));
            let to = if in_place { &mut access.writes } else { &mut access.reads };
            to.extend(paths(operands));
        }
        "perl" => {
            let options = Options { valued: "eE", attached: "iMIF", ..Options::default() };
            let ParsedArguments { letters, operands } = options.split(arguments);
            if letters.contains('i') {
                access.writes.extend(paths(operands));
            } else if letters.contains(['n', 'p']) {
                access.reads.extend(paths(operands));
            }
        }
        "find" | "gfind" => {
            let folders = arguments.iter().skip_while(|word| matches!(&*word.text, "-L" | "-H" | "-P" | "-E"));
            access.reads.extend(paths(folders.take_while(|word| !word.text.starts_with(['-', '(', '!']))));
        }
        "curl" | "wget" => add_download_access(name, arguments, access),
        "git" => add_git_access(arguments, access),
        "open" => access.reads.extend(paths(operands().into_iter().take(1))),
        "str_replace_editor" | "edit_anthropic" => {
            let operands = operands();
            let to =
                if operands.first().is_some_and(|verb| verb.text == "view") { &mut access.reads } else { &mut access.writes };
            to.extend(paths(operands.into_iter().skip(1).take(1)));
        }
        "rm" | "touch" | "tee" | "unlink" | "create" | "truncate" => {
            let options =
                Options { valued: if matches!(name, "touch" | "truncate") { "dtrs" } else { "" }, ..Options::default() };
            access.writes.extend(paths(options.split(arguments).operands));
        }
        "cp" | "mv" | "ln" | "install" => {
            let operands = Options { valued: "tmS", ..Options::default() }.split(arguments).operands;
            if let Some((to, from @ [_, ..])) = operands.split_last() {
                access.writes.extend(from.iter().filter(|_| name == "mv").flat_map(|word| paths(Some(*word))));
                access.writes.extend(paths(Some(*to)).into_iter().flat_map(|to| copy_targets(from, to)));
            }
        }
        _ if name.starts_with("python") => {
            let options = Options { valued: "m", ..Options::default() };
            if arguments.windows(2).any(|pair| pair[0].text == "-m" && pair[1].text == "json.tool") {
                access.reads.extend(paths(options.split(arguments).operands.into_iter().take(1)));
            }
        }
        _ => {}
    }
}

/// Returns the paths of files after a copy into a folder. A target that does not end in `/` or `.` counts as a file.
fn copy_targets<'a>(from: &[&Word<'a>], to: Cow<'a, str>) -> Vec<Cow<'a, str>> {
    if !to.ends_with('/') && !to.ends_with('.') {
        return vec![to];
    }
    let name =
        |path: Cow<str>| path.trim_end_matches('/').rsplit('/').next().map(|name| format!("{}/{name}", to.trim_end_matches('/')));
    paths(from.iter().copied()).into_iter().filter_map(name).map(Cow::Owned).collect()
}

/// Adds what a download reads and writes. A request that sends data does not count as a read.
fn add_download_access<'a>(name: &str, arguments: &[Word<'a>], access: &mut Access<'a>) {
    let sends = |word: &Word| {
        ["-X", "-d", "-F", "-T", "--data", "--request", "--form", "--upload", "--json", "--post"]
            .iter()
            .any(|option| word.text.starts_with(option))
    };
    let saves = |word: &Word| matches!((name, &*word.text), ("curl", "-o" | "--output") | ("wget", "-O" | "--output-document"));
    let saved = arguments.iter().skip_while(|word| !saves(word)).nth(1);
    access.writes.extend(paths(saved));
    let to_disk = match name {
        "wget" => saved.is_none_or(|to| to.text != "-") && !arguments.iter().any(|word| matches!(&*word.text, "-qO-" | "-O-")),
        _ => saved.is_some() || arguments.iter().any(|word| matches!(&*word.text, "-O" | "--remote-name")),
    };
    if !to_disk && !arguments.iter().any(sends) {
        access.reads.extend(paths(arguments.iter().filter(|word| word.text.starts_with("http"))));
    }
}

/// Adds what a git command reads and writes: `git show REV:path`, `git diff -- path`, `git checkout -- path` and others.
fn add_git_access<'a>(arguments: &[Word<'a>], access: &mut Access<'a>) {
    let mut rest = arguments;
    let (verb, arguments) = loop {
        match rest {
            [option, after @ ..] if matches!(&*option.text, "-C" | "-c") => rest = after.get(1..).unwrap_or_default(),
            [option, after @ ..] if option.text.starts_with('-') => rest = after,
            [verb, after @ ..] => break (&*verb.text, after),
            [] => return,
        }
    };
    let after_dashes = || arguments.iter().skip_while(|word| word.text != "--").skip(1);
    let operands = || Options { valued: "Ls", ..Options::default() }.split(arguments).operands;
    match verb {
        "show" | "cat-file" => {
            for word in arguments.iter().filter(|word| !word.has_expansion && !word.text.starts_with('-')) {
                // Takes the part after the colon; borrows it if the word is borrowed.
                let path = match &word.text {
                    Cow::Borrowed(text) => text.split_once(':').map(|(_, path)| Cow::Borrowed(path)),
                    Cow::Owned(text) => text.split_once(':').map(|(_, path)| Cow::Owned(path.to_owned())),
                };
                access.reads.extend(path.filter(|path| is_path(path)));
            }
            access.reads.extend(paths(after_dashes()));
        }
        "diff" | "log" | "grep" | "ls-files" => access.reads.extend(paths(after_dashes())),
        "blame" => access.reads.extend(paths(operands().last().copied())),
        "checkout" => access.writes.extend(paths(after_dashes())),
        "restore" | "rm" | "mv" => access.writes.extend(paths(operands())),
        _ => {}
    }
}
