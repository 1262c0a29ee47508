//! The totals of each policy over all conversations.

use std::collections::{HashMap, HashSet};

use super::total::totals;
use super::{Column, Intervals, Row, Summary};

/// Returns the totals of each policy, without intervals. Policies come in the order of their first rows, each followed by its bounds.
pub fn summarise(columns: &[Column], rows: &[Row]) -> Vec<Summary> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let mut group_of = HashMap::new();
    for row in rows {
        let group = *group_of.entry((&*row.policy, row.bound_of.as_deref())).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(row);
    }
    // A bound whose policy has no row keeps its own position.
    let bounded_group = |group: &Vec<&Row>| {
        let bound_of = group.first()?.bound_of.as_deref()?;
        group_of.get(&(bound_of, None)).copied()
    };
    let mut order: Vec<_> =
        groups.iter().enumerate().map(|(index, group)| (bounded_group(group).unwrap_or(index), index)).collect();
    order.sort_by_key(|(policy, index)| (*policy, policy != index, *index));
    order.into_iter().filter_map(|(_, index)| summarise_policy(columns, &groups[index])).collect()
}

fn summarise_policy(columns: &[Column], rows: &[&Row]) -> Option<Summary> {
    let first = rows.first()?;
    let transcripts: HashSet<&str> = rows.iter().map(|row| &*row.transcript).collect();
    let totals = totals(columns, rows.iter().map(|row| &row.values));
    Some(Summary {
        policy: first.policy.to_string(),
        bound_of: first.bound_of.as_deref().map(str::to_owned),
        transcripts: transcripts.len(),
        values: columns.iter().map(|column| column.id.clone()).zip(totals).collect(),
        intervals: Intervals::default(),
        predictions: Intervals::default(),
    })
}
