//! Saved transcripts, audited: who compacted them, what hangs together and what is missing, what the record shows to be wrong, and what
//! should not be in them.
//!
//! [`audit_transcript`] looks at one transcript by itself, and keeps what archives hold; [`audit`] puts all of them together with the files beside
//! them, and looks at the archives of a session as the one conversation that they are ([`unroll`](mod@unroll)). Neither does any IO:
//! files are a [`Tree`] that was listed before, and a path from a transcript only ever chooses among what was listed.

pub mod archive_chain;
mod compacted;
pub mod markers;
pub mod message_digest;
pub mod persisted_outputs;
pub mod place;
pub mod reconstruct;
pub mod secrets;
mod sessions;
mod totals;
pub mod tree;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::transcript::conversation::Conversation;

use crate::findings::rules::secret;
use crate::findings::{Case, FINDINGS, Finding, Level};
use crate::results::saved::ResultNote;
use crate::transcript::format::Reading;

pub use compacted::{Compacted, Replayer};
pub use totals::Totals;
pub use tree::{Entry, EntryKind, Index, Tree};

use archive_chain::{Chain, Link};
use markers::Mark;
use message_digest::MessageDigest;
use persisted_outputs::{Marker, PersistedOutput, State};
use place::Place;
use secrets::{Search, SecretPlaces};

/// Everything that an audit tells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Audit {
    pub version: u32,
    pub transcripts: Vec<Transcript>,
    pub chains: Vec<Chain>,
    /// By transcript, then kind.
    pub findings: Vec<Finding>,
    pub totals: Totals,
    pub notes: Vec<ResultNote>,
}

/// One transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transcript {
    pub path: String,
    pub format: &'static str,
    /// Who left marks of compactions in it.
    pub systems: Vec<Mark>,
    pub conversations: usize,
    pub calls: usize,
    pub messages: usize,
    pub compactions: Vec<Compacted>,
    /// Decompressed.
    pub bytes: u64,
    /// The outputs that were moved to disk, by what became of their files.
    pub persisted: BTreeMap<State, usize>,
}

/// One transcript, looked at by itself.
pub struct TranscriptAudit {
    transcript: Transcript,
    /// Index of the tree its files are in.
    tree: usize,
    findings: Vec<Finding>,
    said: Vec<MessageDigest>,
    spills: Vec<PersistedOutput>,
    search: Search,
    notes: Vec<ResultNote>,
    /// An archive is replayed together with those before and after it.
    archive: Option<Conversation>,
}

/// Looks at one transcript: `bytes` are what it was read from, and `tree` is the index of the tree that its files are in.
pub fn audit_transcript(replayer: Replayer, path: &str, tree: usize, bytes: &[u8], reading: &Reading) -> TranscriptAudit {
    let conversations = &reading.conversations;
    let said = message_digest::history(conversations, bytes);
    let archive = reconstruct::is_archive(path, conversations, &said).then(|| conversations[0].clone());
    let (mut spills, mut search) = (Vec::new(), Search::default());
    for (block, place) in conversations.iter().flat_map(place::blocks) {
        search.look(&block.text(), |_| place.clone());
        spills.extend(persisted_outputs::marker(block).map(|marker| PersistedOutput { marker, place }));
    }
    let note =
        |note: &crate::transcript::format::Note| ResultNote { path: path.to_owned(), line: note.line, what: note.what.clone() };
    let mut audit_transcript = TranscriptAudit {
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
        said,
        spills,
        search,
        notes: reading.notes.iter().map(note).collect(),
        archive,
    };
    if audit_transcript.archive.is_none() {
        for conversation in conversations {
            let (mut findings, mut compactions) = replayer.look(path, conversation);
            audit_transcript.search.hide_all(&mut findings, &mut compactions);
            audit_transcript.findings.extend(findings);
            audit_transcript.transcript.compactions.extend(compactions);
        }
    }
    audit_transcript.findings.extend(audit_transcript.search.seen().iter().map(|seen| secret(path, seen)));
    audit_transcript
}

