use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::adjacency::{LineAnchors, MAX_ANCHORS};
use super::*;

/// Returns `kind text` of the facts that a text states, in order.
fn words(text: &str) -> String {
    let mut all = Vec::new();
    in_text(text, &mut |seen| {
        if seen.said {
            all.push(format!("{} {}", seen.kind.name(), seen.text));
        }
    });
    all.join(", ")
}

fn lines(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    in_text(text, &mut |seen| all.extend((seen.kind == FactKind::Line).then(|| seen.text.to_owned())));
    all
}

/// The facts of a text, without byte lengths.
type Set = BTreeSet<(FactKind, String, u32, Vec<u64>)>;

fn set(text: &str) -> Set {
    let mut all = Set::new();
    in_text(text, &mut |seen| _ = all.insert((seen.kind, seen.text.to_owned(), seen.line, seen.anchors.to_vec())));
    all
}

/// Returns the anchors of a fact that occurs once.
fn anchors(text: &str, fact: &str) -> Vec<u64> {
    let mut found = Vec::new();
    in_text(text, &mut |seen| found.extend((seen.text == fact).then(|| seen.anchors.to_vec())));
    assert_eq!(found.len(), 1, "{text}");
    found.remove(0)
}

#[test]
fn extraction_of_words_follows_the_rules() {
    for (text, facts) in [
        // Paths: the last two components, for any beginning.
        ("see src/net/pool.rs.", "path net/pool.rs"),
        ("see /home/me/src/net/pool.rs:12:3", "path net/pool.rs"),
        ("./net/pool.rs", "path net/pool.rs"),
        ("~/net/pool.rs ../net/pool.rs", "path net/pool.rs, path net/pool.rs"),
        ("+a/net/pool.rs", "path net/pool.rs"),
        ("-net/pool.rs", "path net/pool.rs"),
        ("cd src/net/ and ./src/pool, read/write", "path src/pool"),
        // A list of words, unless one is a folder of sources or has a sign.
        ("build/typecheck/test raw/gzip/brotli/ GET/PUT/HEAD", ""),
        (
            "apps/net/trace net/idlePool/size net/pool_2/size /net/pool/size",
            "path net/trace, path idlePool/size, path pool_2/size, path pool/size",
        ),
        ("see build/typecheck. and test/target., of src/net.", ""),
        // A list of files, a range of commits.
        ("AGENTS.md/trace.rs of src/pool.rs/idle.rs", "path pool.rs/idle.rs, file trace.rs"),
        (
            "main...feat/evict-idle v1.2.0..v1.3.0 net/../pool/idle.rs",
            "path feat/evict-idle, path pool/idle.rs, number v1.2.0, number v1.3.0",
        ),
        // What a redactor left, and types.
        ("xxxx@xxxxxxxxx.xx me/.REDACTED.md REDACTED_TOKEN_3 xxxx-xxxxx-xxxx uint64 ES2022", ""),
        ("@scope/my-package+x", "path @scope/my-package+x"),
        ("net//pool.rs", "path net//pool.rs"),
        ("net/pool.rs-12-let max_idle = 1", "path net/pool.rs, identifier max_idle"),
        ("2024/01/02 1/200 and/or /tmp", ""),
        // A phrase is no name.
        ("side-by-side Nice-to-Have point-to-v2", "identifier point-to-v2"),
        // Six characters, not six bytes.
        ("пул-2 пулы-2", "identifier пулы-2"),
        // The address of a service, where the number is another word.
        ("pulls/235/comments runs/235811/idle src/2/net/pool.rs", "path 235811/idle, path net/pool.rs"),
        // The paths of Windows, also in quoted programs; an escape is none.
        (r"in D:\home\net\pool.rs", "path net/pool.rs"),
        (r#""D:\\home\\net""#, "path home/net"),
        (r"src\net\pool.rs:12 pool\nidle.rs", "path net/pool.rs, file idle.rs"),
        (r"a\.rs \npool.rs C:\", "file pool.rs"),
        // Files, unless a path ends with the name; a call is not a file.
        ("open pool.rs, a-b.test.ts and .x.toml", "file pool.rs, file a-b.test.ts, file x.toml"),
        ("pool.rs\nin net/pool.rs", "path net/pool.rs"),
        ("./pool.rs", "file pool.rs"),
        ("reply.json() reply.json", "file reply.json"),
        ("pool.unknown i.e. pool..rs", ""),
        // Endings, and names of examples.
        ("x.tar.gz .tar.gz *.spec.ts file1.txt test.txt test_123 notes", "file x.tar.gz"),
        // Identifiers: an underscore, a digit or camel case.
        ("a_long b_c maxIdle rev512 connection HTTPS ______", "identifier a_long, identifier maxIdle, identifier rev512"),
        ("pool::max_idle self.maxIdle->nextOne", "identifier max_idle, identifier maxIdle, identifier nextOne"),
        ("größe_max 1_000_000 30500ms 0001_begin", "identifier größe_max, identifier 0001_begin"),
        ("pool_size—maxIdle “in_quotes”", "identifier pool_size, identifier maxIdle, identifier in_quotes"),
        ("\"one\\nnext_line\\tnextWord\"", "identifier next_line, identifier nextWord"),
        (r"rg '\bmax_idle\b|\wnextWord'", "identifier max_idle, identifier nextWord"),
        // Codes, issues, options, and names with hyphens, dots or an address.
        ("E0382 GH006 A12 UTF8 ABCD12 #48 #4 a#48 #48a", "identifier E0382, identifier GH006, identifier ABCD12, identifier #48"),
        ("--no-verify --verify a--no-b --evict-idle-pool", ""),
        (
            "evict-idle-pool re-run-it sha-256 pool-v2 state-of",
            "identifier evict-idle-pool, identifier sha-256, identifier pool-v2",
        ),
        ("max_idle-in-the-pool run-48213", "identifier max_idle, identifier run-48213, number 48213"),
        ("pool.idle.limit pool.limit pool.idle.limit()", "identifier pool.idle.limit"),
        ("me@host.example @me a@b left-pad@1.3.0.", "identifier me@host.example, identifier left-pad@1.3.0"),
        ("Claude <noreply@anthropic.com> or <xxxxxxx@anthropic.com>", ""),
        ("localhost:8471 10.0.0.7:80, host:80 localhost:80x", "identifier localhost:8471, identifier 10.0.0.7:80"),
        // The default ports of this machine.
        ("localhost:8080 http://127.0.0.1:3000 http://localhost:5173/ 10.0.0.7:8080", "identifier 10.0.0.7:8080"),
        ("http://localhost:8080/idle", "url http://localhost:8080/idle"),
        // Hashes.
        ("9d3b4c3 9d3b4c deadbeef 9d3b4c3x", "hash 9d3b4c3"),
        ("1f0c-2 1f0c2d3e-4b5a-4c6d-8e7f-9a0b1c2d3e4f", "hash 1f0c2d3e-4b5a-4c6d-8e7f-9a0b1c2d3e4f"),
        // URLs: no path in them.
        ("(https://a.example/b_long/pool.rs?q=1).", "url https://a.example/b_long/pool.rs?q=1"),
        ("git+https://a.example/x 'http://b.example/'", "url https://a.example/x, url http://b.example/"),
        ("[https://a.example/x](https://b.example/x[1])", "url https://a.example/x, url https://b.example/x[1"),
        ("http://${HOST} xhttp://a.example", ""),
        ("at https://a.example/pool:0 http://a.example:8471", "url https://a.example/pool, url http://a.example:8471"),
        // Quoted strings: words in them are words.
        ("\"the pool_size is\" `no space`", "identifier pool_size, quoted the pool_size is, quoted no space"),
        ("\"short a\" \"withoutspace\" \"open at the end", ""),
        (
            r#"run("say \"the pool is\" and \"it is full\"")"#,
            "quoted the pool is, quoted it is full, quoted say \\\"the pool is\\\" and \\\"it is full\\\"",
        ),
        ("say 'the pool is' and don't 'it isn't full'", "quoted the pool is, quoted it isn't full"),
        // Numbers, no round ones; of four digits, no years either.
        ("12345 4711 v1.2.3 1.2 10.0.0.7.", "number 12345, number 4711, number v1.2.3, number 10.0.0.7"),
        ("123 1999 2026 8000 1024 12000 1000000 12_000 .github/workflows/ 65536", "number 65536"),
        // Names on the stop list.
        ("gh pr view --json headRefOid,publishedAt | ForEach-Object { $_.LastWriteTime.TotalSeconds }", ""),
        (
            "README.md Co-Authored-By prepare-commit-msg result.json SendMessage file_path max_output_tokens fontWeight /dev/null http://localhost 127.0.0.1",
            "",
        ),
    ] {
        assert_eq!(words(text), facts, "{text:?}");
    }
}

#[test]
fn a_line_says_more_than_a_name() {
    assert_eq!(
        lines("  max_idle_per_host,\n\"max_idle\": [\nidle(max_idle)\n最大空闲连接数量每一个主机是八\nab cd"),
        ["idle(max_idle)", "最大空闲连接数量每一个主机是八"]
    );
}

#[test]
fn line_facts_are_trimmed_without_diff_sign() {
    let text = "\tlet idle = pool.idle();  \r\n+   let idle = pool.idle();\n- let idle = pool.idle();\n--- a file of the diff ---\nshort";
    let line = "let idle = pool.idle();";
    assert_eq!(lines(text), [line, line, line, "--- a file of the diff ---"]);
    for place in ["src/pool.rs:12:", "src/pool.rs-12-", "12:", "12-", "  1204-    "] {
        assert_eq!(lines(&format!("{place}{line}")), [line], "{place}");
    }
    assert_eq!(lines("see src/pool.rs:12: it is not new"), ["see src/pool.rs:12: it is not new"]);
    assert_eq!(lines("ééééééééééé"), [""; 0], "11 characters of two bytes");
    assert_eq!(lines("éééééééééééé").len(), 1);
}

#[test]
fn numbers_hashes_and_strings_have_anchors() {
    let pool = [key(FactKind::Path, "net/pool.rs"), key(FactKind::File, "pool.rs"), key(FactKind::Identifier, "max_idle")];
    assert_eq!(anchors("src/net/pool.rs: max_idle = 30500", "30500"), [pool[2], pool[1], pool[0]]);
    assert_eq!(anchors("30500 is max_idle", "30500"), [pool[2]]);
    assert_eq!(anchors("pool.rs has \"a long text\"", "a long text"), [pool[1]]);
    assert_eq!(anchors("9d3b4c3 max_idle", "9d3b4c3"), [pool[2]]);
    assert_eq!(anchors("max_idle\n30500", "30500"), [0; 0], "not on its line");
    assert_eq!(anchors(&format!("max_idle{} 30500", " a".repeat(39)), "30500"), [pool[2]]);
    assert_eq!(anchors(&format!("max_idle{} 30500", " a".repeat(40)), "30500"), [0; 0], "41 words away");
    let many: String = (0..20).map(|n| format!("name_{n} ")).collect();
    assert_eq!(anchors(&format!("{many} 30500"), "30500").len(), MAX_ANCHORS);
}

#[test]
fn tool_and_terminal_decorations_are_removed() {
    let plain = "use net::max_idle; // 30500\n\n  see src/net/pool.rs and \"a long text\"";
    let read = "     1→use net::max_idle; // 30500\n     2→\n    10\t  see src/net/pool.rs and \"a long text\"";
    let coloured = "\x1b[1;32muse\x1b[0m net::max\x1b[4m_idle; // 30500\n\x1b]0;a title\x07\n  see \x1b]8;;http://a.example\x1b\\src/net/pool.rs\x1b(B and \"a long text\"";
    assert_eq!(set(plain), set(read));
    assert_eq!(set(plain), set(coloured));
    assert_eq!(
        words("\x1b]0;max_idle\npool_size \x1b[pool_low"),
        "identifier max_idle, identifier pool_size, identifier ool_low"
    );
    assert_eq!(words("cafe\u{301}_max"), words("café_max"));
}

#[test]
fn middle_of_a_long_text_is_skipped() {
    let text = format!("first_name\n{}\nmiddle_name\n{}\nlast_name", "x\n".repeat(30_000), "x\n".repeat(30_000));
    let seen: Vec<_> = set(&text).into_iter().map(|fact| (fact.1, fact.2)).collect();
    assert_eq!(seen, [("first_name".to_owned(), 0), ("last_name".to_owned(), 60_004)]);
}

#[test]
fn a_path_holds_the_name_of_its_file_and_does_not_say_it() {
    assert_eq!(words("**/*_test.rs"), "");
    let files = |text: &str| {
        let mut all = Vec::new();
        in_text(text, &mut |seen| all.extend((seen.kind == FactKind::File).then_some(seen.said)));
        all
    };
    assert_eq!([files("src/pool.rs"), files("pool.rs"), files("pool.rs and src/pool.rs")], [[false], [true], [false]]);
}

#[test]
fn a_path_shows_its_folders_and_a_hash_its_short_forms() {
    let shown = |text: &str| {
        let mut all = Vec::new();
        in_text(text, &mut |seen| {
            if !seen.said && matches!(seen.kind, FactKind::Path | FactKind::Hash | FactKind::Identifier) {
                all.push(seen.text.to_owned());
            }
        });
        all
    };
    assert_eq!(shown("/home/me/src/net/pool.rs"), ["home/me", "me/src", "src/net"].map(str::to_owned)[1..]);
    assert_eq!(shown("./src/./net/pool/idle.rs"), ["net/pool"]);
    assert_eq!(shown("net/pool.rs"), [""; 0]);
    assert_eq!(shown("read/write"), ["read/write"]);
    assert_eq!(shown("read/write/list/"), ["write/list", "read/write"]);
    assert_eq!(shown("tools/evict-idle-pool/dist"), ["evict-idle-pool", "tools/evict-idle-pool"]);
    assert_eq!(shown("Pool/IdlePool"), ["Pool/IdlePool", "IdlePool"]);
    assert_eq!(shown("./net/max_idle.9d3b4c3.rs"), ["max_idle", "9d3b4c3"]);
    assert_eq!(shown("https://a.example/evict-idle-pool?at=9d3b4c3&is=it"), ["evict-idle-pool", "9d3b4c3"]);
    assert_eq!(shown("http://localhost:8080/idle or https://10.0.0.7:443"), ["localhost:8080", "10.0.0.7:443"]);
    assert_eq!(shown("9d3b4c3a0"), ["9d3b4c3", "9d3b4c3a"]);
    assert_eq!(shown("9d3b4c3a0d1e2f3a4b5c").len(), 6);
}

#[test]
fn an_issue_shows_its_number() {
    let shown = |text: &str| {
        let mut all = Vec::new();
        in_text(text, &mut |seen| all.extend((seen.kind == FactKind::Number && !seen.said).then(|| seen.text.to_owned())));
        all
    };
    for text in
        ["#11028", "pool#11028", "see pull/11028, now", "https://a.example/me/pool/issues/11028#top", "me/pool/pulls/11028/files"]
    {
        assert_eq!(shown(text), ["11028"], "{text}");
    }
    // Three digits are no fact, and neither is what another folder has.
    assert_eq!(shown("#480 pull/480 runs/11028 #11028x"), [""; 0]);
}

#[test]
fn stop_list_entries_would_otherwise_be_facts() {
    let classes = bytes::classes_of;
    let is_fact = |kind, text: &str| match kind {
        FactKind::Identifier | FactKind::Number => {
            let simple = token::classify_simple(text, classes(text)).or(token::parse_version(text).map(|_| kind)) == Some(kind);
            let hyphenated = compound::parse_hyphenated(text, classes(text)) == Some((kind, text));
            simple || hyphenated || compound::parse_address(text).is_some()
        }
        FactKind::File => token::parse_file_name(text) == Some(text),
        FactKind::Path => token::parse_path(text).is_some_and(|path| path.canonical == text),
        _ => text.starts_with("http"),
    };
    for (kind, text) in common::entries() {
        assert!(is_fact(kind, text), "{text} is not a {}", kind.name());
        assert!(common::is_common(key(kind, text)), "{text}");
        assert!(!common::is_common(key(kind, &format!("{text}x"))), "{text}x");
    }
    let count = common::entries().count();
    assert!((300..=2000).contains(&count), "a table with free slots, not {count}");
    assert_eq!(common::entries().collect::<BTreeSet<_>>().len(), count, "each once");
    assert!(token::EXTENSIONS.is_sorted() && token::EXTENSIONS.iter().all(|known| known.len() <= token::MAX_EXTENSION_LEN));
}

#[test]
fn fact_keys_are_the_same_on_every_machine() {
    assert_eq!(key(FactKind::Path, "net/pool.rs"), 8_408_440_987_307_145_208);
    assert_eq!(key(FactKind::Identifier, "max_idle"), 10_341_314_688_342_841_224);
    assert_ne!(key(FactKind::File, "pool.rs"), key(FactKind::Identifier, "pool.rs"));
}

/// A second implementation of the rules, for one text at a time.
fn obeys(kind: FactKind, text: &str) -> bool {
    let chars = text.chars().count();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    let all = |extra: &str| text.chars().all(|c| is_word(c) || extra.contains(c));
    match kind {
        FactKind::Path => {
            let (before, name) = text.rsplit_once('/').unwrap_or_default();
            let lettered = name.contains(|c: char| c.is_ascii_alphabetic() || !c.is_ascii());
            all("./-@+~") && !before.is_empty() && name.chars().count() >= 3 && lettered && !name.ends_with('.')
        }
        FactKind::File => all("-.") && text.contains('.') && !text.starts_with('.') && !text.ends_with('.'),
        FactKind::Identifier => {
            let pairs: Vec<char> = text.chars().collect();
            let camel = pairs.windows(2).any(|two| two[0].is_ascii_lowercase() && two[1].is_ascii_uppercase());
            let begins = !text.starts_with(|c: char| c.is_ascii_digit());
            let digit = begins && text.contains(|c: char| c.is_ascii_digit());
            let simple = all("") && chars >= 6 && (text.contains('_') || camel || digit) && text.contains(|c: char| c != '_');
            let code = (4..=5).contains(&chars) && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
            let issue = text.strip_prefix('#').is_some_and(|number| number.chars().all(|c| c.is_ascii_digit()));
            let address = all(".-+~@") && text.matches('@').count() == 1;
            let port = text.rsplit_once(':').is_some_and(|(_, port)| port.chars().all(|c| c.is_ascii_digit()));
            let hyphened = all("-") && text.contains('-') && chars >= 6;
            let dotted = text.split('.').count() >= 3 && text.chars().all(|c| c.is_ascii_lowercase() || c == '.');
            simple || code || issue || address || port || hyphened || dotted
        }
        FactKind::Hash => {
            let hex = text.chars().all(|c| c.is_ascii_hexdigit());
            let both = text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic());
            hex && both && (7..=40).contains(&chars) || chars == 36 && text.matches('-').count() == 4
        }
        FactKind::Url => {
            let after = text.strip_prefix("http").map(|rest| rest.trim_start_matches('s'));
            after.is_some_and(|rest| rest.len() > 3 && rest.starts_with("://")) && !text.contains(char::is_whitespace)
        }
        FactKind::Line => {
            let words = text.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()).count();
            chars >= 12 && (words >= 2 || !text.is_ascii()) && text.trim() == text && !text.contains('\n')
        }
        FactKind::Quoted => (8..=100).contains(&chars) && text.contains(' ') && !text.contains('\n'),
        FactKind::Number => {
            let digits = text.trim_start_matches('v');
            let parts: Vec<&str> = digits.split('.').collect();
            let numbers = parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()));
            numbers && (parts.len() >= 3 || parts.len() == 1 && chars >= 4 && digits == text)
        }
    }
}

