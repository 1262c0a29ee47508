//! What to check before the answer of a replay is trusted.

use super::super::super::Invocation;
use super::super::{Check, Prose};
use super::money;
use crate::analysis::idle::idle_programs;
use crate::analysis::inspect::WITHOUT_TEXTS;
use crate::analysis::limits::Flaw;
use crate::analysis::stand_ins::no_model_wrote;
use crate::analysis::verdict::{HarnessVerdict, Standing, Verdict};
use crate::findings::Level;
use crate::metrics::metric::{cost, retention};
use crate::report::number_format::{count, value};
use crate::report::table_model::{LONGEST_NAME, cost_check, cut, cut_path};
use crate::results::Role;
use crate::results::saved::{ResultNote, Results, Unit};
use crate::util::text::{file_name, plural, were};

/// A share of facts that are in context by chance is worth a remark from here on.
const MUCH_CHANCE: f64 = 0.05;
/// A median error of the token estimate is worth a remark from here on.
const LARGE_ERROR: f64 = 0.05;

/// Returns all points, the most important first.
pub fn checks(results: &Results, verdict: &Verdict, harnesses: &[HarnessVerdict], invocation: &Invocation) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut add = |section: &'static str, text: Option<Prose>| checks.extend(text.map(|text| Check { text, section }));
    add("left-out", stopped(results));
    add("left-out", left_out(results));
    add("notes", without_texts(results));
    for idle in idle_programs(results) {
        add("layers", Some(Prose::default().name(idle.policy.as_str()).words(idle.to_string())));
    }
    add("policies", together(harnesses, invocation));
    add("", quoted(results, verdict));
    add("billing", cost_check::coverage_gap(results).map(Prose::new));
    add("billing", cost_check::record(results).map(Prose::new));
    add("layers", malformed(verdict));
    add("notes", malformed_as_recorded(verdict));
    add("policies", overflows(verdict));
    add("cache", rewritten(results, verdict));
    add("misses", misses(results, verdict));
    add("findings", findings(results));
    add("policies", chance(verdict));
    add("tokens", estimates(results));
    add("notes", notes(results));
    checks
}

/// The table is of all sessions, the answers are not. The package has no option that takes the files of one format.
fn together(harnesses: &[HarnessVerdict], invocation: &Invocation) -> Option<Prose> {
    let options = harnesses.iter().map(|harness| Prose::default().name(format!("--format {}", harness.part.format)));
    let options = options.reduce(|all, next| all.words(", ").join(next))?;
    let together = Prose::new("the table has the sessions of all harnesses together");
    Some(if invocation.is_python() { together } else { together.words("; those of one: ").join(options) })
}

fn stopped(results: &Results) -> Option<Prose> {
    let unfinished = results.unfinished.as_ref()?;
    let all = plural(unfinished.transcripts, "transcript");
    Some(Prose::new(format!(
        "stopped: {} of {all} done; --resume continues from results saved with -o json",
        unfinished.done.len()
    )))
}

fn left_out(results: &Results) -> Option<Prose> {
    let coverage = &results.coverage;
    let unanswered = match coverage.unanswered() {
        0 => String::new(),
        count => format!(
            "; {} left out for every policy because one gave no answer, and the rest may be easier",
            if count == 1 { "1 is".to_owned() } else { format!("{count} are") }
        ),
    };
    (!coverage.is_complete()).then(|| Prose::new(format!("only {} in these results{unanswered}", coverage.line_are())))
}

fn malformed(verdict: &Verdict) -> Option<Prose> {
    let broken = verdict.candidates().filter(|standing| standing.flaws.contains(&Flaw::Malformed));
    let named = |standing: &Standing| {
        Prose::default().name(standing.policy()).words(format!(" in {}", count(standing.malformed_by_policy())))
    };
    let list = broken.map(named).reduce(|all, next| all.words(", ").join(next))?;
    Some(Prose::new("requests that an API refuses as malformed: ").join(list))
}

fn malformed_as_recorded(verdict: &Verdict) -> Option<Prose> {
    let requests = verdict.standings.first()?.malformed_as_recorded;
    let (were, them) = (were(requests as usize), if requests == 1 { "it" } else { "them" });
    let text = format!("{} {were} recorded malformed; no policy is blamed for {them}", plural(requests as usize, "request"));
    (requests > 0).then(|| Prose::new(text))
}

fn overflows(verdict: &Verdict) -> Option<Prose> {
    let row = verdict.standings.iter().find(|row| row.summary.role() == Role::KeepAll && row.overflows() > 0)?;
    let (overflows, requests) = (count(row.overflows()), count(row.requests()));
    Some(Prose::new(format!(
        "no compaction could not have run: {overflows} of its {requests} requests do not fit the context window, and its cost counts them"
    )))
}

/// That no model wrote the summaries.
fn quoted(results: &Results, verdict: &Verdict) -> Option<Prose> {
    let spends = |standing: &Standing| standing.summary.values.get(cost::SUMMARIZER).is_some_and(|usd| usd > 0.0);
    let text =
        "no model wrote the summaries of these policies: they quote what was there, so a real one may keep more facts or fewer";
    (no_model_wrote(results) && verdict.candidates().any(spends)).then(|| Prose::new(text))
}

