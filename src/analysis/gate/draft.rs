//! A first suite for a folder of transcripts: one policy, and limits that it meets today, each with a margin and the reason for it.

use toml::Value;

use super::column::by_id;
use super::measure::measure;
use crate::engine::policy::Policy;
use crate::metrics::metric::{broken, cost, overflow, retention, tokens};
use crate::results::saved::Results;

/// A suite that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub name: String,
    /// Relative to the suite file.
    pub transcripts: String,
    /// Name of a preset.
    pub policy: String,
    /// Why this policy.
    pub why: String,
    pub limits: Vec<DraftLimit>,
}

/// A limit that holds today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DraftLimit {
    /// As in a suite file: `kept.hit >= 91.2%`.
    pub written: String,
    /// What it is about.
    pub about: &'static str,
    /// The value today, and where the limit comes from.
    pub why: String,
}

/// What a limit asks of its column.
#[derive(Clone, Copy)]
enum Kind {
    /// A share of what is kept that may fall a little.
    Kept,
    /// A share of what is saved that may fall a little; it is negative if more is sent.
    Saved,
    /// A ratio that may rise a little.
    LowRatio,
    /// A number of mistakes that may not rise.
    Mistakes,
}

/// The columns that a first suite limits, with plain words for them.
const COLUMNS: &[(&str, Kind, &str)] = &[
    (retention::HIT, Kind::Kept, "facts that are still in context when the agent uses them again"),
    (retention::CONSTRAINTS, Kind::Kept, "what the user asked for that is still in context"),
    (cost::RATIO, Kind::LowRatio, "cost, as a part of the cost without compaction"),
    (tokens::SAVED, Kind::Saved, "tokens saved against no compaction"),
    (overflow::FAILED_CALLS, Kind::Mistakes, "requests larger than the context window"),
    (broken::CAUSED, Kind::Mistakes, "requests that the policy made malformed, so that an API refuses them"),
];

/// The least and the most that a share may fall below today's value, whatever its interval says: the same transcripts give the same
/// value, so a limit far below it would find nothing. One point is more than a new counter of tokens moves a share.
const SHARE_MARGIN: [f64; 2] = [0.01, 0.05];
/// The same for a ratio, as parts of today's value.
const RATIO_MARGIN: [f64; 2] = [0.01, 0.05];
/// The error of a sum of decimal fractions is far below this.
const TINY: f64 = 1e-6;

/// Returns limits that these results of a policy meet, for the columns that have a value.
pub fn draft_limits(results: &Results, policy: &Policy) -> Vec<DraftLimit> {
    let columns = COLUMNS.iter().filter_map(|(id, kind, words)| Some((by_id(id).ok()?, *kind, *words)));
    let summary = results.summary.iter().find(|summary| summary.policy == policy.name && summary.bound_of.is_none());
    let limits = columns.filter_map(|(column, kind, words)| {
        let value = measure(results, &[policy], &[&column]).first()?.totals.get(&column.id)?;
        let interval = summary.and_then(|summary| summary.intervals.entry(&column.id));
        let (rule, why) = match kind {
            // A limit below nothing would hold for every policy.
            Kind::Kept if value <= SHARE_MARGIN[1] => return None,
            Kind::Kept | Kind::Saved => high_share(value, interval),
            Kind::LowRatio => low_ratio(value, interval),
            Kind::Mistakes if value == 0.0 => ("== 0".to_owned(), "none today".to_owned()),
            Kind::Mistakes => (format!("<= {value}"), format!("{value} today")),
        };
        Some(DraftLimit { written: format!("{} {rule}", column.id), about: words, why })
    });
    let mut limits: Vec<DraftLimit> = limits.collect();
    // Without a price, tokens say what costs would.
    let is_about = |limit: &DraftLimit, column: &str| limit.written.split(' ').next() == Some(column);
    if limits.iter().any(|limit| is_about(limit, cost::RATIO)) {
        limits.retain(|limit| !is_about(limit, tokens::SAVED));
    }
    limits
}

