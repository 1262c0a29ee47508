//! What to change: the policy of the answer and what it saves, then what is wrong with the policy that is in use or will be.

use std::collections::BTreeSet;

use super::super::{Check, MOST_CHANGES, Prose};
use super::{SAME, money};
use crate::analysis::export::targets_of;
use crate::analysis::spec::preset_text;
use crate::analysis::verdict::{Choice, HarnessVerdict, Standing, Verdict, Way, formats, harness_of, way};
use crate::findings::{FINDINGS, Finding, FindingKind, Level};
use crate::report::Invocation;
use crate::report::number_format::count;
use crate::results::Role;
use crate::results::saved::Results;
use crate::util::text::plural;

/// Most settings that one line names.
const MOST_SETTINGS: usize = 2;

/// Returns at most three things, a line each; what saves or costs most dollars is first, then what is about most facts.
pub fn changes(results: &Results, verdict: &Verdict, harnesses: &[HarnessVerdict], invocation: &Invocation) -> Vec<Check> {
    let of_harness = |HarnessVerdict { part, verdict }: &HarnessVerdict| {
        let saving = policy(&part.results, verdict, Some(&part.format), invocation)?;
        Some(Prose::default().name(part.format.as_str()).words(" ").join(saving))
    };
    let policies: Vec<Prose> = match (harnesses, &formats(results)[..]) {
        ([], [format]) => policy(results, verdict, Some(format), invocation).into_iter().collect(),
        ([], _) => policy(results, verdict, None, invocation).into_iter().collect(),
        (several, _) => several.iter().filter_map(of_harness).collect(),
    };
    let wrong = wrong(results, &in_use(verdict, harnesses));
    policies.into_iter().chain(wrong).take(MOST_CHANGES).map(|text| Check { text, section: "" }).collect()
}

/// `saves $58 ($30 to $109): `recompact export-settings --for codex-cli``: a policy whose saving is proven.
fn policy(results: &Results, verdict: &Verdict, format: Option<&str>, invocation: &Invocation) -> Option<Prose> {
    let chosen = verdict.chosen().filter(|_| verdict.choice == Choice::Ship)?;
    let (ratio, [low, high]) = (chosen.cost_ratio()?, chosen.interval?);
    // Dollars leave out models without a known price, so they may say something else.
    let (_, theirs) = chosen.dollars().filter(|(own, theirs)| (own / theirs - ratio).abs() < SAME)?;
    let saved = |ratio: f64| money(theirs * (1.0 - ratio));
    let [least, most] = [high, low].map(saved);
    let ends = if least == most { String::new() } else { format!(" ({least} to {most})") };
    let saving = Prose::new(format!("saves {}{ends}: ", saved(ratio)));
    Some(saving.join(step(results, format, (chosen, verdict), invocation)))
}

/// How a policy is switched on: by the configuration of the harness, if it can express it; else by the text of the policy.
fn step(results: &Results, format: Option<&str>, (chosen, verdict): (&Standing, &Verdict), invocation: &Invocation) -> Prose {
    let policy = chosen.policy();
    if Role::of(policy) == Role::KeepAll {
        return Prose::new("switch compaction off");
    }
    let text = results.policies.iter().find(|text| text.name == policy).map(|text| &text.toml);
    // A changed preset is another policy, and the results do not say which file a policy is from.
    if preset_text(policy).is_none_or(|original| text.is_some_and(|text| *text != original)) {
        return Prose::new("switch to the file of ").name(policy);
    }
    let is_set = |format: &str| way(results, format, policy, verdict.candidates()) == Way::Settings;
    let harness = match format.and_then(|format| Some((format, harness_of(format)?))) {
        Some((format, harness)) => Some(harness).filter(|_| is_set(format)),
        None => targets_of(policy).into_iter().find(|form| form.name == policy && form.unavailable.is_none()).map(|_| policy),
    };
    Prose::default().name(match harness {
        Some(harness) => invocation.export_settings(harness, policy),
        None if invocation.is_python() => format!("recompact.preset({policy:?})"),
        None => format!("recompact catalog policies {policy}"),
    })
}