/// Why the first policy that costs more does so: what its edits made the provider write to the cache again.
fn rewritten(results: &Results, verdict: &Verdict) -> Option<Prose> {
    let text = |policy: &str| {
        let of_policy = || results.invalidations.iter().filter(|row| row.policy == policy);
        let (edits, tokens): (u64, u64) =
            of_policy().fold((0, 0), |(edits, tokens), row| (edits + row.count, tokens.saturating_add(row.tokens_rewritten)));
        let usd: f64 = of_policy().filter_map(|row| row.usd).sum();
        let has_cost = usd > 0.0;
        let times = if edits == 1 { "once".to_owned() } else { format!("{} times", count(edits)) };
        let (tokens, usd) = (count(tokens), money(usd));
        let text = format!(" invalidates the prompt cache {times}: writing {tokens} tokens to it again costs {usd}");
        let mend = eager_layer(results, policy).map(|layer| Prose::new("; with `clear_at_least`, ").name(layer).words(EAGER));
        let text = Prose::new(text).join(mend.unwrap_or_default());
        has_cost.then(|| Prose::new("why it costs more: ").name(policy).join(text))
    };
    let mut dearer = verdict.candidates().filter(|standing| standing.flaws.contains(&Flaw::CostsMore));
    dearer.find_map(|standing| text(standing.policy()))
}

/// What `clear_at_least` does for a layer.
const EAGER: &str = " waits until enough can go at once, and breaks it less often";

/// Returns the layer of a policy that breaks the prompt cache most often, if it clears results and waits for no number of tokens.
fn eager_layer<'r>(results: &'r Results, policy: &str) -> Option<&'r str> {
    let of_policy = results.invalidations.iter().filter(|row| row.policy == policy);
    let most = of_policy.max_by_key(|row| row.count)?;
    let text = results.policies.iter().find(|text| text.name == policy)?;
    let written: toml::Table = text.toml.parse().ok()?;
    let layers = written.get("layer")?.as_array()?;
    let layer = layers.iter().find(|layer| layer.get("id").and_then(|id| id.as_str()) == Some(&most.layer))?;
    let is_eager =
        layer.get("do")?.as_str() == Some("clear") && ["clear_at_least", "stride"].iter().all(|set| layer.get(set).is_none());
    is_eager.then_some(&most.layer)
}

fn misses(results: &Results, verdict: &Verdict) -> Option<Prose> {
    let chosen = verdict.chosen()?;
    let is_lost = results.misses.iter().any(|miss| miss.policy == chosen.policy());
    is_lost.then(|| Prose::new("what ").name(chosen.policy()).words(" lost for good and the agent went on to use"))
}

fn findings(results: &Results) -> Option<Prose> {
    let count_of = |level: Level| results.findings.iter().filter(|finding| finding.level == level).count();
    let (errors, warnings) = (count_of(Level::Error), count_of(Level::Warning));
    let text = format!("{} and {} were found", plural(errors, "error"), plural(warnings, "warning"));
    (errors + warnings > 0).then(|| Prose::new(text))
}

fn chance(verdict: &Verdict) -> Option<Prose> {
    let chance = verdict.candidates().find_map(|standing| standing.summary.values.get(retention::CHANCE))?;
    let text = format!(
        "{} of the facts would be found in the context of another session too, by chance",
        value(Unit::Share, Some(chance))
    );
    (chance >= MUCH_CHANCE).then(|| Prose::new(text))
}

fn estimates(results: &Results) -> Option<Prose> {
    let mut errors: Vec<f64> = results.calibrations.iter().map(|row| row.error).collect();
    errors.sort_by(f64::total_cmp);
    let median = *errors.get(errors.len() / 2)?;
    let text = format!(
        "token counts of {} are estimates from recorded usage; the median error of a call is {}",
        plural(errors.len(), "conversation"),
        value(Unit::Share, Some(median))
    );
    (median >= LARGE_ERROR).then(|| Prose::new(text))
}

fn without_texts(results: &Results) -> Option<Prose> {
    results.notes.iter().any(|note| note.what == WITHOUT_TEXTS).then(|| Prose::new(WITHOUT_TEXTS))
}

fn notes(results: &Results) -> Option<Prose> {
    let notes: Vec<&ResultNote> = results.notes.iter().filter(|note| note.what != WITHOUT_TEXTS).collect();
    let first = notes.first()?;
    let line = first.line.map(|line| format!(":{line}")).unwrap_or_default();
    let files: std::collections::HashSet<&str> = notes.iter().map(|note| note.path.as_str()).collect();
    let file = cut_path(file_name(&first.path), LONGEST_NAME);
    let counts = format!("{} on {}, such as ", plural(notes.len(), "note"), plural(files.len(), "file"));
    Some(Prose::new(counts).name(format!("{file}{line}")).words(": ").name(cut(&first.what)))
}
