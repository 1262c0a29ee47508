//! Every report over small invented results with hostile names.

use std::sync::Arc;

use comfy_table::Table;
use recompact::report::{self, Layout, REPORTS, Style, View};
use recompact::results::saved::{
    Aggregation, CalibrationRow, Column, ColumnId, ComparisonRow, Direction, Intervals, KeptRow, LayerRow, MissRow, PolicyText,
    Recording, ResultNote, Results, Row, Statistics, Unit, VERSION, Values, summarise,
};

const BASELINE: ColumnId = ColumnId::Borrowed("tokens.baseline");
const SENT: ColumnId = ColumnId::Borrowed("tokens.sent");

fn columns() -> Vec<Column> {
    use Direction::{Higher, Lower, Neither};
    vec![
        Column::counted("calls", Unit::Count, Neither, Aggregation::Sum, "Recorded calls replayed."),
        Column::estimated("tokens.baseline", Unit::Tokens, Neither, Aggregation::Sum, "Sent by keep-all."),
        Column::estimated("tokens.sent", Unit::Tokens, Lower, Aggregation::Sum, "Sent by this policy."),
        Column::estimated(
            "tokens.saved",
            Unit::Share,
            Higher,
            Aggregation::Saving { over: SENT, under: BASELINE },
            "1 − sent ÷ baseline.",
        ),
        Column::counted("persisted.bytes", Unit::Bytes, Neither, Aggregation::Sum, "Results moved to disk."),
        Column::counted("kept.hit", Unit::Share, Higher, Aggregation::Weighted { by: BASELINE }, "Still there."),
        Column::estimated("cost.usd", Unit::Usd, Lower, Aggregation::Sum, "With prompt caching."),
        Column::counted("kept.efficiency", Unit::Ratio, Higher, Aggregation::Mean, "Hit ÷ the clairvoyant's."),
        Column { detail: true, ..Column::counted("kept.placebo", Unit::Share, Lower, Aggregation::Nothing, "Hit by chance.") },
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
        Some(0.0625),
    ];
    Row {
        transcript: transcript.into(),
        conversation: conversation.into(),
        recording: Arc::new(Recording {
            session: transcript.trim_end_matches(".jsonl").into(),
            format: "claude-code".into(),
            model: Some("claude\u{1b}[31m-opus".into()),
            project: Some("=cmd|' /C calc'!A0".into()),
            started: Some("2026-10-01T08:00:00Z".into()),
        }),
        policy: policy.into(),
        bound_of: None,
        values: columns().into_iter().map(|column| column.id).zip(values).collect(),
    }
}

/// Two transcripts, three conversations, three policies, and hostile names.
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
    summary[0].intervals.set("kept.efficiency", [0.5, 0.5]);
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
        known_bugs: quirks.iter().map(|quirk| (*quirk).to_owned()).collect(),
        ..PolicyText::default()
    };
    Results {
        version: VERSION,
        calibrations: vec![CalibrationRow {
            model: "claude-opus-4-6".into(),
            counter: "recorded".into(),
            result: 0.3491,
            tool_use: 0.3349,
            text: 0.31,
            thinking: 0.31,
            per_call: 92,
            compared_calls: 1_240,
            error: 0.094,
            p10: 0.83,
            p90: 1.29,
            ..CalibrationRow::default()
        }],
        columns: columns(),
        rows,
        summary,
        statistics: Some(Statistics { sessions: 12, resamples: 2_000, level: 0.95, seed: 1 }),
        comparisons: comparisons(policies[0]),
        retention: policies.iter().flat_map(|policy| kept_rows(policy)).collect(),
        misses: misses(policies[0]),
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
        ..Results::default()
    }
}

/// A better value; one without a significant difference; a mean, which only JSON and CSV show; a column without a description.
fn comparisons(policy: &str) -> Vec<ComparisonRow> {
    let of = |column: &'static str, sessions, difference, interval, p| ComparisonRow {
        policy: policy.into(),
        against: "keep-all\u{1b}[7m|`".into(),
        column: column.into(),
        sessions,
        difference,
        interval,
        p,
        p_holm: p.map(|p: f64| (2.0 * p).min(1.0)),
    };
    vec![
        of("tokens.saved", 12, 0.527, Some([0.4987, 0.55]), Some(0.000_2)),
        of("kept.hit", 3, -0.52, None, None),
        of("kept.efficiency", 12, 0.25, Some([0.1, 0.3]), Some(0.01)),
        of("unknown", 12, 0.25, Some([0.1, 0.3]), Some(0.01)),
    ]
}

