use super::*;
use crate::analysis::corpus::{Corpus, FileCorpus};
use crate::analysis::spec::{Files, StudySpec};

/// Checks a policy with these layers, on the sessions of a fixture if one is named.
fn checked(layers: &str, window: Option<u64>, fixture: Option<&str>) -> PolicyCheck {
    let text = format!("name = \"mine\"\nmeter = \"o200k\"\n{layers}");
    let source = PolicySource { origin: "mine.toml".to_owned(), text };
    let mut spec = StudySpec::default();
    spec.policies = vec![crate::analysis::spec::PolicySpec::Inline(source.text.parse().expect("TOML"))];
    spec.bounds = false;
    spec.window = window;
    let loaded = spec.load(&Files::default()).unwrap_or_else(|error| panic!("{error}"));
    let seen = fixture.map(|fixture| {
        let corpus = FileCorpus::at(format!("fixtures/transcripts/{fixture}"));
        let mut seen = SessionsUse::default();
        for at in 0..corpus.names().len() {
            seen.add(SessionsUse::of_transcript(&loaded.study, &loaded.policies, &corpus.read(at).expect("a fixture")));
        }
        (seen, Coverage::default())
    });
    let policies = [CheckedPolicy { policy: &loaded.policies[0], source: &source }];
    check(&policies, window, seen).policies.remove(0)
}

/// The remarks as `LEVEL KIND LAYER LINE: MESSAGE`.
fn remarks(layers: &str, window: Option<u64>, fixture: Option<&str>) -> Vec<String> {
    let line = |remark: &Remark| {
        let line = remark.line.map_or("?".to_owned(), |line| line.to_string());
        format!("{} {} {} {line}: {}", remark.level.name(), remark.kind, remark.layer.as_deref().unwrap_or("-"), remark.message)
    };
    checked(layers, window, fixture).remarks.iter().map(line).collect()
}

const CLAUDE: &str = "claude-code/repair.jsonl";

fn clear(settings: &str) -> String {
    format!("[[layer]]\nid = \"clear\"\ndo = \"clear\"\n{settings}\n")
}

#[test]
fn a_tool_that_no_session_uses_is_named_with_the_one_that_was_meant() {
    let all = remarks(
        &clear("keep_recent_results = 1\npreserve_tools = [\n    \"Bash\",\n    \"read\",\n]\nclear_at_least = 1"),
        None,
        Some(CLAUDE),
    );
    assert_eq!(
        all,
        [
            "warning unknown-tool clear 9: `preserve_tools` names the tool `read`, which no session here uses; did you mean `Read`?"
        ]
    );
}

/// Policies name tools that some sessions do not need, so only a setting without any used tool is suspicious.
#[test]
fn unused_tools_are_a_note_if_others_of_the_setting_are_used() {
    let level = |tools: &str| {
        remarks(&clear(&format!("keep_recent_results = 1\npreserve_tools = {tools}\nclear_at_least = 1")), None, Some(CLAUDE))
    };
    assert_eq!(
        level("[\"Read\", \"NotebookEdit\"]"),
        ["note unknown-tool clear 7: `preserve_tools` names tools that no session here uses: `NotebookEdit`"]
    );
    assert!(level("[\"NotebookEdit\"]")[0].starts_with("warning unknown-tool"));
    assert!(level("[\"Read\"]").is_empty());
    assert!(level("[]").is_empty());
}

#[test]
fn tools_of_limits_and_of_when_are_checked() {
    let limits = "[[layer]]\nid = \"cap\"\ndo = \"persist\"\nof = \"result\"\nmax_bytes = 100\ntool_limits = { bash = 10 }\n";
    assert_eq!(
        remarks(limits, None, Some(CLAUDE)),
        ["warning unknown-tool cap 8: `tool_limits` names the tool `bash`, which no session here uses; did you mean `Bash`?"]
    );
    let when = "[[layer]]\nid = \"manual\"\ndo = \"summarize\"\nwhen = { tool = \"compact\" }\n";
    assert_eq!(
        remarks(when, None, Some(CLAUDE)),
        ["warning unknown-tool manual 6: `when` names tools that no session here uses: `compact`"]
    );
}

