//! The first screen of a probe by surprise: whether the retention metric predicts what a model loses.

use super::{bits, bits_of, number, ratio};
use crate::analysis::probe::surprise::{Grouping, MIN_AUC, MIN_CORRELATION, SurpriseResults};
use crate::report::Layout;
use crate::report::probe::checks;
use crate::report::screen::{Prose, Screen, ScreenTable, Step};
use crate::util::text::plural;

pub fn screen(results: &SurpriseResults, layout: &Layout) -> Option<Screen> {
    let all = results.all()?;
    let model = bits(results, Grouping::Outcome);
    let columns = model.headers.len();
    let scope = format!("{} of facts in {}, asked of ", plural(all.uses, "use"), plural(all.sessions, "session"));
    let verdict = match results.predicts() {
        Some(true) => "kept.hit predicts what this model loses",
        Some(false) => "kept.hit does not predict what this model loses: it is lexical reach, no more",
        None => "There are too few uses to say whether kept.hit predicts what this model loses",
    };
    let numbers = format!(
        ": AUC {} ({MIN_AUC} is needed), rank correlation within sessions {} ({MIN_CORRELATION} is needed).",
        ratio(all.auc),
        ratio(all.rank_correlation)
    );
    let loss =
        format!("A fact that is gone costs {} bits, one in the context {}.", bits_of(all.lost), bits_of(all.lost_in_context));
    let controls = format!(
        "Controls, which should cost nothing: another block taken away {}, another fact in its place {}.",
        bits_of(results.other_block),
        bits_of(results.other_fact)
    );
    Some(Screen {
        scope: Prose::new(scope).name(results.about.model.as_str()),
        answer: vec![Prose::new(verdict).words(numbers), Prose::new(loss), Prose::new(controls)],
        table: ScreenTable::new(model, (0..columns).map(rank).collect(), "bits"),
        checks: checks(&results.about, (results.unaskable > 0).then(|| ("controls", unaskable(results)))),
        changes: Vec::new(),
        next: vec![Step::new(
            layout.invocation.again("--show bits,prediction,controls"),
            "by policy, kind, gap, repository and agent",
        )],
    })
}

/// The guessed share, the unrelated fact and the number of gone facts are left out first.
fn rank(column: usize) -> u8 {
    match column {
        8 => 3,
        7 => 2,
        2 => 1,
        _ => 0,
    }
}

fn unaskable(results: &SurpriseResults) -> String {
    format!("{} uses were left out: the record does not have the fact literally", number(results.unaskable))
}
