//! The answer of a replay or a sweep as plain data: `verdict` in the JSON, for programs.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Layout;
use super::screen::{Prose, of_results};
use crate::analysis::limits::Flaw;
use crate::analysis::sweep::{Against, describe_conditions};
use crate::analysis::verdict::{
    Decision, HarnessVerdict, Promise, Standing, Ties, Verdict, Way, by_harness, decision, formats, harness_verdicts, promise,
    ties, verdict, way,
};
use crate::results::saved::{self, Results};
use crate::util::json_schema;

/// Results with their answer, as they are written.
#[derive(Serialize)]
pub struct AnsweredResults<'a> {
    #[serde(flatten)]
    results: &'a Results,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<Answer>,
}

impl<'a> AnsweredResults<'a> {
    /// Judges these results.
    pub fn new(results: &'a Results) -> Self {
        Self { results, verdict: Answer::of(results) }
    }
}

/// Returns the answer alone; `None` if nothing was replayed.
#[cfg(feature = "python")]
pub fn json(results: &Results) -> Option<String> {
    Answer::of(results).map(|answer| serde_json::to_string(&answer).expect("plain data with string keys"))
}

/// Returns the schema of the JSON of a replay or a sweep.
pub fn schema() -> Value {
    let mut schema = saved::schema();
    let mut verdict = json_schema::schema_of_output::<Answer>();
    verdict.as_object_mut().into_iter().for_each(|fields| {
        fields.remove("$schema");
        fields.remove("title");
    });
    schema["properties"]["verdict"] = verdict;
    schema
}

/// The answer of the first screen.
#[derive(Debug, Serialize, JsonSchema)]
struct Answer {
    #[serde(flatten)]
    judgement: Judgement,
    /// The sentences of the first screen.
    reasons: Vec<String>,
    /// What to check before the answer is trusted, the most important first.
    warnings: Vec<Warning>,
    /// What a policy must keep to be shipped; each begins with a column.
    conditions: Vec<String>,
    /// One answer for each harness, if several recorded the sessions of a replay.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    harnesses: Vec<HarnessAnswer>,
}

/// The answer for the sessions of one harness.
#[derive(Debug, Serialize, JsonSchema)]
struct HarnessAnswer {
    /// Id of the format of its transcripts.
    format: String,
    sessions: usize,
    #[serde(flatten)]
    judgement: Judgement,
}

/// What to do, and how sure it is.
#[derive(Debug, Serialize, JsonSchema)]
struct Judgement {
    choice: Decision,
    /// The policy that the answer names.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    /// How the users of the harness get this policy; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<By>,
    /// If it needs a change of the code: the best policy that the settings of the harness express.
    #[serde(skip_serializing_if = "Option::is_none")]
    by_settings: Option<String>,
    /// The policy whose cost is compared with; absent if nothing that was replayed could have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    yardstick: Option<String>,
    /// What the policy promises for the next sessions, as many as these.
    #[serde(skip_serializing_if = "Option::is_none")]
    promise: Option<Promise>,
    /// How often another policy wins; absent with fewer than six sessions, and of a sweep.
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<Ties>,
    /// Every policy that was judged, the best first.
    policies: Vec<Judged>,
}

/// How the users of a harness get a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum By {
    Settings,
    Code,
}

/// One policy.
#[derive(Debug, Serialize, JsonSchema)]
struct Judged {
    policy: String,
    /// Whether it may be shipped.
    fit: bool,
    /// Why not.
    flaws: Vec<Flaw>,
    /// Its cost as a share of the yardstick's.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// The 95 % interval of this share; absent with fewer than six sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<[f64; 2]>,
    /// Whether the whole interval is below 1.
    proven: bool,
}

/// What to check.
#[derive(Debug, Serialize, JsonSchema)]
struct Warning {
    text: String,
    /// The section of the report that shows more.
    section: String,
}

impl Answer {
    /// Returns the answer; `None` if nothing was replayed.
    fn of(results: &Results) -> Option<Self> {
        let screen = of_results(results, &Layout::default())?;
        let verdict = verdict(results)?;
        let parts = if results.sweep.is_some() { Vec::new() } else { by_harness(results) };
        let harnesses: Vec<HarnessAnswer> = harness_verdicts(&parts).iter().map(HarnessAnswer::of).collect();
        let judgement = match formats(results)[..] {
            _ if !harnesses.is_empty() => Judgement::of_no_policy(Decision::PerHarness, &verdict),
            [format] => Judgement::of(results, &verdict, Some(format)),
            _ => Judgement::of(results, &verdict, None),
        };
        let text = |prose: &Prose| prose.text(str::to_owned);
        let warning = |check: &super::screen::Check| Warning { text: text(&check.text), section: check.section.to_owned() };
        Some(Self {
            judgement,
            reasons: screen.answer.iter().map(text).collect(),
            warnings: screen.checks.iter().map(warning).collect(),
            conditions: match &results.sweep {
                Some(sweep) => sweep.conditions.clone(),
                None => describe_conditions(&[], Against { yardstick: verdict.yardstick.policy, has_unchanged: false }),
            },
            harnesses,
        })
    }
}

impl HarnessAnswer {
    fn of(HarnessVerdict { part, verdict }: &HarnessVerdict) -> Self {
        let judgement = Judgement::of(&part.results, verdict, Some(&part.format));
        Self { format: part.format.clone(), sessions: part.sessions, judgement }
    }
}

impl Judgement {
    fn of_no_policy(choice: Decision, verdict: &Verdict) -> Self {
        Self {
            choice,
            policy: None,
            by: None,
            by_settings: None,
            yardstick: verdict.yardstick.policy.map(str::to_owned),
            promise: None,
            stability: None,
            policies: verdict.standings.iter().map(Judged::of).collect(),
        }
    }

    /// Judges the sessions of the harness with this format, if it is known.
    fn of(results: &Results, verdict: &Verdict, format: Option<&str>) -> Self {
        let (choice, chosen) = decision(results, verdict);
        let way = format.zip(chosen).map(|(format, chosen)| way(results, format, chosen, verdict.candidates()));
        let (by, by_settings) = match way {
            None => (None, None),
            Some(Way::Settings) => (Some(By::Settings), None),
            Some(Way::Code { best }) => (Some(By::Code), best.map(|best| best.policy().to_owned())),
        };
        let standing = chosen.and_then(|chosen| verdict.standing(chosen));
        Self {
            policy: chosen.map(str::to_owned),
            by,
            by_settings,
            promise: standing.map(|standing| promise(results, verdict, standing)),
            stability: if results.sweep.is_none() { ties(results, verdict) } else { None },
            ..Self::of_no_policy(choice, verdict)
        }
    }
}

impl Judged {
    fn of(standing: &Standing) -> Self {
        Self {
            policy: standing.policy().to_owned(),
            fit: standing.is_fit(),
            flaws: standing.flaws.clone(),
            cost: standing.cost_ratio(),
            interval: standing.interval,
            proven: standing.is_proven(),
        }
    }
}
