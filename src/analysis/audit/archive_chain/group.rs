//! Which transcripts are of one session, and in which order.

use std::collections::{BTreeSet, HashMap};

use super::{Before, Link, Pointer, natural};
use crate::analysis::audit::tree::folder;

/// Messages two files of one folder must share to be of one session; one of them must call a tool.
const LEAST_SHARED: usize = 2;

/// The transcripts of every session that has several, the earliest first. Files are of one session where one points to the other, or where
/// they lie in one folder and share messages. When they were written is not asked: copies have new times.
pub fn groups(links: &[Link], pointers: &[Pointer]) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..links.len()).collect();
    let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); links.len()];
    for pointer in pointers {
        if let Before::In(before) = pointer.before
            && before != pointer.from
        {
            join(&mut leader, before, pointer.from);
            after[before].insert(pointer.from);
        }
    }
    shared(links).into_iter().for_each(|(one, other)| join(&mut leader, one, other));
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for link in 0..links.len() {
        groups.entry(first(&leader, link)).or_default().push(link);
    }
    let mut groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    groups.into_iter().map(|group| in_order(links, group, &after)).collect()
}

/// Pairs of files that share messages.
fn shared(links: &[Link]) -> Vec<(usize, usize)> {
    let mut seen: HashMap<(&str, u64), Vec<usize>> = HashMap::new();
    // How many answers two files share, and how many of them call tools.
    let mut counts: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    for (at, link) in links.iter().enumerate() {
        let answers = link.said.iter().filter(|said| said.answer).map(|said| (said.digest, said.calls));
        for (digest, calls) in answers.collect::<BTreeSet<_>>() {
            let others = seen.entry((folder(link.path), digest)).or_default();
            // Copies follow one another: to compare with the last file that has the message is enough to join them all.
            if let Some(other) = others.last() {
                let count = counts.entry((*other, at)).or_default();
                *count = (count.0 + 1, count.1 + usize::from(calls));
            }
            others.push(at);
        }
    }
    let mut pairs: Vec<_> =
        counts.into_iter().filter(|(_, (all, calls))| *all >= LEAST_SHARED && *calls > 0).map(|(pair, _)| pair).collect();
    pairs.sort_unstable();
    pairs
}

/// Earlier ones first, as the pointers say; where they say nothing, by name, its numbers as numbers. A ring of pointers is
/// broken at its first name.
fn in_order(links: &[Link], group: Vec<usize>, after: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut left: BTreeSet<_> = group.iter().map(|at| (natural(links[*at].path), *at)).collect();
    let mut waits: HashMap<usize, usize> = HashMap::new();
    for later in group.iter().flat_map(|at| &after[*at]) {
        *waits.entry(*later).or_default() += 1;
    }
    let mut order = Vec::new();
    while let Some(first) = left.first().cloned() {
        let ready = left.iter().find(|(_, at)| waits.get(at).copied().unwrap_or(0) == 0).cloned();
        let next = ready.unwrap_or(first);
        left.remove(&next);
        order.push(next.1);
        for later in &after[next.1] {
            waits.entry(*later).and_modify(|count| *count = count.saturating_sub(1));
        }
    }
    order
}

fn first(leader: &[usize], mut at: usize) -> usize {
    while leader[at] != at {
        at = leader[at];
    }
    at
}

fn join(leader: &mut [usize], one: usize, other: usize) {
    let (one, other) = (first(leader, one), first(leader, other));
    // The lower index leads, so that groups come in the order of the input.
    leader[one.max(other)] = one.min(other);
}
