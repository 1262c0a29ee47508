//! Checks retention on recorded conversations, and prints the figures of the guide.

mod random;
mod reuse;
mod summaries;
mod table;

use std::collections::BTreeMap;

use rayon::prelude::*;
use recompact::analysis::study::{Study, TokenCounter};
use recompact::engine::journal::Journal;
use recompact::engine::policy::Policy;
use recompact::engine::replay::{NoObserver, ReplaySetup, UNLIMITED, replay};
use recompact::engine::replay_cache::ReplayCache;
use recompact::facts::references::{Loss, Provenance, References};
use recompact::metrics::retention::{Grain, OutcomeWeights, Retention, UseOutcome, bounds, evaluate, oracle_instance};
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::block_sizes::overhead;
use recompact::tokens::meter::{Meter, Rounding, SizeUnit};
use recompact::transcript::conversation::{BlockId, Conversation};

use crate::support::transcripts::{RECORDINGS, Recorded, recorded};
use crate::support::trial::preset_with;
use random::{Paired, interval, pooled};

const FOLDERS: [&str; 2] = ["claude-code", "codex"];
const COUNTER: Meter = Meter { rounding: Rounding::Floor(4.0), ..Meter::from_unit(SizeUnit::Chars) };

/// A conversation with the data that all lookups need.
struct One<'a> {
    conversation: &'a Conversation,
    sizes: BlockSizes,
    references: References,
}

impl<'a> One<'a> {
    fn new(conversation: &'a Conversation) -> Self {
        let sizes = BlockSizes::new(conversation, [COUNTER.unit]);
        let references = References::new(conversation, |block| COUNTER.apply(sizes.size(block, COUNTER.unit)));
        Self { conversation, sizes, references }
    }

    fn tokens(&self, block: BlockId) -> u64 {
        COUNTER.apply(self.sizes.size(block, COUNTER.unit))
    }

    fn replay(&self, policy: &Policy) -> Journal {
        let shared = ReplayCache::new(self.conversation);
        let setup = ReplaySetup::new(self.conversation, &self.sizes, policy, COUNTER, &shared);
        let overhead = overhead(self.conversation, &self.sizes, COUNTER);
        replay(&ReplaySetup { window: UNLIMITED, overhead, ..setup }, &mut NoObserver)
    }

    fn kept(&self, journal: &Journal) -> Retention {
        evaluate(self.conversation, &self.references, journal, &|block| self.tokens(block))
    }
}

