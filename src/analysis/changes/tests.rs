use super::*;
use crate::results::saved::{PolicyText, Program};

/// A row of one conversation: policy, transcript, dollars, share of facts in context.
type Cells = (&'static str, &'static str, f64, f64);

fn results(cells: &[Cells], toml: &str) -> Results {
    let row = |(policy, transcript, usd, hit): &Cells| Row {
        transcript: (*transcript).into(),
        conversation: "main".into(),
        recording: Default::default(),
        policy: (*policy).into(),
        bound_of: None,
        values: Values::from_iter([(cost::USD, Some(*usd)), (retention::HIT, Some(*hit)), ("kept.weight", Some(1.0))]),
    };
    let rows: Vec<Row> = cells.iter().map(row).collect();
    let columns = crate::metrics::metric::columns();
    let policy = |name: &str| PolicyText { name: name.to_owned(), toml: toml.to_owned(), ..PolicyText::default() };
    let names: BTreeSet<&str> = cells.iter().map(|(policy, ..)| *policy).collect();
    Results { policies: names.into_iter().map(policy).collect(), columns, rows, ..Results::default() }
}

fn of(changes: &Changes, column: &str) -> (Option<f64>, Option<f64>, Option<bool>) {
    let change = changes.policies[0].of(column).expect("a key column");
    (change.before, change.after, change.is_better())
}

/// The third session is only in one of them, so it does not count.
#[test]
fn only_shared_conversations_are_compared() {
    let before = results(&[("p", "1", 2.0, 0.9), ("p", "2", 3.0, 0.7), ("p", "3", 9.0, 0.1)], "");
    let after = results(&[("p", "1", 1.5, 0.9), ("p", "2", 3.5, 0.5), ("p", "4", 1.0, 1.0)], "");
    let changes = changes(&before, &after);
    assert_eq!(
        (changes.conversations, &changes.only_before[..], &changes.only_after[..]),
        (2, &["3 main".into()][..], &["4 main".into()][..])
    );
    assert_eq!(of(&changes, cost::USD), (Some(5.0), Some(5.0), None));
    assert_eq!(of(&changes, retention::HIT), (Some(0.8), Some(0.7), Some(false)));
    let moved: Vec<_> = changes.moved.iter().map(|moved| (moved.transcript.as_str(), moved.change.difference())).collect();
    assert_eq!(moved, [("1", Some(-0.5)), ("2", Some(0.5))]);
}

#[test]
fn the_same_results_have_no_changes() {
    let same = results(&[("p", "1", 0.1 + 0.2, 0.9)], "a = 1\n");
    let changes = changes(&same, &results(&[("p", "1", 0.3, 0.9)], "a = 1\n"));
    assert!(changes.policies[0].columns.is_empty() && changes.moved.is_empty() && changes.policies[0].settings.is_empty());
}

#[test]
fn programs_of_two_versions_are_named() {
    let same = results(&[("p", "1", 1.0, 0.9)], "");
    let program = |version: &str| Some(Program { version: version.to_owned(), ..Program::this() });
    let of = |before, after| {
        let computed = |program| Results { program, ..same.clone() };
        changes(&computed(before), &computed(after)).programs
    };
    assert_eq!(of(program("0.1.0"), program("0.2.0")), Some([Some("0.1.0".to_owned()), Some("0.2.0".to_owned())]));
    assert_eq!(of(None, program("0.2.0")), Some([None, Some("0.2.0".to_owned())]));
    assert_eq!(of(program("0.2.0"), program("0.2.0")), None);
}

/// One policy that each has alone is the same policy under another name; with more of them nobody knows which is which.
#[test]
fn a_renamed_policy_is_compared_if_there_is_only_one() {
    let before = results(&[("a", "1", 2.0, 0.9)], "");
    let renamed = changes(&before, &results(&[("b", "1", 1.0, 0.9)], ""));
    assert_eq!((renamed.policies[0].policy.as_str(), renamed.policies[0].now.as_deref()), ("a", Some("b")));
    assert_eq!(of(&renamed, cost::USD), (Some(2.0), Some(1.0), Some(true)));
    let two = changes(&before, &results(&[("b", "1", 1.0, 0.9), ("c", "1", 1.0, 0.9)], ""));
    assert!(two.policies.is_empty());
    assert_eq!((&two.policies_before[..], two.policies_after.len()), (&["a".to_owned()][..], 2));
}

#[test]
fn settings_are_named_with_their_layer() {
    let file = |threshold: &str| {
        format!(
            "name = \"p\"\n\n[[layer]]\nid = \"micro\"\nkeep_recent = 3\n\n[[layer]]\nid = \"auto\"\nthreshold = {threshold}\n"
        )
    };
    let changed = changed_settings(&file("167000"), &file("120000"));
    assert_eq!(changed, ["- auto: threshold = 167000", "+ auto: threshold = 120000"]);
}

/// Saved results may have been written before a setting was renamed.
#[test]
fn an_old_name_of_a_setting_is_no_change() {
    let file = |setting: &str| format!("name = \"p\"\n\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\n{setting}\n");
    assert!(changed_settings(&file("keep_recent = 3"), &file("keep_recent_results = 3")).is_empty());
    let changed = changed_settings(&file("keep_recent = 3"), &file("keep_recent_results = 5"));
    assert_eq!(changed, ["- micro: keep_recent_results = 3", "+ micro: keep_recent_results = 5"]);
    let summary = |setting: &str| file(setting).replace("clear", "summarize");
    assert!(changed_settings(&summary("input_chars = 3"), &summary("input.chars = 3")).is_empty());
    let changed = changed_settings(&summary("input_chars = 3"), &summary("input = { chars = 5 }"));
    assert_eq!(changed, ["- micro: input.chars = 3", "+ micro: input.chars = 5"], "of a part");
}
