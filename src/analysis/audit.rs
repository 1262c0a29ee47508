//! Audits saved transcripts: who compacted them, how their archives are connected, what is missing, what is wrong, and
//! what they should not contain.
//!
//! [`audit_transcript`] checks one transcript by itself and keeps what the archives need; [`audit`] combines all of
//! them with the files beside them, and checks the archives of a session as one conversation ([`reconstruct`]). Neither
//! does any IO: files come from a [`Tree`] that was listed before, and a path in a transcript can only select a listed
//! file.

pub mod archive_chain;
mod compacted;
pub mod markers;
pub mod message_digest;
pub mod persisted_outputs;
pub mod place;
pub mod reconstruct;
mod secrets;
mod sessions;
mod totals;
pub mod tree;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::transcript::conversation::Conversation;

use crate::findings::rules::secret;
use crate::findings::{Case, FINDINGS, Finding, Level};
use crate::results::saved::{Coverage, ResultNote};
use crate::transcript::format::Reading;

pub use compacted::{Compacted, Replayer};
pub use totals::Totals;
pub use tree::{Entry, EntryKind, Index, Tree, UnreadableFile};

use archive_chain::{Chain, Link};
use markers::Mark;
use message_digest::MessageDigest;
use persisted_outputs::{PersistedOutput, PersistedOutputMarker, State};
use place::Place;
use secrets::{SecretPlaces, SecretSearch};

/// The results of an audit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    pub version: u32,
    pub transcripts: Vec<Transcript>,
    pub chains: Vec<Chain>,
    /// Sorted by transcript, then kind.
    pub findings: Vec<Finding>,
    pub totals: Totals,
    pub notes: Vec<ResultNote>,
    /// The transcripts that were found but could not be audited, and why.
    #[serde(skip_serializing_if = "names_no_file")]
    pub coverage: Coverage,
}

fn names_no_file(coverage: &Coverage) -> bool {
    coverage.left_out.is_empty()
}

/// Results about one transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transcript {
    pub path: String,
    pub format: &'static str,
    /// Compaction markers of harnesses in the transcript.
    pub systems: Vec<Mark>,
    pub conversations: usize,
    pub calls: usize,
    pub messages: usize,
    pub compactions: Vec<Compacted>,
    /// Size in bytes, decompressed.
    pub bytes: u64,
    /// Number of outputs that were moved to disk, by the state of their files.
    pub persisted: BTreeMap<State, usize>,
}

/// The audit of one transcript by itself.
pub struct TranscriptAudit {
    transcript: Transcript,
    /// Index of the tree with its files.
    tree: usize,
    findings: Vec<Finding>,
    digests: Vec<MessageDigest>,
    persisted_outputs: Vec<PersistedOutput>,
    secrets: SecretSearch,
    notes: Vec<ResultNote>,
    /// The conversation of an archive. It is replayed later, together with the archives before and after it.
    archive: Option<Conversation>,
}

/// Audits one transcript. `bytes` is its content, and `tree` is the index of the tree with its files.
pub fn audit_transcript(replayer: Replayer, path: &str, tree: usize, bytes: &[u8], reading: &Reading) -> TranscriptAudit {
    let conversations = &reading.conversations;
    let digests = message_digest::digests(conversations, bytes);
    let archive = reconstruct::is_archive(path, conversations, &digests).then(|| conversations[0].clone());
    let (mut persisted_outputs, mut secrets) = (Vec::new(), SecretSearch::default());
    for (block, place) in conversations.iter().flat_map(place::blocks) {
        secrets.scan(&block.text(), |_| place.clone());
        persisted_outputs.extend(persisted_outputs::marker(block).map(|marker| PersistedOutput { marker, place }));
    }
    let mut transcript_audit = TranscriptAudit {
        transcript: Transcript {
            path: path.to_owned(),
            format: conversations.first().map_or("", |conversation| conversation.format),
            systems: markers::marks(conversations),
            conversations: conversations.len(),
            calls: conversations.iter().map(|conversation| conversation.calls.len()).sum(),
            messages: conversations.iter().map(|conversation| conversation.messages.len()).sum(),
            compactions: Vec::new(),
            bytes: bytes.len() as u64,
            persisted: BTreeMap::new(),
        },
        tree,
        findings: Vec::new(),
        digests,
        persisted_outputs,
        secrets,
        notes: reading.notes.iter().map(|note| ResultNote::of_reading(path, note)).collect(),
        archive,
    };
    if transcript_audit.archive.is_none() {
        for conversation in conversations {
            let (mut findings, mut compactions) = replayer.audit_conversation(path, conversation);
            transcript_audit.secrets.hide_all(&mut findings, &mut compactions);
            transcript_audit.findings.extend(findings);
            transcript_audit.transcript.compactions.extend(compactions);
        }
    }
    transcript_audit.findings.extend(transcript_audit.secrets.found().iter().map(|found| secret_finding(path, found)));
    transcript_audit
}

