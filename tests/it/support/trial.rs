//! One replay with everything it depends on, for tests.

use recompact::engine::context::Context;
use recompact::engine::journal::{Journal, Request};
use recompact::engine::policy::{PRESETS, Policy, preset};
use recompact::engine::replay::{Observer, RecordedReplay, RecordedRequests, ReplaySetup, UNLIMITED, replay};
use recompact::engine::replay_cache::ReplayCache;
use recompact::engine::summarizer::{Fixed, Summarizer};
use recompact::programs::{ProgramSettings, Programs};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::{Meter, SizeUnit};
use recompact::transcript::conversation::{Conversation, Thinking};
use serde_json::Value;

pub struct Trial {
    pub policy: Policy,
    pub counter: Meter,
    /// Size units besides those that the policy and the counter need.
    pub also: Vec<SizeUnit>,
    pub window: u64,
    pub overhead: u64,
    /// The conversation's own, if `None`.
    pub thinking: Option<Thinking>,
    pub summarizer: Box<dyn Summarizer>,
    pub programs: Programs,
}

impl Trial {
    /// Counts characters; every summary is `SUMMARY`.
    pub fn new(policy: Policy) -> Self {
        Self {
            window: policy.window.unwrap_or(UNLIMITED),
            policy,
            counter: Meter::from_unit(SizeUnit::Chars),
            also: Vec::new(),
            overhead: 0,
            thinking: None,
            summarizer: Box::new(Fixed { text: "SUMMARY".to_owned() }),
            programs: Programs::new(ProgramSettings::default()),
        }
    }

    pub fn replay(&self, conversation: &Conversation, observer: &mut dyn Observer) -> Journal {
        let measures = self.policy.units().into_iter().chain([self.counter.unit]).chain(self.also.iter().copied());
        let sizes = BlockSizes::new(conversation, measures);
        let shared = ReplayCache::new(conversation);
        let setup = ReplaySetup {
            window: self.window,
            overhead: self.overhead,
            thinking: self.thinking.unwrap_or(conversation.thinking),
            summarizer: &*self.summarizer,
            external: &self.programs,
            ..ReplaySetup::new(conversation, &sizes, &self.policy, self.counter, &shared)
        };
        let by_usage = self.policy.meter.is_some_and(|meter| meter.recorded);
        let record = by_usage.then(|| RecordedReplay::replay(&setup));
        let recorded = record.map(|record| RecordedRequests::new(&setup, &record));
        replay(&ReplaySetup { recorded: recorded.as_ref(), ..setup }, observer)
    }

    /// Returns all that was sent, asked and written.
    pub fn outcome(&self, conversation: &Conversation) -> String {
        let mut sent = Sent(Vec::new());
        let Journal { events, files, summaries, .. } = self.replay(conversation, &mut sent);
        format!("{:?}\n{events:?}\n{files:?}\n{summaries:?}", sent.0)
    }

    /// Returns the request of each call.
    pub fn requests(&self, conversation: &Conversation) -> Vec<Value> {
        let mut sent = Sent(Vec::new());
        self.replay(conversation, &mut sent);
        sent.0
    }
}

struct Sent(Vec<Value>);

impl Observer for Sent {
    fn request(&mut self, _: &Request, context: &Context) {
        self.0.push(context.messages().iter().map(|sent| context.wire(sent)).collect());
    }
}

/// Returns a preset with other settings and another name.
pub fn named(name: &str, preset: &str, settings: &[&str]) -> Policy {
    Policy { name: name.to_owned(), ..preset_with(preset, settings) }
}

/// A preset with some of its settings changed.
pub fn preset_with(name: &str, settings: &[&str]) -> Policy {
    let settings: Vec<_> = settings.iter().map(|setting| setting.parse().expect(setting)).collect();
    preset(name).expect(name).policy(&settings).unwrap_or_else(|error| panic!("{error}"))
}

/// Every preset as it is, presets whose limits are so low that small conversations reach them, and layers that no preset has.
pub fn trials() -> Vec<Trial> {
    let presets = PRESETS.iter().map(|preset| Trial::new(preset_with(preset.name, &[])));
    let low = LOW.iter().map(|(name, settings)| Trial::new(preset_with(name, settings)));
    let own = OWN.iter().enumerate().map(|(n, layers)| {
        let toml = format!("name = \"own-{n}\"\nmeter = \"py-repr/4\"\n{layers}");
        Trial::new(Policy::parse(&toml, "own", &[]).unwrap_or_else(|error| panic!("{error}")))
    });
    let narrow = LOW.iter().map(|(name, settings)| Trial { window: 4_000, ..Trial::new(preset_with(name, settings)) });
    let failing = Trial {
        summarizer: Box::new(recompact::engine::summarizer::Failing),
        ..Trial::new(preset_with("lcc-s06", &["auto.threshold=200", "auto.retry.breaker=2", "auto.retry.max=1"]))
    };
    presets.chain(low).chain(own).chain(narrow).chain([failing]).collect()
}

