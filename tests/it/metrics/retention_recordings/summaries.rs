//! The recorded agents' own summaries beside `extract` of the same text, at the recorded compactions: everything else that a compaction
//! kept or put back stays as it was recorded.

use std::collections::BTreeMap;
use std::sync::Mutex;

use recompact::engine::journal::{Journal, SentBlock};
use recompact::engine::replay::{NoObserver, ReplaySetup, UNLIMITED, replay};
use recompact::engine::replay_cache::ReplayCache;
use recompact::engine::summarizer::{Extract, Reply, Summarizer, SummaryError, SummaryRequest};
use recompact::metrics::retention::OutcomeWeights;
use recompact::tokens::block_sizes::overhead;
use recompact::transcript::conversation::{BlockId, BlockKind, Conversation, Origin};

use super::random::{Paired, interval, pooled};
use super::{COUNTER, FOLDERS, One, policy, preset_with, recorded, session};

/// Whose summary takes the place of the recorded one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum By {
    Record,
    Extract,
    /// `extract` with as many tokens as the recorded summary has.
    ExtractAsLong,
    Done,
}

const ALL: [(By, &str); 4] = [
    (By::Record, "the recorded agent's model"),
    (By::Extract, "`extract`"),
    (By::ExtractAsLong, "`extract`, as long as the recorded one"),
    (By::Done, "`fixed:done`"),
];

/// A recorded compaction with a summary that can be read.
struct Compaction<'a> {
    conversation: &'a Conversation,
    index: usize,
    /// The block of the summary.
    summary: BlockId,
    call: usize,
}

impl Compaction<'_> {
    /// What the summarizer of this compaction had not read: what came behind it, before the next call.
    fn is_behind(&self, id: BlockId) -> bool {
        let from = self.conversation.compactions[self.index].message_index;
        let messages = &self.conversation.messages[from..self.conversation.calls[self.call].response];
        messages.iter().any(|message| message.blocks.contains(&id))
    }
}

/// The compactions of the record that have a summary, from the journal of `recorded`.
fn compactions<'a>(conversation: &'a Conversation, journal: &Journal) -> Vec<Compaction<'a>> {
    let summary = |index: usize| {
        let blocks = conversation.compactions[index].edit.messages().iter().flat_map(|message| &message.blocks).copied();
        let is_summary = |id: &BlockId| {
            let block = conversation.block(*id);
            block.kind == BlockKind::Text && block.origin == Origin::Compaction
        };
        blocks.into_iter().find(is_summary).expect("a summary that was read")
    };
    let recorded = journal.recorded.iter().map(|repeated| (repeated.restored.compaction, repeated.call));
    recorded.map(|(index, call)| Compaction { conversation, index, summary: summary(index), call }).collect()
}

/// Writes what `by` says at each compaction, and fails elsewhere. It keeps what it wrote, and answers only in its second replay: the
/// first shows it what the recorded summarizer read.
struct Writer<'a> {
    by: By,
    compactions: &'a [Compaction<'a>],
    written: Mutex<BTreeMap<usize, String>>,
    answers: bool,
}

impl Summarizer for Writer<'_> {
    fn summarize(&self, request: &SummaryRequest) -> Reply {
        let none = || Err(SummaryError::Other("no summary here".to_owned()));
        let Some(compaction) = self.compactions.iter().find(|compaction| compaction.call == request.call) else {
            return none().into();
        };
        let mut written = self.written.lock().expect("no other thread panicked");
        if self.answers {
            return written.get(&request.call).cloned().ok_or(SummaryError::Empty).into();
        }
        let recorded = compaction.conversation.block(compaction.summary).text();
        let extract = |tokens: u64| {
            let read = request.blocks.iter().filter(|block| !block.whole.is_some_and(|id| compaction.is_behind(id)));
            let SummaryRequest { prompt, focus, call, digests, tokens: count, .. } = *request;
            let request = SummaryRequest {
                blocks: read.cloned().collect(),
                prompt,
                focus,
                max_tokens: tokens,
                call,
                digests,
                tokens: count,
            };
            Extract { tokens }.summarize(&request).text.expect("a summary")
        };
        let text = match self.by {
            By::Record => recorded.into_owned(),
            By::Extract => extract(Extract::default().tokens),
            By::ExtractAsLong => extract((request.tokens)(&recorded)),
            By::Done => "done".to_owned(),
        };
        written.insert(request.call, text);
        none().into()
    }
}

