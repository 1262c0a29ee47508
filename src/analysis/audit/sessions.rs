//! Replays archives, session by session.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use super::archive_chain::{Pointer, PriorHistory};
use super::reconstruct::{Archive, Session, reconstruct};
use super::{Compacted, Replayer, TranscriptAudit};
use crate::findings::Finding;
use crate::results::saved::ResultNote;

/// Replays the archives among the transcripts, and adds findings, compactions and notes to their audits. `groups` are the transcripts of
/// sessions, in order; an archive in no group is a session by itself.
pub fn replay(replayer: Replayer, transcripts: &mut [TranscriptAudit], groups: &[Vec<usize>], pointers: &[Pointer]) {
    let grouped: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let alone = (0..transcripts.len()).filter(|at| !grouped.contains(at)).map(|at| vec![at]);
    let prior_histories: HashMap<usize, &PriorHistory> =
        pointers.iter().filter(|pointer| pointer.message == 0).map(|pointer| (pointer.from, &pointer.history)).collect();
    let archive = |at: usize| {
        let TranscriptAudit { transcript, digests, archive, .. } = &transcripts[at];
        let prior_history = prior_histories.get(&at).copied();
        archive.as_ref().map(|conversation| Archive { at, path: &transcript.path, conversation, digests, prior_history })
    };
    let archives_of = |group: Vec<usize>| group.into_iter().filter_map(archive).collect::<Vec<_>>();
    let archive_groups: Vec<Vec<Archive>> = groups.iter().cloned().chain(alone).map(archives_of).collect();
    let results: Vec<TranscriptResults> =
        archive_groups.par_iter().flat_map_iter(|archives| replay_group(replayer, transcripts, archives)).collect();
    for TranscriptResults { at, findings, compactions, notes } in results {
        let transcript_audit = &mut transcripts[at];
        transcript_audit.findings.extend(findings);
        transcript_audit.transcript.compactions.extend(compactions);
        transcript_audit.notes.extend(notes);
    }
    transcripts.iter_mut().for_each(|transcript_audit| transcript_audit.archive = None);
}

/// Results of the replays for one transcript.
#[derive(Default)]
struct TranscriptResults {
    /// Index of the transcript.
    at: usize,
    findings: Vec<Finding>,
    compactions: Vec<Compacted>,
    notes: Vec<ResultNote>,
}

fn replay_group(replayer: Replayer, transcripts: &[TranscriptAudit], archives: &[Archive]) -> Vec<TranscriptResults> {
    let (sessions, without_history) = reconstruct(archives);
    let note = |archive: &&Archive| {
        let what = "it begins with the summary of a history that no archive holds: what that compaction lost is unknown";
        let line = archive.digests.first().map(|digest| digest.line);
        let notes = vec![ResultNote { path: archive.path.to_owned(), line, what: what.to_owned() }];
        TranscriptResults { at: archive.at, notes, ..TranscriptResults::default() }
    };
    let replay_session = |session: &Session| replay_session(replayer, transcripts, session);
    without_history.iter().map(note).chain(sessions.iter().flat_map(replay_session)).collect()
}

fn replay_session(replayer: Replayer, transcripts: &[TranscriptAudit], session: &Session) -> Vec<TranscriptResults> {
    let conversation = &*session.conversation;
    let path = |at: usize| transcripts[at].transcript.path.as_str();
    let Some(first) = session.transcripts.first().copied() else { return Vec::new() };
    let (mut findings, mut compactions) = replayer.audit_archives(path(first), conversation, &session.compacted_archives);
    for at in &session.transcripts {
        transcripts[*at].secrets.hide_all(&mut findings, &mut compactions);
    }
    let transcript_of =
        |file: Option<&str>| session.transcripts.iter().copied().find(|at| Some(path(*at)) == file).unwrap_or(first);
    let indices = conversation.compactions.iter().map(|compaction| transcript_of(conversation.file_and_line(compaction.line).0));
    let compacted = indices.zip(compactions).map(|(at, compaction)| TranscriptResults {
        at,
        compactions: vec![compaction],
        ..TranscriptResults::default()
    });
    std::iter::once(TranscriptResults { at: first, findings, ..TranscriptResults::default() }).chain(compacted).collect()
}
