//! Errors name the line and the setting, and each way to write a setting means the same.

use crate::engine::policy::{Policy, PolicyError};

const SMALL: &str = "name = \"small\"\n\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 3\n";

fn parse(text: &str, settings: &[&str]) -> Result<Policy, PolicyError> {
    let settings: Vec<_> = settings.iter().map(|s| s.parse().expect(s)).collect();
    Policy::parse(text, "p.toml", &settings)
}

fn parsed(text: &str, settings: &[&str]) -> Policy {
    parse(text, settings).unwrap_or_else(|error| panic!("{error}"))
}

fn fails(text: &str, settings: &[&str]) -> String {
    parse(text, settings).expect_err("the policy is wrong").to_string()
}

#[test]
fn a_misspelt_key_is_named_with_its_line() {
    let message = fails(&SMALL.replace("keep_recent", "keep_recnt_results"), &[]);
    assert!(
        message.starts_with(
            "p.toml:6: layer `micro`: `clear` has no setting `keep_recnt_results`; did you mean `keep_recent_results`? (known: "
        ),
        "{message}"
    );
    let message = fails(&SMALL.replace("[[layer]]", "[layer]"), &[]);
    assert_eq!(message, "p.toml:3: write layers as `[[layer]]`");
    let message = fails(&SMALL.replace("name", "nam"), &[]);
    assert!(message.starts_with("p.toml:1: a policy has no setting `nam`; did you mean `name`?"), "{message}");
    let message = fails(&SMALL.replace("\"clear\"", "\"clean\""), &[]);
    assert!(message.starts_with("p.toml:5: layer `micro`: `do = \"clean\"` is unknown; did you mean `clear`?"));
}

/// A message is of little use in a file of many layers without the line of the setting.
#[test]
fn errors_name_the_line_of_the_setting() {
    for (settings, line) in [
        ("min_chars = 1\nthreshold = \"80%\"", 8),
        ("min_chars = 1\nmeter = \"tokens\"", 8),
        ("min_chars = 1\nwhen = { before = [\"auto\"] }", 8),
        ("min_chars = 1\nwhen = \"sometimes\"", 8),
        ("min_chars = 1\nwhen = { any = [] }", 8),
        ("min_chars = 1\nwhen = { any = [\"entry\"] }", 8),
        ("min_chars = 1\nwhen = { all = [{ calls = 0 }] }", 8),
        ("min_chars = 1\nlists = \"all\"", 8),
        ("min_chars = 1\nprotect_unseen = 1", 8),
        ("threshold = \"80%\"", 7),
        ("min_chars = 1\nrearm = \"40%\"", 8),
        ("meter = \"o200k\"\nthreshold = 9\nscope = \"request\"\nrearm = 4", 10),
    ] {
        let message = fails(&format!("{SMALL}{settings}\n"), &[]);
        assert!(message.starts_with(&format!("p.toml:{line}: layer `micro`: ")), "{message}");
    }
    let persist = SMALL.replace("\"clear\"", "\"persist\"");
    assert!(fails(&persist, &[]).contains("layer `micro`: the newest results stay only where each result is compared alone"));
    let server = persist.replace("keep_recent = 3", "min_chars = 3\nscope = \"server\"");
    assert!(fails(&server, &[]).starts_with("p.toml:7: layer `micro`: a provider can edit its cache only in place"));
    let saved = SMALL.replace("keep_recent = 3", "save.preview_chars = 9");
    assert_eq!(fails(&saved, &[]), "p.toml:6: layer `micro`: `save.preview_chars` needs `save.to`");
    let saved = SMALL.replace("keep_recent = 3", "save_to = \"out\"");
    assert!(fails(&saved, &[]).contains(": with `save.to`, the placeholder must name the file"));
    let steps = SMALL.replace("\"clear\"", "\"keep\"").replace("keep_recent = 3", "remove_at_least = 9");
    assert_eq!(fails(&steps, &[]), "p.toml:6: layer `micro`: `remove_at_least` needs `keep_recent_tokens`");
    let auto = |retries: &str| {
        format!("name = \"p\"\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\nwhen = \"overflow\"\nmax_retries = {retries}\n")
    };
    assert_eq!(fails(&auto("4_000_000_000"), &[]), "p.toml:6: layer `auto`: `retry.max` must be at most 100");
    let middle = format!("{steps}keep_recent_tokens = 99\nremove_from = \"middle\"\ncut = \"anywhere\"\n");
    assert_eq!(fails(&middle, &[]), "p.toml:6: layer `micro`: `remove_from = \"middle\"` has no `remove_at_least`");
}

#[test]
fn set_changes_one_value_of_the_named_layer() {
    let policy = parsed(SMALL, &["micro.keep_recent=5"]);
    assert!(policy.to_toml().contains("keep_recent_results = 5\n"), "{}", policy.to_toml());
}

