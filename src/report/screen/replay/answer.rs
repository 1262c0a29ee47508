//! The answer of a replay in sentences. It never flatters: it says what is not proven, what is refused and what is lost.

use super::super::Prose;
use super::{SAME, amounts, money, named, promised, yardstick};
use crate::analysis::limits::{Flaw, MAX_LOST};
use crate::analysis::verdict::{Choice, HarnessResults, HarnessVerdict, Promise, Standing, Verdict, Way, formats, promise, way};
use crate::metrics::metric::{cost, retention};
use crate::report::number_format::{count, grouped, value};
use crate::results::Role;
use crate::results::saved::{Results, Unit};
use crate::results::stats::{MIN_SESSIONS, Samples};
use crate::util::text::plural;

/// Returns the answer; if several harnesses recorded the sessions, one for each, because none of their users can ship for all.
pub fn answer(results: &Results, verdict: &Verdict, harnesses: &[HarnessVerdict]) -> Vec<Prose> {
    if harnesses.is_empty() {
        let mut sentences = of_sessions(results, verdict);
        let settings = formats(results).into_iter().filter_map(|format| chosen_settings(results, verdict, format)).collect();
        // Who has no settings for it reads this first.
        let first = joined(vec![sentences.remove(0), joined(settings)]);
        return [first].into_iter().chain(sentences).collect();
    }
    // What is the same for several harnesses is said once.
    let mut answers: Vec<(Prose, Prose)> = Vec::new();
    for (harness, said) in harnesses.iter().filter_map(of_harness) {
        match answers.iter_mut().find(|(_, other)| *other == said) {
            Some((all, _)) => *all = std::mem::take(all).words("; ").join(harness),
            None => answers.push((harness, said)),
        }
    }
    answers.into_iter().map(|(all, said)| all.words(": ").join(said)).collect()
}

/// The harness, and what is said for its sessions: ``claude-code`, 17 sessions` and `Ship `x`: it costs … Of the facts …`
fn of_harness(HarnessVerdict { part, verdict }: &HarnessVerdict) -> Option<(Prose, Prose)> {
    let HarnessResults { format, sessions, results } = part;
    let harness = Prose::default().name(format.as_str()).words(format!(", {}", plural(*sessions, "session")));
    let mut sentences = of_sessions(results, verdict).into_iter();
    let first = sentences.next()?;
    let rest = |chosen| joined(vec![promised::stability(results, verdict), facts(chosen, None)]);
    let second = verdict.chosen().map(rest).or_else(|| sentences.next()).unwrap_or_default();
    let settings = chosen_settings(results, verdict, format).unwrap_or_default();
    Some((harness, joined(vec![first, second, settings])))
}

fn chosen_settings(results: &Results, verdict: &Verdict, format: &str) -> Option<Prose> {
    let chosen = verdict.chosen()?.policy();
    settings(verdict, format, chosen, way(results, format, chosen, verdict.candidates()), named)
}

/// What the settings of the harness can do, if the answer needs more than those. `named` writes the name of a policy.
///
/// `With the settings of `codex`: keep what you have. With one change of its code: `anthropic-clear`.`
pub fn settings(verdict: &Verdict, format: &str, chosen: &str, way: Way, named: impl Fn(&str) -> Prose) -> Option<Prose> {
    let Way::Code { best } = way else { return None };
    let best = best.map(|best| named(best.policy()).words(", which costs ").join(cost(best, verdict)));
    let first = Prose::new("With the settings of ").name(format).words(": ");
    let first = first.join(best.unwrap_or_else(|| Prose::new("keep what you have")));
    Some(first.words(". With one change of its code: ").join(named(chosen)).words("."))
}

/// Returns the answer for sessions of one harness.
fn of_sessions(results: &Results, verdict: &Verdict) -> Vec<Prose> {
    let Some(first) = verdict.candidates().next() else {
        return vec![Prose::new(
            "Nothing to choose from: only no compaction and the recorded session were replayed. Name policies with -p.",
        )];
    };
    let promise = promise(results, verdict, first);
    let mut sentences = match verdict.choice {
        Choice::Ship => {
            let cost = promised::cost(first, verdict, &promise);
            vec![Prose::new("Ship ").join(named(first.policy())).words(": it costs ").join(cost).words(".")]
        }
        Choice::Unproven => vec![unproven(results, first, verdict, &promise)],
        Choice::NoYardstick => vec![no_yardstick(first, verdict)],
        Choice::NoneFit | Choice::NothingToChoose => {
            let mut sentences = none_fit(results, verdict);
            let last = sentences.pop().into_iter().chain([promised::stability(results, verdict)]).collect();
            sentences.push(joined(last));
            return sentences;
        }
    };
    sentences.extend([
        promised::stability(results, verdict),
        recorded(first, verdict),
        kept(first, &promise),
        cheaper(first, verdict),
    ]);
    vec![sentences.remove(0), joined(sentences)]
}

