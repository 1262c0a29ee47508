//! The changes between two results as a document.

use super::screen::{Check, Prose, Screen, ScreenTable, Step};
use super::table_model::{ColumnHeader, LONGEST_NAME, TableModel, Tone, cut_path};
use super::{Document, Layout, Section, csv, json, number_format};
use crate::analysis::changes::{Changes, ColumnChange, PolicyChange};
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::saved::Unit;
use crate::util::text::{are, plural};

/// Rows of the table of conversations.
const SHOWN: usize = 20;

impl Document for Changes {
    const CSV: Option<fn(&Self) -> Vec<u8>> = Some(csv_lines);
    const SECTIONS: &'static [Section<Self>] = &[
        Section::new("policies", "what a policy costs, keeps and breaks, before and after", |changes, _| {
            vec![policies(changes).0]
        }),
        Section::new("columns", "every column that changed", |changes, _| vec![columns(changes)]),
        Section::new("conversations", "the conversations whose cost changed most", |changes, _| vec![conversations(changes)]),
        Section::new("settings", "changed lines of the policies", |changes, _| vec![settings(changes)]),
        Section::new("left-out", "what only one of them has", |changes, _| vec![left_out(changes)]),
    ];

    fn screen(&self, layout: &Layout) -> Option<Screen> {
        let (model, tones) = policies(self);
        let ranks = vec![0, 1, 6, 2, 4, 5, 3];
        Some(Screen {
            scope: Prose::new(format!("{} in both results, {}", plural(self.conversations, "conversation"), policy_count(self))),
            answer: answer(self),
            table: ScreenTable { tones, ..ScreenTable::new(model, ranks, "policies") },
            checks: checks(self),
            changes: Vec::new(),
            next: vec![
                Step::new(
                    layout.invocation.again("--show columns,conversations,settings"),
                    "every column, and which sessions moved",
                ),
                Step::new(layout.invocation.again("-o markdown"), "the same for a pull request"),
            ],
        })
    }

    fn json(&self) -> Vec<u8> {
        json::write(self)
    }
}

fn policy_count(changes: &Changes) -> String {
    match changes.policies.len() {
        1 => "1 policy compared".to_owned(),
        count => format!("{count} policies compared"),
    }
}

/// A sentence for each policy that changed, the most important ones first.
fn answer(changes: &Changes) -> Vec<Prose> {
    let changed: Vec<&PolicyChange> =
        changes.policies.iter().filter(|policy| policy.key.iter().any(ColumnChange::is_change)).collect();
    let mut sentences: Vec<Prose> = changed.iter().take(3).map(|policy| sentence(policy)).collect();
    if changed.is_empty() {
        let other = changes.policies.iter().any(|policy| !policy.columns.is_empty());
        let but = if other { " Other columns changed." } else { "" };
        sentences.push(Prose::new(format!("No policy costs, keeps or breaks anything else than before.{but}")));
    } else if changed.len() > 3 {
        sentences.push(Prose::new(format!("{} more changed.", changed.len() - 3)));
    }
    sentences
}

/// `` `claude-code` costs 7% less ($162, not $174), keeps 2.1 points fewer of the facts, and 5 fewer requests are refused.``
fn sentence(policy: &PolicyChange) -> Prose {
    let mut parts = Vec::new();
    let cost =
        policy.of(cost::USD).filter(|change| change.before.is_some() && change.after.is_some()).or(policy.of(tokens::SENT));
    if let Some(change) = cost.filter(|change| change.is_change()) {
        parts.push(amount(change));
    }
    let points = |change: &ColumnChange| change.difference().map(|difference| difference * 100.0).unwrap_or_default();
    if let Some(change) = policy.of(retention::HIT).filter(|change| change.is_change()) {
        let (less, size) = (if points(change) < 0.0 { "fewer" } else { "more" }, number_format::grouped(points(change).abs(), 1));
        parts.push(format!("keeps {size} points {less} of the facts"));
    }
    let refused = refused(policy);
    if refused[0] != refused[1] {
        let [before, after] = refused.map(number_format::count);
        parts.push(format!("has {after} requests refused, not {before}"));
    }
    if parts.is_empty() {
        parts.push("loses another share of the facts for good".to_owned());
    }
    let last = parts.pop().unwrap_or_default();
    let text = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
    let name = Prose::default().name(policy.policy.as_str());
    let name = policy.now.iter().fold(name, |name, now| name.words(" → ").name(now.as_str()));
    name.words(format!(" {text}."))
}

