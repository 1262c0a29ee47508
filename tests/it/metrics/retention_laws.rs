//! Laws of retention, for every policy and every conversation.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::replay::{NoObserver, Observer};
use recompact::facts::extract::{self, FactKind};
use recompact::facts::references::Fact;
use recompact::metrics::retention::UseOutcome;
use recompact::text::facts::reworded;
use recompact::tokens::meter::{Meter, SizeUnit};
use recompact::transcript::conversation::{Block, BlockId, BlockKind, Call, Conversation};
use recompact::transcript::tool_access::{self, Effect};

use crate::metrics::retention_page::{Lookup, looked_up};
use crate::support::program::run_in;
use crate::support::trial::{Trial, preset_with, trials};
use crate::support::{effort, planted};

fn policy(layer: &str) -> Trial {
    let toml = format!("name = \"p\"\n[[layer]]\nid = \"l\"\n{layer}");
    Trial::new(recompact::engine::policy::Policy::parse(&toml, "p", &[]).unwrap_or_else(|error| panic!("{error}")))
}

fn clear(keep: usize) -> Trial {
    policy(&format!("do = \"clear\"\nkeep_recent = {keep}\nmin_chars = 0\nplaceholder = \"-\""))
}

/// A session that continues another one begins with that one's summary, and nothing of it is in context once it is dropped.
#[test]
fn summary_that_a_session_begins_with_can_be_dropped() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let said = |role: &str, text: &str| format!("{{\"role\": \"{role}\", \"content\": \"{text}\"}}\n");
    let session = said("user", "[Compacted]\\n\\nThe work is on quorl_join in src/brindle.rs")
        + &said("assistant", "I see")
        + &said("user", "Go on")
        + &said("assistant", "I do")
        + &said("user", "And then?")
        + &said("assistant", "I call quorl_join of src/brindle.rs");
    std::fs::write(folder.path().join("session.jsonl"), session).expect("a folder to write to");
    let asked = ["replay", "session.jsonl", "-p", "drop-all", "--tokenizer", "chars/4", "-o", "json"];
    let results = run_in(folder.path(), asked, b"").json();
    let kept: Vec<_> = results["summary"].as_array().expect("a summary").iter().map(|of| &of["values"]["kept.hit"]).collect();
    assert_eq!((kept[0], kept[1]), (&1.into(), &0.into()), "{kept:?}");
}

#[test]
fn keep_all_retains_every_fact_and_drop_all_none() {
    let (uses, with_uses) = (Cell::new(0), Cell::new(0));
    planted::check(38, |conversation| {
        let (references, kept) = looked_up(conversation, &Trial::new(preset_with("keep-all", &[])));
        assert!(kept.outcomes.iter().all(|outcome| *outcome == UseOutcome::Hit { in_summary: false }));
        assert_eq!((kept.rules, kept.reread_tokens(), kept.missed.len()), (kept.rules_held, 0, 0));
        let (_, kept) = looked_up(conversation, &Trial::new(preset_with("drop-all", &[])));
        assert!(kept.outcomes.iter().all(|outcome| !matches!(outcome, UseOutcome::Hit { .. })));
        uses.set(uses.get() + references.uses.len());
        with_uses.set(with_uses.get() + usize::from(!references.uses.is_empty()));
    });
    assert!(
        uses.get() > effort::of(125, 500) && with_uses.get() > effort::of(25, 100),
        "{uses:?} uses in {with_uses:?} conversations are too few"
    );
}

