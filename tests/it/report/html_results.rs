//! Invented results for the page. Values follow simple formulas, so a test knows what must be drawn.

use recompact::findings::{Finding, Level};
use recompact::metrics::metric;
use recompact::results::request::{PartState, ShownPart, ShownRequest};
use recompact::results::saved::{Column, Direction, Unit};
use recompact::results::saved::{
    ComparisonRow, ConfigurationRow, EventMark, Intervals, KeptRow, MissRow, Neighbour, Objective, ParameterRow, PolicyText,
    Recommendation, ResultNote, Results, Row, RungRow, SensitivityRow, Statistics, Sweep, TraceLine, TraceRow, VERSION, Values,
    summarise,
};

/// `keep-all`, then `policy-1` and so on; the last one is `drop-all`.
pub fn names(policies: usize) -> Vec<String> {
    let name = |at: usize| match at {
        0 => "keep-all".to_owned(),
        at if at + 1 == policies => "drop-all".to_owned(),
        at => format!("policy-{at}"),
    };
    (0..policies).map(name).collect()
}

/// Share of the tokens and facts that the policy at this place keeps: 1 for the first policy, 0 for the last.
pub fn share(at: usize, policies: usize) -> f64 {
    1.0 - at as f64 / (policies - 1) as f64
}

/// Results with these numbers of policies, transcripts, and calls in each transcript.
pub fn results(policies: usize, transcripts: usize, calls: usize) -> Results {
    let (columns, names) = (metric::columns(), names(policies));
    let mut rows = Vec::new();
    let mut traces = Vec::new();
    for transcript in 0..transcripts {
        let path = format!("runs/session-{transcript:03}.jsonl");
        for (at, policy) in names.iter().enumerate() {
            rows.extend(rows_of(&columns, &path, policy, share(at, policies), calls, transcript));
        }
        // The first transcript is the longest.
        let calls = if transcript == 0 { calls } else { calls * 3 / 4 };
        let lines: Vec<TraceLine> =
            names.iter().enumerate().map(|(at, policy)| line(policy, share(at, policies), calls)).collect();
        let window = 150_000;
        traces.push(TraceRow {
            transcript: path.into(),
            conversation: "main".into(),
            window,
            recorded: vec![calls / 2],
            lines: lines.into(),
        });
    }
    let mut summary = summarise(&columns, &rows);
    for row in summary.iter_mut().filter(|row| row.bound_of.is_none()) {
        let around = |value: f64| [(value - 0.03).max(0.0), (value + 0.03).min(1.0)];
        let ends = ["cost.ratio", "kept.hit"].map(|id| (id, around(row.values.get(id).unwrap_or_default())));
        row.intervals = Intervals::from_iter(ends);
    }
    Results {
        version: VERSION,
        comparisons: names.iter().skip(1).flat_map(|policy| comparisons(&names, policy)).collect(),
        statistics: Some(Statistics { sessions: transcripts, resamples: 2_000, level: 0.95, seed: 1 }),
        retention: names.iter().enumerate().flat_map(|(at, policy)| kept(policy, share(at, policies))).collect(),
        misses: names.iter().skip(1).take(3).map(|policy| miss(policy)).collect(),
        policies: names.iter().map(|policy| text(policy)).collect(),
        notes: vec![ResultNote { path: "runs/session-000.jsonl".into(), line: Some(3), what: "the line was skipped".into() }],
        columns,
        rows,
        summary,
        traces,
        ..Results::default()
    }
}