#[test]
fn a_threshold_that_is_not_reached_is_named_with_the_largest_size() {
    let all = remarks(&clear("threshold = \"90%\""), None, Some(CLAUDE));
    assert_eq!(all.len(), 1, "{all:?}");
    let begin =
        "warning never-acts clear 6: never acts on these sessions: its threshold of 180000 is not reached; the largest size was ";
    assert!(all[0].starts_with(begin), "{all:?}");
    assert!(checked(&clear("threshold = \"90%\""), None, Some(CLAUDE)).layers.iter().all(|layer| layer.fired == 0));
}

#[test]
fn a_threshold_above_the_window_is_a_warning_with_and_without_sessions() {
    let above = clear("threshold = \"250k\"");
    assert_eq!(
        remarks(&above, Some(200_000), None),
        [
            "warning above-window clear 6: its threshold of 250000 is not below the window of 200000 tokens, so that it cannot be reached"
        ]
    );
    assert!(remarks(&above, None, None).is_empty(), "a model may have a larger window");
    assert!(remarks(&clear("threshold = \"1.2 * window\""), None, None)[0].starts_with("warning above-window"));
    assert!(
        remarks(&clear("threshold = \"250k\"\nmeter = \"chars\""), Some(200_000), None).is_empty(),
        "characters are no tokens"
    );
    let replayed = remarks(&above, Some(200_000), Some(CLAUDE));
    assert!(replayed.len() == 1 && replayed[0].starts_with("warning above-window clear 6: "), "{replayed:?}");
}

#[test]
fn layers_that_only_others_trigger_are_a_note() {
    let layers = "[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nthreshold = \"90%\"\n\n\
                  [[layer]]\nid = \"archive\"\ndo = \"archive\"\nwhen = { before = [\"auto\"] }\n\n\
                  [[layer]]\nid = \"late\"\ndo = \"summarize\"\nwhen = \"overflow\"\nmax_retries = 1\n";
    let all = remarks(layers, None, Some(CLAUDE));
    assert_eq!(all.iter().filter(|remark| remark.starts_with("warning")).count(), 1, "{all:?}");
    assert!(all.contains(&"note never-acts archive 9: never acts on these sessions: it waits for `auto`".to_owned()), "{all:?}");
    assert!(
        all.contains(&"note never-acts late 14: never acts on these sessions: no request is larger than the window".to_owned())
    );
}

#[test]
fn values_that_a_sweep_cannot_try_are_a_warning() {
    let sweep = |values: &str| remarks(&format!("{}[sweep]\n{values}\n", clear("min_chars = 1")), None, None);
    assert!(sweep("clear.min_chars = \"1,2\"").is_empty());
    assert_eq!(
        sweep("clr.min_chars = \"1,2\""),
        ["warning wrong-sweep - 8: [sweep] clr.min_chars: the policy has no layer `clr`"]
    );
    assert!(
        sweep("clear.min_chars = \"1,many\"")[0]
            .starts_with("warning wrong-sweep - 7: --set clear.min_chars=many: layer `clear`: ")
    );
}

#[test]
fn a_repeated_layer_is_a_warning() {
    let twice = clear("keep_recent_results = 1") + &clear("keep_recent_results = 1").replace("\"clear\"\ndo", "\"again\"\ndo");
    assert_eq!(remarks(&twice, None, None), ["warning repeated again 8: does the same as `clear`, which runs before it"]);
    let off = twice.replace("id = \"again\"", "id = \"again\"\nenabled = false");
    assert!(remarks(&off, None, None).is_empty());
}

/// The session has 93 calls, and 60 tokens are fewer than any request has.
#[test]
fn a_layer_that_acts_at_nearly_every_call_is_named() {
    let eager = |layers: &str| -> Vec<String> {
        remarks(layers, None, Some(CLAUDE)).into_iter().filter(|remark| remark.contains(" eager ")).collect()
    };
    let kept = eager(&clear("keep_recent_results = 1\nmin_chars = 0"));
    let [first] = &kept[..] else { panic!("{kept:?}") };
    assert!(first.starts_with("note eager clear 4: acts before ") && first.contains("`clear_at_least` makes it wait"), "{first}");
    assert!(eager(&clear("keep_recent_results = 1\nmin_chars = 0\nclear_at_least = \"40k\"")).is_empty());
    let low = eager("[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nthreshold = 60\nkeep_recent_messages = 4\n");
    let [first] = &low[..] else { panic!("{low:?}") };
    assert!(
        first.starts_with("warning eager auto 6: ") && first.ends_with("is its threshold of 60 as large as you mean?"),
        "{first}"
    );
}

