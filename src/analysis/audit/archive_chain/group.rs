//! Groups the transcripts of one session, in order.

use std::collections::{BTreeSet, HashMap};

use super::{Link, Pointer, PriorHistory, natural_key};
use crate::analysis::audit::tree::folder;

/// Fewest messages that two files of one folder share if they belong to one session. At least one must call a tool.
const LEAST_SHARED: usize = 2;

/// Returns the transcripts of every session that has several, the earliest first. Two files belong to one session if one points to the
/// other, or if they are in one folder and share messages. File times do not count, because copies have new times.
pub fn groups(links: &[Link], pointers: &[Pointer]) -> Vec<Vec<usize>> {
    let mut leader: Vec<usize> = (0..links.len()).collect();
    let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); links.len()];
    for pointer in pointers {
        if let PriorHistory::Transcript(before) = pointer.history
            && before != pointer.from
        {
            join(&mut leader, before, pointer.from);
            after[before].insert(pointer.from);
        }
    }
    sharing_pairs(links).into_iter().for_each(|(file, other)| join(&mut leader, file, other));
    let mut groups: HashMap<usize, Vec<usize>> = HashMap::new();
    for link in 0..links.len() {
        groups.entry(leader_of(&leader, link)).or_default().push(link);
    }
    let mut groups: Vec<_> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort();
    groups.into_iter().map(|group| in_order(links, group, &after)).collect()
}

/// Returns pairs of files that share messages.
fn sharing_pairs(links: &[Link]) -> Vec<(usize, usize)> {
    let mut files_with: HashMap<(&str, u64), Vec<usize>> = HashMap::new();
    // For each pair of files: the answers that both have, and the number of these that call tools.
    let mut counts: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    for (at, link) in links.iter().enumerate() {
        let answers = link.digests.iter().filter(|message| message.answer).map(|message| (message.digest, message.calls));
        for (digest, calls) in answers.collect::<BTreeSet<_>>() {
            let others = files_with.entry((folder(link.path), digest)).or_default();
            // A comparison with the last file that has the message is enough to join all files, because copies follow one another.
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

/// Sorts a group so that earlier files come first, by their pointers, then in the natural order of their names. A cycle of pointers is
/// broken at its first name.
fn in_order(links: &[Link], group: Vec<usize>, after: &[BTreeSet<usize>]) -> Vec<usize> {
    let mut left: BTreeSet<_> = group.iter().map(|at| (natural_key(links[*at].path), *at)).collect();
    // Number of files that must come before each file.
    let mut predecessors: HashMap<usize, usize> = HashMap::new();
    for later in group.iter().flat_map(|at| &after[*at]) {
        *predecessors.entry(*later).or_default() += 1;
    }
    let mut order = Vec::new();
    while let Some(first) = left.first().cloned() {
        let ready = left.iter().find(|(_, at)| predecessors.get(at).copied().unwrap_or(0) == 0).cloned();
        let next = ready.unwrap_or(first);
        left.remove(&next);
        order.push(next.1);
        for later in &after[next.1] {
            predecessors.entry(*later).and_modify(|count| *count = count.saturating_sub(1));
        }
    }
    order
}

/// Returns the leader of a file's group (union-find).
fn leader_of(leader: &[usize], mut at: usize) -> usize {
    while leader[at] != at {
        at = leader[at];
    }
    at
}

fn join(leader: &mut [usize], file: usize, other: usize) {
    let (file, other) = (leader_of(leader, file), leader_of(leader, other));
    // The lower index becomes the leader, so that groups keep the order of the input.
    leader[file.max(other)] = file.min(other);
}
