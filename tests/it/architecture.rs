//! Imports run one way: between wings as the table below allows, and in no circle between the modules of a wing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::transcripts::files;

/// The wings of `src`, lowest first, and the wings that each may import.
const WINGS: &[(&str, &[&str])] = &[
    ("text", &[]),
    ("util", &[]),
    ("transcript", &["text", "util"]),
    ("llm", &["util"]),
    ("tokens", &["text", "transcript"]),
    ("facts", &["text", "util", "transcript"]),
    ("engine", &["text", "util", "transcript", "llm", "tokens", "facts"]),
    ("programs", &["util", "transcript", "llm", "engine"]),
    ("metrics", &["text", "util", "transcript", "llm", "tokens", "facts", "engine"]),
    ("findings", &["util", "transcript", "tokens", "facts", "engine", "metrics"]),
    ("results", &["util", "transcript", "llm", "tokens", "engine", "metrics", "findings"]),
    ("analysis", &["util", "transcript", "llm", "tokens", "facts", "engine", "metrics", "findings", "results"]),
    ("report", &["text", "util", "tokens", "metrics", "findings", "results", "analysis"]),
    ("guide", &[]),
    // The command line imports the library as any other crate would; the Python module holds it.
    ("cli", &[]),
    ("python", &["text", "util", "transcript", "llm", "engine", "programs", "results", "analysis", "report", "cli"]),
];

/// An import: the importing file, and the path it names from the root of the crate, such as `engine::layer::Layer`.
struct Import {
    file: PathBuf,
    from: Vec<String>,
    to: Vec<String>,
}

fn source_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The folder of the lower crate, whose wings the upper one offers under its own name.
const CORE: &str = "core";

/// The module that a file is: `core/engine/layer/clear.rs` is `engine::layer::clear`, `core/engine/mod.rs` is `engine`.
fn module_of(file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(source_folder()).expect("a file of src").with_extension("");
    let relative = relative.strip_prefix(CORE).unwrap_or(&relative);
    let parts = relative.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| part != "mod").collect()
}

/// Writes `a::{b, c::{d, e}}` out as `a::b`, `a::c::d`, `a::c::e`.
fn expanded(path: &str) -> Vec<String> {
    let Some(open) = path.find('{') else { return vec![path.trim().to_owned()] };
    let (head, group) = (&path[..open], &path[open + 1..path.rfind('}').expect("a closed group")]);
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members.push(&group[start..]);
    let members = members.into_iter().map(str::trim).filter(|member| !member.is_empty());
    members.flat_map(|member| expanded(&format!("{}{member}", head.trim()))).collect()
}

/// The paths of a source text that begin with `crate::` or `super::`: of its `use` declarations, and those written in its code.
fn paths_in(text: &str) -> Vec<String> {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut paths = Vec::new();
    for (at, _) in code.match_indices("crate::").chain(code.match_indices("super::")) {
        if code[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':') {
            continue;
        }
        let is_use = code[..at].trim_end().ends_with("use");
        let end = |character: char| !(character.is_alphanumeric() || "_:".contains(character));
        let rest = &code[at..];
        let length = if is_use { rest.find(';') } else { rest.find(end) };
        paths.extend(expanded(&rest[..length.unwrap_or(rest.len())]));
    }
    paths
}

/// Where the crate of a module begins: `text` is a crate by itself, and the others are named as those of one.
fn crate_of(module: &[String]) -> Vec<String> {
    module.iter().take(1).filter(|wing| *wing == "text").cloned().collect()
}

/// Every import of the library. The command line imports the library as any other crate would.
fn imports() -> Vec<Import> {
    let mut imports = Vec::new();
    for file in files(&source_folder(), ".rs") {
        let from = module_of(&file);
        if from.len() < 2 && from.first().is_none_or(|name| name == "lib" || name == "main") || from[0] == "cli" {
            continue;
        }
        let text = fs::read_to_string(&file).expect("UTF-8");
        if file.file_stem().is_some_and(|name| name == "tests") {
            continue;
        }
        // Unit tests come last in a file, and may take what they need.
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for path in paths_in(code) {
            let parts: Vec<&str> = path.split("::").map(str::trim).collect();
            let up = parts.iter().take_while(|part| **part == "super").count();
            let root = if parts[0] == "crate" { crate_of(&from) } else { from[..from.len().saturating_sub(up)].to_vec() };
            let below = parts.iter().skip(up.max(1)).map(|part| part.to_string());
            imports.push(Import { file: file.clone(), from: from.clone(), to: root.into_iter().chain(below).collect() });
        }
    }
    imports
}

#[test]
fn wings_import_only_what_the_table_allows() {
    let imports = imports();
    assert!(imports.len() > 500, "{} imports: the reader of sources is broken", imports.len());
    for Import { file, from, to } in imports {
        let (from, to) = (&from[0], to.first().expect("a path"));
        if from == to {
            continue;
        }
        let (_, allowed) = WINGS.iter().find(|(wing, _)| wing == from).unwrap_or_else(|| panic!("{from} is no wing"));
        assert!(allowed.contains(&to.as_str()), "{}: `{from}` must not import `{to}`", file.display());
    }
}

#[test]
fn table_of_wings_has_no_upward_arrow_and_no_idle_row() {
    let imports = imports();
    for (at, (wing, allowed)) in WINGS.iter().enumerate() {
        let is_wing_in = |folder: PathBuf| ["mod.rs", "lib.rs"].iter().any(|head| folder.join(wing).join(head).is_file());
        assert!(is_wing_in(source_folder()) || is_wing_in(source_folder().join(CORE)), "{wing}");
        for other in *allowed {
            assert!(WINGS[..at].iter().any(|(lower, _)| lower == other), "{wing} → {other} is no arrow down");
            let is_used = imports.iter().any(|import| import.from[0] == *wing && import.to[0] == *other);
            assert!(is_used, "nothing in `{wing}` imports `{other}`: take the arrow out of the table");
        }
    }
}

/// The modules of a wing are its direct children: `engine::layer`, with all that is below it.
#[test]
fn modules_import_each_other_in_no_circle() {
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let module = |path: &[String]| path[..path.len().min(2)].join("::");
    for Import { from, to, .. } in imports() {
        let is_module = to.len() >= 2 && to[1].starts_with(char::is_lowercase);
        if from.len() >= 2 && is_module && module(&from) != module(&to) {
            arrows.entry(module(&from)).or_default().insert(module(&to));
        }
    }
    // Modules that import no other module that is left can be taken away; what remains then is a circle.
    loop {
        let left: BTreeSet<String> = arrows.keys().cloned().collect();
        arrows.retain(|_, to| to.iter().any(|to| left.contains(to)));
        if arrows.len() == left.len() {
            break;
        }
    }
    assert!(arrows.is_empty(), "these modules import each other in a circle, or a circle: {arrows:#?}");
}

#[test]
fn folders_of_a_crate_have_at_most_fifteen_entries() {
    for folder in [source_folder(), source_folder().join(CORE)] {
        let entries: Vec<_> = fs::read_dir(folder).expect("a crate").map(|entry| entry.expect("an entry").file_name()).collect();
        assert!(entries.len() <= 15, "{entries:?}");
    }
}