/// The policies whose findings matter: those of the answers; else the only one that was asked about; else the recorded runs. Empty
/// if there is none of these.
fn in_use<'a>(verdict: &Verdict<'a>, harnesses: &[HarnessVerdict<'a>]) -> BTreeSet<&'a str> {
    let answers = harnesses.iter().map(|harness| &harness.verdict).chain(harnesses.is_empty().then_some(verdict));
    let chosen: BTreeSet<&str> = answers.filter_map(|verdict| Some(verdict.chosen()?.policy())).collect();
    let mut candidates = verdict.candidates();
    let only = candidates.next().filter(|_| candidates.next().is_none());
    let recorded = || verdict.standings.iter().find(|standing| standing.summary.role() == Role::Recorded);
    if chosen.is_empty() { only.or_else(recorded).map(Standing::policy).into_iter().collect() } else { chosen }
}

/// What is at stake with the findings of one kind.
struct Stake {
    kind: &'static FindingKind,
    usd: f64,
    facts: u64,
    errors: usize,
    warnings: usize,
}

/// A line for each kind of finding with errors or warnings. Only findings of these policies count; without a policy, all count.
fn wrong(results: &Results, policies: &BTreeSet<&str>) -> Vec<Prose> {
    let is_of =
        |finding: &&Finding| policies.is_empty() || finding.policy.as_deref().is_none_or(|policy| policies.contains(policy));
    let serious: Vec<&Finding> = results.findings.iter().filter(|finding| finding.level != Level::Note).filter(is_of).collect();
    let of_kind = |kind: &'static FindingKind| {
        let own: Vec<&Finding> = serious.iter().copied().filter(|finding| finding.id == kind.id).collect();
        (!own.is_empty()).then(|| Stake::new(kind, &own, results))
    };
    let mut stakes: Vec<Stake> = FINDINGS.iter().filter_map(of_kind).collect();
    stakes.sort_by(|a, b| b.usd.total_cmp(&a.usd).then(b.rank().cmp(&a.rank())));
    stakes.iter().map(Stake::line).collect()
}

impl Stake {
    fn new(kind: &'static FindingKind, findings: &[&Finding], results: &Results) -> Self {
        let layer = |finding: &Finding| finding.data.get("layer").and_then(|layer| layer.as_str()).map(str::to_owned);
        let layers: BTreeSet<(Option<&str>, Option<String>)> =
            findings.iter().map(|finding| (finding.policy.as_deref(), layer(finding))).collect();
        // What edits cost that change what was sent before is saved for each layer.
        let broken = results
            .invalidations
            .iter()
            .filter(|row| kind.id == PREFIX_BREAK && layers.contains(&(Some(row.policy.as_str()), Some(row.layer.clone()))));
        let count = |level: Level| findings.iter().filter(|finding| finding.level == level).count();
        Self {
            kind,
            usd: broken.filter_map(|row| row.usd).sum(),
            facts: findings.iter().filter_map(|finding| finding.data.get("facts")?.as_u64()).sum(),
            errors: count(Level::Error),
            warnings: count(Level::Warning),
        }
    }

    /// Among equal dollars: facts, then errors, then warnings.
    fn rank(&self) -> (u64, usize, usize) {
        (self.facts, self.errors, self.warnings)
    }

    /// `needs_later, 1,204 facts: change `keep_recent_results` or `threshold``
    fn line(&self) -> Prose {
        let amount = match self {
            Self { usd, .. } if *usd > 0.0 => format!("costs {}", money(*usd)),
            Self { facts: 1, .. } => "1 fact".to_owned(),
            Self { facts, .. } if *facts > 0 => format!("{} facts", count(*facts)),
            Self { errors: 0, warnings, .. } => plural(*warnings, "warning"),
            Self { errors, .. } => plural(*errors, "error"),
        };
        let beginning = Prose::new(format!("{}, {amount}: ", self.kind.id));
        let advice = self.kind.advice();
        let settings: Vec<&str> = advice.split('`').skip(1).step_by(2).filter(|name| is_setting(name)).collect();
        if settings.is_empty() {
            return beginning.name(format!("recompact catalog findings {}", self.kind.id));
        }
        let named = settings.into_iter().take(MOST_SETTINGS).map(|name| Prose::default().name(name));
        beginning.words("change ").join(named.reduce(|all, next| all.words(" or ").join(next)).unwrap_or_default())
    }
}

/// The only kind of finding whose cost is in the results.
const PREFIX_BREAK: &str = "prefix_break";

/// Whether a name of an advice is a setting or a layer: `cut = "batch"`, `persist`.
fn is_setting(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase()) && !name.starts_with("recompact ")
}
