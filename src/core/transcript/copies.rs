//! Finds transcripts that are in another transcript too: resumed, forked, copied, or converted to another format.

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::Xxh3;

use super::conversation::{BlockKind, Call, Conversation};

/// A transcript is a copy if another one has at least this share of its calls. A conversion or a harness may change a few.
const COPIED_SHARE: f64 = 0.9;

/// Returns one hash for each recorded call of some conversations: of what the model wrote in it and in the call before it. Two
/// responses in a row are rarely the same by chance, while single ones often are (a greeting, `ls`). Equal on every machine.
pub fn call_hashes(conversations: &[Conversation]) -> Vec<u64> {
    conversations.iter().flat_map(hashes).collect()
}

fn hashes(conversation: &Conversation) -> Vec<u64> {
    let written: Vec<u64> = conversation.calls.iter().map(|call| response_hash(conversation, call)).collect();
    if let ([only], [call]) = (&written[..], &conversation.calls[..]) {
        // The provider's ids tell single calls apart.
        return call.message_id.iter().map(|id| hash(&[&only.to_le_bytes()[..], id.as_bytes()])).collect();
    }
    written.windows(2).map(|pair| hash(&[&pair[0].to_le_bytes()[..], &pair[1].to_le_bytes()[..]])).collect()
}

/// Returns the hash of the text and the tool calls of a response; thinking is often lost in a conversion.
fn response_hash(conversation: &Conversation, call: &Call) -> u64 {
    let mut hasher = Xxh3::new();
    for id in &conversation.messages[call.response].blocks {
        let block = conversation.block(*id);
        match block.kind {
            BlockKind::Text => hasher.update(block.text().trim().as_bytes()),
            BlockKind::ToolUse(pair) => {
                hasher.update(conversation.pair(pair).name.as_bytes());
                hasher.update(block.field("input").map(ToString::to_string).unwrap_or_default().as_bytes());
            }
            _ => {}
        }
        hasher.update(&[0]);
    }
    hasher.digest()
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = Xxh3::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.digest()
}

/// Returns, for each transcript, the index of another one that has its calls; `None` for originals. A transcript is given by the hashes
/// of its calls, and whether it has a compaction. Of two equal transcripts the first with a compaction is the original, because a
/// conversion often lacks them; else the first one; else the longer one.
pub fn originals(transcripts: Vec<(Vec<u64>, bool)>) -> Vec<Option<usize>> {
    let (sets, is_compacted): (Vec<Vec<u64>>, Vec<bool>) =
        transcripts.into_iter().map(|(calls, is_compacted)| (sorted(calls), is_compacted)).unzip();
    // Equal transcripts are found at once: each of a thousand would have a thousand holders.
    let mut first_of: HashMap<&[u64], usize> = HashMap::new();
    for (index, calls) in sets.iter().enumerate() {
        let first = first_of.entry(calls).or_insert(index);
        if is_compacted[index] && !is_compacted[*first] {
            *first = index;
        }
    }
    let firsts: Vec<usize> = sets.iter().map(|calls| first_of[calls.as_slice()]).collect();
    let distinct = sets.iter().enumerate().filter(|(index, _)| firsts[*index] == *index);
    let holders = sorted(distinct.flat_map(|(index, calls)| calls.iter().map(move |call| (*call, index))).collect());
    let holders_of = |call: u64| {
        let begin = holders.partition_point(|(held, _)| *held < call);
        holders[begin..].iter().take_while(move |(held, _)| *held == call).map(|(_, index)| *index)
    };
    let longer = |index: usize| {
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for holder in sets[index].iter().flat_map(|call| holders_of(*call)) {
            *shared.entry(holder).or_default() += 1;
        }
        let size = sets[index].len();
        let is_original = |other: usize| (sets[other].len(), index) > (size, other);
        let has_enough = |common: usize| common as f64 >= COPIED_SHARE * size as f64;
        let found = shared.into_iter().filter(|(other, common)| is_original(*other) && has_enough(*common));
        found.max_by_key(|(other, common)| (*common, std::cmp::Reverse(*other))).map(|(other, _)| other)
    };
    let longer_than_first: HashMap<usize, Option<usize>> = first_of.values().map(|first| (*first, longer(*first))).collect();
    let original = |(index, first): (usize, &usize)| match longer_than_first[first] {
        None if *first != index && !sets[index].is_empty() => Some(*first),
        longer => longer,
    };
    firsts.iter().enumerate().map(original).collect()
}

/// Returns a set as a sorted list, which takes less memory than a tree.
fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::conversation::{ConversationBuilder, Message, Origin, Role, Thinking};

    /// A conversation whose responses are these words.
    fn conversation(words: &str) -> Conversation {
        let mut builder = ConversationBuilder::new("main", "test", Thinking::Turn);
        for word in words.split(' ') {
            let blocks = vec![builder.text(word, Origin::Agent, 1)];
            let message = Message { role: Role::Assistant, is_string_content: false, blocks, time: None, line: 1 };
            builder.response(message, Call { message_id: Some(format!("id of {word}")), ..Call::default() });
        }
        builder.finish()
    }

    fn check(transcripts: &[&str], expected: &[Option<usize>]) {
        let hashes: Vec<_> = transcripts.iter().map(|words| call_hashes(&[conversation(words)])).collect();
        assert_eq!(originals(hashes.into_iter().map(|calls| (calls, false)).collect()), expected, "{transcripts:?}");
    }

    #[test]
    fn copy_is_in_an_equal_or_longer_transcript() {
        check(&["a b c", "a b c", "c b a"], &[None, Some(0), None]);
        check(&["a b c", "a b c d e"], &[Some(1), None]);
        check(&["b c d", "a b c d e"], &[Some(1), None]);
        // A fork with as much of its own is no copy.
        check(&["a b c d", "a b x y"], &[None, None]);
        // One of eleven pairs differs.
        check(&["a b c d e f g h i j k x", "a b c d e f g h i j k l m"], &[Some(1), None]);
    }

    #[test]
    fn copies_of_a_copy_name_the_longest_transcript() {
        check(&["a b c", "a b c", "a b c d e", "a b c"], &[Some(2), Some(2), None, Some(2)]);
        let some = [vec![], vec![], vec![1], vec![]].map(|calls| (calls, false));
        assert_eq!(originals(some.into()), [None; 4], "transcripts without calls");
    }

    #[test]
    fn of_equal_transcripts_the_one_with_compactions_is_the_original() {
        let of = |compacted: [bool; 3]| originals(compacted.map(|is_compacted| (vec![1, 2], is_compacted)).into());
        assert_eq!(of([false, true, true]), [Some(1), None, Some(1)]);
        assert_eq!(of([false, false, false]), [None, Some(0), Some(0)]);
        assert_eq!(originals(vec![(vec![1, 2], true), (vec![1, 2, 3], false)]), [Some(1), None], "the longer one");
    }

    /// Comparing each of them with each other one would take hours.
    #[test]
    fn equal_transcripts_are_found_at_once() {
        let calls: Vec<u64> = (0..100).collect();
        let found = originals(vec![(calls, false); 20_000]);
        assert_eq!(found.iter().flatten().filter(|original| **original == 0).count(), 19_999);
    }

    #[test]
    fn equal_words_alone_make_no_copy() {
        check(&["hello a", "hello b", "hello a c"], &[Some(2), None, None]);
        check(&["a b a b", "b a"], &[None, Some(0)]);
        check(&["hello", "hello", "bye"], &[None, Some(0), None]);
    }
}
