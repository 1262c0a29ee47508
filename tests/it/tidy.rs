//! Checks the project as a whole: every member of a registry is complete, and the sources keep the rules of the project.

use std::fs;
use std::path::{Path, PathBuf};

use recompact::analysis::export::TARGETS;
use recompact::engine::layer::{LAYERS, Timing};
use recompact::engine::policy::PRESETS;
use recompact::engine::summarizer::SUMMARIZERS;
use recompact::findings::FINDINGS;
use recompact::guide::adapters::ADAPTERS;
use recompact::llm::client::Purpose;
use recompact::llm::prompt::PROMPTS;
use recompact::metrics::metric::{self, GROUPS};
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::PROVIDERS;
use recompact::report::REPORTS;
use recompact::tokens::meter::METERS;
use recompact::transcript::format::store::is_part;
use recompact::transcript::format::{self, FORMATS};

use crate::support::program::{fixtures, run};
use crate::support::transcripts;

/// Lines of a source file, its tests not counted.
const LONGEST: usize = 350;

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let paths = transcripts::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), ".rs");
    paths.into_iter().map(|path| (fs::read_to_string(&path).map(|text| (path, text))).expect("UTF-8")).collect()
}

#[test]
fn every_format_recognises_its_own_fixtures() {
    for format in FORMATS {
        let folder = fixtures().join(format.name);
        let files = transcripts::files(&folder, "");
        assert!(!files.is_empty(), "no fixtures in {}", folder.display());
        // The other files of a session that is a folder are read with its main file.
        for file in files.iter().filter(|file| !is_part(file)) {
            let bytes = fs::read(file).expect("a fixture");
            for beginning in [bytes.as_slice(), bytes.get(..4_096).unwrap_or(&bytes)] {
                let found = format::sniff(beginning).map(|format| format.name);
                assert_eq!(found, Some(format.name), "{} bytes of {}", beginning.len(), file.display());
            }
        }
    }
}