const LOW: [(&str, &[&str]); 67] = [
    ("lcc-s06", &["auto.threshold=400"]),
    ("lcc-s06-java", &["auto.threshold=300", "cut.max_chars=60", "cut.keep_head=60", "window.max_messages=3"]),
    (
        "lcc-s08",
        &[
            "auto.threshold=6000",
            "snip.max_messages=7",
            "budget.max_bytes=500",
            "budget.min_chars=99",
            "auto.max_tokens=9",
            "reactive.max_tokens=9",
            "reactive.input.chars=900",
        ],
    ),
    (
        "lcc-s08-late",
        &[
            "auto.threshold=9000",
            "snip.max_messages=7",
            "budget.max_bytes=500",
            "budget.min_chars=99",
            "auto.max_tokens=9",
            "reactive.max_tokens=9",
        ],
    ),
    (
        "claude-code",
        &[
            "auto.threshold=0.5 * window",
            "window=3000",
            "auto.max_tokens=20",
            "cap.max_bytes=200",
            "cap.tool_limits={ Bash = 99 }",
            "cap.preview_chars=20",
            "budget.max_bytes=500",
            "idle.enabled=true",
            "restore.max_tokens_each=50",
        ],
    ),
    (
        "claude-code-cached-mc",
        &["auto.threshold=0.8 * window", "window=3000", "cached.keep_recent=1", "cached.clear_at_least=90", "cap.max_bytes=400"],
    ),
    ("anthropic-clear", &["clear.threshold=300", "clear.keep_recent=1", "clear.clear_inputs=true"]),
    ("observation-mask", &["mask.keep_recent=2", "mask.clear_at_least=150", "mask.clear_inputs=true"]),
    ("swe-agent", &["mask.keep_recent_results=1", "mask.stride=3"]),
    ("langchain-clear", &["clear.threshold=60", "clear.keep_recent_results=1", "clear.clear_inputs=true"]),
    ("openai-agents-trimmer", &["trim.protect_turns=1", "trim.max_chars=99", "trim.keep_head=9"]),
    ("autogen-buffered", &["window.max_messages=4"]),
    ("autogen-head-and-tail", &["window.max_messages=5"]),
    ("autogen-token-limited", &["window.keep_recent_tokens=40"]),
    ("autogen-token-limited", &["window.keep_recent_tokens=60", "window.keep_first=2"]),
    ("strands-window", &["window.max_messages=4", "window.when=always"]),
    ("vercel-prune", &["prune.max_messages=3"]),
    ("semantic-kernel-truncation", &["window.max_messages=3"]),
    ("langchain-summarize", &["auto.threshold=7", "auto.keep_recent_messages=3", "auto.input.tokens=50"]),
    ("openhands-recent", &["window.max_messages=6"]),
    ("openhands-amortized", &["forget.threshold=9", "forget.max_messages=4"]),
    ("deepagents", &["auto.threshold=150", "auto.keep_recent_messages=2", "large.max_bytes=90"]),
    ("goose", &["auto.threshold=200", "auto.max_tokens=9"]),
    ("qwen-code", &["auto.threshold=300", "auto.max_tokens=9", "restore.max_tokens_each=50"]),
    ("complexity-trap-hybrid", &["auto.when={ calls = 3 }", "auto.keep_recent_messages=2", "mask.keep_recent_results=1"]),
    ("openhands", &["condense.threshold=9", "condense.keep_first=2", "condense.keep_recent_messages=4"]),
    ("google-adk", &["recent.keep_recent_turns=1"]),
    ("langchain-trim", &["window.keep_recent_tokens=60"]),
    ("langchain-trim", &["window.keep_recent_tokens=60", "window.cut=batch", "window.keep_first=1"]),
    ("langchain-trim", &["window.keep_recent_tokens=90", "window.cut=batch"]),
    ("agent-framework-window", &["window.keep_recent_groups=2"]),
    ("agent-framework-window", &["window.scope=request", "window.keep_recent_groups=3", "window.keep_first=1"]),
    ("agent-framework-truncation", &["window.threshold=7", "window.max_messages=3"]),
    ("semantic-kernel-summary", &["auto.threshold=5", "auto.keep_recent_messages=5"]),
    ("strands-summary", &["auto.max_tokens=9", "auto.keep_recent_messages=2"]),
    ("llama-index-buffer", &["window.keep_recent_tokens=40"]),
    ("llama-index-summary", &["auto.keep_recent_tokens=40", "auto.max_tokens=9"]),
    ("agent-framework-summary", &["auto.threshold=3", "auto.keep_recent_messages=2", "auto.max_tokens=9"]),
    ("agent-framework-tools", &["tools.scope=request", "tools.keep_recent_groups=2"]),
    ("agent-framework-results", &["tools.keep_recent_groups=0", "tools.max_chars=60"]),
    (
        "agent-framework-context-window",
        &["tools.threshold=150", "tools.keep_recent_groups=1", "window.threshold=200", "window.keep_recent_tokens=150"],
    ),
    ("llama-index-memory", &["window.keep_recent_tokens=40", "window.remove_at_least=15"]),
    (
        "llama-index-memory",
        &["window.keep_recent_tokens=60", "window.remove_at_least=25", "window.cut=batch", "window.keep_first=1"],
    ),
    ("llama-index-memory", &["window.scope=request", "window.keep_recent_tokens=40", "window.remove_at_least=15"]),
    ("kimi-cli", &["auto.threshold=200", "auto.max_tokens=9"]),
    ("codex-cli", &["auto.threshold=200", "auto.max_tokens=9", "auto.typed.keep=20"]),
    ("opencode", &["auto.threshold=200", "auto.max_tokens=9", "auto.keep_recent_tokens=50"]),
    ("gemini-cli", &["auto.threshold=200", "auto.max_tokens=9"]),
    (
        "gemini-cli",
        &[
            "mask.keep_recent_tokens=90",
            "mask.clear_at_least=40",
            "mask.save.preview_chars=4",
            "mask.placeholder=<{path}: {head}…{tail}>",
        ],
    ),
    ("pi", &["auto.threshold=200", "auto.max_tokens=9", "auto.keep_recent_tokens=50"]),
    ("cline", &["auto.threshold=200", "auto.max_tokens=9", "auto.keep_recent_tokens=50"]),
    ("camel", &["auto.threshold=200", "auto.max_tokens=9"]),
    ("anthropic-clear-all", &["clear.threshold=300", "clear.keep_recent=1"]),
    ("openai-compact", &["auto.threshold=200", "auto.max_tokens=9", "auto.typed.keep=20"]),
    ("openai-truncation", &["window.keep_recent_tokens=200"]),
    ("openai-truncation", &["window.keep_recent_tokens=400"]),
    ("copilot-cli", &["auto.threshold=200", "auto.max_tokens=9", "auto.typed.keep=20"]),
    ("copilot-chat", &["auto.threshold=200", "auto.max_tokens=9", "auto.on_cap=clip"]),
    ("inspect-edit", &["clear.threshold=200", "clear.keep_recent_results=1"]),
    ("inspect-summary", &["auto.threshold=200", "auto.max_tokens=9"]),
    ("crewai", &["auto.max_tokens=9", "auto.input.chars=900", "auto.input.head_chars=300"]),
    ("mastra-tools", &["filter.protect_turns=2"]),
    ("haystack-prune", &["prune.threshold=400", "prune.down_to=150", "prune.min_chars=20"]),
    (
        "haystack-offload",
        &["offload.threshold=400", "offload.down_to=150", "offload.min_chars=20", "offload.save.preview_chars=9"],
    ),
    (
        "openclaw",
        &[
            "trim.when=always",
            "trim.threshold=200",
            "trim.max_length=60",
            "trim.keep_head=20",
            "trim.keep_tail=20",
            "clear.when=always",
            "clear.threshold=300",
            "clear.down_to=200",
            "auto.threshold=400",
            "auto.max_tokens=9",
            "auto.keep_recent_tokens=50",
        ],
    ),
    ("spring-ai", &["window.max_messages=4"]),
    ("aider", &["auto.threshold=100", "auto.max_tokens=9", "auto.keep_recent_tokens=50"]),
];

