//! The description of a study: what `--resume` compares, and what a suite takes.

use std::collections::BTreeMap;
use std::fs;

use recompact::analysis::gate::{Gate, SuiteTable};
use recompact::analysis::spec::{Files, StudySpec, difference};
use recompact::util::toml_table::field_names;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::program::{fixtures, run, run_in};

/// Another value of every field than the default.
fn other_values() -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("policies", json!(["lcc-s06"])),
        ("set", json!(["micro.keep_recent=5"])),
        ("baseline", json!("drop-all")),
        ("summarizer", json!(["stub:100"])),
        ("replicates", json!(2)),
        ("references", json!(true)),
        ("param", json!({"temperature": 0})),
        ("window", json!(1_000)),
        ("overhead", json!(7)),
        ("tokenizer", json!("chars/4")),
        ("thinking", json!("all")),
        ("cache", json!("ideal")),
        ("max_residual", json!(0.5)),
        ("prices", json!("gpt-5")),
        ("seed", json!(2)),
        ("misses", json!(1)),
        ("breaks", json!(1)),
        ("findings", json!(true)),
        ("show_secrets", json!(true)),
        ("exact", json!(cfg!(feature = "exact"))),
        ("bounds", json!(false)),
        ("format", json!("codex")),
        ("branches", json!("all")),
        ("strict", json!(true)),
        ("max_file", json!("2GB")),
        ("since", json!("2026-01-01")),
        ("until", json!("2026-01-01")),
        ("project", json!("depot")),
        ("model", json!("opus")),
        ("newest", json!(5)),
        ("sweep", json!({"sample": 4})),
    ])
}

fn spec(fields: &[(&str, &Value)]) -> StudySpec {
    let mut written = json!({"policies": ["lcc-s08"]});
    fields.iter().for_each(|(field, value)| written[field] = (*value).clone());
    serde_json::from_value(written).expect("a spec")
}

#[test]
fn studies_that_differ_in_any_field_are_different() {
    let others = other_values();
    assert_eq!(field_names::<StudySpec>().len(), others.len(), "every field has another value here");
    let record = |spec: &StudySpec| spec.load(&Files::default()).expect("a study").record;
    let usual = record(&spec(&[]));
    assert_eq!(difference(&usual, &record(&spec(&[]))), None);
    for field in field_names::<StudySpec>() {
        if field == "exact" && !cfg!(feature = "exact") {
            continue;
        }
        let changed = record(&spec(&[(&field, &others[field.as_str()])]));
        let why = difference(&usual, &changed).unwrap_or_else(|| panic!("{field} may change"));
        let is_named = [" ", "."].iter().any(|end| why.starts_with(&format!("{field}{end}")));
        assert!(is_named && usual.hash != changed.hash, "{field}: {why}");
        // What the results hold is enough to describe the study again.
        let again: StudySpec = serde_json::from_value(Value::Object(changed.spec.clone())).expect("a spec");
        assert_eq!(difference(&record(&again), &changed), None, "{field}");
    }
}

#[test]
fn studies_of_edited_files_are_different() {
    let folder = TempDir::new().expect("a temporary folder");
    let files = Files { base: folder.path().to_owned() };
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("our own folder");
    let policy = "name = \"p\"\n";
    let prices = "[[model]]\nnames = [\"m\"]\nprovider = \"anthropic\"\ninput = 1.0\ncache_read = 0.1\noutput = 2.0\n";
    write("p.toml", policy);
    write("prices.toml", prices);
    write("b.toml", "name = \"b\"\n");
    let mut spec = StudySpec::new("p.toml").baseline("b.toml");
    spec.prices = Some("prices.toml".to_owned());
    let record = || spec.load(&files).expect("a study").record;
    let before = record();
    for (name, text) in [("p.toml", policy), ("b.toml", "name = \"b\"\n"), ("prices.toml", prices)] {
        write(name, &format!("{text}# edited\n"));
        let edited = difference(&before, &record());
        assert_eq!(edited.as_deref(), Some("other texts of its policies or prices"), "{name}");
        write(name, text);
    }
    assert_eq!(difference(&before, &record()), None);
}