fn joined(sentences: Vec<Prose>) -> Prose {
    let written = sentences.into_iter().filter(|sentence| *sentence != Prose::default());
    written.reduce(|all, sentence| all.words(" ").join(sentence)).unwrap_or_default()
}

/// `25% less than your recorded runs ($174, not $232; 95% interval 13 to 47% less)`
pub fn cost(standing: &Standing, verdict: &Verdict) -> Prose {
    cost_with(standing, verdict, Vec::new())
}

/// The cost with more notes in its parentheses.
pub fn cost_with(standing: &Standing, verdict: &Verdict, promises: Vec<String>) -> Prose {
    let Some(ratio) = standing.cost_ratio() else { return Prose::new("an unknown amount") };
    let mut notes: Vec<String> = Vec::new();
    // Dollars leave out models without a known price, so they may say something else.
    let agrees = |(own, theirs): &(f64, f64)| (own / theirs - ratio).abs() < SAME;
    notes.extend(standing.dollars().filter(agrees).map(|(own, theirs)| amounts(own, theirs)));
    notes.extend(standing.interval.map(interval));
    notes.extend(promises);
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) };
    Prose::new(change(ratio)).join(yardstick(verdict)).words(notes)
}

/// `25% less than `, `as much as `, `2.0 times as much as `
fn change(ratio: f64) -> String {
    match ratio {
        ratio if (ratio - 1.0).abs() < SAME => "as much as ".to_owned(),
        ratio if ratio >= 2.0 => format!("{} times as much as ", grouped(ratio, 1)),
        ratio if ratio > 1.0 => format!("{}% more than ", grouped((ratio - 1.0) * 100.0, 0)),
        ratio => format!("{}% less than ", grouped((1.0 - ratio) * 100.0, 0)),
    }
}

/// `95% interval 13 to 47% less`
fn interval(ends: [f64; 2]) -> String {
    if is_too_wide(ends) {
        "its interval is too wide to say how much".to_owned()
    } else {
        format!("95% interval {}", range(ends))
    }
}

/// `13 to 47% less`, `4% more to 17% less`, `10 to 31% more`
pub fn range([low, high]: [f64; 2]) -> String {
    let percent = |end: f64| grouped((end - 1.0).abs() * 100.0, 0);
    let is_same = |end: f64| (end - 1.0).abs() < SAME;
    match (low < 1.0, high < 1.0) {
        _ if is_same(low) && is_same(high) => "less than 0.5% away".to_owned(),
        (_, true) if percent(low) == percent(high) => format!("{}% less", percent(low)),
        (false, _) if percent(low) == percent(high) => format!("{}% more", percent(low)),
        (_, true) => format!("{} to {}% less", percent(high), percent(low)),
        (true, false) => format!("{}% more to {}% less", percent(high), percent(low)),
        (false, false) => format!("{} to {}% more", percent(low), percent(high)),
    }
}

/// Something must compact, and nothing that could run is there to compare with.
fn no_yardstick(first: &Standing, verdict: &Verdict) -> Prose {
    let uncompacted = verdict.in_role(Role::KeepAll);
    let overflows = uncompacted.map_or(String::new(), |row| {
        format!(
            ": {} of {} requests of no compaction do not fit the window, and no compaction was recorded",
            count(row.overflows()),
            count(row.requests())
        )
    });
    let usd = first.summary.values.get(cost::USD).map_or(String::new(), |usd| format!(", which costs {}", money(usd)));
    Prose::new("Something must compact. The best of these is ")
        .name(first.policy())
        .words(format!("{usd}. It cannot be said what it saves{overflows}."))
}

/// Whether an interval says nothing: a cost of nothing is impossible, and one of more than three times is a guess.
pub fn is_too_wide([low, high]: [f64; 2]) -> bool {
    low < SAME || high > 4.0
}