/// `costs 7% less ($162, not $174)`
fn amount(change: &ColumnChange) -> String {
    let (Some(before), Some(after)) = (change.before, change.after) else { return "has another cost".to_owned() };
    let ratio = if before == 0.0 { f64::INFINITY } else { after / before };
    let verb = if change.unit == Unit::Usd { "costs" } else { "sends" };
    let [before, after] = [before, after].map(|value| number_format::value(change.unit, Some(value)));
    let percent = number_format::grouped((ratio - 1.0).abs() * 100.0, 0);
    let compared = if ratio < 1.0 { "less" } else { "more" };
    format!("{verb} {percent}% {compared} ({after}, not {before})")
}

fn refused(policy: &PolicyChange) -> [u64; 2] {
    let count = |column: &str| {
        let change = policy.of(column);
        [change.and_then(|change| change.before), change.and_then(|change| change.after)]
            .map(|value| value.map_or(0, |count| count as u64))
    };
    let (malformed, overflows) = (count(broken::REQUESTS), count(overflow::FAILED_CALLS));
    [malformed[0] + overflows[0], malformed[1] + overflows[1]]
}

/// `$174.26 → $162.00`; one value if nothing changed.
fn cell(change: Option<&ColumnChange>) -> String {
    let Some(change) = change else { return number_format::MISSING.to_owned() };
    let [before, after] = [change.before, change.after].map(|value| number_format::value(change.unit, value));
    if change.is_change() && before != after { format!("{before} → {after}") } else { after }
}

fn policies(changes: &Changes) -> (TableModel, Vec<Tone>) {
    let row = |policy: &PolicyChange| {
        let name = policy.now.as_ref().map_or(policy.policy.clone(), |now| format!("{} → {now}", policy.policy));
        let columns = [cost::USD, tokens::SENT, retention::HIT, retention::HARD];
        let [before, after] = refused(policy).map(number_format::count);
        let refused = if before == after { after } else { format!("{before} → {after}") };
        let cells = columns.map(|column| cell(policy.of(column)));
        [name].into_iter().chain(cells).chain([refused, verdict(policy).to_owned()]).collect::<Vec<String>>()
    };
    let mut headers = vec![ColumnHeader::names("policy")];
    headers.extend(["cost", "tokens sent", "facts in context", "lost for good", "refused", "remark"].map(ColumnHeader::words));
    let tone = |policy: &PolicyChange| match verdict(policy) {
        "worse" => Tone::Unfit,
        "better" => Tone::Chosen,
        "same" => Tone::Reference,
        _ => Tone::Plain,
    };
    let rows = changes.policies.iter().map(row).collect();
    let footnotes = vec!["remark: whether all changes of the other columns are for the better or for the worse".to_owned()];
    let model = TableModel { title: "Policies, before → after".to_owned(), subject: String::new(), headers, rows, footnotes };
    (model, changes.policies.iter().map(tone).collect())
}

fn verdict(policy: &PolicyChange) -> &'static str {
    // Fewer tokens are a means, not an end.
    let judged: Vec<bool> =
        policy.key.iter().filter(|change| change.column != tokens::SENT).filter_map(ColumnChange::is_better).collect();
    match (judged.contains(&true), judged.contains(&false)) {
        (true, true) => "mixed",
        (true, false) => "better",
        (false, true) => "worse",
        (false, false) => "same",
    }
}

fn columns(changes: &Changes) -> TableModel {
    let rows = changes.policies.iter().flat_map(|policy| {
        policy.columns.iter().map(|change| {
            let [before, after] = [change.before, change.after].map(|value| number_format::value(change.unit, value));
            let difference = change
                .difference()
                .map_or(number_format::MISSING.to_owned(), |difference| number_format::difference(change.unit, difference));
            let verdict = match change.is_better() {
                Some(true) => "better",
                Some(false) => "worse",
                None => "",
            };
            vec![policy.policy.clone(), change.column.to_string(), before, after, difference, verdict.to_owned()]
        })
    });
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("column")];
    headers.extend(["before", "after", "difference"].map(ColumnHeader::numbers));
    headers.push(ColumnHeader::words("remark"));
    TableModel { title: "Changed columns".to_owned(), subject: String::new(), headers, rows: rows.collect(), footnotes: vec![] }
}