fn high_share(value: f64, interval: Option<[f64; 2]>) -> (String, String) {
    let [least, most] = SHARE_MARGIN;
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let (limit, reason) = match interval {
        Some([low, _]) if (value - most..=value - least).contains(&low) => (low, "its lower end".to_owned()),
        Some([low, _]) if low > value - least => (value - least, "one point below today".to_owned()),
        _ => (value - most, format!("{} points below today", most * 100.0)),
    };
    // Rounded away from today's value.
    let limit = (limit * 1000.0 + TINY).floor() / 1000.0;
    let ends = interval.map(|[low, high]| format!(" (95% interval {} to {})", percent(low), percent(high)));
    let why = format!("{} today{}; the limit is {reason}", percent(value), ends.unwrap_or_default());
    (format!(">= {}", percent(limit)), why)
}

fn low_ratio(value: f64, interval: Option<[f64; 2]>) -> (String, String) {
    let [least, most] = RATIO_MARGIN.map(|part| value * (1.0 + part));
    let (limit, reason) = match interval {
        Some([_, high]) if (least..=most).contains(&high) => (high, "its upper end".to_owned()),
        Some([_, high]) if high < least => (least, "1% above today".to_owned()),
        _ => (most, format!("{}% above today", RATIO_MARGIN[1] * 100.0)),
    };
    let limit = (limit * 1000.0 - TINY).ceil() / 1000.0;
    let ends = interval.map(|[low, high]| format!(" (95% interval {low:.3} to {high:.3})"));
    (format!("<= {limit:.3}"), format!("{value:.3} today{}; the limit is {reason}", ends.unwrap_or_default()))
}

/// Returns the suite file that these drafts make.
pub fn draft_file(drafts: &[Draft]) -> String {
    let mut file = HEAD.to_owned();
    for Draft { name, transcripts, policy, why, limits } in drafts {
        let text = |text: &str| Value::from(text).to_string();
        let limit = |limit: &DraftLimit| format!("    # {}:\n    # {}\n    {},\n", limit.about, limit.why, text(&limit.written));
        let limits: String = limits.iter().map(limit).collect();
        file += &format!("\n[[suite]]\nname = {}\n\n{TRANSCRIPTS}transcripts = [{}]\n", text(name), text(transcripts));
        file +=
            &format!("\n# {why}\n# In its place: your own policy, such as \"my-policy.toml\".\npolicies = [{}]\n", text(policy));
        file += &format!("\n{LIMITS}limits = [\n{limits}]\n");
    }
    file
}

const HEAD: &str = "\
# The suites of `recompact check`, which replays transcripts under policies and fails if a limit does not hold.
# `recompact check --init` measured the limits; change what you like. `recompact guide ci` explains each line.
";
const TRANSCRIPTS: &str = "\
# Files, folders or patterns, relative to this file. Every machine that runs the check needs the same transcripts.
";
const LIMITS: &str = "\
# What must hold over all these transcripts, for each policy. `recompact catalog measures COLUMN` says what a column counts.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::policy::preset;

    #[test]
    fn limits_are_between_the_least_and_the_most_margin() {
        for (value, interval, rule) in [
            (0.96, None, ">= 91.0%"),
            (0.96, Some([0.93, 0.98]), ">= 93.0%"),
            (0.96, Some([0.9575, 0.98]), ">= 95.0%"),
            (0.96, Some([0.2, 0.98]), ">= 91.0%"),
            (0.0, None, ">= -5.0%"),
        ] {
            assert_eq!(high_share(value, interval).0, rule, "{value} {interval:?}");
        }
        for (value, interval, rule) in [
            (0.8, None, "<= 0.840"),
            (0.8, Some([0.7, 0.8204]), "<= 0.821"),
            (0.8, Some([0.7, 0.801]), "<= 0.808"),
            (0.8, Some([0.7, 2.0]), "<= 0.840"),
        ] {
            assert_eq!(low_ratio(value, interval).0, rule, "{value} {interval:?}");
        }
    }

    #[test]
    fn every_column_can_be_limited() {
        for (id, ..) in COLUMNS {
            assert!(by_id(id).is_ok(), "{id}");
        }
        let of = |format| preset(format).map(|preset| preset.name);
        assert_eq!([of("claude-code"), of("codex"), of("openai-chat")], [Some("claude-code"), Some("codex-cli"), None]);
    }
}