#[test]
fn old_names_mean_the_same_as_present_ones() {
    let present = SMALL.replace("keep_recent", "keep_recent_results");
    assert_eq!(parsed(SMALL, &[]), parsed(&present, &[]));
    assert!(parsed(SMALL, &[]).to_toml().contains("keep_recent_results = 3"));
    for text in [SMALL, &present] {
        let [old, new] = ["micro.keep_recent=5", "micro.keep_recent_results=5"].map(|setting| parsed(text, &[setting]));
        assert_eq!(old, new);
        assert_ne!(old, parsed(text, &[]));
    }
    let both = fails(&format!("{present}keep_recent = 4\n"), &[]);
    assert_eq!(both, "p.toml:7: layer `micro`: `keep_recent` is the old name of `keep_recent_results`: give one of them");
    let both = fails(SMALL, &["micro.keep_recent=5", "micro.keep_recent_results=6"]);
    assert_eq!(
        both,
        "p.toml: --set micro.keep_recent and --set micro.keep_recent_results are the same setting: give one of them"
    );
    let wrong = fails(&SMALL.replace("= 3", "= \"three\""), &[]);
    assert!(wrong.starts_with("p.toml:6: layer `micro`: "), "{wrong}");
    let elsewhere = fails(&SMALL.replace("keep_recent", "keep_recent_messages"), &[]);
    assert!(elsewhere.contains("`clear` has no setting `keep_recent_messages`; did you mean `keep_recent_results`?"));
}

const SUMMARY: &str = "name = \"p\"\n[[layer]]\nid = \"auto\"\ndo = \"summarize\"\n";

/// A part is written as a table, or each of its settings with its name in front. What is not given is the default.
#[test]
fn settings_of_a_part_are_written_in_three_ways() {
    let parsed = |settings: &str, set: &[&str]| parsed(&format!("{SUMMARY}{settings}"), set);
    let dotted = parsed("input.chars = 80\ninput.side = \"tail\"\n", &[]);
    assert!(
        dotted.to_toml().contains("chars = 80\n") && dotted.to_toml().contains("same_tools = true\n"),
        "{}",
        dotted.to_toml()
    );
    assert_eq!(dotted, parsed("input = { chars = 80, side = \"tail\" }\n", &[]));
    assert_eq!(dotted, parsed("[layer.input]\nchars = 80\nside = \"tail\"\n", &[]));
    assert_eq!(dotted, parsed("input_chars = 80\ninput_side = \"tail\"\n", &[]), "the old names");
    assert_eq!(dotted, parsed("input.side = \"tail\"\n", &["auto.input_chars=80"]));
    assert_eq!(dotted, parsed("input.chars = 9\n", &["auto.input.chars=80", "auto.input.side=tail"]));
    assert_eq!(dotted, parse(&dotted.to_toml(), &[]).expect("what is written is read"));
    let swept = |sweep: &str| parsed(&format!("[sweep]\n{sweep}"), &[]).sweep;
    assert_eq!(swept("auto.input.chars = \"1,2\""), swept("auto.\"input.chars\" = \"1,2\""));
    assert_eq!(swept("auto.input.chars = \"1,2\"")["auto"]["input.chars"], "1,2");
}

#[test]
fn wrong_settings_of_a_part_are_named_with_their_line() {
    let wrong = |settings: &str| fails(&format!("{SUMMARY}max_tokens = 9\n{settings}\n"), &[]);
    let misspelt = wrong("input.chrs = 1");
    assert!(
        misspelt.starts_with("p.toml:6: layer `auto`: `summarize` has no setting `input.chrs`; did you mean `input.chars`?"),
        "{misspelt}"
    );
    assert_eq!(wrong("input = 1"), "p.toml:6: layer `auto`: `input` is a table of settings, such as `input.whole`");
    let both = wrong("input.side = \"tail\"\ninput_side = \"head\"");
    assert_eq!(both, "p.toml:7: layer `auto`: `input_side` is the old name of `input.side`: give one of them");
    assert_eq!(wrong("retry.shrink = 0.5\nretry.max = 101"), "p.toml:7: layer `auto`: `retry.max` must be at most 100");
    let kind = wrong("input.side = \"tail\"\ninput.chars = \"many\"");
    assert!(kind.starts_with("p.toml:6: layer `auto`: ") && kind.contains("expected"), "{kind}");
    let twice = wrong("[sweep]\nauto.input.chars = \"1\"\nauto.\"input.chars\" = \"2\"");
    assert_eq!(twice, "p.toml:6: `[sweep]` gives `auto.input.chars` twice: give it once");
    let set = fails(SUMMARY, &["auto.max_tokens.x=1"]);
    assert!(set.starts_with("--set auto.max_tokens.x=1: "), "{set}");
}

#[test]
fn wrong_setting_is_quoted_in_the_error() {
    let message = fails(SMALL, &["micr.keep_recent=5"]);
    assert!(message.starts_with("--set micr.keep_recent=5: no layer has the id `micr`; did you mean `micro`?"), "{message}");
    let message = fails(SMALL, &["micro.min_chars=1", "micro.keep=5"]);
    assert!(message.starts_with("--set micro.keep=5: layer `micro`: `clear` has no setting `keep`"), "{message}");
    assert_eq!(
        fails(SMALL, &["micro.keep_recent=many"]),
        "--set micro.keep_recent=many: layer `micro`: invalid type: string \"many\", expected a whole number, 0 or more"
    );
    let broken = SMALL.replace("\"clear\"", "\"clean\"");
    assert!(fails(&broken, &["micro.keep_recent=5"]).starts_with("p.toml:5: "), "the file was wrong before");
}

#[test]
fn broken_toml_error_has_its_line() {
    assert!(fails("name = \"a\"\nmeter = \n", &[]).starts_with("p.toml:2: "));
}