fn policy(name: &str, layer: &str) -> Policy {
    let toml = format!("name = \"{name}\"\n[[layer]]\nid = \"l\"\n{layer}");
    Policy::parse(&toml, name, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn clear(keep: usize) -> Policy {
    policy(&format!("clear, keep {keep}"), &format!("do = \"clear\"\nkeep_recent = {keep}\nmin_chars = 0\nplaceholder = \"-\""))
}

fn window(messages: usize) -> Policy {
    policy(&format!("window of {messages}"), &format!("do = \"drop\"\nkeep_first = 0\nmax_messages = {messages}"))
}

/// A sub-agent's file is in a folder with the name of its session.
fn session(recorded: &Recorded) -> &str {
    recorded.name.split_once("/subagents/").map_or(recorded.name.trim_end_matches(".jsonl"), |(session, _)| session)
}

fn study(policies: Vec<Policy>) -> Study {
    Study { counter: TokenCounter::Fixed(COUNTER), ..Study::new(policies) }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn facts_of_other_sessions_are_rarely_found_by_chance() {
    let chance = |of: &str, recordings: &[&Recorded]| {
        let study = study(vec![preset_with("keep-all", &[])]);
        let parts = recordings.par_iter().map(|recorded| study.transcript(&recorded.name, &recorded.reading, None)).collect();
        let results = study.results(parts);
        let chance = results.summary[0].values.get("kept.chance").expect("other sessions");
        println!("placebo, {of}: {:.2} % of the weight of {} files", chance * 100.0, recordings.len());
        assert!(chance <= 0.1, "{of}: {chance}");
    };
    for folder in FOLDERS {
        chance(folder, &recorded(folder).collect::<Vec<_>>());
    }
    chance("all folders", &RECORDINGS.iter().collect::<Vec<_>>());
}

const SEEDS: u64 = 5;

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recent_results_are_used_more_than_random_ones() {
    for folder in FOLDERS {
        let one = |(session, conversation): (&'static str, &Conversation)| {
            let one = One::new(conversation);
            if one.references.uses.len() < 50 {
                return None;
            }
            let (whole, recent) = (one.replay(&preset_with("keep-all", &[])), one.replay(&clear(3)));
            let drawn = (1..=SEEDS).map(|seed| {
                let journal = random::clearing(&one, &whole, &recent, seed);
                let mut both = journal.requests.iter().zip(&recent.requests);
                assert!(both.all(|(drawn, recent)| drawn.tokens <= recent.tokens + 1), "{session}: more than it may send");
                one.kept(&journal).all.hit
            });
            let sent = |journal: &Journal| journal.requests.iter().map(|request| request.tokens).sum::<u64>() as f64;
            let drawn = drawn.sum::<f64>() / SEEDS as f64;
            let kept = one.kept(&recent).all;
            Some((session, Paired { hit: kept.hit, other: drawn, weight: kept.weight }, sent(&recent) / sent(&whole)))
        };
        let conversations: Vec<_> =
            recorded(folder).flat_map(|recorded| recorded.reading.conversations.iter().map(|c| (session(recorded), c))).collect();
        let pairs: Vec<_> = conversations.into_par_iter().filter_map(one).collect();
        let mut sessions = BTreeMap::<&str, Paired>::new();
        pairs.iter().for_each(|(session, paired, _)| sessions.entry(session).or_default().add(*paired));
        let sessions: Vec<_> = sessions.into_values().collect();
        assert!(!sessions.is_empty(), "{folder}: no conversation uses 50 facts");
        let (sum, (low, high)) = (pooled(&sessions), interval(&sessions));
        let tokens = pairs.iter().map(|pair| pair.2).sum::<f64>() / pairs.len() as f64;
        println!(
            "{folder}: newest 3 results {:.3}, drawn {:.3} in as many tokens (mean {:.1} %): {:+.3} [{low:.3}, {high:.3}], {} sessions",
            sum.hit / sum.weight,
            sum.other / sum.weight,
            tokens * 100.0,
            sum.difference(),
            sessions.len()
        );
        assert!(sum.difference() > 0.0, "{folder}");
        assert!(folder != "claude-code" || low > 0.0, "{folder}");
    }
}

/// Most uses of a conversation whose linear program is solved in about a second.
const SOLVED: std::ops::RangeInclusive<usize> = 20..=250;

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn no_policy_retains_more_than_the_upper_bound() {
    let policies = [clear(3), clear(10), window(10), window(20), window(40)];
    let of_folders = FOLDERS.into_iter().flat_map(recorded).flat_map(|recorded| &recorded.reading.conversations);
    let ones: Vec<_> = of_folders.map(One::new).filter(|one| SOLVED.contains(&one.references.uses.len())).collect();
    let pairs: Vec<_> = ones.iter().flat_map(|one| policies.iter().map(move |policy| (one, policy))).collect();
    let of_pair = |(one, policy): (&One, &Policy)| {
        let journal = one.replay(policy);
        let hit = one.kept(&journal).all.hit;
        let tokens = |block| one.tokens(block);
        let instance = oracle_instance(one.conversation, &one.references, Grain::Blocks, &tokens);
        let bounds = bounds(&instance, &journal, true);
        let place = format!("{}, {}", one.conversation.name, policy.name);
        let upper = bounds.upper.unwrap_or_else(|| panic!("{place}: no solution"));
        assert!(hit <= upper + 1e-6, "{place}: {hit} is more than {upper}");
        assert!(bounds.weight <= upper + 1e-6, "{place}: clairvoyant {} is more than {upper}", bounds.weight);
        (bounds.weight > 0.0).then(|| [hit / bounds.weight, bounds.weight / upper])
    };
    let ratios: Vec<_> = pairs.into_par_iter().filter_map(of_pair).collect();
    assert!(ratios.len() >= 20, "{} pairs", ratios.len());
    let mean = |which: usize| ratios.iter().map(|pair| pair[which]).sum::<f64>() / ratios.len() as f64;
    let end = |which: usize, of: fn(f64, f64) -> f64| ratios.iter().map(|pair| pair[which]).reduce(of).unwrap_or(f64::NAN);
    println!("bounds of {} replays of {} conversations:", ratios.len(), ones.len());
    println!("  hit ÷ clairvoyant: mean {:.3}, {:.3} to {:.3}", mean(0), end(0, f64::min), end(0, f64::max));
    println!("  clairvoyant ÷ upper bound: mean {:.3}, worst {:.3}", mean(1), end(1, f64::min));
    println!("  efficiency over 1: {}", ratios.iter().filter(|pair| pair[0] > 1.0 + 1e-9).count());
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn facts_needed_after_a_compaction_have_a_source() {
    let mut all = Vec::new();
    for folder in FOLDERS {
        let mut by_encryption = [Vec::new(), Vec::new()];
        for conversation in recorded(folder).flat_map(|recorded| &recorded.reading.conversations) {
            for loss in One::new(conversation).references.losses {
                let is_encrypted = conversation.compactions[loss.compaction].edit.is_encrypted(conversation);
                by_encryption[usize::from(is_encrypted)].push(loss);
            }
        }
        for (losses, how) in by_encryption.iter().zip(["readable", "encrypted"]).filter(|(losses, _)| !losses.is_empty()) {
            let share = needed(&format!("{folder}, {how}"), losses);
            assert!(how == "encrypted" || share <= 0.1, "{folder}: {share} of what was needed came from nowhere");
        }
        all.extend(by_encryption.into_iter().flatten());
    }
    assert!(all.len() > 2, "{} compactions", all.len());
    needed("all", &all);
    assert!(spearman(&all) >= 0.4);
}

/// Prints the sources of the needed facts. Returns the share of facts without a source.
fn needed(of: &str, losses: &[Loss]) -> f64 {
    let sum = |of: &dyn Fn(&Loss) -> usize| losses.iter().map(of).sum::<usize>();
    let (all, nowhere) = (sum(&|loss| loss.needed), sum(&|loss| loss.nowhere.len()));
    let share = |part: usize| 100.0 * part as f64 / all as f64;
    println!("{of}: {} compactions, {all} facts needed after them", losses.len());
    for from in Provenance::ALL {
        println!("  {} {:.1} %", from.name(), share(sum(&|loss| loss.had_from[from as usize])));
    }
    println!("  nowhere {:.1} %", share(nowhere));
    let tokens = |of: &dyn Fn(&Loss) -> u64| losses.iter().map(of).sum::<u64>();
    let (predicted, paid) = (tokens(&|loss| loss.predicted_tokens), tokens(&|loss| loss.refetched_tokens));
    println!("  read again: {predicted} tokens predicted, {paid} paid; rank correlation {:.2}", spearman(losses));
    nowhere as f64 / all as f64
}

fn spearman(losses: &[Loss]) -> f64 {
    let ranks = |of: &dyn Fn(&Loss) -> u64| -> Vec<f64> {
        let below = |one: u64| losses.iter().filter(|other| of(other) < one).count() as f64;
        let ties = |one: u64| losses.iter().filter(|other| of(other) == one).count() as f64;
        losses.iter().map(|loss| below(of(loss)) + (ties(of(loss)) - 1.0) / 2.0).collect()
    };
    let (a, b) = (ranks(&|loss| loss.predicted_tokens), ranks(&|loss| loss.refetched_tokens));
    let middle = (losses.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - middle) * (b - middle)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn recordings_obey_the_retention_laws() {
    let policies = ["keep-all", "drop-all", "recorded"].map(|name| preset_with(name, &[]));
    let mut folders: Vec<&str> = RECORDINGS.iter().map(|recorded| &*recorded.folder).collect();
    folders.dedup();
    for folder in folders {
        let of_folder: Vec<_> = recorded(folder).flat_map(|recorded| &recorded.reading.conversations).collect();
        let of_one = |conversation: &&Conversation| {
            let one = One::new(conversation);
            let [all, none, as_recorded] = policies.each_ref().map(|policy| one.kept(&one.replay(policy)));
            let name = &conversation.name;
            assert!(all.outcomes.iter().all(|outcome| *outcome == UseOutcome::Hit { in_summary: false }), "{folder}, {name}");
            assert!(none.all.hit == 0.0, "{folder}, {name}");
            // The recorded agent saw what its harness sent, but for what it fetched again. Its thinking may have had some of that.
            for (used, outcome) in one.references.uses.iter().zip(&as_recorded.outcomes) {
                let is_hit = matches!(outcome, UseOutcome::Hit { .. });
                assert!(is_hit || used.refetch.is_some(), "{folder}, {name}: {used:?}");
            }
            for share in [&all.all, &none.all, &as_recorded.all] {
                assert!(
                    (share.hit + share.soft + share.stale + share.hard - share.weight).abs() < 1e-6,
                    "{folder}, {name}: {share:?}"
                );
            }
            let again = One::new(conversation);
            assert_eq!(again.kept(&again.replay(&policies[2])), as_recorded, "{folder}, {name}: the same again");
            as_recorded
        };
        let kept: Vec<Retention> = of_folder.par_iter().map(of_one).collect();
        let mut share = OutcomeWeights::default();
        kept.iter().for_each(|kept| share.add(&kept.all));
        println!(
            "{folder}: {} uses in {} conversations, hits as recorded {:.1} of {:.1}",
            share.uses,
            kept.len(),
            share.hit,
            share.weight
        );
    }
}