#[test]
fn four_shares_sum_to_the_weight() {
    let trials = trials();
    planted::check_in_turn(8, &trials, |conversation, trials| {
        let lookup = Lookup::new(conversation, Meter::from_unit(SizeUnit::Chars));
        for trial in trials {
            let (_, kept) = lookup.replay(trial, &mut NoObserver);
            let sides = [&kept.by_gap[..], &kept.by_kind, &kept.by_provenance, &kept.by_generation];
            for share in sides.into_iter().flatten().chain([&kept.all]) {
                let parts = share.hit + share.soft + share.stale + share.hard;
                assert!((parts - share.weight).abs() < 1e-9, "{}: {share:?}", trial.policy.name);
                assert!(share.hit_summary <= share.hit && share.soft_quoted <= share.soft);
            }
            for side in sides {
                let uses: u64 = side.iter().map(|share| share.uses).sum();
                assert_eq!(uses, kept.all.uses, "{}", trial.policy.name);
            }
        }
    });
}

#[test]
fn policies_that_keep_more_results_hit_more() {
    let drop = |keep: usize| policy(&format!("do = \"drop\"\nkeep_first = 0\nmax_messages = {keep}"));
    let chains = [(0..6).map(clear).collect::<Vec<_>>(), (2..9).map(drop).collect()];
    planted::check(10, |conversation| {
        for chain in &chains {
            let outcomes: Vec<_> = chain.iter().map(|trial| looked_up(conversation, trial).1.outcomes).collect();
            for (less, more) in outcomes.iter().zip(&outcomes[1..]) {
                let is_hit = |outcome: &UseOutcome| matches!(outcome, UseOutcome::Hit { .. });
                assert!(less.iter().zip(more).all(|(less, more)| !is_hit(less) || is_hit(more)));
            }
        }
    });
}

/// Keys of the facts in each block of a conversation.
fn keys_of_blocks(conversation: &Conversation) -> Vec<HashSet<u64>> {
    conversation.blocks.iter().map(keys_of_block).collect()
}

fn keys_of_block(block: &Block) -> HashSet<u64> {
    let mut keys = HashSet::new();
    extract::shown_by(block, &mut |sighting| {
        keys.insert(sighting.key);
    });
    keys
}

fn texts_of(block: &Block) -> Vec<String> {
    let mut all = Vec::new();
    match block.kind {
        BlockKind::Thinking => all.push(block.text().into_owned()),
        _ => extract::texts(block, &mut |text| all.push(text.to_owned())),
    }
    all
}

/// Searches every block of a request.
struct Slow<'k> {
    /// Of the blocks of the conversation.
    recorded: &'k [HashSet<u64>],
    /// Of the blocks that layers wrote.
    written: HashMap<BlockId, HashSet<u64>>,
    /// The texts of the blocks that layers wrote.
    texts: HashMap<BlockId, Vec<String>>,
    /// The blocks of the request of each call; of the first, if it was sent again.
    requests: HashMap<usize, Vec<BlockId>>,
}

impl Slow<'_> {
    fn new(recorded: &[HashSet<u64>]) -> Slow<'_> {
        Slow { recorded, written: HashMap::new(), texts: HashMap::new(), requests: HashMap::new() }
    }

    /// Returns whether the request of a call says a fact in other words.
    fn says(&self, conversation: &Conversation, call: usize, fact: &Fact) -> bool {
        let recorded = |id: &BlockId| texts_of(conversation.block(*id));
        let texts = |id: &BlockId| self.texts.get(id).cloned().unwrap_or_else(|| recorded(id));
        let all: Vec<String> = self.requests[&call].iter().flat_map(texts).collect();
        let parts = reworded::parts(fact.kind, &fact.text);
        !parts.is_empty() && parts.iter().all(|part| all.iter().any(|text| part.is_in(text)))
    }

    /// Returns whether the request of a call has a fact; `None` without a request.
    fn holds(&self, call: usize, key: u64) -> Option<bool> {
        let keys = |id: &BlockId| self.recorded.get(id.index()).unwrap_or_else(|| &self.written[id]);
        Some(self.requests.get(&call)?.iter().any(|id| keys(id).contains(&key)))
    }
}

