//! Compares presets with the programs that they are named after, request by request. `tests/oracles/` has the drivers, and
//! `.ci/oracles` installs the programs and runs this test.

mod driver;
mod exchange;
mod items;
mod live;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use recompact::engine::policy::Policy;
use recompact::transcript::conversation::{BlockKind, Call, Conversation, Role, Thinking};

use crate::support::transcripts::RECORDINGS;
use crate::support::trial::{Trial, preset_with};
use driver::{Answers, Driver, is_asked};
use exchange::{Requests, recording};

/// A preset with settings, and the variant of the driver that must give the same requests.
struct Oracle {
    preset: &'static str,
    settings: &'static [&'static str],
    driver: &'static str,
    variant: &'static str,
}

const fn oracle(preset: &'static str, settings: &'static [&'static str], driver: &'static str, variant: &'static str) -> Oracle {
    Oracle { preset, settings, driver, variant }
}

/// All comparisons: each preset as it is, and with other settings.
const ORACLES: &[Oracle] = &[
    oracle("swe-agent", &[], "swe_agent", "5"),
    oracle("swe-agent", &["mask.keep_recent_results=10"], "swe_agent", "10"),
    oracle("swe-agent-polling", &[], "swe_agent", "5/5"),
    oracle("langchain-clear", &[], "langchain", "clear"),
    oracle("langchain-clear", &["clear.threshold=20000"], "langchain", "clear-low"),
    oracle("langchain-clear", &["clear.threshold=0", "clear.clear_inputs=true"], "langchain", "clear-inputs"),
    oracle("openai-agents-trimmer", &[], "openai_agents", "default"),
    oracle(
        "openai-agents-trimmer",
        &[
            "trim.protect_turns=1",
            "trim.max_chars=100",
            "trim.keep_head=30",
            "trim.marker=[Trimmed: {tool} output — {len} chars → 30 char preview]\n{head}...",
        ],
        "openai_agents",
        "small",
    ),
    oracle("autogen-buffered", &[], "autogen", "buffered"),
    oracle("autogen-buffered", &["window.max_messages=7"], "autogen", "buffered-odd"),
    oracle("autogen-head-and-tail", &[], "autogen", "head-and-tail"),
    oracle("autogen-head-and-tail", &["window.max_messages=14"], "autogen", "head-and-tail-odd"),
    oracle("autogen-token-limited", &[], "autogen", "token-limited-50k"),
    oracle("autogen-token-limited", &["window.keep_recent_tokens=5000"], "autogen", "token-limited-5k"),
    oracle("strands-window", &[], "strands", "window"),
    oracle("strands-window", &["window.max_messages=11"], "strands", "window-low"),
    oracle("strands-window", &["window.when=always"], "strands", "window-per-call"),
    oracle("strands-window", &["window.when=always", "window.max_messages=15"], "strands", "window-per-call-low"),
    oracle("vercel-prune", &[], "vercel_ai", "before-last-2"),
    oracle("vercel-prune", &["prune.max_messages=1"], "vercel_ai", "before-last-message"),
    oracle("vercel-prune", &["prune.max_messages=9"], "vercel_ai", "before-last-9"),
    oracle("semantic-kernel-truncation", &[], "semantic_kernel", "40"),
    oracle("semantic-kernel-truncation", &["window.max_messages=12"], "semantic_kernel", "12"),
    oracle("langchain-summarize", &[], "langchain", "summarize-50-messages"),
    oracle(
        "langchain-summarize",
        &["auto.meter=langchain", "auto.threshold=30000", "auto.keep_recent_messages=8"],
        "langchain",
        "summarize-30k",
    ),
    oracle("openhands", &[], "openhands", "80"),
    oracle(
        "openhands",
        &["condense.threshold=29", "condense.keep_first=1", "condense.keep_recent_messages=12"],
        "openhands",
        "30",
    ),
    oracle(
        "langchain-summarize",
        &["auto.meter=langchain", "auto.threshold=30000", "auto.keep_recent_messages=0", "auto.keep_recent_tokens=5000"],
        "langchain",
        "summarize-keep-tokens",
    ),
    oracle("langchain-trim", &[], "langchain", "trim-50k"),
    oracle("langchain-trim", &["window.keep_recent_tokens=20000"], "langchain", "trim-20k"),
    oracle("google-adk", &[], "google_adk", "3"),
    oracle("google-adk", &["recent.keep_recent_turns=1"], "google_adk", "1"),
    oracle("inspect-edit", &["clear.meter=messages", "clear.threshold=40"], "inspect", "edit-40"),
    oracle("inspect-edit", &["clear.meter=messages", "clear.threshold=8", "clear.keep_recent_results=1"], "inspect", "edit-8"),
    oracle(
        "inspect-summary",
        &["auto.meter=messages", "auto.threshold=40", "auto.messages.template={summary}"],
        "inspect",
        "summary-40",
    ),
    oracle(
        "inspect-summary",
        &["auto.meter=messages", "auto.threshold=12", "auto.messages.template={summary}"],
        "inspect",
        "summary-12",
    ),
    oracle(
        "crewai",
        &["auto.when=always", "auto.meter=messages", "auto.threshold=40", "auto.messages.template={summary}"],
        "crewai",
        "40",
    ),
    oracle(
        "crewai",
        &["auto.when=always", "auto.meter=messages", "auto.threshold=12", "auto.messages.template={summary}"],
        "crewai",
        "12",
    ),
    oracle("mastra-tools", &[], "mastra", "default"),
    oracle("haystack-prune", &["meter=chars", "prune.threshold=280000", "prune.down_to=160000"], "haystack", "prune-400000-800"),
    oracle(
        "haystack-prune",
        &["meter=chars", "prune.threshold=14000", "prune.down_to=8000", "prune.min_chars=50"],
        "haystack",
        "prune-20000-50",
    ),
    oracle("agent-framework-window", &[], "agent_framework", "window-20"),
    oracle("agent-framework-window", &["window.keep_recent_groups=3"], "agent_framework", "window-3"),
    oracle("agent-framework-truncation", &[], "agent_framework", "truncation-80-40"),
    oracle("agent-framework-truncation", &["window.threshold=11", "window.max_messages=7"], "agent_framework", "truncation-11-7"),
    oracle("semantic-kernel-summary", &[], "semantic_kernel", "summarization-40"),
    oracle("semantic-kernel-summary", &["auto.threshold=9", "auto.keep_recent_messages=9"], "semantic_kernel", "summarization-9"),
    oracle("agent-framework-summary", &[], "agent_framework", "summarization-4-2"),
    oracle(
        "agent-framework-summary",
        &["auto.threshold=40", "auto.keep_recent_messages=25"],
        "agent_framework",
        "summarization-25-15",
    ),
    oracle("agent-framework-tools", &[], "agent_framework", "tools-1"),
    oracle("agent-framework-tools", &["tools.keep_recent_groups=8"], "agent_framework", "tools-8"),
    oracle("agent-framework-results", &[], "agent_framework", "results-1"),
    oracle("agent-framework-results", &["tools.keep_recent_groups=8"], "agent_framework", "results-8"),
    oracle("llama-index-buffer", &[], "llama_index", "buffer-3k"),
    oracle("llama-index-buffer", &["window.keep_recent_tokens=30000"], "llama_index", "buffer-30k"),
    oracle("llama-index-summary", &[], "llama_index", "summary-2k"),
    oracle("llama-index-summary", &["auto.keep_recent_tokens=30000"], "llama_index", "summary-30k"),
    oracle(
        "agent-framework-context-window",
        &["window=128000", "max_output=16384"],
        "agent_framework",
        "context-window-128000-16384",
    ),
    oracle(
        "agent-framework-context-window",
        &["window=20000", "max_output=4000", "tools.keep_recent_groups=2"],
        "agent_framework",
        "context-window-20000-4000",
    ),
    oracle("llama-index-memory", &[], "llama_index", "memory-30k"),
    oracle("llama-index-memory", &["window.keep_recent_tokens=2800", "window.remove_at_least=500"], "llama_index", "memory-4k"),
    oracle("strands-summary", &["auto.when=always", "auto.meter=messages", "auto.threshold=40"], "strands", "summarizing-40"),
    oracle(
        "strands-summary",
        &["auto.when=always", "auto.meter=messages", "auto.threshold=15", "auto.span.share=0.6", "auto.keep_recent_messages=5"],
        "strands",
        "summarizing-15",
    ),
    oracle("kimi-cli", &["auto.meter=messages", "auto.threshold=40"], "kimi_cli", "40"),
    oracle("kimi-cli", &["auto.meter=messages", "auto.threshold=12"], "kimi_cli", "12"),
    oracle("deepagents", &["large.enabled=false", "auto.messages.template={summary}"], "deepagents", "170k"),
    oracle(
        "deepagents",
        &["large.enabled=false", "auto.messages.template={summary}", "auto.threshold=20000"],
        "deepagents",
        "20k",
    ),
    oracle("pi", &["meter=pi", "auto.threshold=100000"], "pi", "100k-20k"),
    oracle("pi", &["meter=pi", "auto.threshold=12000", "auto.keep_recent_tokens=2000"], "pi", "12k-2k"),
    oracle("mini-swe-agent", &[], "mini_swe_agent", "default"),
    oracle("smolagents", &[], "smolagents", "50000"),
    oracle("smolagents", &["cap.max_chars=2499", "cap.keep_head=1250", "cap.keep_tail=1249"], "smolagents", "2500"),
    oracle("openhands-recent", &[], "openhands_v0", "recent-100"),
    oracle("openhands-recent", &["window.max_messages=11"], "openhands_v0", "recent-12"),
    oracle("openhands-amortized", &[], "openhands_v0", "amortized-100"),
    oracle("openhands-amortized", &["forget.threshold=20", "forget.max_messages=9"], "openhands_v0", "amortized-21"),
];

/// `RECOMPACT_ORACLES` is the folder with an environment for each driver, `RECOMPACT_ORACLE` the drivers to ask, all if it is empty.
#[test]
#[ignore = "needs recordings and the programs that .ci/oracles installs: RECOMPACT_TRANSCRIPTS, RECOMPACT_ORACLES"]
fn requests_equal_those_of_the_real_programs() {
    let all = || RECORDINGS.iter().flat_map(|recorded| recorded.reading.conversations.iter().map(move |c| (&recorded.name, c)));
    let (taken, left): (Vec<_>, Vec<_>) = all().partition(|(_, conversation)| can_take(conversation));
    assert_drivers_are_known();
    println!("{} recorded conversations; {} with images or unknown blocks are left out", taken.len(), left.len());
    let recordings: String = taken.iter().map(|(_, conversation)| recording(conversation)).collect();
    let asked: Vec<_> = ORACLES.iter().filter(|oracle| is_asked(oracle.driver)).collect();
    let names: BTreeSet<_> = asked.iter().map(|oracle| oracle.driver).collect();
    let drivers: BTreeMap<_, _> = names.into_iter().filter_map(|name| Some((name, Driver::of(name)?))).collect();
    let first = |oracle: &Oracle| first_difference(oracle, drivers.get(oracle.driver), &taken, &recordings);
    let failures: Vec<String> = asked.into_par_iter().filter_map(first).collect();
    for (name, driver) in &drivers {
        println!("{name}: {}", driver.version());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Compares one program with its preset over all recordings, and prints how many requests are equal. Returns the first difference.
fn first_difference(
    oracle: &Oracle,
    driver: Option<&Driver>,
    taken: &[(&String, &Conversation)],
    recordings: &str,
) -> Option<String> {
    let Oracle { preset, variant, .. } = oracle;
    let Some(driver) = driver else {
        println!("{preset:26} {variant:22} not to be had here: not asked");
        return None;
    };
    let mut answers = driver.ask(variant, recordings);
    let policy = preset_with(preset, oracle.settings);
    let (mut compared, mut equal, mut by_quirk, mut first) = (0, 0, 0, None);
    for (name, conversation) in taken {
        let differences = compare(&policy, conversation, &mut answers);
        compared += differences.len();
        equal += differences.iter().filter(|difference| difference.is_none()).count();
        let by_ids = QUIRK_OF_IDS.contains(&oracle.driver) && reuses_ids(conversation);
        let by_editing = *preset == QUIRKS_OF_EDITING && (reorders_results(conversation) || ends_with_response(conversation));
        if by_ids || by_editing || QUIRK_OF_TEXTS.contains(&oracle.driver) && joins_texts(conversation) {
            by_quirk += differences.iter().flatten().count();
            continue;
        }
        let found = differences.into_iter().flatten().next();
        first = first.or(found.map(|found| format!("{name}, {}: {found}", conversation.name)));
    }
    let quirk = if by_quirk > 0 { format!(", {by_quirk} differ by a quirk of the preset") } else { String::new() };
    println!("{preset:26} {variant:22} {equal} of {compared} requests equal{quirk}");
    first.map(|first| format!("{preset} {variant}: {first}"))
}

/// Fails if RECOMPACT_ORACLE names what no driver is. `.ci/oracles` asks for none if nothing is installed.
fn assert_drivers_are_known() {
    let drivers: Vec<&str> =
        ORACLES.iter().map(|oracle| oracle.driver).chain(live::LIVE.iter().map(|live| live.driver)).chain(["none"]).collect();
    let only = std::env::var("RECOMPACT_ORACLE").unwrap_or_default();
    let unknown = driver::unknown(&only, &drivers);
    assert!(unknown.is_empty(), "RECOMPACT_ORACLE: no driver is named {unknown:?}");
}

#[test]
fn names_of_no_driver_are_found() {
    let drivers = ["pi", "live_pi"];
    assert_eq!(driver::unknown("live_pi,pi", &drivers), Vec::<&str>::new());
    assert_eq!(driver::unknown("", &drivers), Vec::<&str>::new());
    assert_eq!(driver::unknown("pi,live_py,p", &drivers), ["live_py", "p"]);
}

/// Harnesses differ in how they send and count images, so that no comparison of theirs would say anything of the policy.
fn can_take(conversation: &Conversation) -> bool {
    !conversation.calls.is_empty()
        && conversation.blocks.iter().all(|block| {
            let has_media = recompact::tokens::meter::media::parts(block).next().is_some();
            !has_media && !matches!(block.kind, BlockKind::Media | BlockKind::Other)
        })
}

/// Drivers of programs that take a call for another with its id: a quirk that their presets name.
const QUIRK_OF_IDS: [&str; 5] = ["vercel_ai", "openai_agents", "openhands", "inspect", "mastra"];

/// Whether two calls have one id, which no provider gives: a program that looks for ids takes one for the other.
fn reuses_ids(conversation: &Conversation) -> bool {
    let mut ids = BTreeSet::new();
    conversation.pairs.iter().any(|pair| !ids.insert(&pair.id))
}

/// Drivers of programs that count the tokens of a message's texts together: a quirk that their presets name.
const QUIRK_OF_TEXTS: [&str; 1] = ["llama_index"];

/// Whether texts lie side by side in a message: a driver gives the program one text, of which a token may reach over the border.
fn joins_texts(conversation: &Conversation) -> bool {
    let is_text = |id: &_| conversation.block(*id).kind == BlockKind::Text;
    conversation.messages.iter().any(|message| message.blocks.windows(2).any(|two| two.iter().all(is_text)))
}

/// A preset of a program that keeps the newest calls, and not the newest results, and removes a response at the end of a request: quirks
/// that it names.
const QUIRKS_OF_EDITING: &str = "inspect-edit";

/// Whether results arrived in another order than that of their calls.
fn reorders_results(conversation: &Conversation) -> bool {
    let pair = |id: &_| if let BlockKind::ToolResult(pair) = conversation.block(*id).kind { Some(pair) } else { None };
    !conversation.messages.iter().flat_map(|message| &message.blocks).filter_map(pair).is_sorted()
}

/// Whether a request ends with a response: the agent went on without a message.
fn ends_with_response(conversation: &Conversation) -> bool {
    let last = |call: &Call| call.response.checked_sub(1).map(|last| conversation.messages[last].role);
    conversation.calls.iter().any(|call| last(call) == Some(Role::Assistant))
}

/// Returns, for each request, how it differs from that of the real program.
fn compare(policy: &Policy, conversation: &Conversation, answers: &mut Answers) -> Vec<Option<String>> {
    let trial = Trial { thinking: Some(Thinking::None), ..Trial::new(policy.clone()) };
    let mut requests = Requests::new(answers);
    trial.replay(conversation, &mut requests);
    requests.read_answers(conversation.calls.len());
    requests.differences
}