#[test]
fn records_hold_no_address_of_a_model() {
    let mut spec = StudySpec::new("lcc-s08");
    spec.summarizer = vec!["command:cat".to_owned(), "openai:m@https://user:secret@host/v1".to_owned()];
    struct NoModels;
    impl recompact::analysis::spec::Resources for NoModels {
        fn read(&self, _: &str) -> std::io::Result<String> {
            Err(std::io::ErrorKind::NotFound.into())
        }
        fn model(
            &self,
            _: &recompact::analysis::spec::ModelRequest,
        ) -> Result<Box<dyn recompact::engine::summarizer::Summarizer>, recompact::analysis::spec::ResourceError> {
            Ok(recompact::engine::summarizer::by_name("extract").expect("a summarizer"))
        }
    }
    let record = spec.load(&NoModels).expect("a study").record;
    assert_eq!(record.spec["summarizer"], json!(["command:cat", "openai:m"]));
}

/// Fields that no option sets.
const WITHOUT_OPTION: [&str; 2] = ["references", "bounds"];

#[test]
fn commands_of_studies_have_an_option_for_each_field() {
    let command = |fields: &[(&str, &Value)]| spec(fields).load(&Files::default()).expect("a study").record.command;
    let usual = command(&[]);
    for (field, value) in other_values().iter().filter(|(field, _)| **field != "exact" || cfg!(feature = "exact")) {
        let command = command(&[(field, value)]);
        assert_eq!(command.is_none(), WITHOUT_OPTION.contains(field), "{field}");
        let Some(command) = command else { continue };
        assert_ne!(Some(&command), usual.as_ref(), "{field}");
        let arguments = command.strip_prefix("recompact ").expect("the program").replacen("PATH", "nowhere", 1);
        let ran = run(arguments.split(' '));
        assert!(ran.stderr.contains("nowhere: no such file or folder"), "{command}: {}", ran.stderr);
    }
}

/// Options of `replay` that are no part of a study, or that a suite has under another name.
const NOT_IN_SUITES: [(&str, &str); 36] = [
    ("allow-programs", "an option of `check`"),
    ("env", "an option of `check`"),
    ("twice", "an option of `check`"),
    ("limit", "newest"),
    ("policy", "policies"),
    ("quiet", "an option of `check`"),
    ("jobs", "an option of `check`"),
    ("columns", "how results are shown"),
    ("sort", "how results are shown"),
    ("show", "how results are shown"),
    ("full", "how results are shown"),
    ("width", "how results are shown"),
    ("output", "an option of `check`"),
    ("out", "an option of `check`"),
    ("fail-on", "a limit of `finding.*`"),
    ("contexts", "another output of replay"),
    ("materialize", "another output of replay"),
    ("dry-run", "a gate asks no model"),
    ("resume", "a gate is not resumed"),
    ("base-url", "a gate asks no model"),
    ("key-env", "a gate asks no model"),
    ("timeout", "a gate asks no model"),
    ("retries", "a gate asks no model"),
    ("concurrency", "a gate asks no model"),
    ("cassette-mode", "a gate asks no model"),
    ("max-calls", "a gate asks no model"),
    ("max-cost", "a gate asks no model"),
    ("part", "a gate is a study on one machine"),
    ("no-cache", "a gate keeps nothing"),
    ("paths-from", "a suite names its transcripts"),
    ("misses", "misses"),
    ("breaks", "breaks"),
    ("help", "of every command"),
    ("help-all", "of every command"),
    ("verbose", "of every command"),
    ("version", "of every command"),
];

