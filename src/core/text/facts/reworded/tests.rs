use super::super::FactKind::{self, File, Hash, Identifier, Line, Number, Path, Quoted, Url};
use super::*;

fn says(text: &str, kind: FactKind, fact: &str) -> bool {
    let parts = parts(kind, fact);
    !parts.is_empty() && parts.iter().all(|part| part.is_in(text))
}

#[test]
fn a_text_says_a_fact_in_other_words() {
    for (kind, fact, texts) in [
        (
            Identifier,
            "max_idle",
            &[
                "maxIdle",
                "MAX_IDLE",
                "--max-idle",
                "TestMaxIdles(",
                "maxIdle2",
                "x_max.idle",
                r"a\nmax_idle_ms",
                "최대max_idle는",
            ][..],
        ),
        (Identifier, "maxIdles", &["max_idle"]),
        (Identifier, "IdlePool", &["TreeIdlePoolSize"]),
        (Identifier, "evictIdlePool", &["to evict idle pools"]),
        (Identifier, "v1_23", &["V1-23"]),
        (Identifier, "E0382", &["error e0382:"]),
        (Identifier, "#48", &["net/pull/48#top", "gh pr view 48 --json"]),
        (
            Path,
            "net/pool.rs",
            &[
                "cd src/net && cat pool.rs",
                "join('net', 'pool.rs')",
                "cd net\ncat pool.rs",
                "NET=src/net cat \"${NET}\"/pool.rs",
                "from './net/pool'",
            ],
        ),
        (Path, "net/idle_pool.ex", &["Web.Net.IdlePool", "net/ has the idle_pool"]),
        (Path, "net/pool_test.go", &["src/net/pool.go"]),
        (Path, "net/test_pool.py", &["net/pool.py"]),
        (Path, "feat/evict-idle", &["git push feat/x\nbranch evict-idle"]),
        (File, "idle-pool.rs", &["class IdlePool"]),
        (Url, "https://a.example/", &["https://a.example/idle.png"]),
        (Quoted, "cargo test -q 'idle pool'", &[r#"{"cmd":"cargo test  -q \"idle pool\""}"#]),
        (Line, "let idle = 1;", &["12:let idle=1;"]),
        (Number, "10.80.0.7", &["at `10.80.0.7` or 10.80.0.7:22"]),
    ] {
        for text in texts {
            assert!(says(text, kind, fact), "{fact}: {text}");
        }
    }
}

#[test]
fn a_text_without_all_of_a_fact_does_not_say_it() {
    for (kind, fact, texts) in [
        // Any text may have two plain words in a row, and a longer word is another one.
        (
            Identifier,
            "max_idle",
            &["max idle", "max  _idle", "max__idle", "climax_idle", "max_idler", "MAX_IDLERS", "max/idle"][..],
        ),
        (Identifier, "evictIdlePool", &["to evict  idle pools", "evict idle swimming pool"]),
        (Identifier, "v1_23", &["v12_3", "v123", "v1_234"]),
        (Identifier, "#48", &["48", "pull/480", "48 issues"]),
        (
            Path,
            "net/pool.rs",
            &["pool.rs of the net.", "net/idle/ and web/pool.rs", "net/ and liverpool.rs", "src/net and pool.rst", "net/pools"],
        ),
        (Path, "net/idle_pool.ex", &["IdlePool", "Net.Idle and Pool", "net/ and idle-pool.json"]),
        (Path, "net/pool_test.go", &["web/pool.go and net/"]),
        (Path, "docs/tests", &["docs/ and tests"]),
        (File, "pool.rs", &["pool", "src/pool.ts"]),
        (Url, "https://a.example/1", &["https://a.example/12"]),
        (Quoted, "the idle pool", &["the idle  swimming pool", "the Idle pool"]),
        (Number, "10.80.0.7", &["10.80.0.78", "110.80.0.7"]),
        (Number, "48213", &["48213"]),
        (Number, "1.0.0", &["1.0.0"]),
        (Hash, "9d3b4c3", &["9d3b4c3"]),
    ] {
        for text in texts {
            assert!(!says(text, kind, fact), "{fact}: {text}");
        }
    }
}