/// The session has 93 calls; its tools are `Bash`, `Edit` and `Read`.
#[test]
fn a_layer_that_does_nothing_has_its_own_reason() {
    let why = |layers: &str| -> Vec<String> {
        let all = remarks(layers, None, Some(CLAUDE)).into_iter().filter(|remark| remark.contains(" never-acts "));
        all.map(|remark| remark.split_once("sessions: ").map_or(remark.clone(), |(_, why)| why.to_owned())).collect()
    };
    let micro = |settings: &str| clear(&format!("keep_recent_results = 1\nclear_at_least = 1\n{settings}"));
    assert_eq!(why(&micro("when = { calls = 93 }")), ["its `when` never comes: no session has more than 93 calls"]);
    assert_eq!(why(&micro("when = { idle-minutes = 9e9 }")), ["its `when` never comes: no pause takes 9000000000 minutes"]);
    assert_eq!(
        why(&micro("when = { sent = \"9000M\" }")),
        ["its `when` never comes: the requests of no session have together 9000M tokens"]
    );
    let joined = |how: &str| why(&micro(&format!("when = {{ {how} = [{{ calls = 92 }}, {{ turns = 93 }}] }}")));
    assert_eq!(joined("all"), ["its `when` never comes: its conditions never come before the same request"]);
    assert_eq!(joined("any"), [""; 0]);
    assert_eq!(why(&micro("tools = [\"NotebookEdit\"]")), ["they use none of its tools"]);
    assert_eq!(why(&micro("tools = [\"R*d\"]")), [""; 0]);
    let graded = micro("") + "\n[[layer]]\nid = \"older\"\ndo = \"clear\"\nkeep_recent_results = 9\n";
    assert_eq!(why(&graded), ["`clear` clears old results before it, and a result that is cleared stays as it is"]);
}

#[test]
fn newest_results_of_all_tools_are_counted_and_said() {
    let note = "note counts-others clear 7: `keep_recent_results = 3` counts the results of all tools, so that fewer than 3 of `Read` \
                may stay, or none; `keep_recent_per_tool` counts those of each";
    assert_eq!(remarks(&clear("tools = [\"Read\"]\nkeep_recent_results = 3"), None, None), [note]);
    assert!(remarks(&clear("tools = [\"Read\"]\nkeep_recent_results = 0"), None, None).is_empty());
    assert!(remarks(&clear("keep_recent_results = 3"), None, None).is_empty());
}

#[test]
fn a_layer_of_requests_must_not_wait_for_the_usage_that_it_cuts() {
    let trim = |meter: &str, scope: &str| {
        remarks(&clear(&format!("threshold = \"50k\"\nmeter = \"{meter}\"\nscope = \"{scope}\"")), None, None)
    };
    let [warning] = &trim("recorded+o200k", "request")[..] else { panic!("one warning") };
    assert!(warning.starts_with("warning counts-cut clear 6: its threshold is compared with the usage of the request before"));
    assert!(trim("o200k", "request").is_empty());
    assert!(trim("recorded+o200k", "state").is_empty());
}

/// All results but the newest may go, and then more than half of the 93 requests are still over 5,000 tokens: the rest is text.
#[test]
fn where_a_layer_brings_the_context_is_said() {
    let lands = |target: &str| -> Vec<String> {
        let layer = clear(&format!("keep_recent_results = 1\nmin_chars = 0\nthreshold = 5000\ndown_to = {target}"));
        remarks(&layer, None, Some(CLAUDE)).into_iter().filter(|remark| remark.contains(" lands ")).collect()
    };
    let from_to = "lands clear 9: brings the context from 8460 to 7878 (medians); it reaches";
    assert_eq!(lands("4000"), [format!("note {from_to} `down_to = 4000` 5 of 57 times")]);
    assert_eq!(lands("1"), [format!("warning {from_to} `down_to = 1` 0 of 56 times; its other limits keep too much")]);
}