/// A text in one line: the catalog wraps its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lists of the guide have names where the catalog has the text.
#[test]
fn a_column_has_a_page_with_its_unit_direction_and_total() {
    let page = words(&run(["catalog", "measures", "kept.bits_lost"]).printed());
    let begin = "kept.bits_lost (ratio, estimated, lower is better, only in JSON and CSV; total: mean by calls): bits lost: ";
    assert!(page.starts_with(begin), "{page}");
    let page = run(["catalog", "measures", "tokens.saved"]).printed();
    assert!(
        page.starts_with("tokens.saved (share, estimated, higher is better; total: 1 − tokens.sent ÷ tokens.baseline): "),
        "{page}"
    );
    let unknown = run(["catalog", "measures", "kept.hits"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (2, ""), "{}", unknown.stderr);
}

#[test]
fn catalog_lists_everything_with_a_page() {
    let list = Prices::built_in();
    let names = |purpose: Purpose| purpose.protocols().map(|protocol| protocol.name);
    let kinds: [(&str, Vec<&str>); 15] = [
        ("formats", FORMATS.iter().map(|format| format.name).collect()),
        ("policies", PRESETS.iter().map(|preset| preset.name).collect()),
        ("layers", LAYERS.iter().map(|kind| kind.name).collect()),
        ("meters", METERS.iter().map(|meter| meter.name).collect()),
        ("summarizers", SUMMARIZERS.iter().map(|kind| kind.name).chain(names(Purpose::Write)).collect()),
        ("scorers", names(Purpose::Score).collect()),
        ("prompts", PROMPTS.iter().map(|prompt| prompt.name).collect()),
        ("measures", GROUPS.iter().map(|measure| measure.name).collect()),
        ("findings", FINDINGS.iter().map(|kind| kind.id).collect()),
        ("schemas", vec!["policy", "suite", "results"]),
        ("reports", REPORTS.iter().map(|report| report.name).collect()),
        ("prices", list.names()),
        ("providers", PROVIDERS.iter().map(|provider| provider.name).collect()),
        ("harnesses", TARGETS.iter().map(|target| target.name).collect()),
        ("adapters", ADAPTERS.iter().map(|adapter| adapter.name).collect()),
    ];
    let all = run(["catalog", "all"]).printed();
    for (kind, names) in kinds {
        let list = run(["catalog", kind]).printed();
        assert!(all.contains(&list), "{kind}");
        for name in names {
            let line = list.lines().find(|line| line.trim_start().split([' ', ':']).next() == Some(name));
            assert!(line.is_some_and(|line| line.trim().len() > name.len() + 10), "{kind}: {name} has a name and a line");
        }
    }
    for kind in LAYERS {
        let page = run(["catalog", "layers", kind.name]).printed();
        assert!(page.starts_with(&format!("`{}`: ", kind.name)), "{page}");
        assert!(page.lines().count() > 8 && page.contains("```toml"), "{}: a page has an example", kind.name);
    }
    for group in GROUPS {
        let page = words(&run(["catalog", "measures", group.name]).printed());
        for column in group.metrics.iter().map(|metric| &metric.column) {
            let line = format!("): {}", column.about);
            assert!(page.contains(&*column.id) && page.contains(&words(&line)), "{}: {page}", column.id);
        }
    }
    for meter in METERS {
        let page = words(&run(["catalog", "meters", meter.name]).printed());
        assert!(page.contains(&words(meter.about)) && page.contains(&words(meter.source)), "{page}");
    }
    for kind in FINDINGS {
        let page = run(["catalog", "findings", kind.id]).printed();
        for part in ["What it means: ", "Why it hurts: ", "What to change: ", "Evidence: ", "Precision: "] {
            assert!(page.replace('\n', " ").contains(part), "{}: {part}", kind.id);
        }
    }
    for preset in PRESETS {
        assert_eq!(run(["catalog", "policies", preset.name]).printed().trim_end(), preset.toml.trim_end());
    }
}

/// Every example of a layer's page is a layer.
#[test]
fn examples_in_layer_pages_are_valid_policies() {
    for kind in LAYERS {
        let page = run(["catalog", "layers", kind.name]).printed();
        let examples: Vec<&str> = page.split("```").skip(1).step_by(2).filter_map(|part| part.strip_prefix("toml")).collect();
        assert!(!examples.is_empty(), "{}", kind.name);
        for example in examples {
            // A page shows one layer; those it names in `when` are elsewhere.
            let is_alone = (kind.default)().traits().timing == Timing::Alone;
            let others = if is_alone { "" } else { "\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\n" };
            let policy = format!("name = \"example\"\nmeter = \"chars/4\"\n{example}");
            let with_others = format!("{policy}{}", if example.contains("\nid = \"auto\"") { "" } else { others });
            recompact::engine::policy::Policy::parse(&with_others, kind.name, &[])
                .unwrap_or_else(|error| panic!("{error}\n{example}"));
        }
    }
}

/// Examples in Rust are in the crate that users see; the documentation of the others is not compiled as tests.
#[test]
fn inner_crates_have_no_examples_in_rust() {
    let fence = regex::Regex::new(r"(?m)^\s*//[/!] ```(\S*)$").expect("a pattern");
    for (path, text) in sources("src/core") {
        let opens = fence.captures_iter(&text).step_by(2);
        for language in opens.map(|fence| fence.get(1).map_or("", |language| language.as_str())) {
            assert!(["text", "toml", "json"].contains(&language), "{}: an example in `{language}`", path.display());
        }
    }
}

#[test]
fn source_files_are_short_and_have_no_todo() {
    for (path, text) in sources("src") {
        let is_test = path.file_name().is_some_and(|name| name == "tests.rs");
        let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
        assert!(is_test || lines <= LONGEST, "{}: {lines} lines", path.display());
        for unfinished in ["todo!", "unimplemented!", "FIXME", "TODO", "dbg!"] {
            assert!(!text.contains(unfinished), "{}: {unfinished}", path.display());
        }
    }
}

/// An error of a public function is a type, which converts into `recompact::Error`. The front ends are no part of the library.
#[test]
fn public_functions_return_no_text_as_an_error() {
    let signature = regex::Regex::new(r"\bpub fn [^{};]*-> [^{};]*Result<[^{};]*, String>+\s*\{").expect("a pattern");
    let wrong = "pub fn a(\n    &self,\n) -> Option<Result<Vec<u8>, String>> {";
    assert!(signature.is_match(wrong) && signature.is_match("    pub fn a(b: &str) -> Result<Self, String> {"));
    for (path, text) in sources("src").into_iter().filter(|(path, _)| !path.iter().any(|part| part == "cli" || part == "python"))
    {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let found = signature.find(code).map(|found| found.as_str());
        assert_eq!(found, None, "{}", path.display());
    }
}

/// Words that made comments and messages of this project hard to read; there is always a plainer word.
const RIDDLE_WORDS: &str = r"(?i)\b(told|stands|so many|in sight|nobody|whoever|held against)\b";

#[test]
fn sources_use_plain_words() {
    let riddles = regex::Regex::new(RIDDLE_WORDS).expect("a pattern");
    for (path, text) in ["src", "tests", "benches"].into_iter().flat_map(sources) {
        // This placeholder is data, which policies write into requests, and so are the texts of unit tests.
        let is_data = |line: &&str| line.contains("[The same result stands elsewhere") || line.contains("_WORDS: &str = ");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !is_data(line) && !path.ends_with("tests.rs"));
        let found: Vec<&str> = lines.filter(|line| riddles.is_match(line)).collect();
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

/// Code names a column by its constant, so that a renamed column does not compile. Ids that are also plain words cannot be
/// distinguished from them.
#[test]
fn sources_name_columns_by_their_constants() {
    let columns = metric::columns();
    let ids = columns.iter().map(|column| regex::escape(&column.id)).filter(|id| id.contains(['.', '_']));
    let quoted = regex::Regex::new(&format!("\"({})\"", ids.collect::<Vec<_>>().join("|"))).expect("a pattern");
    for (path, text) in sources("src") {
        let is_definition = path.components().any(|part| part.as_os_str() == "metric");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines();
        let mut code = code.filter(|line| !line.trim_start().starts_with("//"));
        let found = code.find(|line| !is_definition && !path.ends_with("tests.rs") && quoted.is_match(line));
        assert_eq!(found, None, "{}: use the constant of the column", path.display());
    }
}

/// Code asks a layer for its traits and never for its kind, so that a new kind of layer is one file.
#[test]
fn sources_ask_layers_for_their_traits() {
    let kinds = regex::Regex::new(r"LayerSpec::[A-Z]").expect("a pattern");
    for (path, text) in sources("src") {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let found = code.lines().find(|line| kinds.is_match(line) && !path.ends_with("engine/layer.rs"));
        assert_eq!(found, None, "{}: add a field to `LayerTraits`", path.display());
    }
}