impl Observer for Slow<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let blocks: Vec<_> = context.messages().iter().flat_map(|sent| sent.blocks.iter().copied()).collect();
        for id in blocks.iter().filter(|id| id.index() >= self.recorded.len()) {
            self.written.entry(*id).or_insert_with(|| keys_of_block(context.block(*id)));
            self.texts.entry(*id).or_insert_with(|| texts_of(context.block(*id)));
        }
        self.requests.entry(request.call).or_insert(blocks);
    }
}

#[test]
fn hits_equal_a_search_of_every_request() {
    let trials = trials();
    planted::check_in_turn(16, &trials, |conversation, trials| {
        let keys = keys_of_blocks(conversation);
        let lookup = Lookup::new(conversation, Meter::from_unit(SizeUnit::Chars));
        for trial in trials {
            let mut slow = Slow::new(&keys);
            let (_, kept) = lookup.replay(trial, &mut slow);
            for (used, outcome) in lookup.references.uses.iter().zip(&kept.outcomes) {
                let fact = &lookup.references.facts[used.fact as usize];
                if fact.kind.needs_anchor() || fact.kind == FactKind::Hash {
                    continue;
                }
                let holds = slow.holds(used.call as usize, extract::key(fact.kind, &fact.text));
                let hit = matches!(outcome, UseOutcome::Hit { .. });
                assert_eq!(hit, holds == Some(true), "{}, call {}: {}", trial.policy.name, used.call + 1, fact.text);
            }
        }
    });
}

/// Returns the paths and URLs from which a block's content can be fetched again: those that its tool call read or wrote.
fn handles(conversation: &Conversation, id: BlockId) -> Vec<u64> {
    let (pair, of_result) = match conversation.block(id).kind {
        BlockKind::ToolResult(pair) if !conversation.block(id).is_error() => (pair, true),
        BlockKind::ToolUse(pair) => (pair, false),
        _ => return Vec::new(),
    };
    let Some(used) = conversation.pair(pair).tool_use else { return Vec::new() };
    let access = tool_access::access_of(&conversation.pair(pair).name, &conversation.block(used).wire()["input"]);
    keys(if of_result { &access.reads } else { &access.writes })
}

fn keys(paths: &[Cow<str>]) -> Vec<u64> {
    let mut keys = Vec::new();
    for path in paths {
        extract::in_text(path, &mut |seen| {
            let is_handle = matches!(seen.kind, FactKind::Path | FactKind::File | FactKind::Url);
            keys.extend((seen.said && is_handle).then_some(seen.key));
        });
    }
    keys
}

/// Returns the effect of the tool call of a block, and its input.
fn effect(conversation: &Conversation, id: BlockId) -> Option<(Effect, String)> {
    let (BlockKind::ToolUse(pair) | BlockKind::ToolResult(pair)) = conversation.block(id).kind else { return None };
    let pair = conversation.pair(pair);
    let input = &conversation.block(pair.tool_use?).wire()["input"];
    Some((tool_access::effect_of(&pair.name, input, &tool_access::access_of(&pair.name, input)), input.to_string()))
}

/// What each block of a conversation has, and what it gives access to.
struct Blocks {
    keys: Vec<HashSet<u64>>,
    handles: Vec<Vec<u64>>,
    /// Files that each call wrote.
    writes: Vec<Vec<u64>>,
    /// Of a tool_use or tool_result: the input of a call that only reads.
    commands: Vec<Option<String>>,
    is_use: Vec<bool>,
    /// Whether each call may have changed something.
    changes: Vec<bool>,
}

impl Blocks {
    fn new(conversation: &Conversation) -> Self {
        let writes = |id: &BlockId| match conversation.block(*id).kind {
            BlockKind::ToolUse(_) => handles(conversation, *id),
            _ => Vec::new(),
        };
        let blocks = |call: &Call| conversation.messages[call.response].blocks.iter().copied();
        let of_call = |call: &Call| blocks(call).collect::<Vec<_>>().iter().flat_map(writes).collect();
        let changes = |id: BlockId| effect(conversation, id).is_some_and(|(effect, _)| effect == Effect::Changes);
        let ids = || (0..conversation.blocks.len() as u32).map(BlockId);
        let command = |id| effect(conversation, id).filter(|(effect, _)| *effect == Effect::Reads).map(|(_, input)| input);
        Self {
            keys: keys_of_blocks(conversation),
            handles: ids().map(|id| handles(conversation, id)).collect(),
            writes: conversation.calls.iter().map(of_call).collect(),
            commands: ids().map(command).collect(),
            is_use: ids().map(|id| matches!(conversation.block(id).kind, BlockKind::ToolUse(_))).collect(),
            changes: conversation.calls.iter().map(|call| blocks(call).any(changes)).collect(),
        }
    }

