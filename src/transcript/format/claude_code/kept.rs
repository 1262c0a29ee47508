//! What a recorded compaction kept. The kept tail is not written again after the boundary: the boundary names its records.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::record::Record;
use super::text::Text;
use super::threads::Threads;

/// The records that stayed in the context beside the summary.
pub struct Kept {
    records: Records,
    leads: bool,
}

enum Records {
    /// By `preservedMessages`, in ascending order.
    Listed(Vec<usize>),
    /// By `preservedSegment`: everything said between its ends.
    Between(RangeInclusive<usize>),
}

impl Kept {
    /// What the boundary `record` kept. A segment reaches back to `since`, the boundary before it, at most.
    pub fn of(record: &Record, thread: usize, threads: &Threads, since: usize) -> Self {
        let find = |uuid: &str| threads.find(uuid, thread);
        let metadata = record.compact_metadata.as_ref();
        let segment = metadata.and_then(|metadata| metadata.preserved_segment.as_ref());
        let messages = metadata.and_then(|metadata| metadata.preserved_messages.as_ref());
        let mut listed: Vec<usize> = messages.map(|m| m.uuids.iter().filter_map(|uuid| find(uuid)).collect()).unwrap_or_default();
        listed.sort_unstable();
        listed.dedup();
        let ends = segment.and_then(|s| Some((find(s.head_uuid.get()?)?, find(s.tail_uuid.get()?)?)));
        let records = match ends {
            Some((head, tail)) if listed.is_empty() => Records::Between(head.max(since)..=tail),
            _ => Records::Listed(listed),
        };
        let anchors = [messages.map(|m| &m.anchor_uuid), segment.map(|s| &s.anchor_uuid)];
        let anchor = anchors.into_iter().flatten().find_map(Text::get);
        Self { records, leads: anchor.is_some() && anchor == record.uuid.get() }
    }

    /// Whether it stands before the summary: only what came after a chosen message was summarized.
    pub fn leads(&self) -> bool {
        self.leads
    }

    pub fn contains(&self, record: usize) -> bool {
        match &self.records {
            Records::Listed(records) => records.binary_search(&record).is_ok(),
            Records::Between(range) => range.contains(&record),
        }
    }

    pub fn last(&self) -> Option<usize> {
        match &self.records {
            Records::Listed(records) => records.last().copied(),
            Records::Between(range) => Some(*range.end()).filter(|_| !range.is_empty()),
        }
    }

    /// The records of a branch (ascending) that were kept.
    fn among(&self, branch: &[usize]) -> Vec<usize> {
        match &self.records {
            Records::Listed(records) => records.clone(),
            Records::Between(range) => {
                let start = branch.partition_point(|record| record < range.start());
                branch[start..].iter().copied().take_while(|record| record <= range.end()).collect()
            }
        }
    }
}

/// What one compaction kept, record by record.
pub struct Tail {
    pub records: Vec<usize>,
    /// It stands before the summary.
    pub leads: bool,
}

/// What each compaction boundary of a branch kept.
pub fn tails(records: &[Record], branch: &[usize], threads: &Threads) -> HashMap<usize, Tail> {
    let mut tails = HashMap::new();
    let mut since = 0;
    for &i in branch.iter().filter(|i| records[**i].is_compact_boundary()) {
        if let Some(thread) = threads.of[i] {
            let kept = Kept::of(&records[i], thread, threads, since);
            tails.insert(i, Tail { records: kept.among(branch), leads: kept.leads });
            since = i;
        }
    }
    tails
}