/// Ten uses on each side: two of three weights hit where the policy keeps anything.
fn kept_rows(policy: &str) -> Vec<KeptRow> {
    let of = |by: &'static str, of: &'static str, uses, [hit, soft, hard]: [f64; 3]| {
        let policy = policy.to_owned();
        KeptRow {
            policy,
            grouped_by: by.into(),
            group: of.into(),
            uses,
            weight: 1.5 * uses as f64,
            hit,
            soft,
            stale: 0.0,
            hard,
            hit_summary: hit / 4.0,
        }
    };
    let (much, some) = match policy {
        "keep-all" => ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        "drop-all" => ([0.0, 0.75, 0.25], [0.0, 0.5, 0.5]),
        _ => ([0.875, 0.125, 0.0], [0.25, 0.5, 0.25]),
    };
    vec![
        of("gap", "2–3", 6, much),
        of("gap", ">30", 4, some),
        of("kind", "path", 7, much),
        of("kind", "line", 3, some),
        of("provenance", "tool", 9, much),
        of("provenance", "self", 1, some),
        of("generation", "0", 8, much),
        of("generation", "1", 2, some),
    ]
}

/// Facts whose text looks like markup, formulas or control characters.
fn misses(policy: &str) -> Vec<MissRow> {
    let of = |fact: &str, kind: &'static str, origin: &str, layer: Option<&str>| MissRow {
        policy: policy.into(),
        transcript: "runs/a.jsonl".into(),
        conversation: "main".into(),
        call: 1_017,
        fetched: layer.is_none(),
        line: 2_034,
        fact: fact.into(),
        kind: kind.into(),
        uses: 12,
        more: 3,
        weight: 40.5,
        origin: origin.into(),
        origin_line: 17,
        context: String::new(),
        layer: layer.map(str::to_owned),
        lost_at: layer.map(|_| 30),
    };
    vec![
        of("src/\u{1b}[2Jgone.rs", "path", "Read", Some("micro")),
        of(
            "fn f() { \u{202e}} // end\u{200b}\u{200f}\nnext | cell ` code ``` <b>@someone</b>",
            "line",
            "mcp__a\u{7}|b`",
            Some("a|b`\u{9b}31m"),
        ),
        of(&"é\u{10D83D}".repeat(40), "identifier", "self", None),
    ]
}

fn rendered(name: &str, results: &Results, style: &Style) -> String {
    let report = report::by_name(name).expect("a report of ours");
    String::from_utf8(report.render(results, &Layout::full(*style)).expect("results have every report"))
        .expect("reports are UTF-8")
}

#[test]
fn hostile_results_render_in_every_report() {
    for report in REPORTS {
        let text = rendered(report.name, &hostile(), &Style::default());
        assert!(text.ends_with('\n') && !text.ends_with("\n\n"), "{} ends with one newline", report.name);
        let unseen = text.chars().find(|c| *c != '\n' && report::escape::is_unseen(*c));
        assert_eq!(unseen, None, "{} lets nothing unseen through", report.name);
        // The HTML page and the reports of findings have other tests.
        if report.name != "html" && !report.shows_cases() {
            insta::assert_snapshot!(report.name, text);
        }
    }
}

#[test]
fn json_report_round_trips() {
    let json = rendered("json", &hostile(), &Style::default());
    assert_eq!(Results::from_json(&json).expect("what was written"), hostile());
}

/// Reads results that were saved before these rows existed, and saves results without them unchanged.
#[test]
fn json_without_retention_rows_has_no_keys_for_them() {
    let json = rendered("json", &nothing(), &Style::default());
    assert!(["kept\":", "misses\":", "bound_of"].iter().all(|key| !json.contains(key)), "{json}");
    assert_eq!(Results::from_json(&json).expect("what was written"), nothing());
}

#[test]
fn json_writes_each_retention_row_on_one_line() {
    let json = rendered("json", &hostile(), &Style::default());
    assert_eq!(json.lines().filter(|line| line.contains("\"hit_summary\": ")).count(), hostile().retention.len());
    assert_eq!(json.lines().filter(|line| line.contains("\"origin_line\": ")).count(), hostile().misses.len());
}