    /// Returns whether one of these calls wrote a file.
    fn is_written(&self, file: u64, calls: Range<usize>) -> bool {
        self.writes[calls].iter().any(|files| files.contains(&file))
    }

    /// Returns whether a call that gives the content of a result again is in a request; and whether nothing changed in these calls.
    fn can_be_repeated(&self, result: usize, request: &[BlockId], calls: Range<usize>) -> Option<bool> {
        let command = self.commands[result].as_ref().filter(|_| !self.is_use[result])?;
        let same =
            |id: &&BlockId| self.is_use.get(id.index()) == Some(&true) && self.commands[id.index()].as_ref() == Some(command);
        request.iter().find(same).map(|_| !self.changes[calls].contains(&true))
    }
}

/// Policies that write files have more handles than the conversation; the cases test those.
#[test]
fn soft_misses_can_be_fetched_again() {
    let trials: Vec<_> = trials().into_iter().chain((0..3).map(clear)).collect();
    let soft = Cell::new(0);
    planted::check_in_turn(20, &trials, |conversation, trials| {
        let blocks = Blocks::new(conversation);
        let lookup = Lookup::new(conversation, Meter::from_unit(SizeUnit::Chars));
        for trial in trials {
            let mut slow = Slow::new(&blocks.keys);
            let (journal, kept) = lookup.replay(trial, &mut slow);
            if !journal.files.is_empty() {
                continue;
            }
            for (used, outcome) in lookup.references.uses.iter().zip(&kept.outcomes) {
                let (fact, call) = (&lookup.references.facts[used.fact as usize], used.call as usize);
                if fact.kind.needs_anchor() || matches!(outcome, UseOutcome::Hit { .. }) || !slow.requests.contains_key(&call) {
                    continue;
                }
                let key = extract::key(fact.kind, &fact.text);
                let entered = conversation.messages[..conversation.calls[call].response].iter().enumerate();
                let sources = entered.flat_map(|(at, message)| message.blocks.iter().map(move |id| (at, id.index())));
                let mut holding = sources.filter(|(_, id)| blocks.keys[*id].contains(&key));
                let mut is_named = false;
                let can = holding.any(|(at, id)| {
                    let after = conversation.calls.partition_point(|call| call.response <= at);
                    let is_fresh = |file: &u64| !blocks.is_written(*file, after..call);
                    let mut visible = blocks.handles[id].iter().filter(|file| slow.holds(call, **file) == Some(true)).peekable();
                    let repeated = blocks.can_be_repeated(id, &slow.requests[&call], after..call);
                    is_named |= visible.peek().is_some() || repeated.is_some();
                    visible.any(is_fresh) || repeated == Some(true)
                });
                soft.set(soft.get() + usize::from(can));
                let is_right = match outcome {
                    UseOutcome::Soft { quoted } => can || *quoted && is_named && used.in_file,
                    UseOutcome::Reworded => !can && slow.says(conversation, call, fact),
                    UseOutcome::Stale => is_named && !can && !slow.says(conversation, call, fact),
                    _ => !is_named && !slow.says(conversation, call, fact),
                };
                assert!(is_right, "{}, call {}: {}: {outcome:?}", trial.policy.name, call + 1, fact.text);
            }
        }
    });
    assert!(soft.get() > effort::of(25, 100), "{soft:?} soft misses are too few");
}
