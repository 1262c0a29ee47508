//! Every report over small invented results with hostile names.

use comfy_table::Table;
use recompact::report::{self, REPORTS, Style};
use recompact::results::{
    Better, Column, Combine, Id, Intervals, LayerRow, PolicyText, ResultNote, Results, Row, Unit, VERSION, summarise,
};

const BASELINE: Id = Id::Borrowed("tokens.baseline");
const SENT: Id = Id::Borrowed("tokens.sent");

fn columns() -> Vec<Column> {
    use Better::{Higher, Lower, Neither};
    vec![
        Column::counted("calls", Unit::Count, Neither, Combine::Sum, "Recorded calls replayed."),
        Column::estimated("tokens.baseline", Unit::Tokens, Neither, Combine::Sum, "Sent by keep-all."),
        Column::estimated("tokens.sent", Unit::Tokens, Lower, Combine::Sum, "Sent by this policy."),
        Column::estimated(
            "tokens.saved",
            Unit::Share,
            Higher,
            Combine::Saving { over: SENT, under: BASELINE },
            "1 − sent ÷ baseline.",
        ),
        Column::counted("persisted.bytes", Unit::Bytes, Neither, Combine::Sum, "Results moved to disk."),
        Column::counted("kept.hit", Unit::Share, Higher, Combine::Weighted { by: BASELINE }, "Still there."),
        Column::estimated("cost.usd", Unit::Usd, Lower, Combine::Sum, "With prompt caching."),
        Column::counted("kept.efficiency", Unit::Ratio, Higher, Combine::Mean, "Hit ÷ the clairvoyant's."),
    ]
}

fn row(transcript: &str, conversation: &str, policy: &str, sent: f64) -> Row {
    let baseline = 1_480_000.0 + transcript.len() as f64;
    let hit = (policy != "drop-all").then_some(sent / baseline);
    let values = [
        Some(42.0),
        Some(baseline),
        Some(sent),
        Some(1.0 - sent / baseline),
        Some(((baseline - sent) / 7.0).round()),
        hit,
        Some(sent * 5e-6),
        None,
    ];
    Row {
        transcript: transcript.into(),
        conversation: conversation.into(),
        policy: policy.into(),
        values: columns().into_iter().map(|column| column.id).zip(values).collect(),
    }
}

/// Two transcripts, three conversations, three policies, and the worst names we could think of.
fn hostile() -> Results {
    let policies = ["=cmd|' /C calc'!A0", "keep-all", "drop-all"];
    let conversations = [("runs/a.jsonl", "main"), ("runs/a.jsonl", "agent-7"), ("b\u{202e}lnosj|`x`\n\u{1b}[31m.jsonl", "main")];
    let sent = [700_000.0, 1_480_012.0, 9_250.0];
    let rows: Vec<Row> = conversations
        .iter()
        .flat_map(|(transcript, conversation)| policies.iter().zip(sent).map(|(p, sent)| row(transcript, conversation, p, sent)))
        .collect();
    let mut summary = summarise(&columns(), &rows);
    summary[0].intervals = Intervals::from_iter([("tokens.saved", [0.4987, 0.55])]);
    let layer = |policy: &str, layer: &str, fired, freed| LayerRow {
        policy: policy.into(),
        layer: layer.into(),
        fired,
        edits: fired * 3,
        tokens_freed: freed,
        ..LayerRow::default()
    };
    let idle = LayerRow { skipped: 84, note: Some("1 transcript without a clock".into()), ..layer(policies[0], "idle", 0, 0) };
    let policy = |name: &str, quirks: &[&str]| PolicyText {
        name: name.into(),
        toml: format!("name = {name:?}\n"),
        quirks: quirks.iter().map(|quirk| (*quirk).to_owned()).collect(),
    };
    Results {
        version: VERSION,
        columns: columns(),
        rows,
        summary,
        layers: vec![layer(policies[0], "micro", 1_204, 2_339_000), idle, layer(policies[0], "restore", 2, -5_200)],
        policies: vec![
            policy(
                policies[0],
                &[
                    "counts characters where its documentation says tokens, so that it fires about four times as early as one would think",
                ],
            ),
            policy("keep-all", &[]),
        ],
        notes: vec![
            ResultNote {
                path: "runs/a.jsonl".into(),
                line: Some(17),
                what: "the line ends in the middle of a JSON value (cut off?); the line was skipped".into(),
            },
            ResultNote { path: "c\t@someone.jsonl".into(), line: None, what: "no known format; try <b>--format</b>".into() },
        ],
    }
}

