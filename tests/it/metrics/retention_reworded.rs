//! Facts that a request lacks and says in other words.

use recompact::engine::policy::Policy;
use recompact::metrics::retention::UseOutcome;

use crate::metrics::retention_page::looked_up;
use crate::support::notation;
use crate::support::trial::Trial;

/// Result 1 names a fact, the request of call 4 has only `rest` in its place, and call 4 uses the fact.
fn outcome(fact: &str, rest: &str) -> UseOutcome {
    let toml =
        format!("name = \"p\"\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nwhen = {{ calls = 3 }}\ntemplate = \"{rest}\"");
    let trial = Trial::new(Policy::parse(&toml, "p", &[]).unwrap_or_else(|error| panic!("{error}")));
    let text = format!(
        "user: Look around\nassistant: I look [Bash#1 make]\nresult#1: {fact}\nassistant: I go on [Bash#2 make]\nresult#2: made\n\
         assistant: I go on [Bash#3 make]\nresult#3: made\nassistant: I use {fact}\n"
    );
    let (references, kept) = looked_up(&notation::parse(&text).expect("a conversation"), &trial);
    assert_eq!(references.uses.len(), 1, "{text}");
    kept.outcomes[0]
}

#[test]
fn what_a_request_says_in_other_words_is_not_lost() {
    for (fact, rest) in [
        ("max_idle", "see maxIdle"),
        ("src/net/pool.rs", "cd src/net and open pool.rs"),
        ("net/idle_pool.ex", "Web.Net.IdlePool"),
    ] {
        assert_eq!(outcome(fact, rest), UseOutcome::Reworded, "{fact}: {rest}");
    }
    for (fact, rest) in [("max_idle", "see idle"), ("src/net/pool.rs", "open pool.rs"), ("net/idle_pool.ex", "see IdlePool")] {
        assert_eq!(outcome(fact, rest), UseOutcome::Hard, "{fact}: {rest}");
    }
}
