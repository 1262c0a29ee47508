//! `recompact show`: one request as text.

use crate::support::program::run;

const SESSION: &str = "claude-code/repair.jsonl";

#[test]
fn request_is_shown_beside_what_was_recorded() {
    let show = |more: &[&str]| run([&["show", SESSION, "-p", "lcc-s06", "--call", "40"], more].concat()).printed();
    insta::assert_snapshot!("show-diff", show(&["--diff"]));
    let found = show(&["--find", "golden/value.txt", "--show", "request"]);
    assert!(found.starts_with("The request, ") && found.contains("rewritten by micro"), "{found}");
    let (short, whole) = (show(&[]), show(&["--full"]));
    assert!(short.contains("more lines (--full)") && !whole.contains("(--full)") && whole.len() > short.len());
    let json = run(["show", SESSION, "-p", "lcc-s06", "--call", "40", "-o", "json"]).json();
    assert_eq!((json["call"].as_u64(), json["parts"][0]["state"].as_str()), (Some(40), Some("recorded")));
    let two = run(["show", SESSION, "-p", "lcc-s06,lcc-s08", "--call", "40", "--diff", "--show", "counts"]).printed();
    assert!(two.starts_with("Call 40 of 93: ") && two.contains("lcc-s06 compared with lcc-s08"), "{two}");
}

#[test]
fn show_errors_say_what_to_name() {
    for (arguments, said) in [
        (&["show", SESSION, "-p", "lcc-s06", "--call", "94"][..], ": main has no request of call 94; it has 93 calls\n"),
        (
            &["show", SESSION, "-p", "lcc-s06", "--find", "zebra"],
            "--find zebra: neither the request nor what was recorded before it",
        ),
        (
            &["show", SESSION, "-p", "lcc-s06", "--conversation", "mian"],
            "--conversation mian: there is none; did you mean `main`?",
        ),
        (&["show", SESSION, "-p", "lcc-s06,lcc-s08"], "show takes one policy, or two with --diff\n"),
        (&["show", "claude-code", "-p", "lcc-s06"], "name one transcript; 3 are here\n"),
        (&["show", "nowhere.jsonl", "-p", "lcc-s06"], "nowhere.jsonl: no such file or folder"),
    ] {
        let ran = run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(said), "{said}: {}", ran.stderr);
    }
}