fn rows_of(columns: &[Column], path: &str, policy: &str, share: f64, calls: usize, transcript: usize) -> Vec<Row> {
    let value = |column: &Column| {
        let much = (transcript + 1) as f64;
        Some(match (&*column.id, column.unit) {
            ("calls", _) => calls as f64,
            ("tokens.baseline" | "cost.baseline_nominal", _) => 1e6 * much,
            ("tokens.sent" | "cost.nominal", _) => (1e6 * much * (0.2 + 0.8 * share)).round(),
            ("kept.hit", _) => share.sqrt(),
            // The first policies lose few facts, and only the last ones have requests that an API refuses.
            ("kept.hard", _) => (1.0 - share) * 0.1,
            ("kept.rules_cut", _) => 0.0,
            ("broken.requests" | "failed_calls", _) => {
                if share < 0.3 {
                    (calls / 10) as f64
                } else {
                    0.0
                }
            }
            ("kept.weight", _) => much,
            ("cost.read" | "cost.write" | "cost.output" | "cost.summarizer", _) => much * (0.2 + share) / 7.0,
            (_, Unit::Tokens | Unit::Bytes | Unit::Count) => (12_345.0 * much * share).round(),
            (_, Unit::Usd | Unit::Ratio | Unit::Share) => (share * 0.9 + much / 7_000.0).min(1.0),
        })
    };
    let values: Values = columns.iter().map(|column| (column.id.clone(), value(column))).collect();
    let row = Row {
        transcript: path.into(),
        conversation: "main".into(),
        recording: Default::default(),
        policy: policy.into(),
        bound_of: None,
        values,
    };
    if policy == "keep-all" || policy == "drop-all" {
        return vec![row];
    }
    let of_bound = |column: &Column| match &*column.id {
        "kept.hit" => Some((1.0 + share.sqrt()) / 2.0),
        "kept.weight" => row.values.get("kept.weight"),
        _ => None,
    };
    let bound = row.bound("clairvoyant", columns.iter().map(|column| (column.id.clone(), of_bound(column))).collect());
    vec![row, bound]
}

fn line(policy: &str, share: f64, calls: usize) -> TraceLine {
    // The context grows by 1,000 tokens a call and is cut to its share at every fortieth.
    let tokens =
        (0..calls as u64).map(|call| 5_000 + (call % 40) * 1_000 + (share * 1_000.0) as u64 * (call / 40) * 40).collect();
    let event = |call: usize| EventMark { call, layer: "micro".into(), before: 44_000, after: 5_000 };
    let events =
        if policy == "keep-all" { vec![] } else { (1..calls).filter(|call| call % 40 == 0).map(|at| event(at + 1)).collect() };
    TraceLine { policy: policy.into(), tokens, events }
}

fn kept(policy: &str, share: f64) -> Vec<KeptRow> {
    let of = |by: &'static str, of: &'static str, part: f64| KeptRow {
        policy: policy.into(),
        grouped_by: by.into(),
        group: of.into(),
        uses: 10,
        weight: 10.0,
        hit: share * part,
        soft: 0.0,
        stale: 0.0,
        hard: 1.0 - share * part,
        hit_summary: 0.0,
    };
    vec![
        of("gap", "2–3", 1.0),
        of("gap", "4–10", 0.8),
        of("gap", "over 30", 0.4),
        of("kind", "path", 0.6),
        of("generation", "none", 1.0),
        of("generation", "1", 0.3),
    ]
}

fn miss(policy: &str) -> MissRow {
    MissRow {
        policy: policy.into(),
        transcript: "runs/session-000.jsonl".into(),
        conversation: "main".into(),
        call: 17,
        fetched: false,
        line: 44,
        fact: "src/pool.rs".into(),
        kind: "path".into(),
        uses: 3,
        more: 2,
        weight: 9.5,
        origin: "Read".into(),
        origin_line: 12,
        context: "error in src/pool.rs:12\nlet size = 3;".into(),
        layer: Some("micro".into()),
        lost_at: Some(9),
    }
}

fn text(policy: &str) -> PolicyText {
    let toml = format!("name = \"{policy}\"\n\n[[layer]]\nid = \"micro\"\ndo = \"clear\"\nkeep_recent = 5\n");
    PolicyText { name: policy.into(), toml, known_bugs: vec!["counts characters".into()], ..PolicyText::default() }
}

fn comparisons(names: &[String], policy: &str) -> Vec<ComparisonRow> {
    let at = names.iter().position(|name| name == policy).unwrap_or(0);
    let less = 1.0 - share(at, names.len());
    let row = |column: &'static str, difference: f64| ComparisonRow {
        policy: policy.into(),
        against: "keep-all".into(),
        column: column.into(),
        sessions: 9,
        difference,
        interval: Some([difference - 0.05, difference + 0.05]),
        p: Some(0.01),
        p_holm: Some(0.04),
    };
    vec![row("cost.ratio", -0.8 * less), row("kept.hit", -less)]
}