/// Generates texts of words that are almost facts, with separators between them.
fn texts() -> impl Strategy<Value = String> {
    const WORDS: [&str; 34] = [
        "evict-idle-pool",
        "--no-verify",
        "me@host.example",
        "localhost:8080",
        "pool.idle.limit",
        "E0382",
        "#48",
        "4711",
        r"D:\home\net\pool.rs",
        "/home/me/src/net/pool.rs",
        "a",
        "src",
        "pool.rs",
        "net/pool.rs",
        "max_idle",
        "maxIdle",
        "é_länge",
        "9d3b4c3",
        "1234567",
        "1.2.3",
        "v1",
        "https",
        "https://a.example/x",
        "日本語",
        "the",
        "x.toml.",
        "..",
        "~",
        "lorem",
        "___",
        "e\u{301}",
        "“",
        "😀",
        "\u{10D83D}",
    ];
    const BETWEEN: [&str; 18] =
        [" ", " ", " ", "'", "\\", "\n", "", ".", "/", "-", "\"", "`", ": ", "(", "\\n", "://", " \"", "  +"];
    let piece = (prop::sample::select(&WORDS[..]), prop::sample::select(&BETWEEN[..]));
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.into_iter().flat_map(|(word, sign)| [word, sign]).collect())
}

fn every_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    text.split('\n').enumerate().map(|(index, line)| change(index, line)).collect::<Vec<_>>().join("\n")
}

