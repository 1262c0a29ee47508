//! The rules: one file and one row of [`FINDINGS`] for each kind of finding. Each file begins with the page of its
//! kind.

mod archive_growth;
mod blind_summary;
mod boundary_gap;
mod dangling_pointer;
mod fold_input_cut;
mod fold_input_overflow;
pub mod gap;
mod generation;
mod giant_item;
mod inflated;
mod irrecoverable;
mod last_request_survival;
mod lost_to_fallback;
mod meter_error;
mod needs_later;
mod never_fired;
mod noop_fold;
mod overwrite;
mod pairs;
mod prefix_break;
mod prefix_changed_tools;
mod reread;
pub mod secret;
mod self_summary;
mod silent_drop;
pub mod spilled;
mod thrash;
mod too_early;
mod too_late;
mod tools_left_out;
mod uncounted_overhead;
mod unseen_folded;
mod unseen_masked;
mod user_text_survival;
mod weak_summary;

use super::finding::{Finding, Level};
use super::timeline::{Detection, ReplayView};
use crate::util::doc_head::doc_head;
use crate::util::text;

/// A kind of finding.
pub struct FindingKind {
    /// Name in reports and gates.
    pub id: &'static str,
    /// Usual level.
    pub level: Level,
    /// The page, as the `//!` lines that its file begins with: what it means, why it hurts, what to change, the evidence, the precision.
    pub doc: &'static str,
    /// The rule. `None` for a kind that an audit detects in files, not in replays.
    pub detect: Option<fn(&ReplayView) -> Vec<Detection>>,
}

impl FindingKind {
    /// Returns the page as Markdown.
    pub fn page(&self) -> String {
        text::doc_lines(self.doc).flat_map(|line| [line, "\n"]).collect()
    }

    /// Returns the paragraphs of the page, each on one line.
    pub fn paragraphs(&self) -> Vec<String> {
        self.page().split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// Returns what to change, in one sentence of the page.
    pub fn advice(&self) -> String {
        let text = self.paragraphs().join(" ");
        let (_, advice) = text.split_once("What to change: ").unwrap_or_default();
        // A full stop between back quotes is a part of a name.
        let is_end = |(at, _): &(usize, &str)| advice[..*at].matches('`').count() % 2 == 0;
        let end = advice.match_indices(". ").find(is_end).map_or(advice.len(), |(at, _)| at);
        advice[..end].to_owned()
    }

    /// Returns the one-line summary of what is wrong.
    pub fn about(&self) -> String {
        text::doc_about(self.doc)
    }
}

macro_rules! rules {
    ($($module:ident $level:ident),* $(,)? ; $($in_files:ident $file_level:ident),* $(,)?) => {
        /// Every kind of finding, in the order of the rules.
        pub const FINDINGS: &[FindingKind] = &[
            $(FindingKind {
                id: stringify!($module),
                level: Level::$level,
                doc: doc_head!(concat!("rules/", stringify!($module), ".rs")),
                detect: Some($module::detect),
            },)*
            $(FindingKind {
                id: $in_files::ID,
                level: Level::$file_level,
                doc: doc_head!(concat!("rules/", stringify!($in_files), ".rs")),
                detect: None,
            },)*
        ];
    };
}

rules![
    pairs Error,
    prefix_break Warning,
    prefix_changed_tools Warning,
    thrash Warning,
    noop_fold Warning,
    self_summary Warning,
    inflated Warning,
    never_fired Note,
    too_late Warning,
    too_early Note,
    boundary_gap Warning,
    giant_item Warning,
    overwrite Error,
    unseen_masked Warning,
    unseen_folded Warning,
    reread Warning,
    dangling_pointer Warning,
    needs_later Warning,
    user_text_survival Warning,
    last_request_survival Warning,
    generation Note,
    fold_input_overflow Error,
    fold_input_cut Warning,
    blind_summary Warning,
    weak_summary Warning,
    lost_to_fallback Warning,
    irrecoverable Warning,
    archive_growth Warning,
    meter_error Warning,
    uncounted_overhead Warning,
    tools_left_out Warning,
    silent_drop Warning;
    // An audit detects these in files.
    spilled Error,
    gap Error,
    secret Warning,
];

/// Returns the kind with this id.
pub fn by_id(id: &str) -> Option<&'static FindingKind> {
    FINDINGS.iter().find(|kind| kind.id == id)
}

/// Runs all rules on one replay of a transcript. Returns the findings by kind, then call. If a conversation was read from several files,
/// a finding with a line gets the path of its file, and all others get `path`.
pub fn detect(path: &str, replay: &ReplayView) -> Vec<Finding> {
    let findings_of_kind = |kind: &'static FindingKind| {
        let mut detections = kind.detect.map(|detect| detect(replay)).unwrap_or_default();
        detections.sort_by_key(|detection| detection.call);
        detections.into_iter().map(|Detection { level, line, call, message, data }| {
            let place = line.map(|line| replay.conversation.file_and_line(line));
            Finding {
                id: kind.id.to_owned(),
                level,
                path: place.and_then(|(file, _)| file).unwrap_or(path).to_owned(),
                line: place.map(|(_, line)| line),
                call: call.map(|call| call + 1),
                message,
                data,
                conversation: Some(replay.conversation.name.clone()),
                policy: Some(replay.policy.name.clone()),
            }
        })
    };
    FINDINGS.iter().flat_map(findings_of_kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_says_what_to_change() {
        for kind in FINDINGS {
            let advice = kind.advice();
            assert!((20..400).contains(&advice.len()) && advice.matches('`').count() % 2 == 0, "{}: {advice}", kind.id);
        }
    }

    #[test]
    fn finding_ids_are_unique() {
        let ids: std::collections::BTreeSet<_> = FINDINGS.iter().map(|kind| kind.id).collect();
        assert_eq!(ids.len(), FINDINGS.len());
    }
}
