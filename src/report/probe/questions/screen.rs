//! The first screen of a probe: whether a model finds what `kept.hit` counts as in context.

use super::{AnswerShare, Answers, PolicyAnswers, ProbeResults, answers, number};
use crate::metrics::column::Unit;
use crate::report::probe::checks;
use crate::report::screen::{Prose, Screen, ScreenTable, Step};
use crate::report::{Layout, number_format};
use crate::util::text::plural;

/// Differences up to this share are no difference, with as few questions as a probe asks.
const CLOSE: f64 = 0.1;

pub fn screen(probe: &ProbeResults, layout: &Layout) -> Option<Screen> {
    let first = probe.policies.first()?;
    let mut model = answers(probe);
    let columns = model.headers.len();
    model.footnotes.truncate(1);
    Some(Screen {
        scope: Prose::new(format!("{} to ", plural(probe.asked.len(), "question"))).name(probe.about.model.as_str()),
        answer: probe.policies.iter().map(verdict).chain([meaning(first)]).collect(),
        table: ScreenTable::new(model, (0..columns).map(rank).collect(), "answers"),
        checks: checks(&probe.about, (probe.too_long > 0).then(|| ("answers", too_long(probe)))),
        changes: Vec::new(),
        next: vec![Step::new(layout.invocation.again("--show agreement,kinds"), "agreement, and kinds of facts")],
    })
}

/// Contexts, sessions and facts whose whole line is in the request are left out first.
fn rank(column: usize) -> u8 {
    match column {
        2 => 3,
        3 => 2,
        5 => 1,
        _ => 0,
    }
}

/// Whether the measure is right for a policy: facts in context are found about as often as with the whole history, and gone ones about
/// as seldom as by guessing.
fn verdict(policy: &PolicyAnswers) -> Prose {
    let Answers { hits, nothing, everything, .. } = policy.answers;
    let misses = policy.answers.misses();
    let is_close = |one: AnswerShare, other: AnswerShare| one.value().zip(other.value()).map(|(a, b)| (a - b).abs() <= CLOSE);
    let judged = match (is_close(hits, everything), is_close(misses, nothing)) {
        (Some(true), Some(true)) => "kept.hit is right for ",
        (Some(false), _) => "kept.hit counts facts as in context that the model does not find, for ",
        (_, Some(false)) => "kept.hit counts facts as gone that the model finds, for ",
        _ => "There are too few questions to judge kept.hit for ",
    };
    let percent = |share: AnswerShare| number_format::value(Unit::Share, share.value());
    Prose::new(judged).name(policy.policy.as_str()).words(format!(
        ": the model found {} of the facts in context ({} with the whole history), and {} of those that are gone ({} by guessing).",
        percent(hits),
        percent(everything),
        percent(misses),
        percent(nothing)
    ))
}

fn meaning(first: &PolicyAnswers) -> Prose {
    Prose::new(format!(
        "A difference of up to {} points counts as none: {} are few.",
        number_format::grouped(CLOSE * 100.0, 0),
        plural(first.answers.nothing.asked, "question")
    ))
}

fn too_long(probe: &ProbeResults) -> String {
    let limit = number_format::grouped(probe.about.plan.max_context as f64, 0);
    format!("left out: {} requests over {limit} tokens (--max-context)", number(probe.too_long))
}
