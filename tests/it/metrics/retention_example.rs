//! A worked example with small numbers: what an agent saw, what it used, and what a policy that sends only the
//! newest result, or the newest three, would have kept.
//!
//! | entered | | tokens |
//! |---|---|---|
//! | before call 1 | the user: *Fix the timeout in src/net/pool.rs; never touch vendor/old_pool.* | 20 |
//! | of call 1 | `src/net/pool.rs`, with `const MAX_IDLE_MS: u64 = 30_000;` | 600 |
//! | of call 2 | a test run: `pool::evict_idle FAILED` | 900 |
//! | of call 3 | `tests/pool_it.rs` | 500 |
//!
//! Call 4 edits the line of the file, call 5 runs the failed test, call 6 says that the rule was obeyed.

use recompact::engine::journal::Journal;
use recompact::engine::policy::Policy;
use recompact::engine::replay::NoObserver;
use recompact::facts::extract::FactKind;
use recompact::facts::references::References;
use recompact::metrics::retention::{Grain, OutcomeWeights, Retention, UseOutcome, bounds, evaluate, oracle_instance};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::transcript::conversation::{BlockId, Conversation};

use crate::support::notation;
use crate::support::trial::{Trial, preset_with};

/// Weights of the facts, in round numbers; their sum is 10.
const WEIGHTS: [(FactKind, &str, f64); 5] = [
    (FactKind::Path, "net/pool.rs", 1.0),
    (FactKind::Identifier, "MAX_IDLE_MS", 2.0),
    (FactKind::Line, "const MAX_IDLE_MS: u64 = 30_000;", 3.0),
    (FactKind::Identifier, "evict_idle", 2.0),
    (FactKind::Path, "vendor/old_pool", 2.0),
];
/// In this example a token has four characters.
const CHARS: usize = 4;

/// A text with this number of tokens.
fn padded(text: &str, tokens: usize) -> String {
    assert!(text.len() <= tokens * CHARS, "`{text}` has more");
    format!("{text}{{.*{}}}", tokens * CHARS - text.len())
}

