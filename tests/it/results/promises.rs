//! What the first screen promises from one half of recorded sessions, compared with the other half.

use std::collections::{BTreeMap, BTreeSet};

use recompact::analysis::verdict::{Choice, Promise, Standing, Verdict, promise, ties, verdict};
use recompact::results::saved::{LayerRow, Results, Row, summarise};
use recompact::results::stats::{MIN_SESSIONS, SEED, Samples, halves};

use crate::support::program::{fixtures, run_in};
use crate::support::transcripts::{folders, repository};

/// Random splits of each group: two promises each.
const SPLITS: usize = 40;

/// The default policies over all sessions of Claude Code and Codex, as a user replays them.
fn replayed() -> Results {
    let folders = ["claude-code", "codex"].into_iter().flat_map(folders);
    let folders = folders.map(|folder| folder.to_string_lossy().into_owned());
    let arguments: Vec<String> = ["replay", "--quiet", "-o", "json"].map(str::to_owned).into_iter().chain(folders).collect();
    Results::from_json(&run_in(&fixtures(), arguments, b"").printed()).expect("results")
}

/// The results of these sessions alone. The record has compactions if its requests are smaller than those without any.
fn part(results: &Results, rows: Vec<Row>) -> Results {
    let summary = summarise(&results.columns, &rows);
    let saved = |row: &LayerRow| summary.iter().find(|of| of.policy == row.policy).and_then(|of| of.values.get("tokens.saved"));
    let has_compacted = |row: &&LayerRow| row.policy != "recorded" || saved(row).is_some_and(|saved| saved != 0.0);
    let layers = results.layers.iter().filter(has_compacted).cloned().collect();
    let (columns, policies, study) = (results.columns.clone(), results.policies.clone(), results.study.clone());
    Results { columns, policies, study, summary, layers, rows, ..Results::default() }
}

/// How the promises of one group did.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    promises: usize,
    /// Promises with an interval, those with an end beyond 300 % or without a cost at all, and those that the other half is inside of.
    stated: usize,
    too_wide: usize,
    inside: usize,
    /// Promises within 5 points of the other half, and those of them without an interval.
    close: usize,
    unstated_close: usize,
}

impl Tally {
    fn add(&mut self, promised: f64, ends: Option<[f64; 2]>, came: f64) {
        let is_close = (promised - came).abs() <= 0.05;
        let count = usize::from;
        self.promises += 1;
        self.stated += count(ends.is_some());
        self.too_wide += count(ends.is_some_and(|[low, high]| low < 0.005 || high > 4.0));
        self.inside += count(ends.is_some_and(|[low, high]| low - 1e-9 <= came && came <= high + 1e-9));
        self.close += count(is_close);
        self.unstated_close += count(is_close && ends.is_none());
    }

    fn plus(self, other: Self) -> Self {
        Self {
            promises: self.promises + other.promises,
            stated: self.stated + other.stated,
            too_wide: self.too_wide + other.too_wide,
            inside: self.inside + other.inside,
            close: self.close + other.close,
            unstated_close: self.unstated_close + other.unstated_close,
        }
    }

    fn cells(self) -> String {
        let Self { promises, stated, too_wide, inside, close, unstated_close } = self;
        let unstated = promises - stated;
        format!("{inside} of {stated} | {too_wide} | {unstated_close} of {unstated} | {close} of {promises}")
    }
}

/// How often the other half has another winner.
#[derive(Debug, Default, Clone, Copy)]
struct Flips {
    halves: usize,
    flips: usize,
    /// Of these, how often only the number of sessions said that it may be so, and how often nothing did.
    vague: usize,
    silent: usize,
}

fn winner<'a>(verdict: &Verdict<'a>) -> Option<&'a str> {
    verdict.chosen().map(Standing::policy)
}

/// Whether the screen says that other sessions may have another answer: by an answer that is not proven or by the winners of other
/// halves and resamples, and at least by the share of sessions that may be unlike these.
fn warns(results: &Results, verdict: &Verdict) -> [bool; 2] {
    let few = Samples::new(&results.rows).sessions() < MIN_SESSIONS;
    let ties = ties(results, verdict);
    let is_doubted = verdict.choice == Choice::Unproven || ties.as_ref().is_some_and(|ties| !ties.others.is_empty());
    [is_doubted, is_doubted || few || ties.is_some_and(|ties| ties.unlike >= 0.1)]
}