/// Tables show the tokens saved as their first share.
#[test]
fn tables_show_tokens_saved_as_their_first_share() {
    let columns = recompact::metrics::metric::columns();
    let first = columns.iter().find(|column| column.unit == Unit::Share && !column.detail);
    assert_eq!(first.map(|column| &*column.id), Some("tokens.saved"));
}

#[test]
fn details_appear_only_in_json_and_csv() {
    for (report, is_shown) in [("table", false), ("markdown", false), ("csv", true), ("json", true)] {
        assert_eq!(rendered(report, &hostile(), &Style::default()).contains("placebo"), is_shown, "{report}");
    }
    let json = rendered("json", &hostile(), &Style::default());
    assert_eq!(json.matches("\"detail\": true").count(), 1, "what is not a detail does not say so");
    assert!(!json.contains("\"detail\": false"));
}

#[test]
fn csv_lines_have_all_cells() {
    let csv = rendered("csv", &hostile(), &Style::default());
    assert_eq!(csv.lines().count(), 1 + hostile().rows.len());
    assert!(csv.lines().all(|line| line.matches(',').count() == 8 + columns().len()), "{csv}");
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
    let quirks = names.map(|name| PolicyText { name: name.into(), known_bugs: vec![long.clone()], ..PolicyText::default() });
    let kept = names
        .map(|name| [kept_rows(name), vec![KeptRow { grouped_by: long.clone().into(), ..kept_rows(name)[0].clone() }]].concat());
    let wide = "大".repeat(70);
    let misses = names.map(|name| {
        let of = |fact: &str, origin: &str| MissRow { fact: fact.into(), origin: origin.into(), ..misses(name)[1].clone() };
        [misses(name), vec![of(&long, &long), of(&wide, &wide), MissRow { transcript: long.clone(), ..of("a", "b") }]].concat()
    });
    let notes = (0..30).map(|line| ResultNote { path: long.clone(), line: Some(line), what: "words ".repeat(40) });
    Results {
        version: VERSION,
        calibrations: vec![CalibrationRow { model: long.clone(), counter: long.clone(), ..CalibrationRow::default() }],
        columns: columns(),
        summary: summarise(&columns(), &rows),
        rows,
        retention: kept.concat(),
        misses: misses.concat(),
        statistics: hostile().statistics,
        comparisons: names.map(comparisons).concat(),
        layers: layers.into(),
        policies: quirks.into(),
        notes: notes.collect(),
        ..Results::default()
    }
}

/// Returns the terminal columns of a line.
fn width(line: &str) -> usize {
    let mut table = Table::new();
    table.add_row([line]);
    table.column_max_content_widths().first().copied().unwrap_or(0).into()
}

#[test]
fn tables_fit_the_terminal_width() {
    for limit in [60, 80, 100, 160] {
        let table = rendered("table", &nine_policies(), &Style { width: limit, color: false });
        for line in table.lines() {
            assert!(width(line) <= limit, "{} columns of {limit}:\n{line}", width(line));
        }
    }
}

/// "better" and "worse" need an interval on one side of 0 and a p-value up to .05.
#[test]
fn better_and_worse_need_interval_and_p_to_agree() {
    let said = |column: &str, interval: [f64; 2], p: f64| {
        let row = ComparisonRow {
            policy: "p".into(),
            against: "keep-all".into(),
            column: column.to_owned().into(),
            sessions: 12,
            difference: (interval[0] + interval[1]) / 2.0,
            interval: Some(interval),
            p: Some(p),
            p_holm: Some(p),
        };
        let results = Results { comparisons: vec![row], statistics: hostile().statistics, ..nothing() };
        let table = rendered("table", &results, &Style::default());
        table.lines().find_map(|line| line.strip_prefix("p "))?.split_whitespace().next().map(str::to_owned)
    };
    let some = |word: &str| Some(word.to_owned());
    assert_eq!(said("tokens.saved", [0.1, 0.2], 0.05), some("better"));
    assert_eq!(said("tokens.saved", [-0.2, -0.1], 0.01), some("worse"));
    assert_eq!(said("tokens.saved", [0.1, 0.2], 0.06), some("?"));
    assert_eq!(said("tokens.saved", [-0.1, 0.4], 0.01), some("?"));
    assert_eq!(said("tokens.saved", [-0.1, 0.1], 0.5), some("?"));
    assert_eq!(said("tokens.saved", [0.0, 0.0], 1.0), None, "where nothing differs there is no table");
    assert_eq!(said("persisted.bytes", [1.0, 2.0], 0.01), some("?"), "no way is better");
}