#[test]
fn suites_take_every_option_of_replay() {
    let help = run(["replay", "--help-all"]).printed();
    let options = help.lines().filter_map(|line| {
        let (_, option) = line.trim_start().split_once("--").filter(|(before, _)| before.is_empty() || before.ends_with(", "))?;
        option.split([' ', '=']).next()
    });
    let options: Vec<&str> = options.collect();
    assert!(options.len() > 35, "{options:?}");
    let fields = field_names::<SuiteTable>();
    for option in options {
        let is_field = fields.contains(&option.replace('-', "_"));
        assert!(is_field || NOT_IN_SUITES.iter().any(|(other, _)| *other == option), "a suite has no `{option}`");
    }
}

#[test]
fn wrong_types_in_a_suite_are_reported_at_their_line() {
    for field in field_names::<StudySpec>() {
        let values: &[&str] = match field.as_str() {
            "policies" | "set" => &["3"],
            _ => &["[[3]]"],
        };
        for value in values {
            let text = format!(
                "[[suite]]\nname = \"s\"\ntranscripts = [\"a\"]\nlimits = [\"calls > 0\"]\n\n{field} = {value}\nseed = 7\n"
            );
            let text = if field == "seed" { text.replace("seed = 7\n", "") } else { text };
            let error = Gate::parse(&text, "s.toml").expect_err(&field).to_string();
            assert!(error.starts_with(&format!("s.toml:6: suite `s`: `{field}`: ")), "{error}");
        }
    }
}

#[test]
fn wrong_values_in_a_suite_are_reported_at_their_line() {
    let folder = TempDir::new().expect("a temporary folder");
    let transcript = fs::read(fixtures().join("claude-code/kept-tail.jsonl")).expect("a fixture");
    fs::write(folder.path().join("a.jsonl"), transcript).expect("our own folder");
    fs::write(folder.path().join("p.toml"), "name = \"p\"\nlayers = 1\n").expect("our own folder");
    let suite = |line: &str| {
        let policies = if line.starts_with("policies") { "" } else { "policies = [\"lcc-s08\"]\n" };
        let text = format!("[[suite]]\nname = \"s\"\ntranscripts = [\"a.jsonl\"]\nlimits = [\"calls > 0\"]\n{policies}{line}\n");
        fs::write(folder.path().join("recompact.toml"), text).expect("our own folder");
        run_in(folder.path(), ["check", "--quiet"], b"")
    };
    for (line, at, why) in [
        ("policies = [\n \"lcc-s08\",\n \"lcc-s80\"]", 7, "lcc-s80: there is no preset and no file of this name"),
        ("policies = [\"lcc-s08\",\n \"p.toml\"]", 6, "p.toml:2: a policy has no setting `layers`"),
        ("set = [\"micro.keep_recent=5\",\n \"micr.keep_recent=5\"]", 7, "no policy here has a layer `micr`"),
        ("set = [\"micro.keep_recent=5\",\n \"micro.keep=5\"]", 7, "`clear` has no setting `keep`"),
        ("baseline = \"none.toml\"", 6, "none.toml: this policy file cannot be read"),
        ("prices = \"gold\"", 6, "neither a model with a known price nor a readable file"),
        ("summarizer = [\"extract\",\n \"stub:few\"]", 7, "a number of tokens, not `few`"),
        ("replicates = 0", 6, "`replicates` is a number from 1 to 100"),
        ("max_residual = -1", 6, "write a share"),
        ("format = \"claude\"", 6, "unknown format"),
        ("max_file = 0", 6, "write a size"),
    ] {
        let ran = suite(line);
        let place = format!("recompact.toml:{at}: suite `s`: ");
        assert!(ran.code == 2 && ran.stderr.contains(&place) && ran.stderr.contains(why), "{line}: {}", ran.stderr);
    }
    for line in
        ["thinking = \"all\"", "cache = \"ideal\"", "branches = \"all\"", "strict = true", "max_file = \"1MB\"", "seed = 3"]
    {
        assert_eq!(suite(line).code, 0, "{line}: {}", suite(line).stderr);
    }
}
