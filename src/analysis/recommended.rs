//! What saved results recommend that a harness is given: a policy for the context window of their sessions, or nothing.

use std::collections::BTreeMap;

use super::export::targets_of;
use super::verdict::{HarnessResults, Standing, Way, by_harness, verdict, way_with};
use crate::engine::policy::{SessionsWindow, preset};
use crate::results::saved::{Results, Session, TraceRow};
use crate::results::stats::Samples;
use crate::util::text::{did_you_mean, plural};

/// What to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recommended {
    /// The settings of this policy.
    Policy(RecommendedPolicy),
    /// Nothing, and why: the user keeps what he has.
    Keep(String),
}

/// A policy of saved results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecommendedPolicy {
    pub name: String,
    /// The policy file.
    pub toml: String,
    /// Context windows of the sessions, the smallest first. Empty if the file of the policy or nothing says them.
    pub windows: Vec<SessionsWindow>,
    /// Where it comes from, in a sentence.
    pub origin: String,
}

/// Why saved results recommend nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecommendedError {
    #[error("nothing was replayed, so these results recommend nothing")]
    Empty,
    #[error(
        "the sessions are of several harnesses ({}), and none of them is `{harness}`: name the policy to write with -p",
        .formats.join(", ")
    )]
    OtherHarnesses { harness: String, formats: Vec<String> },
    #[error("these results hold no policy `{0}`{1}")]
    NoPolicy(String, String),
}

/// Returns what results recommend for a harness: the policy with this name, or else the answer of their sweep or of their verdict. If
/// several harnesses recorded the sessions, the answer is that for the one that is named.
///
/// # Errors
///
/// Fails if nothing was replayed, if all sessions are of other harnesses and these are several, and if no policy has the name.
pub fn recommended(results: &Results, harness: &str, named: Option<&str>) -> Result<Recommended, RecommendedError> {
    let parts = by_harness(results);
    let own = part_of(&parts, harness);
    let part = own.map_or(results, |own| &own.results);
    if let Some(name) = named {
        let sessions = Samples::new(&part.rows).sessions();
        return policy(results, part, name, format!("It was replayed on {}.", plural(sessions, "session")));
    }
    if results.sweep.is_some() {
        return of_sweep(results);
    }
    if own.is_none() && !parts.is_empty() {
        let formats = parts.iter().map(|part| part.format.clone()).collect();
        return Err(RecommendedError::OtherHarnesses { harness: harness.to_owned(), formats });
    }
    of_verdict(results, part, harness)
}

fn of_sweep(results: &Results) -> Result<Recommended, RecommendedError> {
    let Some(sweep) = &results.sweep else { return Err(RecommendedError::Empty) };
    let tried = plural(sweep.configurations.len(), "configuration");
    let Some(best) = &sweep.recommended else {
        return Ok(Recommended::Keep(format!("Keep what you have: of {tried} none is worth shipping.")));
    };
    if sweep.keeps_unchanged() {
        let sessions = plural(sweep.sessions, "session");
        let why = format!("Keep what you have: a sweep tried {tried} on {sessions}, and none was better than `{}`.", best.policy);
        return Ok(Recommended::Keep(why));
    }
    // Its file says the windows of all sessions; in results of older programs those of the reported ones are known.
    let windows = windows(results, results);
    let (name, toml) = (best.policy.clone(), best.toml.clone());
    Ok(Recommended::Policy(RecommendedPolicy { name, toml, windows, origin: String::new() }))
}

/// Returns the sessions of the harness that is to be written for.
fn part_of<'a>(parts: &'a [HarnessResults], harness: &str) -> Option<&'a HarnessResults> {
    let forms = targets_of(harness);
    let is_own = |part: &&HarnessResults| preset(&part.format).is_some_and(|own| forms.iter().any(|form| form.name == own.name));
    parts.iter().find(is_own)
}

fn of_verdict(results: &Results, part: &Results, harness: &str) -> Result<Recommended, RecommendedError> {
    let verdict = verdict(part).ok_or(RecommendedError::Empty)?;
    let sessions = plural(Samples::new(&part.rows).sessions(), "session");
    let Some(chosen) = verdict.chosen() else {
        let why = format!("Keep what you have: of the policies replayed on {sessions}, none is fit to be shipped.");
        return Ok(Recommended::Keep(why));
    };
    let (best, instead) = match way_with(part, harness, chosen.policy(), verdict.candidates()) {
        Way::Settings => (chosen, String::new()),
        Way::Code { best: Some(best) } => {
            (best, format!(" The best, `{}`, needs a change of code; this is the best that settings express.", chosen.policy()))
        }
        Way::Code { best: None } => {
            let why = format!(
                "Keep what you have: of the policies replayed on {sessions}, `{}` is the best, and it needs a change of code.",
                chosen.policy()
            );
            return Ok(Recommended::Keep(why));
        }
    };
    policy(results, part, best.policy(), format!("Chosen by a replay of {sessions}; {}.{instead}", saving(best)))
}

fn saving(standing: &Standing) -> &'static str {
    match standing.cost_ratio() {
        None => "there was nothing to compare its cost with",
        Some(_) if standing.is_proven() => "its saving is proven for sessions like these",
        Some(_) => "its saving may be chance",
    }
}

fn policy(results: &Results, part: &Results, name: &str, origin: String) -> Result<Recommended, RecommendedError> {
    let Some(text) = results.policies.iter().find(|policy| policy.name == name) else {
        let known: Vec<&str> = results.policies.iter().map(|policy| policy.name.as_str()).collect();
        return Err(RecommendedError::NoPolicy(name.to_owned(), did_you_mean(name, &known)));
    };
    let (name, toml, windows) = (name.to_owned(), text.toml.clone(), windows(results, part));
    Ok(Recommended::Policy(RecommendedPolicy { name, toml, windows, origin }))
}

/// Returns the context windows of the conversations of `part`. Only the whole results have them.
fn windows(results: &Results, part: &Results) -> Vec<SessionsWindow> {
    let own: BTreeMap<(&str, &str), Session> =
        part.rows.iter().map(|row| ((&*row.transcript, &*row.conversation), row.session())).collect();
    let session = |trace: &TraceRow| own.get(&(&*trace.transcript, &*trace.conversation)).copied();
    SessionsWindow::count(results.traces.iter().filter_map(|trace| Some((trace.window, session(trace)?))))
}
