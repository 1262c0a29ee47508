//! The facts that calls use, and all blocks that contain one of them.

use rustc_hash::FxHashMap;

use crate::facts::block_names::BlockNames;
use crate::facts::extract::{self, FactKind, FactMatch};
use crate::transcript::conversation::{Block, BlockKind, Call, Conversation};

use super::accesses::{Accesses, command_key};
use super::chance_baseline::KeySampler;
use super::rules::RuleIndex;
use super::steps::{HistoryStep, entering_messages};
use super::worth::{MEASURED, Worth};
use super::{Fact, FactId, Occurrence};

/// Facts that may be used.
#[derive(Default)]
pub(super) struct Vocabulary {
    /// Facts by key.
    pub known: FxHashMap<u64, FactId>,
    pub facts: Vec<Fact>,
}

/// All occurrences of facts in a conversation.
pub(super) struct FactOccurrences {
    /// Pairs of a block and an occurrence in it.
    pub by_block: Vec<(u32, Occurrence)>,
    /// Number of blocks that contain each fact.
    pub block_counts: Vec<u32>,
    /// Number of blocks that can contain facts.
    pub blocks: usize,
    /// Bytes read of each block.
    pub bytes: Vec<u32>,
    pub sample: KeySampler,
    pub names: BlockNames,
}

impl FactOccurrences {
    /// See [`Fact::rarity`].
    pub fn rarity(&self, fact: FactId) -> f64 {
        ((1.0 + self.blocks as f64) / (1.0 + f64::from(self.block_counts[fact as usize]))).ln()
    }
}

impl Vocabulary {
    /// Returns the id of a match's fact; adds the fact if it is new.
    pub fn intern(&mut self, fact_match: &FactMatch) -> FactId {
        let next = self.facts.len() as FactId;
        *self.known.entry(fact_match.key).or_insert_with(|| {
            let (kind, text) = (fact_match.kind, fact_match.text.to_owned());
            let weight = MEASURED.of(Worth::groups_of(kind, text.len()));
            self.facts.push(Fact { kind, text, weight, rarity: 0.0, anchors: Box::default() });
            next
        })
    }

    /// Returns the facts in the text and the tool inputs of every call.
    pub fn used_by_calls(&mut self, conversation: &Conversation) -> Vec<Vec<CandidateUse>> {
        let used_by_call = |call: &Call| {
            let mut used: Vec<CandidateUse> = Vec::new();
            for id in &conversation.messages[call.response].blocks {
                extract::in_block(conversation.block(*id), &mut |fact_match| {
                    if fact_match.counts_when_said() {
                        let (fact, anchors) = (self.intern(&fact_match), fact_match.required_anchors().into());
                        used.push(CandidateUse { fact, anchors, in_file: fact_match.in_file });
                    }
                });
            }
            used.sort_by_key(|candidate| (candidate.fact, !candidate.in_file));
            used
        };
        conversation.calls.iter().map(used_by_call).collect()
    }

    /// Returns the id of a command as a handle.
    pub fn intern_command(&mut self, tool_use: &Block) -> FactId {
        let next = self.facts.len() as FactId;
        *self.known.entry(command_key(tool_use)).or_insert_with(|| {
            self.facts.push(Fact::plain(FactKind::Line, ""));
            next
        })
    }

    /// Finds the facts that thinking shows while it is in a request. Facts neither come from thinking nor are they used there.
    fn find_in_thinking(&self, block: &Block, names: &mut BlockNames, found: &mut Vec<Occurrence>) {
        extract::shown_by(block, &mut |fact_match| {
            names.add(&fact_match);
            let known = self.known.get(&fact_match.key).filter(|fact| self.facts[**fact as usize].counts(&fact_match, false));
            let (line, line_bytes) = (fact_match.line, fact_match.line_bytes);
            found.extend(known.map(|tracked| Occurrence { tracked: *tracked, line, line_bytes }));
        });
        found.sort_unstable_by_key(|seen| (seen.tracked, seen.line_bytes, seen.line));
        found.dedup_by_key(|seen| seen.tracked);
    }

    /// Returns all occurrences of known facts. The first anchors of a fact become its required anchors.
    pub fn find_occurrences(
        &mut self,
        conversation: &Conversation,
        steps: &[HistoryStep],
        (rules, accesses): (&RuleIndex, &Accesses),
    ) -> FactOccurrences {
        let mut occurrences = FactOccurrences {
            by_block: Vec::new(),
            block_counts: vec![0; self.facts.len()],
            blocks: 0,
            bytes: vec![0; conversation.blocks.len()],
            sample: KeySampler::default(),
            names: BlockNames::default(),
        };
        let mut entered = vec![false; conversation.blocks.len()];
        let mut in_block: Vec<Occurrence> = Vec::new();
        for step in steps {
            for id in entering_messages(conversation, step).iter().flat_map(|message| &message.blocks) {
                let block = conversation.block(*id);
                if std::mem::replace(&mut entered[id.index()], true) || block.kind == BlockKind::Media {
                    continue;
                }
                if block.kind == BlockKind::Thinking {
                    self.find_in_thinking(block, &mut occurrences.names, &mut in_block);
                    occurrences.names.end(*id);
                    occurrences.by_block.extend(in_block.drain(..).map(|seen| (id.0, seen)));
                    continue;
                }
                occurrences.blocks += 1;
                let bytes = extract::in_block(block, &mut |fact_match| {
                    occurrences.names.add(&fact_match);
                    if !fact_match.said || fact_match.counts_when_said() {
                        occurrences.sample.insert(fact_match.key, fact_match.required_anchors());
                    }
                    let Some(tracked) = self.known.get(&fact_match.key).copied() else { return };
                    let fact = &mut self.facts[tracked as usize];
                    if fact.anchors.is_empty() && !fact_match.anchors.is_empty() {
                        fact.anchors = fact_match.anchors.into();
                    }
                    if fact.counts(&fact_match, false) {
                        in_block.push(Occurrence { tracked, line: fact_match.line, line_bytes: fact_match.line_bytes });
                    }
                });
                occurrences.bytes[id.index()] = bytes as u32;
                occurrences.names.end(*id);
                in_block.extend(accesses.commands.get(id).map(|command| Occurrence {
                    tracked: *command,
                    line: 0,
                    line_bytes: 0,
                }));
                in_block.sort_unstable_by_key(|seen| (seen.tracked, seen.line_bytes, seen.line));
                in_block.dedup_by_key(|seen| seen.tracked);
                for seen in &in_block {
                    occurrences.block_counts[seen.tracked as usize] += 1;
                }
                let rule = |rule: &FactId| Occurrence { tracked: self.facts.len() as FactId + rule, line: 0, line_bytes: 0 };
                in_block.extend(rules.by_block.get(id).into_iter().flatten().map(rule));
                occurrences.by_block.extend(in_block.drain(..).map(|seen| (id.0, seen)));
            }
        }
        occurrences
    }
}

/// A fact in the text or the tool inputs of a call, with its required anchors there.
pub(super) struct CandidateUse {
    pub fact: FactId,
    pub anchors: Box<[u64]>,
    /// See [`FactMatch::in_file`].
    pub in_file: bool,
}