fn unproven(results: &Results, first: &Standing, verdict: &Verdict, promise: &Promise) -> Prose {
    let sessions = Samples::new(&results.rows).sessions();
    let why = if sessions < MIN_SESSIONS {
        format!(". {} cannot prove a saving: at least {MIN_SESSIONS} are needed.", plural(sessions, "session"))
    } else {
        ". The saving may be chance: the interval also holds costs that are not lower.".to_owned()
    };
    let cost = promised::cost(first, verdict, promise);
    let beginning =
        if verdict.candidates().count() == 1 { "It is not proven that " } else { "Nothing is proven. The best of these, " };
    if verdict.candidates().count() == 1 {
        return Prose::new(beginning).join(named(first.policy())).words(" saves money: it costs ").join(cost).words(why);
    }
    Prose::new(beginning).join(named(first.policy())).words(", costs ").join(cost).words(why)
}

/// `Of the facts that the agent used again, 97.5% are still in context and 0.4% are lost for good.` With a promise, it says as well
/// where the first share will be, and what fetching costs.
fn facts(standing: &Standing, promise: Option<&Promise>) -> Prose {
    let share = |id: &str| standing.summary.values.get(id);
    let Some((hit, lost)) = share(retention::HIT).zip(standing.lost()) else {
        return Prose::new("No fact was used again, so it is not known what it loses.");
    };
    let [hit, lost] = [hit, lost].map(|share| value(Unit::Share, Some(share)));
    let next = promise.map(promised::facts).unwrap_or_default();
    let rereads = share(cost::REREADS).filter(|usd| *usd >= SAME && promise.is_some());
    let rereads = rereads.map(|usd| format!("; fetching the others again costs at most {}", money(usd))).unwrap_or_default();
    Prose::new(format!(
        "Of the facts that the agent used again, {hit}{next} are still in context and {lost} are lost for good{rereads}."
    ))
}

/// The facts that it keeps, those at risk, and its requests: `… 5 of 2,141 requests would be refused.`
fn kept(standing: &Standing, promise: &Promise) -> Prose {
    let refused = match standing.refused() {
        0 => " No request would be refused.".to_owned(),
        refused => format!(" {} of {} requests would be refused.", count(refused), count(standing.requests())),
    };
    facts(standing, Some(promise)).words(at_risk(standing) + &refused)
}

/// ` Of the 60 uses whose text it removed or summarised, 31.0% (95% interval 25.1 to 40.2%) are still in context, 3.0% are lost.`
fn at_risk(standing: &Standing) -> String {
    let value_of = |id: &str| standing.summary.values.get(id);
    let Some((uses, hit)) = value_of(retention::RISK_USES).zip(value_of(retention::RISK_HIT)) else { return String::new() };
    let percent = |share: f64| value(Unit::Share, Some(share));
    let ends = standing.summary.intervals.entry(retention::RISK_HIT);
    let interval = ends.map(|[low, high]| format!(" (95% interval {} to {})", grouped(low * 100.0, 1), percent(high)));
    let uses = if uses == 1.0 { "the one use" } else { &format!("the {} uses", grouped(uses, 0)) };
    format!(
        " Of {uses} whose text it removed, moved or summarised, {}{} are still in context and {} are lost.",
        percent(hit),
        interval.unwrap_or_default(),
        percent(value_of(retention::RISK_HARD).unwrap_or(0.0))
    )
}

/// Compares the cost with that of the recorded sessions, if the answer does not.
fn recorded(first: &Standing, verdict: &Verdict) -> Prose {
    let usd = |standing: &Standing| standing.summary.values.get(cost::USD).filter(|usd| *usd > 0.0);
    let is_said = verdict.yardstick.policy.is_some_and(|policy| Role::of(policy) == Role::KeepAll);
    let recorded = verdict.in_role(Role::Recorded).filter(|_| !is_said);
    let Some((theirs, own)) = recorded.and_then(usd).zip(usd(first)) else { return Prose::default() };
    let ratio = own / theirs;
    let compared = if (ratio - 1.0).abs() < SAME {
        ": the same.".to_owned()
    } else if ratio > 1.0 {
        format!(", which is {}% less.", grouped((1.0 - theirs / own) * 100.0, 0))
    } else {
        format!("; this is {}% less.", grouped((1.0 - ratio) * 100.0, 0))
    };
    Prose::new(format!("Your recorded sessions cost {}{compared}", money(theirs)))
}