/// The replay of `recorded` with other summaries, and their tokens.
fn with_summaries(one: &One, as_recorded: &Journal, compactions: &[Compaction], by: By) -> (Journal, u64) {
    let summarize = "do = \"summarize\"\nmax_tokens = 1000000\ntemplate = \"{summary}\"";
    let recorded = "[[layer]]\nid = \"recorded\"\ndo = \"recorded\"";
    let play = |writer: &Writer, layers: &str| {
        let (policy, shared) = (policy("summaries", layers), ReplayCache::new(one.conversation));
        let setup = ReplaySetup::new(one.conversation, &one.sizes, &policy, COUNTER, &shared);
        let overhead = overhead(one.conversation, &one.sizes, COUNTER);
        replay(&ReplaySetup { window: UNLIMITED, overhead, summarizer: writer, ..setup }, &mut NoObserver)
    };
    let mut writer = Writer { by, compactions, written: Mutex::default(), answers: false };
    play(&writer, &format!("{summarize}\n{recorded}"));
    writer.answers = true;
    let written = play(&writer, summarize);
    let mut journal = as_recorded.clone();
    let mut instead = BTreeMap::new();
    for compaction in compactions {
        let request = written.request(compaction.call).expect("a request");
        let block = request.changes.iter().find_map(|change| change.added.first()).expect("a summary");
        let id = BlockId((one.conversation.blocks.len() + journal.synthetic_blocks.len()) as u32);
        journal.synthetic_blocks.push(written.synthetic_blocks[block.index() - one.conversation.blocks.len()].clone());
        instead.insert(compaction.summary, id);
    }
    let replaced = |id: &mut BlockId| *id = *instead.get(id).unwrap_or(id);
    for request in &mut journal.requests {
        let changes = request.changes.iter_mut().chain(&mut request.view);
        changes.flat_map(|change| change.removed.iter_mut().chain(&mut change.added)).for_each(replaced);
        request.delta.appended.iter_mut().for_each(|SentBlock { block, .. }| replaced(block));
    }
    let texts = writer.written.into_inner().expect("no other thread panicked");
    (journal, texts.values().map(|text| COUNTER.apply(COUNTER.unit.text(text))).sum())
}

/// Prints what each summary has of the uses at risk, and how much more the recorded ones have. What the recorded agent did next came
/// from its own summary, so this favours the recorded ones.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recorded_summaries_hold_more_than_extract() {
    let mut sessions: BTreeMap<&str, [OutcomeWeights; ALL.len()]> = BTreeMap::new();
    let (mut summaries, mut tokens) = (0, [0; ALL.len()]);
    for file in FOLDERS.into_iter().flat_map(recorded) {
        for conversation in &file.reading.conversations {
            let one = One::new(conversation);
            let as_recorded = one.replay(&preset_with("recorded", &[]));
            let compactions = compactions(conversation, &as_recorded);
            if compactions.is_empty() {
                continue;
            }
            summaries += compactions.len() as u64;
            let of_session = sessions.entry(session(file)).or_default();
            for (at, (by, _)) in ALL.into_iter().enumerate() {
                let (journal, of_these) = with_summaries(&one, &as_recorded, &compactions, by);
                of_session[at].add(&one.kept(&journal).at_risk);
                tokens[at] += of_these;
            }
        }
    }
    assert!(sessions.len() >= 10, "{} sessions", sessions.len());
    let uses = |at: usize| sessions.values().map(|of| of[at].uses).sum::<u64>();
    println!("{} sessions, {summaries} summaries, {} uses at risk", sessions.len(), uses(0));
    let pairs = |at: usize, less: Option<usize>| -> Vec<Paired> {
        let pair = |of: &[OutcomeWeights; ALL.len()]| Paired {
            hit: of[at].hit,
            other: less.map_or(0.0, |less| of[less].hit),
            weight: of[at].weight,
        };
        sessions.values().map(pair).collect()
    };
    for (at, (_, name)) in ALL.into_iter().enumerate() {
        assert_eq!(uses(at), uses(0), "{name}: the same uses are at risk");
        let line = |pairs: &[Paired]| {
            let (low, high) = interval(pairs);
            format!("{:.1} % ({:.1} to {:.1})", pooled(pairs).difference() * 100.0, low * 100.0, high * 100.0)
        };
        println!("{name}: {} tokens, {}", tokens[at] / summaries, line(&pairs(at, None)));
        if at > 0 {
            let more = pairs(0, Some(at));
            println!("  the recorded ones hold more: {}", line(&more));
            assert!(interval(&more).0 > 0.0, "{name}");
        }
    }
}