/// Puts the transcripts together, in their order, with the trees they belong to. `notes` are what is known of files that are none of the
/// transcripts.
pub fn audit(replayer: Replayer, mut looks: Vec<TranscriptAudit>, trees: &[&dyn Tree], notes: Vec<ResultNote>) -> Audit {
    let trees: Vec<Index> = trees.iter().map(|tree| Index::new(*tree)).collect();
    let links: Vec<Link> = looks
        .iter()
        .map(|audit_transcript| Link {
            path: &audit_transcript.transcript.path,
            tree: audit_transcript.tree,
            said: &audit_transcript.said,
        })
        .collect();
    let pointers = archive_chain::pointers(&links, &trees);
    let groups = archive_chain::groups(&links, &pointers);
    let chains: Vec<Chain> = groups.iter().map(|order| archive_chain::chain(&links, order)).collect();
    let mut findings = archive_chain::gaps(&links, &pointers);
    findings.extend(archive_chain::overwritten(&links, &pointers));
    let archives = totals::archives(&looks, &pointers);
    sessions::replay(replayer, &mut looks, &groups, &pointers);
    let mut audit = Audit { version: 1, transcripts: Vec::new(), chains, findings, totals: Totals::default(), notes };
    let mut persisted = BTreeMap::new();
    for audit_transcript in looks {
        let TranscriptAudit { mut transcript, tree, findings, spills, notes, .. } = audit_transcript;
        audit.findings.extend(findings);
        audit.notes.extend(notes);
        audit.spilled(&mut transcript, &spills, (tree, &trees[tree]), &mut persisted);
        audit.transcripts.push(transcript);
    }
    audit.totals = Totals::new(&audit, &archives, &trees, &persisted);
    let order: BTreeMap<&str, usize> =
        audit.transcripts.iter().enumerate().map(|(at, transcript)| (transcript.path.as_str(), at)).collect();
    let kind = |finding: &Finding| FINDINGS.iter().position(|kind| kind.id == finding.id);
    audit.findings.sort_by_cached_key(|finding| {
        (order.get(finding.path.as_str()).copied().unwrap_or(usize::MAX), finding.path.clone(), kind(finding), finding.line)
    });
    audit
}

/// The files that markers name, by tree and name.
type Persisted = BTreeMap<(usize, String), u64>;

impl Audit {
    /// Checks every marker of a transcript once, and looks for secrets in files that no marker named before.
    fn spilled(
        &mut self,
        transcript: &mut Transcript,
        spills: &[PersistedOutput],
        (at, tree): (usize, &Index),
        persisted: &mut Persisted,
    ) {
        let mut by_marker: BTreeMap<&Marker, Vec<&PersistedOutput>> = BTreeMap::new();
        for spill in spills {
            by_marker.entry(&spill.marker).or_default().push(spill);
        }
        for (marker, spills) in by_marker {
            let checked = persisted_outputs::check(marker, &transcript.path, tree);
            *transcript.persisted.entry(checked.state).or_default() += 1;
            self.findings.extend(persisted_outputs::finding(&transcript.path, spills[0], &checked, spills.len()));
            let Some(entry) = checked.entry else { continue };
            let shown = tree.shown(entry);
            match checked.bytes {
                Some(bytes) if persisted.insert((at, entry.name.clone()), bytes.len() as u64).is_none() => {
                    self.findings.extend(secrets_of(&shown, &bytes));
                }
                Some(_) => {}
                None => self.notes.push(ResultNote { path: shown, line: None, what: checked.why }),
            }
        }
    }

    /// As continuous integration reads it: of every file, what was looked for and what was found.
    pub fn cases(&self) -> Vec<Case> {
        let mut found: BTreeMap<(&str, &str), Vec<Finding>> = BTreeMap::new();
        for finding in &self.findings {
            found.entry((&finding.path, &finding.id)).or_default().push(finding.clone());
        }
        let case = |(file, id): (&str, &str), findings| Case { group: file.to_owned(), name: id.to_owned(), findings };
        let looked_for = self.transcripts.iter().flat_map(|transcript| FINDINGS.iter().map(|kind| (&*transcript.path, kind.id)));
        let mut cases: Vec<Case> = looked_for.map(|key| case(key, found.remove(&key).unwrap_or_default())).collect();
        // What is left was found in files that are no transcripts.
        cases.extend(found.into_iter().map(|(key, findings)| case(key, findings)));
        cases
    }
}

fn secrets_of(path: &str, bytes: &[u8]) -> Vec<Finding> {
    let text = String::from_utf8_lossy(bytes);
    let mut search = Search::default();
    search.look(&text, |at| Place { line: line_at(&text, at), call: None, block: "file" });
    search.seen().iter().map(|seen| secret(path, seen)).collect()
}

fn line_at(text: &str, at: usize) -> u32 {
    let lines = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(lines).map_or(u32::MAX, |lines| lines.saturating_add(1))
}

/// Most places of one secret that are listed.
const PLACES: usize = 20;

fn secret(path: &str, seen: &SecretPlaces) -> Finding {
    let first = &seen.places[0];
    let times = if seen.places.len() > 1 { format!(", {} times in this file", seen.places.len()) } else { String::new() };
    let mut data = serde_json::Map::new();
    data.insert("kind".to_owned(), seen.rule.name.into());
    data.insert("times".to_owned(), seen.places.len().into());
    let places = seen.places.iter().take(PLACES).map(|place| serde_json::to_value(place).unwrap_or_default());
    data.insert("places".to_owned(), places.collect());
    Finding {
        id: secret::ID.to_owned(),
        level: Level::Warning,
        path: path.to_owned(),
        line: Some(first.line),
        call: first.call,
        message: format!("what looks like a {} stands in a block of kind {}{times}", seen.rule.name, first.block),
        data,
        conversation: None,
        policy: None,
    }
}