/// Combines the audits of transcripts, in their order, with their trees. `notes` are about files other than the transcripts.
pub fn audit(replayer: Replayer, mut transcripts: Vec<TranscriptAudit>, trees: &[&dyn Tree], notes: Vec<ResultNote>) -> Audit {
    let trees: Vec<Index> = trees.iter().map(|tree| Index::new(*tree)).collect();
    let links: Vec<Link> = transcripts
        .iter()
        .map(|transcript_audit| Link {
            path: &transcript_audit.transcript.path,
            tree: transcript_audit.tree,
            digests: &transcript_audit.digests,
        })
        .collect();
    let pointers = archive_chain::pointers(&links, &trees);
    let groups = archive_chain::groups(&links, &pointers);
    let chains: Vec<Chain> = groups.iter().map(|order| archive_chain::chain(&links, order)).collect();
    let mut findings = archive_chain::gaps(&links, &pointers);
    findings.extend(archive_chain::overwritten(&links, &pointers));
    let archives = totals::archives(&transcripts, &pointers);
    sessions::replay(replayer, &mut transcripts, &groups, &pointers);
    let mut audit = Audit {
        version: 1,
        transcripts: Vec::new(),
        chains,
        findings,
        totals: Totals::default(),
        notes,
        coverage: Coverage::default(),
    };
    let mut persisted = BTreeMap::new();
    for transcript_audit in transcripts {
        let TranscriptAudit { mut transcript, tree, findings, persisted_outputs, notes, .. } = transcript_audit;
        audit.findings.extend(findings);
        audit.notes.extend(notes);
        audit.check_persisted_outputs(&mut transcript, &persisted_outputs, (tree, &trees[tree]), &mut persisted);
        audit.transcripts.push(transcript);
    }
    audit.totals = Totals::new(&audit, &archives, &trees, &persisted);
    let order: BTreeMap<&str, usize> =
        audit.transcripts.iter().enumerate().map(|(at, transcript)| (transcript.path.as_str(), at)).collect();
    let kind_index = |finding: &Finding| FINDINGS.iter().position(|kind| kind.id == finding.id);
    audit.findings.sort_by_cached_key(|finding| {
        (order.get(finding.path.as_str()).copied().unwrap_or(usize::MAX), finding.path.clone(), kind_index(finding), finding.line)
    });
    audit
}

/// Sizes in bytes of the files that markers name, by tree and name.
type PersistedFiles = BTreeMap<(usize, String), u64>;

impl Audit {
    /// Checks every marker of a transcript once, and searches for secrets in files that no marker named before.
    fn check_persisted_outputs(
        &mut self,
        transcript: &mut Transcript,
        outputs: &[PersistedOutput],
        (at, tree): (usize, &Index),
        persisted: &mut PersistedFiles,
    ) {
        let mut by_marker: BTreeMap<&PersistedOutputMarker, Vec<&PersistedOutput>> = BTreeMap::new();
        for output in outputs {
            by_marker.entry(&output.marker).or_default().push(output);
        }
        for (marker, outputs) in by_marker {
            let checked = persisted_outputs::check(marker, &transcript.path, tree);
            *transcript.persisted.entry(checked.state).or_default() += 1;
            self.findings.extend(persisted_outputs::finding(&transcript.path, outputs[0], &checked, outputs.len()));
            let Some(entry) = checked.entry else { continue };
            let shown = tree.shown(entry);
            match checked.bytes {
                Some(bytes) if persisted.insert((at, entry.name.clone()), bytes.len() as u64).is_none() => {
                    self.findings.extend(secrets_in_file(&shown, &bytes));
                }
                Some(_) => {}
                None => self.notes.push(ResultNote { path: shown, line: None, what: checked.why }),
            }
        }
    }

    /// Returns one test for each file and kind of finding, as continuous integration reads them.
    pub fn cases(&self) -> Vec<Case> {
        let mut findings: BTreeMap<(&str, &str), Vec<Finding>> = BTreeMap::new();
        for finding in &self.findings {
            findings.entry((&finding.path, &finding.id)).or_default().push(finding.clone());
        }
        let case = |(file, id): (&str, &str), findings| Case { group: file.to_owned(), name: id.to_owned(), findings };
        let checks = self.transcripts.iter().flat_map(|transcript| FINDINGS.iter().map(|kind| (&*transcript.path, kind.id)));
        let mut cases: Vec<Case> = checks.map(|key| case(key, findings.remove(&key).unwrap_or_default())).collect();
        // The remaining findings are in files other than transcripts.
        cases.extend(findings.into_iter().map(|(key, findings)| case(key, findings)));
        cases
    }
}

fn secrets_in_file(path: &str, bytes: &[u8]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(bytes);
    let mut search = SecretSearch::default();
    search.scan(&text, |at| Place { line: line_at(&text, at), call: None, block: "file" });
    search.found().iter().map(|found| secret_finding(path, found)).collect()
}

/// Returns the number of the line at this byte, from 1.
fn line_at(text: &str, at: usize) -> u32 {
    let lines = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(lines).map_or(u32::MAX, |lines| lines.saturating_add(1))
}

/// Maximum places of one secret that a finding lists.
const PLACES: usize = 20;

fn secret_finding(path: &str, found: &SecretPlaces) -> Finding {
    let first = &found.places[0];
    let times = if found.places.len() > 1 { format!(", {} times in this file", found.places.len()) } else { String::new() };
    let mut data = serde_json::Map::new();
    data.insert("kind".to_owned(), found.rule.name.into());
    data.insert("times".to_owned(), found.places.len().into());
    let places = found.places.iter().take(PLACES).map(|place| serde_json::to_value(place).expect("plain data"));
    data.insert("places".to_owned(), places.collect());
    Finding {
        id: secret::ID.to_owned(),
        level: Level::Warning,
        path: path.to_owned(),
        line: Some(first.line),
        call: first.call,
        message: format!("a block of kind {} contains what looks like a {}{times}", first.block, found.rule.name),
        data,
        conversation: None,
        policy: None,
    }
}