/// The same with the request in which the first policy missed a fact.
pub fn with_request(mut results: Results) -> Results {
    let part = |what: &str, state: PartState, text: &str, recorded: Option<&str>| ShownPart {
        role: "user",
        what: what.to_owned(),
        line: 12,
        state,
        layer: (state != PartState::Recorded).then(|| "micro".to_owned()),
        recorded_tokens: Some(40),
        text: text.to_owned(),
        recorded: recorded.map(str::to_owned),
        changed: false,
        block: None,
    };
    results.requests = vec![ShownRequest {
        transcript: "runs/session-000.jsonl".into(),
        conversation: "main".into(),
        policy: "policy-1".into(),
        call: 17,
        calls: 200,
        tokens: 12_345,
        messages: 2,
        overflows: false,
        parts: vec![
            part("text", PartState::Recorded, "Fix the pool", None),
            part("tool_result Read", PartState::Rewritten, "[cleared]", Some("error in src/pool.rs:12")),
        ],
        compared_with: None,
        sent: Vec::new(),
    }];
    results
}

/// The same with 30 findings for each of two policies, at one call each.
pub fn with_findings(mut results: Results) -> Results {
    let finding = |at: usize, policy: &str| Finding {
        id: if at.is_multiple_of(2) { "needs_later" } else { "pairs" }.to_owned(),
        level: if at.is_multiple_of(2) { Level::Warning } else { Level::Error },
        path: format!("runs/session-00{}.jsonl", at % 2),
        line: Some(7),
        call: Some(at + 1),
        message: format!("finding number {at} of {policy}"),
        data: serde_json::Map::new(),
        conversation: Some("main".to_owned()),
        policy: Some(policy.to_owned()),
    };
    results.findings = ["policy-1", "policy-2"].iter().flat_map(|policy| (0..30).map(|at| finding(at, policy))).collect();
    results
}

/// The same with a sweep of 60 configurations, five of them on the front; the fourth of these is recommended.
pub fn swept() -> Results {
    let mut results = results(7, 3, 60);
    let configuration = |at: usize| {
        let front = at.is_multiple_of(12);
        let cost = 0.2 + at as f64 / 100.0;
        let kept = if front { 0.3 + at as f64 / 80.0 } else { 0.2 + at as f64 / 100.0 };
        ConfigurationRow {
            policy: if front { format!("policy-{}", at / 12 + 1) } else { format!("micro-{at}") },
            of: "micro".into(),
            settings: vec![("micro.keep_recent".into(), at.to_string()), ("auto.threshold".into(), format!("{at}000"))],
            sessions: if at % 3 == 1 { 1 } else { 3 },
            values: Values::from_iter([("cost.ratio", Some(cost)), ("kept.hit", Some(kept))]),
            allowed: at % 7 != 6,
            missed: Vec::new(),
            front,
            dominated: front.then_some(0.1),
        }
    };
    let objective = |column: &'static str, better| Objective { column: column.into(), better, epsilon: 0.001 };
    results.sweep = Some(Sweep {
        parameters: vec![ParameterRow { of: "micro".into(), parameter: "micro.keep_recent".into(), values: vec!["1".into()] }],
        objectives: vec![objective("cost.ratio", Direction::Lower), objective("kept.hit", Direction::Higher)],
        conditions: vec!["kept.hard <= 0.5".into()],
        sessions: 3,
        rounds: vec![RungRow { sessions: 1, configurations: 60 }, RungRow { sessions: 3, configurations: 40 }],
        configurations: (0..60).map(configuration).collect(),
        recommended: Some(Recommendation {
            instead_of: None,
            policy: "policy-4".into(),
            toml: "name = \"policy-4\"\n".into(),
            why: "The cheapest that keeps nine of ten uses.".into(),
            neighbours: vec![Neighbour {
                policy: "policy-3".into(),
                by: "cost.ratio".into(),
                differences: Values::from_iter([("cost.ratio", Some(-0.12)), ("kept.hit", Some(-0.15))]),
            }],
        }),
        sensitivity: vec![SensitivityRow {
            of: "micro".into(),
            parameter: "micro.keep_recent".into(),
            column: "cost.ratio".into(),
            share: 0.8,
            means: vec![("1".into(), 0.4), ("5".into(), 0.7), ("10".into(), 0.8)],
        }],
        seed: 1,
        policy_calls: 3_600,
        ..Sweep::default()
    });
    results
}

