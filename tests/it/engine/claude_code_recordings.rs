//! The presets of Claude Code against its recorded sessions: which results it moves to disk, and at which call it compacts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use recompact::analysis::study::Study;
use recompact::engine::journal::EventKind;
use recompact::engine::policy::Policy;
use recompact::transcript::conversation::{Compaction, Conversation, RecordedEdit};
use serde_json::Value;

use crate::support::transcripts;
use crate::support::trial::{named, preset_with};

/// The last version that reserves the whole maximum of an answer.
const EARLY: [u32; 3] = [2, 1, 20];

/// A recorded automatic compaction.
struct Recorded {
    file: String,
    version: [u32; 3],
    /// The conversation since the summary before it.
    conversation: Conversation,
    /// The first one of its session.
    is_first: bool,
    /// The call before which the harness compacted.
    call: usize,
    tokens_before: Option<u64>,
}

/// Reads the version that wrote a line of a transcript.
fn version(bytes: &[u8], line: u32) -> [u32; 3] {
    let line = bytes.split(|byte| *byte == b'\n').nth(line as usize - 1).expect("a line of the file");
    let mut records = serde_json::Deserializer::from_slice(line).into_iter::<Value>().filter_map(Result::ok);
    let version = records.find_map(|record| record["version"].as_str().map(str::to_owned)).expect("a version");
    let mut parts = version.split('.').map(|part| part.parse().expect("a number"));
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}

fn is_fold(compaction: &Compaction) -> bool {
    matches!(compaction.edit, RecordedEdit::Fold { .. })
}

/// Returns the conversation from its last summary before a compaction on, so that each compaction is the first one of its part.
fn part_before(conversation: &Conversation, compaction: usize) -> Conversation {
    let mut part = conversation.clone();
    let Some(last) = conversation.compactions[..compaction].iter().rposition(is_fold) else { return part };
    let begin = conversation.compactions[last].message_index;
    let summary = conversation.compactions[last].edit.messages();
    part.messages = summary.iter().chain(&conversation.messages[begin..]).cloned().collect();
    part.calls.retain(|call| call.response >= begin);
    part.compactions.drain(..=last);
    let moved = |index: usize| index - begin + summary.len();
    part.calls.iter_mut().for_each(|call| call.response = moved(call.response));
    part.compactions.iter_mut().for_each(|compaction| compaction.message_index = moved(compaction.message_index));
    part
}

fn compactions_of(path: &Path) -> Vec<Recorded> {
    let bytes = std::fs::read(path).expect("a readable file");
    let mut found = Vec::new();
    for conversation in transcripts::read(path, "claude-code").conversations {
        let folds = conversation.compactions.iter().enumerate().filter(|(_, compaction)| is_fold(compaction));
        for (index, compaction) in folds.filter(|(_, compaction)| compaction.trigger.as_deref() == Some("auto")) {
            let part = part_before(&conversation, index);
            let at = part.messages.len() - (conversation.messages.len() - compaction.message_index);
            let call = part.calls.iter().position(|call| call.response >= at).unwrap_or(part.calls.len());
            // A file that begins with the compaction does not show what led to it.
            if call > 0 {
                found.push(Recorded {
                    file: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
                    version: version(&bytes, compaction.line),
                    is_first: !conversation.compactions[..index].iter().any(is_fold),
                    conversation: part,
                    call,
                    tokens_before: compaction.tokens_before,
                });
            }
        }
    }
    found
}

/// Returns the call before which a policy compacts first.
fn first_call(study: &Study, policy: &Policy, conversation: &Conversation) -> Option<usize> {
    let auto = policy.layers.iter().position(|layer| layer.id == "auto").expect("a layer that summarises");
    let journal = study.journal(&study.prepare(conversation), policy);
    let mut fired = journal.events.iter().filter(|event| matches!(event.kind, EventKind::Fired { .. }));
    fired.find(|event| event.layer == auto).map(|event| event.call)
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn the_preset_of_the_version_compacts_where_claude_code_did() {
    let files = transcripts::folders("claude-code").into_iter().flat_map(|folder| transcripts::files(&folder, ".jsonl"));
    let recorded: Vec<Recorded> = files.flat_map(|file| compactions_of(&file)).collect();
    let policies = vec![
        named("Read moved too", "claude-code", &["cap.preserve_tools=[]", "budget.preserve_tools=[]"]),
        preset_with("claude-code", &[]),
        preset_with("claude-code-2.1.20", &[]),
    ];
    let study = Study::new(policies.clone());
    let names: Vec<_> = policies.iter().map(|policy| &*policy.name).collect();
    println!("version, session, recorded call (tokens), calls of {names:?}");
    // Compactions by group; how many are within one call by the first policy, and by the preset of the version.
    let mut groups: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for Recorded { file, version, conversation, is_first, call, tokens_before } in &recorded {
        let is_early = *version <= EARLY;
        let calls: Vec<_> = policies.iter().map(|policy| first_call(&study, policy, conversation)).collect();
        println!("{version:?}, {file}, {call} ({tokens_before:?}), {calls:?}");
        let is_near = |policy: usize| usize::from(calls[policy].is_some_and(|found| found.abs_diff(*call) <= 1));
        let near = [1, is_near(0), is_near(if is_early { 2 } else { 1 })];
        let of_version = if is_early { "up to 2.1.20" } else { "later" };
        for group in ["all", of_version].into_iter().chain(is_first.then_some("first of their session")) {
            groups.entry(group).or_default().iter_mut().zip(near).for_each(|(sum, count)| *sum += count);
        }
    }
    for (group, [all, before, now]) in &groups {
        println!("{group}: {all} compactions, within one call {before} before, {now} with the preset of the version");
        assert!(now * 10 >= all * 7, "{group}: {now} of {all}");
    }
}

/// Returns how many characters a result of a tool may have, as analyses describe it.
fn limit(tool: &str) -> usize {
    match tool {
        "Bash" => 30_000,
        "Grep" => 20_000,
        _ => 50_000,
    }
}

#[test]
#[ignore = "needs recordings: RECOMPACT_TRANSCRIPTS"]
fn results_of_read_are_never_moved_to_disk() {
    let mut seen = BTreeSet::new();
    // By tool: moved to disk, kept over its limit, and kept over the least of all limits.
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    for conversation in transcripts::recorded("claude-code").flat_map(|recorded| &recorded.reading.conversations) {
        for pair in conversation.pairs.iter().filter(|pair| seen.insert(&pair.id)) {
            let Some(text) = pair.tool_result.map(|result| conversation.block(result).text()) else { continue };
            let size = text.chars().count();
            let is_moved = text.starts_with("<persisted-output>");
            let counted = [is_moved, !is_moved && size > limit(&pair.name), !is_moved && size > limit("Grep")];
            let of_tool = counts.entry(&pair.name).or_default();
            counted.iter().zip(of_tool).for_each(|(is_counted, count)| *count += usize::from(*is_counted));
        }
    }
    for (tool, [moved, kept, large]) in counts.iter().filter(|(_, counts)| counts.iter().any(|count| *count > 0)) {
        println!("{tool}: {moved} moved, {kept} kept over its limit, {large} kept over 20,000");
    }
    let [moved, kept, _] = counts["Read"];
    assert!(moved == 0 && kept > 0, "{moved} results of Read were moved, {kept} over the limit were not");
}