/// Layers that no preset has.
const OWN: [&str; 14] = [
    r#"
        [[layer]]
        id = "entry"
        do = "truncate"
        when = "entry"
        max_chars = 99
        keep_head = 40
        keep_tail = 40

        [[layer]]
        id = "same"
        do = "dedupe"
        min_chars = 0
        placeholder = "[same]"

        [[layer]]
        id = "snip"
        do = "drop"
        max_messages = 6
        keep_first = 2
        marker = "[{n} gone]"
    "#,
    r#"
        [[layer]]
        id = "reads"
        do = "dedupe"
        key = "path"
        keep = "last"
        min_chars = 0
        lists = "repr"

        [[layer]]
        id = "cut"
        do = "truncate"
        parts = ["text", "tool-result"]
        max_chars = 100
        keep_head = 0
        keep_tail = 0
        marker = ""
        lists = "skip"

        [[layer]]
        id = "auto"
        do = "summarize"
        when = { calls = 3 }
        keep_recent = 3
        cut = "anywhere"
        ack = "Understood."

        [[layer]]
        id = "restore"
        do = "restore"
        when = { after = ["auto"] }
        tools = ["Read", "read_file"]
        max_tokens = 90
    "#,
    r#"
        [[layer]]
        id = "archive"
        do = "archive"
        when = { before = ["turns"] }

        [[layer]]
        id = "turns"
        do = "summarize"
        when = { turns = 2 }
        keep = "entered"

        [[layer]]
        id = "micro"
        do = "clear"
        scope = "request"
        keep_recent = 2
        protect_unseen = true
        keep_errors = true

        [[layer]]
        id = "window"
        do = "drop"
        scope = "request"
        max_messages = 5
        keep_first = 1
        cut = "pull-back"
    "#,
    r#"
        [[layer]]
        id = "budget"
        do = "persist"
        when = { calls = 2 }
        max_bytes = 99

        [[layer]]
        id = "cap"
        do = "truncate"
        scope = "server"
        when = { calls = 3 }
        max_chars = 60
        keep_head = 20
        keep_tail = 20

        [[layer]]
        id = "batch"
        do = "clear"
        keep_recent = 1
        clear_at_least = 120

        [[layer]]
        id = "window"
        do = "drop"
        max_messages = 8

        [[layer]]
        id = "view"
        do = "clear"
        scope = "request"
        clear_at_least = 50
        clear_inputs = true
    "#,
    r#"
        [[layer]]
        id = "now-and-then"
        do = "clear"
        scope = "request"
        when = { calls = 2 }
        keep_recent = 1
    "#,
    r#"
        [[layer]]
        id = "over"
        do = "drop"
        scope = "request"
        threshold = 900
        max_messages = 4
        marker = "[{n} gone]"
    "#,
    r#"
        [[layer]]
        id = "snip"
        do = "drop"
        max_messages = 7
        keep_first = 2
        cut = "anywhere"
        repair = "drop"
        marker = "[{n} gone]"

        [[layer]]
        id = "window"
        do = "drop"
        scope = "request"
        max_messages = 5
        keep_first = 1
        cut = "anywhere"
        repair = "drop"
    "#,
    r#"
        [[layer]]
        id = "window"
        do = "drop"
        scope = "request"
        max_messages = 6
        keep_first = 2
        cut = "anywhere"
        repair = "drop"
        marker = "[{n} gone, {excess} too many]"
    "#,
    r#"
        [[layer]]
        id = "window"
        do = "drop"
        scope = "request"
        max_messages = 6
        keep_first = 2
        cut = "pull-back"
        protect_turns = 1
        marker = "[{n} gone]"
    "#,
    r#"
        [[layer]]
        id = "tools"
        do = "drop"
        scope = "request"
        max_messages = 5
        keep_first = 2
        parts = "tools"
        cut = "turn"
        snap = "forward"
    "#,
    r#"
        [[layer]]
        id = "auto"
        do = "summarize"
        when = { calls = 4 }
        keep_recent = 2
        cut = "turn"

        [[layer]]
        id = "window"
        do = "drop"
        scope = "request"
        max_messages = 3
        keep_first = 0
        cut = "turn"
        protect_turn = true
    "#,
    r#"
        [[layer]]
        id = "recent"
        do = "keep"
        turns = 4
        keep_first = 0
        marker = "[{n} gone]"

        [[layer]]
        id = "view"
        do = "keep"
        scope = "request"
        turns = 2
    "#,
    r#"
        messages = "event"

        [[layer]]
        id = "window"
        do = "drop"
        scope = "request"
        max_messages = 6
        keep_first = 2
        snap = "forward"

        [[layer]]
        id = "tools"
        do = "drop"
        scope = "request"
        max_messages = 3
        keep_first = 1
        parts = "tools"
    "#,
    r#"
        messages = "results-apart"

        [[layer]]
        id = "window"
        do = "drop"
        when = "turn-end"
        max_messages = 5
        keep_first = 1
        cut = "turn"
        snap = "forward"
        marker = "[{excess} over, {n} gone]"

        [[layer]]
        id = "auto"
        do = "summarize"
        when = { calls = 3 }
        keep_first = 1
        keep_recent_messages = 2
        snap = "forward"

        [[layer]]
        id = "cut"
        do = "truncate"
        scope = "request"
        protect_turns = 2
        max_chars = 90
        keep_head = 20
        keep_tail = 20
        marker = "<{len} of {tool}, {n} cut>"
    "#,
];
