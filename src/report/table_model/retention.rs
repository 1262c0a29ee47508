//! What was kept of the facts that were used again, and what was not.

use std::collections::{HashMap, HashSet};

use crate::results::saved::{KeptRow, MissRow, Results, Unit};

use super::super::number_format;
use super::compare::KEEP_ALL;
use super::{ColumnHeader, TableModel, common_folder, cut, left_out};

/// The side that is another for every policy: its summaries are its own.
const GENERATION: &str = "generation";

/// What the sides of a use are.
const SIDES: [(&str, &str); 3] = [
    ("gap", "calls since the fact was last said"),
    ("kind", "what the fact looks like"),
    ("provenance", "who said it first: the user, a tool, a summary of the record, or the agent itself"),
];

/// The sides that are the same for every policy × the share each policy kept.
pub fn by_side(results: &Results) -> TableModel {
    let kept = || results.kept.iter().filter(|row| row.by != GENERATION);
    let policies = keep_all_first(kept().map(|row| row.policy.as_str()));
    let sides = in_order(kept().map(|row| &*row.by));
    let mut shares: HashMap<(&str, &str, &str), &KeptRow> = HashMap::new();
    for row in kept() {
        shares.entry((&row.by, &row.of, &row.policy)).or_insert(row);
    }
    let mut heads = vec![ColumnHeader::names("by"), ColumnHeader::names("of"), ColumnHeader::numbers("uses")];
    heads.extend(policies.iter().map(|policy| ColumnHeader::numbers(policy)));
    let mut values = in_order(kept().map(|row| (&*row.by, &*row.of)));
    let places: HashMap<&str, usize> = sides.iter().enumerate().map(|(place, side)| (*side, place)).collect();
    values.sort_by_key(|(by, _)| places.get(by).copied());
    let rows = values.into_iter().map(|(by, of)| {
        let rows: Vec<Option<&KeptRow>> = policies.iter().map(|policy| shares.get(&(by, of, *policy)).copied()).collect();
        let mut cells = vec![by.to_owned(), of.to_owned(), count(rows.iter().flatten().next().map(|row| row.uses))];
        cells.extend(rows.iter().map(|row| share(row.map(|row| row.hit))));
        cells
    });
    let rows = rows.collect();
    let told = SIDES.iter().filter(|(side, _)| sides.contains(side));
    let mut below = vec!["under each policy: the share of the uses, by weight, whose fact was still in the request".to_owned()];
    below.extend(told.map(|(side, about)| format!("{side}: {about}")));
    TableModel { title: "Information kept".to_owned(), measure: String::new(), heads, rows, below }
}

/// What came through none, one, two summaries of a policy.
pub fn by_generation(results: &Results) -> TableModel {
    let of = results.kept.iter().filter(|row| row.by == GENERATION);
    let rows = of.map(|row| {
        let mut cells = vec![row.policy.clone(), row.of.to_string(), count(Some(row.uses))];
        cells.extend([row.hit, row.hit_summary, row.soft, row.hard].map(|value| share(Some(value))));
        cells
    });
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names(GENERATION)];
    heads.extend(["uses", "hit", "through a summary", "soft miss", "hard miss"].map(ColumnHeader::numbers));
    let below = vec!["generation: summaries this policy made between the fact and its use".to_owned()];
    let title = "Information kept, by generation".to_owned();
    TableModel { title, measure: String::new(), heads, rows: rows.collect(), below }
}

/// What is worth a look: the policy should have kept it.
pub fn misses(results: &Results) -> TableModel {
    let folder = common_folder(results.misses.iter().map(|miss| miss.transcript.as_str()));
    let row = |miss: &MissRow| {
        vec![
            miss.policy.clone(),
            format!("{}:{}", &miss.transcript[folder.len()..], miss.line),
            number_format::grouped(miss.call as f64, 0),
            count(Some(miss.uses)),
            count(Some(miss.more)),
            miss.kind.to_string(),
            cut(&miss.origin),
            format!(
                "{}{}",
                miss.layer.as_deref().map_or(number_format::MISSING.to_owned(), cut),
                if miss.stale { ", stale" } else { "" }
            ),
            cut(&miss.fact),
        ]
    };
    let mut heads = vec![ColumnHeader::names("policy"), ColumnHeader::names("place")];
    heads.extend(["call", "uses", "more"].map(ColumnHeader::numbers));
    heads.extend(["kind", "origin", "layer"].map(ColumnHeader::words));
    heads.push(ColumnHeader::prose("fact"));
    let mut below = vec![
        "call: the first that missed the fact; uses: how many did; more: other facts it missed of the same origin".to_owned(),
        "layer: what took it away; stale: its file is in sight, but was written since".to_owned(),
    ];
    below.extend(left_out(folder));
    let rows = results.misses.iter().map(row).collect();
    TableModel { title: "Worst hard misses".to_owned(), measure: String::new(), heads, rows, below }
}

fn count(count: Option<u64>) -> String {
    number_format::value(Unit::Count, count.map(|count| count as f64))
}

fn share(share: Option<f64>) -> String {
    number_format::value(Unit::Share, share)
}

/// Each once, in the order of first appearance.
fn in_order<T: Copy + Eq + std::hash::Hash>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut known = HashSet::new();
    all.filter(|one| known.insert(*one)).collect()
}

fn keep_all_first<'a>(policies: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut policies = in_order(policies);
    policies.sort_by_key(|policy| *policy != KEEP_ALL);
    policies
}