/// Six calls.
fn session() -> Conversation {
    let user = padded("Fix the timeout in src/net/pool.rs; never touch vendor/old_pool. Thank you", 20);
    let pool = padded("const MAX_IDLE_MS: u64 = 30_000;\n", 600).replace('\n', "\\n");
    let test = padded("pool::evict_idle FAILED", 900);
    let pool_it = padded("fn idle() {}", 500);
    let line = "const MAX_IDLE_MS: u64 = 30_000;";
    let text = format!(
        "user: {user}
assistant: [Read#1 file_path=src/net/pool.rs]
result#1: {pool}
assistant: [Bash#2 cargo nextest]
result#2: {test}
assistant: [Read#3 file_path=tests/pool_it.rs]
result#3: {pool_it}
assistant: [Edit#4 file_path=src/net/pool.rs; old_string={line}; new_string=const LONGER]
result#4: ok
assistant: [Bash#5 cargo nextest evict_idle]
result#5: passed
assistant: vendor/old_pool is untouched"
    );
    notation::parse(&text).unwrap_or_else(|what| panic!("{what}"))
}

/// Sends only the newest results; each older one is cut to this number of characters.
fn mask(keep: usize, placeholder: usize) -> Trial {
    let placeholder = format!("{:.<placeholder$}", "[cleared]");
    let toml = format!(
        "name = \"mask\"\n[[layer]]\nid = \"mask\"\ndo = \"clear\"\nkeep_recent = {keep}\nmin_chars = 0\nplaceholder = \"{placeholder}\""
    );
    of(Policy::parse(&toml, "mask", &[]).unwrap_or_else(|error| panic!("{error}")))
}

fn of(policy: Policy) -> Trial {
    Trial { counter: "chars/4".parse().expect("a meter"), ..Trial::new(policy) }
}

/// The replay of the session under a policy, with its retention.
struct Example {
    conversation: Conversation,
    references: References,
    journal: Journal,
    kept: Retention,
}

fn example(trial: &Trial) -> Example {
    let conversation = session();
    let mut references = References::new(&conversation, tokens(&conversation));
    for used in &references.uses {
        let fact = &mut references.facts[used.fact as usize];
        let row = WEIGHTS.iter().find(|row| (row.0, row.1) == (fact.kind, &fact.text));
        fact.weight = row.unwrap_or_else(|| panic!("{fact:?} is none of the five")).2;
    }
    assert_eq!(references.uses.len(), WEIGHTS.len());
    let journal = trial.replay(&conversation, &mut NoObserver);
    let kept = evaluate(&conversation, &references, &journal, &tokens(&conversation));
    Example { conversation, references, journal, kept }
}

fn tokens(conversation: &Conversation) -> impl Fn(BlockId) -> u64 {
    let counter = of(preset_with("keep-all", &[])).counter;
    let sizes = BlockSizes::new(conversation, [counter.unit]);
    move |block| counter.apply(sizes.size(block, counter.unit))
}

/// Returns the shares of hits, soft misses, stale uses and hard misses.
fn shares(share: &OutcomeWeights) -> [f64; 4] {
    [share.hit, share.soft, share.stale, share.hard].map(|part| part / share.weight)
}

/// Returns the outcome of the use of a fact.
fn outcome(example: &Example, text: &str) -> UseOutcome {
    let is_it = |fact: u32| example.references.facts[fact as usize].text == text;
    let at = example.references.uses.iter().position(|used| is_it(used.fact)).expect(text);
    example.kept.outcomes[at]
}

const HIT: UseOutcome = UseOutcome::Hit { in_summary: false };

#[test]
fn example_sizes_equal_the_documented_table() {
    let conversation = session();
    let entered = [0, 2, 4, 6].map(|message| conversation.messages[message].blocks[0]);
    assert_eq!(entered.map(tokens(&conversation)), [20, 600, 900, 500]);
}

/// At call 4 only result 3 is in the context. The path is in the user's message; the line and its name are gone, but the path
/// leads to them. At call 5 the output of the test run is gone: the run can be repeated, but call 4 edited a file. At call 6 the message is in the context.
#[test]
fn example_with_one_result_kept() {
    let example = example(&mask(1, 9));
    assert_eq!(outcome(&example, "net/pool.rs"), HIT);
    assert_eq!(outcome(&example, "MAX_IDLE_MS"), UseOutcome::Soft { quoted: false });
    assert_eq!(outcome(&example, "const MAX_IDLE_MS: u64 = 30_000;"), UseOutcome::Soft { quoted: false });
    assert_eq!(outcome(&example, "evict_idle"), UseOutcome::Stale);
    assert_eq!(outcome(&example, "vendor/old_pool"), HIT);
    assert_eq!(shares(&example.kept.all), [0.3, 0.5, 0.2, 0.0]);
    // The file, and `Read` with `{"file_path":"src/net/pool.rs"}`: 35 characters. One fetch for both facts.
    assert_eq!(example.kept.reread_tokens(), 600 + 35 / CHARS as u64);
    // The task and the rule, in six requests.
    assert_eq!((example.kept.rules_held, example.kept.rules), (12, 12));
}

/// Results 1 to 3 are in the context at call 4, and 2 to 4 at call 5.
#[test]
fn example_with_three_results_kept() {
    let example = example(&mask(3, 9));
    assert_eq!(shares(&example.kept.all), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(example.kept.reread_tokens(), 0);
}

#[test]
fn example_with_all_and_with_no_results_kept() {
    assert_eq!(shares(&example(&of(preset_with("keep-all", &[]))).kept.all), [1.0, 0.0, 0.0, 0.0]);
    assert_eq!(shares(&example(&of(preset_with("drop-all", &[]))).kept.all), [0.0, 0.0, 0.0, 1.0]);
}

/// With placeholders of 149 characters one visible result makes 620 tokens at call 4: 20 and 500, and 100 for two
/// placeholders and three calls of 35, 31 and 36 characters. The oracle keeps the message and the file in
/// them, and not the test run: 1 + 2 + 3 + 2 of 10, which is the optimum. So the policy had three eighths of what was
/// possible.
#[test]
fn example_clairvoyant_bound_with_equal_tokens() {
    let example = example(&mask(1, 149));
    assert_eq!(shares(&example.kept.all), [0.3, 0.5, 0.2, 0.0]);
    assert_eq!(example.journal.requests[3].tokens, 620);
    let tokens = tokens(&example.conversation);
    let instance = oracle_instance(&example.conversation, &example.references, Grain::Blocks, &tokens);
    let bounds = bounds(&instance, &example.journal, true);
    assert_eq!(bounds.weight / example.kept.all.weight, 0.8);
    if cfg!(feature = "exact") {
        let upper = bounds.upper.expect("a bound");
        assert!((upper - 8.0).abs() < 1e-6, "{upper}");
    }
    assert_eq!(example.kept.all.hit / bounds.weight, 0.375);
}
