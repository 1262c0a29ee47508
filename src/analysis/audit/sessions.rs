//! Archives, replayed session by session.

use std::collections::{BTreeSet, HashMap};

use rayon::prelude::*;

use super::archive_chain::{Before, Pointer};
use super::reconstruct::{Archive, Session, unroll};
use super::{Compacted, Replayer, TranscriptAudit};
use crate::findings::Finding;
use crate::results::saved::ResultNote;

/// What the archives among the transcripts tell when they are put together. `groups` are the transcripts of sessions, in order; an archive
/// in none of them is a session by itself.
pub fn replay(replayer: Replayer, looks: &mut [TranscriptAudit], groups: &[Vec<usize>], pointers: &[Pointer]) {
    let grouped: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let alone = (0..looks.len()).filter(|at| !grouped.contains(at)).map(|at| vec![at]);
    let before: HashMap<usize, &Before> =
        pointers.iter().filter(|pointer| pointer.message == 0).map(|pointer| (pointer.from, &pointer.before)).collect();
    let archive = |at: usize| {
        let TranscriptAudit { transcript, said, archive, .. } = &looks[at];
        let before = before.get(&at).copied();
        archive.as_ref().map(|conversation| Archive { at, path: &transcript.path, conversation, said, before })
    };
    let in_order = |order: Vec<usize>| order.into_iter().filter_map(archive).collect::<Vec<_>>();
    let orders: Vec<Vec<Archive>> = groups.iter().cloned().chain(alone).map(in_order).collect();
    let told: Vec<Told> = orders.par_iter().flat_map_iter(|order| of_group(replayer, looks, order)).collect();
    for Told { at, findings, compactions, notes } in told {
        let look = &mut looks[at];
        look.findings.extend(findings);
        look.transcript.compactions.extend(compactions);
        look.notes.extend(notes);
    }
    looks.iter_mut().for_each(|look| look.archive = None);
}

/// What is told of a transcript.
#[derive(Default)]
struct Told {
    at: usize,
    findings: Vec<Finding>,
    compactions: Vec<Compacted>,
    notes: Vec<ResultNote>,
}

fn of_group(replayer: Replayer, looks: &[TranscriptAudit], order: &[Archive]) -> Vec<Told> {
    let (sessions, untold) = unroll(order);
    let note = |archive: &&Archive| {
        let what =
            "it begins with the summary of a history that is in none of the archives: what that compaction lost cannot be told";
        let line = archive.said.first().map(|said| said.line);
        let notes = vec![ResultNote { path: archive.path.to_owned(), line, what: what.to_owned() }];
        Told { at: archive.at, notes, ..Told::default() }
    };
    let of_session = |session: &Session| of_session(replayer, looks, session);
    untold.iter().map(note).chain(sessions.iter().flat_map(of_session)).collect()
}

fn of_session(replayer: Replayer, looks: &[TranscriptAudit], session: &Session) -> Vec<Told> {
    let conversation = &*session.conversation;
    let path = |at: usize| looks[at].transcript.path.as_str();
    let Some(first) = session.of.first().copied() else { return Vec::new() };
    let (mut findings, mut compactions) = replayer.look_at_archives(path(first), conversation, &session.folded);
    for at in &session.of {
        looks[*at].search.hide_all(&mut findings, &mut compactions);
    }
    let of = |file: Option<&str>| session.of.iter().copied().find(|at| Some(path(*at)) == file).unwrap_or(first);
    let places = conversation.compactions.iter().map(|compaction| of(conversation.place(compaction.line).0));
    let compacted = places.zip(compactions).map(|(at, one)| Told { at, compactions: vec![one], ..Told::default() });
    std::iter::once(Told { at: first, findings, ..Told::default() }).chain(compacted).collect()
}