/// Every text that a transcript or a user chooses is hostile.
pub fn hostile() -> Results {
    const BAD: &str = "</script><script>window.ran=1</script>\"><img src=x onerror=\"window.ran=2\">'<b>&lt;\u{1b}[31mred\u{202e}txet\u{2066}\u{2028}\u{0}\u{9b}2J<svg onload=window.ran=3>{{7*7}}<!-- ]]>\u{10D83D}";
    let bad = |what: &str| format!("{what} {BAD}");
    let mut results = with_request(with_findings(swept()));
    let policy = |name: &str| bad(name);
    for row in &mut results.rows {
        row.transcript = bad(&row.transcript).into();
        row.conversation = bad(&row.conversation).into();
        row.policy = policy(&row.policy).into();
        row.bound_of = row.bound_of.as_deref().map(|name| policy(name).into());
    }
    results.summary = summarise(&results.columns, &results.rows);
    for row in &mut results.retention {
        row.policy = policy(&row.policy);
        row.group = bad(&row.group).into();
    }
    for request in &mut results.requests {
        (request.transcript, request.conversation) = (bad(&request.transcript), bad(&request.conversation));
        request.policy = policy(&request.policy);
        for part in &mut request.parts {
            (part.what, part.text) = (bad(&part.what), bad(&part.text));
            (part.layer, part.recorded) = (Some(bad("layer")), Some(bad("recorded")));
        }
    }
    for finding in &mut results.findings {
        (finding.id, finding.path, finding.message) = (bad(&finding.id), bad(&finding.path), bad(&finding.message));
        finding.conversation = finding.conversation.as_deref().map(bad);
        finding.policy = finding.policy.as_deref().map(policy);
    }
    for row in &mut results.comparisons {
        (row.policy, row.against) = (policy(&row.policy), policy(&row.against));
    }
    for miss in &mut results.misses {
        (miss.policy, miss.transcript, miss.conversation) =
            (policy(&miss.policy), bad(&miss.transcript), bad(&miss.conversation));
        (miss.fact, miss.origin, miss.kind) = (bad("fact"), bad("origin"), bad("kind").into());
        miss.context = format!("before {} after\n{BAD}", miss.fact);
        miss.layer = Some(bad("layer"));
    }
    for trace in &mut results.traces {
        (trace.transcript, trace.conversation) = (bad(&trace.transcript).into(), bad(&trace.conversation).into());
        let mut lines = std::mem::take(&mut trace.lines).into_value();
        for line in &mut lines {
            line.policy = policy(&line.policy);
            line.events.iter_mut().for_each(|event| event.layer = bad("layer"));
        }
        trace.lines = lines.into();
    }
    for text in &mut results.policies {
        (text.name, text.toml) = (policy(&text.name), format!("{}# {BAD}\n", text.toml));
        text.known_bugs = vec![bad("quirk")];
    }
    for note in &mut results.notes {
        (note.path, note.what) = (bad(&note.path), bad("note"));
    }
    results.layers = vec![recompact::results::saved::LayerRow {
        policy: policy("policy-1"),
        layer: bad("layer"),
        note: Some(bad("note")),
        ..Default::default()
    }];
    results.calibrations =
        vec![recompact::results::saved::CalibrationRow { model: bad("model"), counter: bad("counter"), ..Default::default() }];
    if let Some(sweep) = &mut results.sweep {
        for row in &mut sweep.configurations {
            (row.policy, row.of) = (policy(&row.policy), bad(&row.of));
            row.settings.iter_mut().for_each(|(name, value)| (*name, *value) = (bad(name), bad(value)));
        }
        if let Some(best) = &mut sweep.recommended {
            (best.policy, best.toml, best.why) = (policy(&best.policy), bad(&best.toml), bad("why"));
            best.neighbours.iter_mut().for_each(|neighbour| neighbour.policy = policy(&neighbour.policy));
        }
        sweep.conditions = vec![bad("condition")];
        for row in &mut sweep.sensitivity {
            (row.of, row.parameter) = (bad(&row.of), bad(&row.parameter));
            row.means.iter_mut().for_each(|(value, _)| *value = bad(value));
        }
    }
    results
}
