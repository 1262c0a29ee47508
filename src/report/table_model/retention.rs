//! Retention: which facts that the agent used again were still in context, and which were lost.

use std::collections::{HashMap, HashSet};

use crate::results::Role;
use crate::results::saved::{KeptRow, MissRow, Results, Unit};

use super::super::number_format;
use super::{ColumnHeader, TableModel, common_folder, cut, left_out};

/// The grouping by summaries in between. It differs between policies, because each policy makes its own summaries.
const GENERATION: &str = "generation";

/// Groupings of uses: the id in saved results, the label, and what it means.
const GROUPINGS: [(&str, &str, &str); 3] = [
    ("gap", "calls since seen", "model calls since the fact was last in a message"),
    ("kind", "kind", "what the fact looks like"),
    ("provenance", "source", "who stated it first: the user, a tool, a recorded summary, or the agent itself"),
];

/// Groupings that all policies share × the share of facts that each policy still had in context.
pub fn by_grouping(results: &Results) -> TableModel {
    let kept = || results.retention.iter().filter(|row| row.grouped_by != GENERATION);
    let policies = keep_all_first(kept().map(|row| row.policy.as_str()));
    let groupings = deduplicated(kept().map(|row| &*row.grouped_by));
    let mut shares: HashMap<(&str, &str, &str), &KeptRow> = HashMap::new();
    for row in kept() {
        shares.entry((&row.grouped_by, &row.group, &row.policy)).or_insert(row);
    }
    let mut headers = vec![ColumnHeader::names("grouped by"), ColumnHeader::names("group"), ColumnHeader::numbers("uses")];
    headers.extend(policies.iter().map(|policy| ColumnHeader::numbers(policy)));
    let mut groups = deduplicated(kept().map(|row| (&*row.grouped_by, &*row.group)));
    let order: HashMap<&str, usize> = groupings.iter().enumerate().map(|(index, grouping)| (*grouping, index)).collect();
    groups.sort_by_key(|(by, _)| order.get(by).copied());
    let rows = groups.into_iter().map(|(by, group)| {
        let rows: Vec<Option<&KeptRow>> = policies.iter().map(|policy| shares.get(&(by, group, *policy)).copied()).collect();
        let mut cells = vec![label(by).to_owned(), group.to_owned(), count(rows.iter().flatten().next().map(|row| row.uses))];
        cells.extend(rows.iter().map(|row| share(row.map(|row| row.hit))));
        cells
    });
    let rows = rows.collect();
    let shown = GROUPINGS.iter().filter(|(by, ..)| groupings.contains(by));
    let mut footnotes = vec!["under each policy: the weighted share of uses whose fact was still in the request".to_owned()];
    footnotes.extend(shown.map(|(_, label, about)| format!("{label}: {about}")));
    TableModel { title: "Facts in context".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// The share of facts still in context, by the number of summaries between a fact and its use.
pub fn by_generation(results: &Results) -> TableModel {
    let generations = results.retention.iter().filter(|row| row.grouped_by == GENERATION);
    let rows = generations.map(|row| {
        let mut cells = vec![row.policy.clone(), row.group.to_string(), count(Some(row.uses))];
        cells.extend([row.hit, row.hit_summary, row.soft, row.stale, row.hard].map(|value| share(Some(value))));
        cells
    });
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("summaries in between")];
    headers.extend(["uses", "in context", "in a summary", "recoverable", "stale", "lost for good"].map(ColumnHeader::numbers));
    let footnotes = vec![
        "summaries in between: summaries this policy made between the fact and its use; in a summary: only there".to_owned(),
    ];
    let title = "Facts in context, by summaries in between".to_owned();
    TableModel { title, subject: String::new(), headers, rows: rows.collect(), footnotes }
}

/// The worst facts lost for good: facts that the agent used again after a policy had lost them.
pub fn misses(results: &Results) -> TableModel {
    let folder = common_folder(results.misses.iter().map(|miss| miss.transcript.as_str()));
    let row = |miss: &MissRow| {
        vec![
            miss.policy.clone(),
            format!("{}:{}", &miss.transcript[folder.len()..], miss.line),
            number_format::grouped(miss.call as f64, 0),
            if miss.fetched { "fetched" } else { "named" }.to_owned(),
            count(Some(miss.uses)),
            count(Some(miss.more)),
            miss.kind.to_string(),
            cut(&miss.origin),
            miss.layer.as_deref().map_or(number_format::MISSING.to_owned(), cut),
            cut(&miss.fact),
        ]
    };
    let mut headers = vec![ColumnHeader::names("policy"), ColumnHeader::names("location")];
    headers.extend([ColumnHeader::numbers("call"), ColumnHeader::words("need")]);
    headers.extend(["uses", "more"].map(ColumnHeader::numbers));
    headers.extend(["kind", "origin", "layer"].map(ColumnHeader::words));
    headers.push(ColumnHeader::prose("fact"));
    let mut footnotes = vec![
        "call: the first that needed the lost fact; uses: number of calls that did; more: other lost facts of the same origin"
            .to_owned(),
        "need: named: the call writes the fact; fetched: the recorded agent fetched it again there".to_owned(),
        "layer: what removed it".to_owned(),
        "the request that missed a fact: recompact show FILE -p POLICY --call CALL --find FACT".to_owned(),
    ];
    footnotes.extend(left_out(folder));
    let rows = results.misses.iter().map(row).collect();
    TableModel { title: "Facts lost for good and used again".to_owned(), subject: String::new(), headers, rows, footnotes }
}

/// The label of a grouping.
fn label(by: &str) -> &str {
    GROUPINGS.iter().find(|(id, ..)| *id == by).map_or(by, |(_, label, _)| label)
}

fn count(count: Option<u64>) -> String {
    number_format::value(Unit::Count, count.map(|count| count as f64))
}

fn share(share: Option<f64>) -> String {
    number_format::value(Unit::Share, share)
}

/// Removes duplicates; keeps the order of first appearance.
fn deduplicated<T: Copy + Eq + std::hash::Hash>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    all.filter(|item| known.insert(*item)).collect()
}

fn keep_all_first<'a>(policies: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut policies = deduplicated(policies);
    policies.sort_by_key(|policy| Role::of(policy) != Role::KeepAll);
    policies
}
