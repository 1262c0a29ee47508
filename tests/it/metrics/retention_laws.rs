//! Laws of retention, for every policy and every conversation.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::ops::Range;

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::replay::Observer;
use recompact::facts::extract::{self, FactKind};
use recompact::metrics::retention::UseOutcome;
use recompact::transcript::conversation::{BlockId, BlockKind, Conversation};
use recompact::transcript::tool_access;

use crate::metrics::retention_page::looked_up;
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
    planted::check(3, |conversation| {
        for trial in &trials {
            let (_, kept) = looked_up(conversation, trial);
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

/// Returns the keys of all facts in each request, by reading every block again.
struct Slow(Vec<(usize, HashSet<u64>)>);

impl Observer for Slow {
    fn request(&mut self, request: &Request, context: &Context) {
        let mut keys = HashSet::new();
        for id in context.messages().iter().flat_map(|sent| &sent.blocks) {
            extract::in_block(context.block(*id), &mut |sighting| {
                keys.insert(sighting.key);
            });
        }
        self.0.push((request.call, keys));
    }
}

#[test]
fn hits_equal_a_search_of_every_request() {
    let trials = trials();
    planted::check(4, |conversation: &Conversation| {
        for trial in &trials {
            let mut slow = Slow(Vec::new());
            trial.replay(conversation, &mut slow);
            let (references, kept) = looked_up(conversation, trial);
            for (used, outcome) in references.uses.iter().zip(&kept.outcomes) {
                let fact = &references.facts[used.fact as usize];
                if fact.kind.needs_anchor() || fact.kind == FactKind::Hash {
                    continue;
                }
                let request = slow.0.iter().find(|(call, _)| *call == used.call as usize);
                let holds = request.is_some_and(|(_, keys)| keys.contains(&extract::key(fact.kind, &fact.text)));
                let hit = matches!(outcome, UseOutcome::Hit { .. });
                assert_eq!(hit, holds, "{}, call {}: {}", trial.policy.name, used.call + 1, fact.text);
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

/// Returns whether one of the calls `after..before` wrote a file.
fn is_written(conversation: &Conversation, file: u64, calls: Range<usize>) -> bool {
    let responses = conversation.calls[calls].iter().flat_map(|call| &conversation.messages[call.response].blocks);
    responses.into_iter().any(|id| match conversation.block(*id).kind {
        BlockKind::ToolUse(pair) => {
            let access = tool_access::access_of(&conversation.pair(pair).name, &conversation.block(*id).wire()["input"]);
            keys(&access.writes).contains(&file)
        }
        _ => false,
    })
}

/// Policies that write files have more handles than the conversation; the cases test those.
#[test]
fn soft_misses_can_be_fetched_again() {
    let trials: Vec<_> = trials().into_iter().chain((0..3).map(clear)).collect();
    let soft = Cell::new(0);
    planted::check(40, |conversation| {
        for trial in &trials {
            let mut slow = Slow(Vec::new());
            if !trial.replay(conversation, &mut slow).files.is_empty() {
                continue;
            }
            let (references, kept) = looked_up(conversation, trial);
            for (used, outcome) in references.uses.iter().zip(&kept.outcomes) {
                let (fact, call) = (&references.facts[used.fact as usize], used.call as usize);
                let Some((_, request)) = slow.0.iter().find(|(of, _)| *of == call) else { continue };
                if fact.kind.needs_anchor() || matches!(outcome, UseOutcome::Hit { .. }) {
                    continue;
                }
                let entered = conversation.messages[..conversation.calls[call].response].iter().enumerate();
                let mut sources = entered.flat_map(|(at, message)| message.blocks.iter().map(move |id| (at, *id)));
                let mut is_named = false;
                let can = sources.any(|(at, id)| {
                    let after = conversation.calls.partition_point(|call| call.response <= at);
                    let is_fresh = |file: &u64| !is_written(conversation, *file, after..call);
                    let mut holds = false;
                    extract::in_block(conversation.block(id), &mut |seen| {
                        holds |= seen.key == extract::key(fact.kind, &fact.text)
                    });
                    let handles = handles(conversation, id);
                    let mut visible = handles.iter().filter(|file| holds && request.contains(file)).peekable();
                    is_named |= visible.peek().is_some();
                    visible.any(is_fresh)
                });
                soft.set(soft.get() + usize::from(can));
                let is_right = match outcome {
                    UseOutcome::Soft { quoted } => can || *quoted && is_named && used.in_file,
                    UseOutcome::Stale => is_named && !can,
                    _ => !is_named,
                };
                assert!(is_right, "{}, call {}: {}: {outcome:?}", trial.policy.name, call + 1, fact.text);
            }
        }
    });
    assert!(soft.get() > effort::of(25, 100), "{soft:?} soft misses are too few");
}
