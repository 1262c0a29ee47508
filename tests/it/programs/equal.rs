//! The same policy as layers and as a program: the same requests, the same values in every column, the same findings.

use std::collections::BTreeMap;

use recompact::guide::page;
use recompact::programs::TEMPLATES;
use serde_json::Value;
use tempfile::TempDir;

use super::{is_installed, write};
use crate::support::program::{rows, run, run_in};
use crate::support::{effort, transcripts};

/// Each has the same long session in another format.
const FOLDERS: [&str; 4] = ["claude-code", "codex", "messages", "openai-chat"];
/// Short sessions, without what is no transcript.
const SHORT: [&str; 5] = [
    "claude-code/kept-tail.jsonl",
    "openai-chat/tasks.json",
    "awkward/orphans.jsonl",
    "awkward/surrogates.jsonl",
    "awkward/unknown-types.jsonl",
];

/// The short sessions and one of the folders, which take turns; all in a long run.
fn fixtures(turn: usize) -> Vec<&'static str> {
    effort::in_turn(&FOLDERS, turn).into_iter().chain(&SHORT).copied().collect()
}

/// A pair: layers, and a program for `python3`, whose shape may be chosen.
struct Pair {
    name: &'static str,
    layers: &'static str,
    program: &'static str,
    shape: &'static str,
}

/// The layer `clear` leaves results without a text as they are, such as images, and so do the programs.
const HEAD: &str = "import json, sys\ndef has_text(m):\n    c = m['content']\n    \
                    return any(p.get('text') for p in c) if isinstance(c, list) else c != ''\nfor line in sys.stdin:\n    r = json.loads(line)\n    if r['type'] == 'start':\n        \
                    held, answer = [], {'protocol': 1}\n    else:\n        answer = {'call': r['call']}\n";
const TAIL: &str = "    print(json.dumps(answer), flush=True)\n";

const PAIRS: [Pair; 6] = [
    Pair { name: "nothing", layers: "", program: "", shape: "anthropic" },
    // Every message is copied through Python at every call, and is recognised.
    Pair {
        name: "echo",
        layers: "",
        program: "        gone, changed = r['gone'], {m['id']: m for m in r['changed']}\n        \
                  held = [changed.get(m['id'], m) for m in held if m['id'] not in gone] + r['messages']\n        \
                  answer['messages'] = held\n",
        shape: "openai",
    },
    Pair {
        name: "clear",
        layers: "do = \"clear\"\nkeep_recent_results = 3\nmin_chars = 0\nplaceholder = \"[cleared]\"\n",
        program: "        held += [m for m in r['messages'] if m['role'] == 'tool']\n        \
                  old, held = held[:-3], held[-3:]\n        \
                  answer['replace'] = [{**m, 'content': '[cleared]'} for m in old if has_text(m)]\n",
        shape: "openai",
    },
    Pair {
        name: "clear for each request",
        layers: "do = \"clear\"\nscope = \"request\"\nkeep_recent_results = 3\nmin_chars = 0\nplaceholder = \"[cleared]\"\n",
        program: "        held += [m for m in r['messages'] if m['role'] == 'tool']\n        \
                  answer['replace'] = [{**m, 'content': '[cleared]'} for m in held[:-3] if has_text(m)]\n        \
                  answer['scope'] = 'request'\n",
        shape: "openai",
    },
    Pair {
        name: "drop",
        layers: "do = \"drop\"\nmax_messages = 9\nkeep_first = 1\ncut = \"anywhere\"\nrepair = \"none\"\n",
        program: "        held = [id for id in held if id not in r['gone']] + [m['id'] for m in r['messages']]\n        \
                  if len(held) > 9:\n            answer['drop'] = held[1:-8]\n            held = held[:1] + held[-8:]\n",
        shape: "anthropic",
    },
    Pair {
        name: "summarise",
        layers: "do = \"summarize\"\nwhen = { calls = 10 }\nkeep_recent_messages = 4\ncut = \"anywhere\"\nmax_tokens = 500\n\
                 prompt = { user = \"Sum up.\\n\\n{conversation}\" }\n",
        program: "        held = [id for id in held if id not in r['gone']] + [m['id'] for m in r['messages']]\n        \
                  if r['call'] > 1 and r['call'] % 10 == 1 and held[:-4]:\n            \
                  ask = {'of': held[:-4], 'prompt': 'Sum up.', 'max_tokens': 500}\n            \
                  print(json.dumps({'call': r['call'], 'ask': ask}), flush=True)\n            \
                  text = '[Compacted]\\n\\n' + json.loads(sys.stdin.readline())['text']\n            \
                  answer['replace'] = [{'replaces': held[:-4], 'role': 'user', 'content': text}]\n            \
                  held = held[:1] + held[-4:]\n",
        shape: "anthropic",
    },
];

