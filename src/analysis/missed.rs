//! The requests in which the policy of the answer missed facts, for a report that shows them.

use super::corpus::Corpus;
use super::show::{ShownRequest, show};
use super::study::Study;
use super::verdict::verdict;
use crate::results::saved::{MissRow, Results};

/// Most requests; each of them replays a conversation again.
const MOST: usize = 8;

/// Shows the requests of the worst misses of the policy to ship, or of the first one if none is fit. Leaves out the requests of
/// transcripts that cannot be read again.
pub fn missed_requests(study: &Study, results: &Results, corpus: &dyn Corpus) -> Vec<ShownRequest> {
    let judged = verdict(results);
    let first = judged.as_ref().and_then(|verdict| verdict.candidates().next());
    let Some(policy) = first.and_then(|first| study.policies.iter().find(|policy| policy.name == first.policy())) else {
        return Vec::new();
    };
    let mut wanted: Vec<&MissRow> = Vec::new();
    for miss in results.misses.iter().filter(|miss| miss.policy == policy.name) {
        let is_same = |other: &&MissRow| {
            (&other.transcript, &other.conversation, other.call) == (&miss.transcript, &miss.conversation, miss.call)
        };
        if wanted.len() < MOST && !wanted.iter().any(is_same) {
            wanted.push(miss);
        }
    }
    let of_miss = |miss: &&MissRow| {
        let reading = corpus.reread(&miss.transcript)?;
        let conversation = reading.conversations.iter().find(|conversation| conversation.name == miss.conversation)?;
        Some(show(study, &miss.transcript, conversation, policy, miss.call.checked_sub(1)?).ok()??.0)
    };
    wanted.iter().filter_map(of_miss).collect()
}