fn nothing() -> Results {
    Results {
        rows: vec![],
        summary: vec![],
        statistics: None,
        comparisons: vec![],
        retention: vec![],
        misses: vec![],
        layers: vec![],
        calibrations: vec![],
        policies: vec![],
        notes: vec![],
        ..hostile()
    }
}

#[test]
fn no_findings_print_nothing() {
    assert_eq!(rendered("table", &nothing(), &Style::default()), "");
    assert_eq!(rendered("csv", &nothing(), &Style::default()).lines().count(), 1);
}

#[test]
fn terminal_table_has_bold_heads() {
    let mut layout = Layout::full(Style { width: 100, color: true });
    layout.view = View::Sections(vec!["policies".to_owned()]);
    let bytes = report::by_name("table").and_then(|report| report.render(&hostile(), &layout)).expect("a report of ours");
    let table = String::from_utf8(bytes).expect("reports are UTF-8");
    assert!(table.starts_with("\u{1b}[1mSummary: 2 transcripts, 3 conversations\u{1b}[0m\n"));
}

/// Returns a summary with all retention columns, and two bounds.
#[test]
fn summary_shows_retention() {
    use Direction::{Higher, Lower, Neither};
    let of = |id: &'static str, unit, better| Column::counted(id, unit, better, Aggregation::Max, "");
    let kept = [
        of("kept.uses", Unit::Count, Neither),
        Column { detail: true, ..of("kept.weight", Unit::Count, Neither) },
        of("kept.hit", Unit::Share, Higher),
        Column { detail: true, ..of("kept.hit_macro", Unit::Share, Higher) },
        of("kept.hit_summary", Unit::Share, Neither),
        of("kept.soft", Unit::Share, Lower),
        of("kept.hard", Unit::Share, Lower),
        of("kept.efficiency", Unit::Share, Higher),
        of("kept.constraints", Unit::Share, Higher),
        of("kept.reread_tokens", Unit::Tokens, Lower),
        Column { detail: true, ..of("kept.placebo", Unit::Share, Lower) },
    ];
    let columns: Vec<Column> = columns().into_iter().filter(|column| !column.id.starts_with("kept.")).chain(kept).collect();
    let with = |policy: &str, sent: f64, kept: [f64; 11]| {
        let mut row = row("a.jsonl", "main", policy, sent);
        row.values =
            row.values.ids().filter(|id| !id.starts_with("kept.")).map(|id| (id.to_owned(), row.values.get(id))).collect();
        let ids = columns.iter().map(|column| &column.id).filter(|id| id.starts_with("kept."));
        ids.zip(kept).for_each(|(id, value)| row.values.set(id.clone(), Some(value)));
        row
    };
    let bound = |row: &Row, name: &str, hit: f64| row.bound(name, Values::from_iter([("kept.hit", Some(hit))]));
    let keep_all = with("keep-all", 1_480_012.0, [4_211.0, 1e4, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.14]);
    let cleared = with("lcc-s06", 700_000.0, [4_211.0, 1e4, 0.805, 0.79, 0.0251, 0.173, 0.022, 0.886, 0.5, 81_600.0, 0.14]);
    let drop_all = with("drop-all", 9_250.0, [4_211.0, 1e4, 0.0, 0.0, 0.0, 0.669, 0.331, 0.0, 0.0, 2_812_345.0, 0.14]);
    let bounds = [
        bound(&cleared, "clairvoyant", 0.9086),
        bound(&keep_all, "clairvoyant", 1.0),
        bound(&cleared, "clairvoyant by line", 0.9512),
    ];
    let rows: Vec<Row> = [cleared, keep_all, drop_all].into_iter().chain(bounds).collect();
    let other = rows.iter().map(|row| Row { conversation: "agent-7".into(), ..row.clone() });
    let rows: Vec<Row> = rows.iter().cloned().chain(other).collect();
    let results = Results { summary: summarise(&columns, &rows), columns, rows, ..nothing() };
    insta::assert_snapshot!("kept-summary", rendered("table", &results, &Style::default()));
    assert_eq!(Results::from_json(&rendered("json", &results, &Style::default())).expect("what was written"), results);
}