/// Replays a policy file and a program, and compares everything that the results say about them.
fn check(name: &str, layers: &str, command: &str, settings: &[&str], paths: &[&str]) -> usize {
    let folder = TempDir::new().expect("a temporary folder");
    let layer = if layers.is_empty() { String::new() } else { format!("[[layer]]\nid = \"layer\"\n{layers}") };
    let file = write(folder.path(), "layers.toml", &format!("name = \"layers\"\n{layer}"));
    let program = format!("program=command:{command}");
    let policies = [
        "-p",
        &file,
        "-p",
        &program,
        "--summarizer",
        "fixed:A summary of a.rs.",
        "--findings",
        "--tokenizer",
        "chars/4",
        "-o",
        "json",
        "--quiet",
    ];
    let results = run(["replay"].iter().chain(paths).chain(&policies).chain(settings)).json();
    let mut values: BTreeMap<&str, Vec<(String, &Value)>> = BTreeMap::new();
    for (place, policy, row) in rows(&results) {
        values.entry(policy).or_default().push((place, row));
    }
    assert!(!values["layers"].is_empty());
    // Where a breakpoint would be best depends on which part of a tail that is not cached yet was edited, and how often: a program edits
    // for each request anew. The bounds differ by a ten-thousandth then.
    let shown = |(place, row): &(String, &Value)| {
        let mut row = Value::clone(row);
        row.as_object_mut().into_iter().for_each(|row| row.retain(|column, _| !column.starts_with("cost.best_breakpoints")));
        (place.clone(), row)
    };
    for (layers, program) in values["layers"].iter().zip(&values["program"]) {
        assert_eq!(shown(layers), shown(program), "{name}");
    }
    let findings = |policy: &str| {
        let of = results["findings"].as_array().into_iter().flatten().filter(|finding| finding["policy"] == policy);
        of.map(|finding| (finding["id"].clone(), finding["path"].clone(), finding["call"].clone())).collect::<Vec<_>>()
    };
    // What is edited for one request only is edited again for the next, and findings count edits.
    if !layers.contains("scope = \"request\"") {
        assert_eq!(findings("layers"), findings("program"), "{name}");
    }
    values["layers"].len()
}

fn check_pair(pair: &Pair, paths: &[&str]) -> usize {
    let folder = TempDir::new().expect("a temporary folder");
    let script = write(folder.path(), "policy.py", &format!("{HEAD}{}{TAIL}", pair.program));
    let shape = format!("program.shape={}", pair.shape);
    check(pair.name, pair.layers, &format!("python3 {script}"), &["--set", &shape], paths)
}

#[test]
fn programs_do_the_same_as_layers() {
    if !is_installed("python3") {
        return;
    }
    for (turn, pair) in PAIRS.iter().enumerate() {
        assert!(check_pair(pair, &fixtures(turn)) > 10, "{}", pair.name);
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn programs_do_the_same_as_layers_on_recordings() {
    let folders: Vec<String> = ["claude-code", "codex", "openai-chat", "anthropic-messages-derived"]
        .iter()
        .map(|name| transcripts::folder(name).canonicalize().expect("a folder").display().to_string())
        .collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    for pair in &PAIRS {
        println!("{}: {} conversations", pair.name, check_pair(pair, &folders));
    }
}

/// `recompact policy new program` writes programs that run as they are: the same as the layer, with the policy file beside them.
#[test]
fn new_programs_do_the_same_as_a_layer() {
    let page = page("programs").expect("the page").source;
    let clear = "do = \"clear\"\nkeep_recent_results = 3\nmin_chars = 0\nempty_too = true\nplaceholder = \"[cleared]\"\n";
    for (turn, template) in TEMPLATES.iter().enumerate() {
        let is_in_guide = page.contains(&format!("\n{}```", template.source));
        assert_eq!(is_in_guide, template.language == "python", "the guide shows the program as it is: {}", template.language);
        if !is_installed(template.interpreter) || (template.language == "sh" && !is_installed("jq")) {
            continue;
        }
        let folder = TempDir::new().expect("a temporary folder");
        let new = ["policy", "new", "program", "--lang", template.language];
        assert_eq!(run(new).printed(), template.source);
        let program = format!("my policy.{}", template.extension);
        let written = run_in(folder.path(), new.iter().chain(&["--out", "my policy.toml"]), b"");
        let said = format!(
            "{program} and my policy.toml were written; recompact replay SESSIONS -p 'my policy.toml' --allow-programs\n"
        );
        assert_eq!((written.code, written.stderr), (0, said));
        let again = run_in(folder.path(), new.iter().chain(&["--out", "my policy.toml"]), b"");
        assert!(again.code == 2 && again.stderr.contains("exists already"), "{}", again.stderr);
        let session = crate::support::program::fixtures().join("claude-code/kept-tail.jsonl").display().to_string();
        let replay = ["replay", &session, "-p", "my policy.toml", "--allow-programs", "--quiet", "-o", "json"];
        let results = run_in(folder.path(), replay, b"").json();
        assert!(rows(&results).any(|row| row.1 == "my policy"), "{}", template.language);
        let command = format!("{} \"{}\"", template.interpreter, folder.path().join(&program).display());
        assert!(check(template.language, clear, &command, &[], &fixtures(turn)) > 10, "{}", template.language);
    }
    let without = run(["policy", "new", "program"]);
    assert_eq!(without.stderr, "recompact: in which language is the program? Add --lang (python, node, sh)\n");
    let other = run(["policy", "new", "sliding-window", "--lang", "sh"]);
    assert_eq!(other.stderr, "recompact: `sliding-window` is a policy file without a program: leave out --lang\n");
}

/// A policy in jq that cuts every result to 2,000 characters when it arrives.
const CUT: &str = r#"
if .type == "start" then {protocol: 1, shape: "openai"}
else {
  call,
  replace: [.messages[] | select(.role == "tool" and (.content | type == "string" and length > 2000)) | .content |= .[:2000]]
} end
"#;

#[test]
fn a_program_in_jq_does_the_same_as_truncating() {
    if !is_installed("jq") {
        return;
    }
    let layer = "do = \"truncate\"\nwhen = \"entry\"\nmax_chars = 2000\nkeep_head = 2000\nkeep_tail = 0\nmarker = \"\"\nlists = \"skip\"\n";
    let folder = TempDir::new().expect("a temporary folder");
    let script = write(folder.path(), "policy.jq", CUT);
    let conversations = check("policy.jq", layer, &format!("jq -c --unbuffered -f {script}"), &[], &fixtures(2));
    assert!(conversations > 10, "{conversations}");
}