fn lawful(text: &str) {
    let (normal, breaks) = (normalize::normalize(text), text.matches('\n').count());
    in_text(text, &mut |seen| {
        assert!(obeys(seen.kind, seen.text), "{seen:?}");
        assert!(normal.contains(seen.text), "{seen:?}");
        assert_eq!(seen.key, key(seen.kind, seen.text));
        assert!(seen.line as usize <= breaks && seen.text.len() <= seen.line_bytes as usize, "{seen:?}");
        assert!(seen.anchors.len() <= MAX_ANCHORS, "{seen:?}");
        let may_be_shown =
            matches!(seen.kind, FactKind::File | FactKind::Path | FactKind::Hash | FactKind::Identifier | FactKind::Number);
        assert!(may_be_shown || seen.said == (seen.kind != FactKind::Line), "{seen:?}");
        let may_be_bound = matches!(seen.kind, FactKind::Quoted | FactKind::Number | FactKind::Hash);
        assert!(may_be_bound || seen.anchors.is_empty(), "{seen:?}");
        assert_eq!(seen.anchors.iter().collect::<BTreeSet<_>>().len(), seen.anchors.len(), "each once");
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sightings_obey_the_rule_of_their_kind(text in texts()) {
        lawful(&text);
    }

    #[test]
    fn extraction_of_strange_text_obeys_the_rules(text in "(?s).{0,80}", escapes in "[\u{1b}\\[\\]\u{7}\\\\0-9;m( a\n]{0,60}") {
        lawful(&text);
        lawful(&escapes);
    }

    #[test]
    fn facts_ignore_indentation_and_carriage_returns(text in texts()) {
        prop_assert_eq!(set(&text), set(&every_line(&text, |index, line| format!("{}{line}", "\t ".repeat(index % 3)))));
        prop_assert_eq!(set(&text), set(&every_line(&text, |_, line| format!("{line}\r"))));
    }

    #[test]
    fn facts_ignore_line_numbers_and_colours(text in texts(), at in any::<prop::sample::Index>()) {
        prop_assert_eq!(set(&text), set(&every_line(&text, |index, line| format!("{:>6}→{line}", index + 1))));
        prop_assert_eq!(set(&text), set(&every_line(&text, |index, line| format!("{}\t{line}", index + 1))));
        let mut coloured = text.clone();
        coloured.insert_str(text.floor_char_boundary(at.index(text.len() + 1)), "\x1b[38;5;9m");
        prop_assert_eq!(set(&text), set(&coloured));
    }

    #[test]
    fn paths_of_windows_are_paths(names in prop::collection::vec("[a-z]{3,6}[0-9]?", 1..5), drive in any::<bool>(), twice in any::<bool>()) {
        let of = |separator: &str| {
            let start = if drive { format!("D:{separator}") } else { String::new() };
            format!("in {start}src{separator}a{}{separator}pool.rs:12, and on", names.join(&format!("{separator}a")))
        };
        prop_assert_eq!(set(&of(if twice { "\\\\" } else { "\\" })), set(&of("/")));
    }

    #[test]
    fn a_path_shows_what_its_folders_would_say(parts in prop::collection::vec(prop::sample::select(&["", ".", "..", "~", "ab", "net2", "pool.rs", "1234", "x."][..]), 3..9)) {
        let shown = |text: &str, said: bool| {
            let mut all = BTreeSet::new();
            in_text(text, &mut |seen| all.extend((seen.kind == FactKind::Path && seen.said == said).then(|| seen.text.to_owned())));
            all
        };
        let path = parts.join("/");
        let names = |pair: &[&str]| pair.iter().all(|part| !matches!(*part, "" | "." | ".." | "~")) && !pair[1].ends_with('.');
        // A folder is two neighbours, above the last component; it is what the pair says alone.
        let above = path.trim_end_matches(['.', '/']).split('/').collect::<Vec<_>>();
        let pairs = above[..above.len().saturating_sub(1)].windows(2).filter(|pair| names(pair));
        let wanted: BTreeSet<_> = pairs.flat_map(|pair| shown(&format!("./{}", pair.join("/")), true)).filter(|_| !shown(&path, true).is_empty()).collect();
        prop_assert_eq!(shown(&path, false), wanted);
    }

    #[test]
    fn facts_ignore_the_order_of_lines(text in texts()) {
        let facts = |text: &str| set(text).into_iter().map(|(kind, text, _, anchors)| (kind, text, anchors)).collect::<BTreeSet<_>>();
        let reversed: Vec<&str> = text.split('\n').rev().collect();
        prop_assert_eq!(facts(&text), facts(&reversed.join("\n")));
    }

    #[test]
    fn facts_of_lines_equal_facts_of_the_text(text in texts(), escapes in "[\u{1b}\\[\\]\u{7}\\\\0-9;m( a/_.rs\n]{0,60}") {
        let facts = |text: &str| set(text).into_iter().map(|(kind, text, _, anchors)| (kind, text, anchors)).collect::<BTreeSet<_>>();
        for text in [text, escapes] {
            prop_assert_eq!(text.split('\n').flat_map(facts).collect::<BTreeSet<_>>(), facts(&text));
        }
    }

    #[test]
    fn anchors_are_the_nearest_words(steps in prop::collection::vec((0..4_u32, 0..12_u64), 0..60), word in 0..90_u32) {
        let mut line_anchors = LineAnchors::default();
        let mut all = Vec::new();
        let mut at = 0;
        for (step, key) in steps {
            at += step;
            line_anchors.add_anchor(at, key);
            all.push((at, key));
        }
        let mut distances = BTreeMap::new();
        for (at, key) in all {
            let distance = distances.entry(key).or_insert(u32::MAX);
            *distance = at.abs_diff(word).min(*distance);
        }
        let mut wanted: Vec<u32> = distances.values().copied().filter(|distance| *distance <= 40).collect();
        wanted.sort_unstable();
        wanted.truncate(MAX_ANCHORS);
        // Which of two that are as far comes first is left open.
        let found: Vec<u32> = line_anchors.nearest(word).keys().iter().map(|key| distances[key]).collect();
        prop_assert_eq!(found, wanted);
    }
}
