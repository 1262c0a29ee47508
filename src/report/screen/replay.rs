//! The first screen of a replay: which policy to ship.

mod answer;
mod changes;
mod checks;
mod errors;
mod promised;
mod spent;
mod table;

use super::super::number_format::{MISSING, count, grouped};
use super::super::{Invocation, Layout};
use super::{Prose, Screen, Step};
use crate::analysis::limits::Flaw;
use crate::analysis::spec::preset_text;
use crate::analysis::verdict::{Standing, Verdict, by_harness, harness_verdicts, verdict};
use crate::report::table_model::compare::conversations_of;
use crate::results::Role;
use crate::results::saved::Results;
use crate::results::stats::Samples;
use crate::util::text::plural;

pub use answer::{cost, is_too_wide, settings};
pub use table::remark;

/// Differences of cost that round to less than this share are no difference.
const SAME: f64 = 0.005;

/// Returns the screen; `None` if nothing was replayed.
pub fn screen(results: &Results, layout: &Layout) -> Option<Screen> {
    let verdict = verdict(results)?;
    let parts = by_harness(results);
    let harnesses = harness_verdicts(&parts);
    Some(Screen {
        scope: scope(results, &verdict),
        answer: answer::answer(results, &verdict, &harnesses).into_iter().chain(spent::on_compactions(results)).collect(),
        table: table::table(results, &verdict, &harnesses, layout),
        checks: checks::checks(results, &verdict, &harnesses, &layout.invocation),
        changes: changes::changes(results, &verdict, &harnesses, &layout.invocation),
        next: next(&verdict, &layout.invocation),
    })
}

/// `27 conversations of 20 sessions, 2,141 calls; 11 policies replayed offline, with `micro.keep_recent_results=5``
fn scope(results: &Results, verdict: &Verdict) -> Prose {
    let conversations = conversations_of(&results.rows).len();
    let sessions = Samples::new(&results.rows).sessions();
    let calls = verdict.standings.iter().map(Standing::requests).max().unwrap_or(0);
    let policies = verdict.candidates().count();
    let of_sessions = if sessions == conversations { String::new() } else { format!(" of {}", plural(sessions, "session")) };
    let what = if sessions == conversations { "session" } else { "conversation" };
    let calls = if calls == 1 { "1 call".to_owned() } else { format!("{} calls", count(calls)) };
    let policies = if policies == 1 { "1 policy".to_owned() } else { format!("{policies} policies") };
    let scope = Prose::new(format!("{}{of_sessions}, {calls}; {policies} replayed offline", plural(conversations, what)));
    let changed = changed_settings(results).map(|setting| Prose::default().name(setting));
    match changed.reduce(|all, next| all.words(", ").join(next)) {
        Some(changed) => scope.words(", with ").join(changed),
        None => scope,
    }
}

/// The settings that were changed for all policies: `micro.keep_recent_results=5`. A sweep has those that it tries.
fn changed_settings(results: &Results) -> impl Iterator<Item = &str> {
    let set = results.study.iter().filter_map(|study| study.spec.get("set")?.as_array());
    set.flatten().filter_map(|setting| setting.as_str())
}

/// What costs are compared with, in a sentence.
pub fn yardstick(verdict: &Verdict) -> Prose {
    verdict.yardstick.policy.map_or_else(|| Prose::new("anything that could run"), named)
}

/// A policy in a sentence.
pub fn named(policy: &str) -> Prose {
    Role::of(policy).words().map_or_else(|| Prose::default().name(policy), Prose::new)
}

/// A change of the cost: `-25%`, `+103%`; for the baseline itself nothing.
pub fn change(ratio: Option<f64>) -> String {
    let Some(ratio) = ratio else { return MISSING.to_owned() };
    let percent = grouped((ratio - 1.0) * 100.0, 0);
    if ratio > 1.0 && percent != "0" { format!("+{percent}%") } else { format!("{percent}%") }
}

/// An amount of money as a headline needs it: `$174`, `$1.84`, `$0.0123`.
pub fn money(usd: f64) -> String {
    match usd {
        usd if usd >= 9.995 => format!("${}", grouped(usd, 0)),
        usd if usd >= 0.0995 => format!("${}", grouped(usd, 2)),
        usd => format!("${}", grouped(usd, 4)),
    }
}

/// Two amounts beside each other: `$174, not $232`, `both $227`.
fn amounts(own: f64, other: f64) -> String {
    let cents = |usd: f64| format!("${}", grouped(usd, 2));
    let pair = |[own, other]: [String; 2]| (own != other).then(|| format!("{own}, not {other}"));
    pair([own, other].map(money)).or_else(|| pair([own, other].map(cents))).unwrap_or_else(|| format!("both {}", money(own)))
}

fn next(verdict: &Verdict, invocation: &Invocation) -> Vec<Step> {
    if invocation.is_demo() {
        return vec![
            Step::new("recompact".to_owned(), "the same for your sessions on this machine: these are invented"),
            Step::new("recompact PATH".to_owned(), "the same for those in a folder or a file"),
            Step::new(invocation.again("--full"), "all sections of these"),
        ];
    }
    let mut steps = Vec::new();
    // Only a preset can be named without knowing its file, and a program has no settings to try.
    let is_yours = |row: &&Standing| Role::of(row.policy()) == Role::Candidate && !row.flaws.contains(&Flaw::NotYours);
    let preset = verdict.candidates().find(is_yours).filter(|first| preset_text(first.policy()).is_some());
    if invocation.is_python() {
        steps.extend(preset.map(|first| Step::new(format!("recompact.sweep(…, {:?})", first.policy()), "which of its settings")));
        steps.extend(calls("report.html"));
        return steps;
    }
    if invocation.works_on_transcripts() {
        steps.push(match preset {
            Some(first) => Step::new(invocation.other("sweep", &format!("-p {}", first.policy())), "which of its settings"),
            None => Step::new(invocation.other(&invocation.command, "-p all"), "every preset beside each other"),
        });
    }
    steps.push(Step::new(invocation.again("--show misses,cache,layers"), "some of the sections; --full: all of them"));
    steps.push(Step::new(invocation.again("--out report.html"), "the same with plots, for a browser"));
    steps
}

/// What a caller in Python does next with results.
pub fn calls(page: &str) -> [Step; 3] {
    [
        Step::new("print(results.report(full=True))", "all sections"),
        Step::new("results.plot()", "costs and facts of the policies as a picture"),
        Step::new(format!("results.save({page:?})"), "the same with plots, for a browser"),
    ]
}