/// The cost of a policy as a share of that of another one.
fn cost(results: &Results, policy: &str, yardstick: &str) -> Option<f64> {
    let column = results.column("cost.ratio").expect("a column");
    let added = Samples::new(&results.rows).added_against(policy, yardstick, column);
    column.total_of_all(added.into_iter().flatten())
}

fn look(these: &Results, other: &Results, [costs, facts]: &mut [Tally; 2], flips: &mut Flips) {
    let (own, theirs) = (verdict(these).expect("results"), verdict(other).expect("results"));
    let is_other = winner(&own) != winner(&theirs);
    flips.halves += 1;
    if is_other {
        let [is_doubted, is_warned] = warns(these, &own);
        flips.flips += 1;
        flips.vague += usize::from(is_warned && !is_doubted);
        flips.silent += usize::from(!is_warned);
    }
    let Some(chosen) = own.chosen() else { return };
    let promised: Promise = promise(these, &own, chosen);
    let came = own.yardstick.policy.and_then(|yardstick| cost(other, chosen.policy(), yardstick));
    if let Some((ratio, came)) = chosen.cost_ratio().zip(came) {
        costs.add(ratio, promised.cost, came);
    }
    let hit = |results: &Results| results.total(chosen.policy(), "kept.hit");
    if let Some((kept, came)) = hit(these).zip(hit(other)) {
        facts.add(kept, promised.facts, came);
    }
}

/// Prints a line for each repository and harness, and for each harness, with six sessions or more.
#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn promises_of_halves_hold_for_the_other_halves() {
    let results = replayed();
    let mut groups: BTreeMap<(String, &str), Vec<&Row>> = BTreeMap::new();
    for row in &results.rows {
        for name in [repository(&row.transcript), "all"] {
            groups.entry((row.recording.format.to_string(), name)).or_default().push(row);
        }
    }
    let (mut all, mut all_flips) = ([Tally::default(); 2], Flips::default());
    println!(
        "| sessions of | n | cost: inside | too wide | no interval: within 5 points | within 5 points | facts: inside | too wide \
              | no interval: within 5 points | within 5 points | other winner | only the number said it | without a word |"
    );
    for ((format, name), rows) in groups {
        let sessions: Vec<_> = rows.iter().map(|row| row.session()).collect::<BTreeSet<_>>().into_iter().collect();
        if sessions.len() < MIN_SESSIONS {
            continue;
        }
        let of_half = |half: &[bool]| {
            let is_in = |row: &&&Row| half[sessions.binary_search(&row.session()).expect("a session")];
            part(&results, rows.iter().filter(is_in).map(|row| (*row).clone()).collect())
        };
        let (mut tallies, mut flips) = ([Tally::default(); 2], Flips::default());
        for split in halves(sessions.len(), SPLITS, SEED).chunks(2) {
            let [one, other] = [of_half(&split[0]), of_half(&split[1])];
            look(&one, &other, &mut tallies, &mut flips);
            look(&other, &one, &mut tallies, &mut flips);
        }
        let [costs, facts] = tallies.map(Tally::cells);
        let Flips { halves, flips: others, vague, silent } = flips;
        println!("| {name}, {format} | {} | {costs} | {facts} | {others} of {halves} | {vague} | {silent} |", sessions.len());
        all = [0, 1].map(|at| all[at].plus(tallies[at]));
        all_flips.halves += halves;
        all_flips.flips += others;
        all_flips.vague += vague;
        all_flips.silent += silent;
    }
    let [costs, facts] = all.map(Tally::cells);
    let Flips { halves, flips, vague, silent } = all_flips;
    println!("| together | | {costs} | {facts} | {flips} of {halves} | {vague} | {silent} |");
    for (what, Tally { stated, inside, .. }) in [("cost", all[0]), ("facts", all[1])] {
        assert!(inside as f64 >= 0.95 * stated as f64, "{what}: {inside} of {stated}");
    }
    assert_eq!(silent, 0);
}
