//! The records that a compaction kept in the context. They are not repeated after the boundary; the boundary names them.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::record::Record;
use super::text::Text;
use super::threads::Threads;

/// The records that stayed in the context together with the summary.
pub struct Kept {
    records: KeptRecords,
    precedes_summary: bool,
}

enum KeptRecords {
    /// From `preservedMessages`: these records, in ascending order.
    Listed(Vec<usize>),
    /// From `preservedSegment`: all messages between its two ends.
    Between(RangeInclusive<usize>),
}

impl Kept {
    /// Returns what a boundary kept. `earliest` is the previous boundary; a segment does not reach further back.
    pub fn from_boundary(record: &Record, thread: usize, threads: &Threads, earliest: usize) -> Self {
        let find = |uuid: &str| threads.find(uuid, thread);
        let metadata = record.compact_metadata.as_ref();
        let segment = metadata.and_then(|metadata| metadata.preserved_segment.as_ref());
        let messages = metadata.and_then(|metadata| metadata.preserved_messages.as_ref());
        let mut listed: Vec<usize> = messages.map(|m| m.uuids.iter().filter_map(|uuid| find(uuid)).collect()).unwrap_or_default();
        listed.sort_unstable();
        listed.dedup();
        let ends = segment.and_then(|s| Some((find(s.head_uuid.get()?)?, find(s.tail_uuid.get()?)?)));
        let records = match ends {
            Some((head, tail)) if listed.is_empty() => KeptRecords::Between(head.max(earliest)..=tail),
            _ => KeptRecords::Listed(listed),
        };
        let anchors = [messages.map(|m| &m.anchor_uuid), segment.map(|s| &s.anchor_uuid)];
        let anchor = anchors.into_iter().flatten().find_map(Text::get);
        Self { records, precedes_summary: anchor.is_some() && anchor == record.uuid.get() }
    }

    /// Returns whether the kept records come before the summary. Then only the messages after a chosen message were summarised.
    pub fn precedes_summary(&self) -> bool {
        self.precedes_summary
    }

    pub fn contains(&self, record: usize) -> bool {
        match &self.records {
            KeptRecords::Listed(records) => records.binary_search(&record).is_ok(),
            KeptRecords::Between(range) => range.contains(&record),
        }
    }

    /// Returns the last kept record.
    pub fn last(&self) -> Option<usize> {
        match &self.records {
            KeptRecords::Listed(records) => records.last().copied(),
            KeptRecords::Between(range) => Some(*range.end()).filter(|_| !range.is_empty()),
        }
    }

    /// Returns the kept records that are in a branch. `branch` must be ascending.
    fn in_branch(&self, branch: &[usize]) -> Vec<usize> {
        match &self.records {
            KeptRecords::Listed(records) => records.clone(),
            KeptRecords::Between(range) => {
                let start = branch.partition_point(|record| record < range.start());
                branch[start..].iter().copied().take_while(|record| record <= range.end()).collect()
            }
        }
    }
}

/// The records of a branch that one compaction kept.
pub struct KeptTail {
    /// Indices of the records, ascending.
    pub records: Vec<usize>,
    /// The kept records come before the summary.
    pub precedes_summary: bool,
}

/// Returns what each compaction boundary of a branch kept, by the record of the boundary.
pub fn kept_tails(records: &[Record], branch: &[usize], threads: &Threads) -> HashMap<usize, KeptTail> {
    let mut tails = HashMap::new();
    let mut earliest = 0;
    for &i in branch.iter().filter(|i| records[**i].is_compact_boundary()) {
        if let Some(thread) = threads.thread_of[i] {
            let kept = Kept::from_boundary(&records[i], thread, threads, earliest);
            tails.insert(i, KeptTail { records: kept.in_branch(branch), precedes_summary: kept.precedes_summary });
            earliest = i;
        }
    }
    tails
}
