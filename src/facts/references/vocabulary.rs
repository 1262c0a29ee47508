//! The facts that calls use, and every block that holds one of them.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::facts::extract::{self, FactKind, FactMatch};
use crate::transcript::conversation::{BlockKind, Call, Conversation};
use crate::transcript::tool_access;

use super::chance_baseline::Sample;
use super::rules::Rules;
use super::steps::{Step, entering};
use super::{Fact, FactId, Occurrence};

/// A fact that may turn out to be used.
#[derive(Default)]
pub(super) struct Vocabulary {
    pub known: FxHashMap<u64, FactId>,
    pub facts: Vec<Fact>,
}

/// What the tool calls of a conversation read and wrote.
pub(super) struct Accesses {
    /// Block and the fact by which it can be fetched again.
    pub handles: Vec<(u32, FactId)>,
    /// File and the call that wrote it.
    pub written: Vec<(u32, u32)>,
}

/// Where facts are.
pub(super) struct Sightings {
    pub seen: Vec<(u32, Occurrence)>,
    /// How many blocks hold each fact.
    pub in_blocks: Vec<u32>,
    /// Blocks that can hold facts.
    pub blocks: usize,
    /// Bytes that were read of each block.
    pub bytes: Vec<u32>,
    pub sample: Sample,
}

impl Sightings {
    /// See [`Fact::weight`].
    pub fn weight(&self, fact: FactId) -> f64 {
        ((1.0 + self.blocks as f64) / (1.0 + f64::from(self.in_blocks[fact as usize]))).ln()
    }
}

impl Vocabulary {
    fn intern(&mut self, sighting: &FactMatch) -> FactId {
        let next = self.facts.len() as FactId;
        *self.known.entry(sighting.key).or_insert_with(|| {
            let text = sighting.text.to_owned();
            self.facts.push(Fact { kind: sighting.kind, text, weight: 0.0, anchors: Box::default() });
            next
        })
    }

    /// The facts in the text and the tool inputs of every call, by call.
    pub fn used_by_calls(&mut self, conversation: &Conversation) -> Vec<Vec<Wanted>> {
        let of_call = |call: &Call| {
            let mut used: Vec<Wanted> = Vec::new();
            for id in &conversation.messages[call.response].blocks {
                extract::in_block(conversation.block(*id), &mut |sighting| {
                    if sighting.said && (!sighting.kind.is_bound() || !sighting.anchors.is_empty()) {
                        used.push(Wanted { fact: self.intern(&sighting), anchors: sighting.bound_to().into() });
                    }
                });
            }
            used.sort_by_key(|wanted| wanted.fact);
            used
        };
        conversation.calls.iter().map(of_call).collect()
    }

    /// The files and URLs that tool calls read and wrote, as facts.
    pub fn accesses(&mut self, conversation: &Conversation) -> Accesses {
        let mut accesses = Accesses { handles: Vec::new(), written: Vec::new() };
        for (call, response) in (0..).zip(conversation.calls.iter().map(|call| &conversation.messages[call.response])) {
            for id in &response.blocks {
                let block = conversation.block(*id);
                let (BlockKind::ToolUse(pair), Some(input)) = (block.kind, block.field("input")) else { continue };
                let pair = conversation.pair(pair);
                let access = tool_access::access_of(&pair.name, input);
                for path in &access.writes {
                    extract::in_name(path, &mut |sighting| {
                        let file = self.intern(&sighting);
                        accesses.written.push((file, call));
                        accesses.handles.push((id.0, file));
                    });
                }
                // What a tool says of its failure is not the file.
                let Some(result) = pair.answered.filter(|id| !conversation.block(*id).is_error()) else { continue };
                for path in &access.reads {
                    extract::in_name(path, &mut |sighting| accesses.handles.push((result.0, self.intern(&sighting))));
                }
            }
        }
        self.add_namesakes(&mut accesses);
        accesses.written.sort_unstable();
        accesses.written.dedup();
        accesses
    }

    /// After `cd src/net`, `pool.rs` is `src/net/pool.rs`: a file written by its bare name is every file of that name that has a
    /// path, and one written by its path is what has the bare name.
    fn add_namesakes(&self, accesses: &mut Accesses) {
        let mut by_name = FxHashMap::<&str, Vec<FactId>>::default();
        let named: BTreeSet<_> = accesses.handles.iter().map(|(_, fact)| *fact).collect();
        let name = |fact: FactId| self.facts[fact as usize].text.rsplit('/').next().unwrap_or_default();
        let kind = |fact: FactId| self.facts[fact as usize].kind;
        let is_one =
            |one, other| matches!((kind(one), kind(other)), (FactKind::File, FactKind::Path) | (FactKind::Path, FactKind::File));
        named.into_iter().for_each(|fact| by_name.entry(name(fact)).or_default().push(fact));
        let others = |(file, call): &(FactId, u32)| {
            let (file, call) = (*file, *call);
            let namesakes = by_name.get(name(file)).into_iter().flatten().copied();
            namesakes.filter(|other| is_one(file, *other)).map(|other| (other, call)).collect::<Vec<_>>()
        };
        let also: Vec<_> = accesses.written.iter().flat_map(others).collect();
        accesses.written.extend(also);
    }

    /// Every block that holds a known fact. The first anchors a fact is seen with are those it is bound to.
    pub fn look_through(&mut self, conversation: &Conversation, steps: &[Step], rules: &Rules) -> Sightings {
        let mut sightings = Sightings {
            seen: Vec::new(),
            in_blocks: vec![0; self.facts.len()],
            blocks: 0,
            bytes: vec![0; conversation.blocks.len()],
            sample: Sample::default(),
        };
        let mut entered = vec![false; conversation.blocks.len()];
        let mut here: Vec<Occurrence> = Vec::new();
        for step in steps {
            for id in entering(conversation, step).iter().flat_map(|message| &message.blocks) {
                let block = conversation.block(*id);
                if std::mem::replace(&mut entered[id.index()], true)
                    || matches!(block.kind, BlockKind::Thinking | BlockKind::Media)
                {
                    continue;
                }
                sightings.blocks += 1;
                let bytes = extract::in_block(block, &mut |sighting| {
                    sightings.sample.insert(sighting.key, sighting.bound_to());
                    let Some(tracked) = self.known.get(&sighting.key).copied() else { return };
                    let fact = &mut self.facts[tracked as usize];
                    if fact.anchors.is_empty() && !sighting.anchors.is_empty() {
                        fact.anchors = sighting.anchors.into();
                    }
                    if fact.counts(&sighting, false) {
                        here.push(Occurrence { tracked, line: sighting.line, line_bytes: sighting.line_bytes });
                    }
                });
                sightings.bytes[id.index()] = bytes as u32;
                here.sort_unstable_by_key(|seen| (seen.tracked, seen.line_bytes, seen.line));
                here.dedup_by_key(|seen| seen.tracked);
                for seen in &here {
                    sightings.in_blocks[seen.tracked as usize] += 1;
                }
                let rule = |rule: &FactId| Occurrence { tracked: self.facts.len() as FactId + rule, line: 0, line_bytes: 0 };
                here.extend(rules.of_block.get(id).into_iter().flatten().map(rule));
                sightings.seen.extend(here.drain(..).map(|seen| (id.0, seen)));
            }
        }
        sightings
    }
}

/// A fact a call uses, and what it stood beside there.
pub(super) struct Wanted {
    pub fact: FactId,
    pub anchors: Box<[u64]>,
}