/// The next cheaper fit policy.
fn cheaper(first: &Standing, verdict: &Verdict) -> Prose {
    let other = verdict.candidates().skip(1).find(|other| other.is_fit() && other.cost_ratio() < first.cost_ratio());
    other.map(|other| trade(other, first)).unwrap_or_default()
}

/// `anthropic-clear` costs 14 points less and keeps 15.8 points fewer of these facts.`
fn trade(other: &Standing, first: &Standing) -> Prose {
    let hit = |standing: &Standing| standing.summary.values.get(retention::HIT);
    let (Some(own), Some(theirs)) = (first.cost_ratio(), other.cost_ratio()) else { return Prose::default() };
    let saved = grouped((own - theirs) * 100.0, 0);
    let kept = hit(first).zip(hit(other)).map(|(own, theirs)| own - theirs).filter(|less| *less > 0.0);
    let kept =
        kept.map(|less| format!(" and keeps {} points fewer of these facts", grouped(less * 100.0, 1))).unwrap_or_default();
    let proof = if other.is_proven() || !first.is_proven() { "" } else { ", but its saving may be chance" };
    named(other.policy()).words(format!(" costs {saved} points less{kept}{proof}."))
}

fn none_fit(results: &Results, verdict: &Verdict) -> Vec<Prose> {
    let candidates: Vec<&Standing> = verdict.candidates().collect();
    if let [only] = candidates[..] {
        let sentence = Prose::new("Do not ship ").join(named(only.policy())).words(": ").join(flaws(only, verdict)).words(".");
        return vec![sentence, kept(only, &promise(results, verdict, only))];
    }
    let count_of = |flaw: Flaw| candidates.iter().filter(|standing| standing.flaws.first() == Some(&flaw)).count();
    let all = [
        Flaw::NotYours,
        Flaw::Malformed,
        Flaw::Overflows,
        Flaw::NoCost,
        Flaw::CostsMore,
        Flaw::LosesFacts,
        Flaw::CutsInstructions,
    ];
    let counted =
        all.iter().filter(|flaw| count_of(**flaw) > 0).map(|flaw| format!("{}: {}", flaw.of_several(), count_of(*flaw)));
    let keep = match verdict.yardstick.policy.map(Role::of) {
        Some(Role::Recorded) => "Keep what you have: ship",
        _ => "Ship",
    };
    vec![
        Prose::new(format!("{keep} none of these {} policies.", candidates.len())),
        Prose::new(format!("Why not: {}.", counted.collect::<Vec<_>>().join("; "))),
    ]
}

/// `it costs 2.0 times as much as your recorded runs ($470, not $232), and it loses 8.1% of the facts used again for good`
fn flaws(standing: &Standing, verdict: &Verdict) -> Prose {
    let requests = count(standing.requests());
    let flaw = |flaw: &Flaw| match flaw {
        Flaw::NotYours => Prose::new("you cannot switch it on, because the provider decides when it acts"),
        Flaw::Malformed => {
            Prose::new(format!("an API refuses {} of its {requests} requests as malformed", count(standing.malformed())))
        }
        Flaw::Overflows => {
            Prose::new(format!("{} of its {requests} requests do not fit the context window", count(standing.overflows())))
        }
        Flaw::NoCost => Prose::new("no conversation could be priced"),
        Flaw::CostsMore => Prose::new("it costs ").join(cost(standing, verdict)),
        Flaw::CutsInstructions => {
            let cut = standing.cut_instructions();
            let instructions = if cut == 1 { "an instruction".to_owned() } else { format!("{} instructions", count(cut)) };
            Prose::new(format!("it cuts {instructions} out of what you typed"))
        }
        Flaw::LosesFacts => Prose::new(format!(
            "it loses {} of the facts that the agent used again for good, more than {}",
            value(Unit::Share, standing.lost()),
            value(Unit::Share, Some(MAX_LOST))
        )),
    };
    standing.flaws.iter().map(flaw).reduce(|all, next| all.words(", and ").join(next)).unwrap_or_default()
}

impl Flaw {
    /// What is wrong with several policies.
    pub fn of_several(self) -> &'static str {
        match self {
            Self::NotYours => "the provider decides",
            Self::Malformed => "malformed requests",
            Self::Overflows => "requests that do not fit the window",
            Self::NoCost => "no known price",
            Self::CostsMore => "not cheaper",
            Self::LosesFacts => "too many facts lost for good",
            Self::CutsInstructions => "instructions cut",
        }
    }
}