fn rendered(name: &str, results: &Results, style: &Style) -> String {
    let report = report::by_name(name).expect("a report of ours");
    String::from_utf8((report.render)(results, style)).expect("reports are UTF-8")
}

#[test]
fn every_report_of_hostile_results() {
    for report in REPORTS {
        let text = rendered(report.name, &hostile(), &Style::default());
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{} ends with one newline", report.name);
        let unseen = text.chars().find(|c| *c != '\n' && report::escape::is_unseen(*c));
        assert_eq!(unseen, None, "{} lets nothing unseen through", report.name);
        insta::assert_snapshot!(report.name, text);
    }
}

#[test]
fn json_is_read_again() {
    let json = rendered("json", &hostile(), &Style::default());
    assert_eq!(Results::from_json(&json).expect("what was written"), hostile());
}

#[test]
fn every_line_of_csv_has_all_cells() {
    let csv = rendered("csv", &hostile(), &Style::default());
    assert_eq!(csv.lines().count(), 1 + hostile().rows.len());
    assert!(csv.lines().all(|line| line.matches(',').count() == 2 + columns().len()), "{csv}");
}

/// Nine policies with names of all lengths, wide characters, and a name without a place to break.
fn nine_policies() -> Results {
    let long = "x".repeat(120);
    let names = [
        "keep-all",
        "drop-all",
        "lcc-s08",
        "claude-code-2.1",
        "policies/ours/masking-in-batches.toml",
        "大きな言語モデルの方針",
        "a b",
        &long,
        "",
    ];
    let rows: Vec<Row> = (0..12)
        .flat_map(|file| names.map(|name| row(&format!("transcripts/of a rather long folder/{file}.jsonl"), "main", name, 1e5)))
        .collect();
    let layers =
        names.map(|name| LayerRow { policy: name.into(), layer: long.clone(), note: Some(long.clone()), ..LayerRow::default() });
    let quirks = names.map(|name| PolicyText { name: name.into(), toml: String::new(), quirks: vec![long.clone()] });
    let notes = (0..30).map(|line| ResultNote { path: long.clone(), line: Some(line), what: "words ".repeat(40) });
    Results {
        version: VERSION,
        columns: columns(),
        summary: summarise(&columns(), &rows),
        rows,
        layers: layers.into(),
        policies: quirks.into(),
        notes: notes.collect(),
    }
}

/// Columns of a terminal that a line takes.
fn width(line: &str) -> usize {
    let mut table = Table::new();
    table.add_row([line]);
    table.column_max_content_widths().first().copied().unwrap_or(0).into()
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for limit in [60, 80, 100, 160] {
        let table = rendered("table", &nine_policies(), &Style { width: limit, color: false });
        for line in table.lines() {
            assert!(width(line) <= limit, "{} columns of {limit}:\n{line}", width(line));
        }
    }
}

#[test]
fn nothing_found_is_nothing_printed() {
    let nothing = Results { rows: vec![], summary: vec![], layers: vec![], policies: vec![], notes: vec![], ..hostile() };
    assert_eq!(rendered("table", &nothing, &Style::default()), "");
    assert_eq!(rendered("csv", &nothing, &Style::default()).lines().count(), 1);
}

#[test]
fn a_terminal_may_show_bold_heads() {
    let table = rendered("table", &hostile(), &Style { width: 100, color: true });
    assert!(table.starts_with("\u{1b}[1mSummary: 2 transcripts, 3 conversations\u{1b}[0m\n"));
}