fn conversations(changes: &Changes) -> TableModel {
    let rows = changes.moved.iter().take(SHOWN).map(|moved| {
        let [before, after] = moved.hit.map(|hit| number_format::value(Unit::Share, hit));
        let hit = if before == after { after } else { format!("{before} → {after}") };
        vec![
            cut_path(&moved.transcript, LONGEST_NAME),
            moved.conversation.clone(),
            moved.policy.clone(),
            cell(Some(&moved.change)),
            hit,
        ]
    });
    let mut headers = ["transcript", "conversation", "policy"].map(ColumnHeader::names).to_vec();
    headers.extend(
        [
            if changes.moved.first().is_some_and(|moved| moved.change.unit == Unit::Usd) { "cost" } else { "tokens sent" },
            "facts in context",
        ]
        .map(ColumnHeader::words),
    );
    let more = changes.moved.len().saturating_sub(SHOWN);
    let footnotes = if more > 0 { vec![format!("{} in -o json", plural(more, "more row"))] } else { vec![] };
    TableModel {
        title: "Conversations that changed most".to_owned(),
        subject: String::new(),
        headers,
        rows: rows.collect(),
        footnotes,
    }
}

fn settings(changes: &Changes) -> TableModel {
    let rows =
        changes.policies.iter().flat_map(|policy| policy.settings.iter().map(|line| vec![policy.policy.clone(), line.clone()]));
    let headers = vec![ColumnHeader::names("policy"), ColumnHeader::prose("line")];
    TableModel { title: "Changed settings".to_owned(), subject: String::new(), headers, rows: rows.collect(), footnotes: vec![] }
}

fn left_out(changes: &Changes) -> TableModel {
    let lists = [
        ("conversation before", &changes.only_before),
        ("conversation after", &changes.only_after),
        ("policy before", &changes.policies_before),
        ("policy after", &changes.policies_after),
    ];
    let rows = lists.iter().flat_map(|(kind, names)| names.iter().map(|name| vec![(*kind).to_owned(), name.clone()]));
    let headers = vec![ColumnHeader::names("only"), ColumnHeader::prose("name")];
    TableModel { title: "Not compared".to_owned(), subject: String::new(), headers, rows: rows.collect(), footnotes: vec![] }
}

fn checks(changes: &Changes) -> Vec<Check> {
    let mut checks = Vec::new();
    if let Some(programs) = &changes.programs {
        let [before, after] = programs.each_ref().map(|version| version.as_deref().unwrap_or("an unknown version"));
        let text =
            format!("recompact {before} computed one of the results and {after} the other: a change may be in how they count");
        checks.push(Check::new("", text));
    }
    let only = changes.only_before.len() + changes.only_after.len();
    if only > 0 {
        let (before, after) = (changes.only_before.len(), changes.only_after.len());
        let text =
            format!("{} {} not compared: {before} only before, {after} only after", plural(only, "conversation"), are(only));
        checks.push(Check::new("left-out", text));
    }
    let policies = changes.policies_before.len() + changes.policies_after.len();
    if policies > 0 {
        checks.push(Check::new("left-out", format!("{policies} policies are only in one of the results")));
    }
    let edited: Vec<&PolicyChange> = changes.policies.iter().filter(|policy| !policy.settings.is_empty()).collect();
    if let Some(first) = edited.first() {
        let text = Prose::new(format!(
            "settings of {} changed, such as ",
            if edited.len() == 1 { "1 policy".to_owned() } else { format!("{} policies", edited.len()) }
        ));
        checks.push(Check { text: text.name(first.settings.last().map_or("", String::as_str)), section: "settings" });
    }
    checks.push(Check::new(
        "",
        "no test of chance is made here: recompact replay -p A,B compares with intervals, recompact check with limits",
    ));
    checks
}

/// Renders one CSV line for each policy and changed column.
fn csv_lines(changes: &Changes) -> Vec<u8> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(["policy", "column", "before", "after"]).expect(csv::IN_MEMORY);
    for policy in &changes.policies {
        for change in &policy.columns {
            let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let cells = [csv::text(&policy.policy), csv::text(&change.column), number(change.before), number(change.after)];
            writer.write_record(cells).expect(csv::IN_MEMORY);
        }
    }
    writer.into_inner().expect(csv::IN_MEMORY)
}
