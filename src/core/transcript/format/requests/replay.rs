//! Builds a conversation from the requests of a log: what each added is new, and what else changed is an edit of the record.

use std::collections::HashSet;

use super::super::batch::Stamp;
use super::super::notes::Notes;
use super::super::openai_chat::text_calls;
use super::super::timeline::{Details, Timeline};
use super::super::{Note, wire_usage};
use super::NAME;
use super::chains::{ASIDE, Chain, Step};
use super::envelope::Response;
use super::said::{Item, Said, Who};
use crate::transcript::conversation::{Call, Conversation, Message, Origin, PairId, Role};

/// Placeholder for a result that is missing in the log.
const NO_RESULT: &str = "[no result recorded]";

/// Words of a request that asks for a summary at the end of the conversation itself.
const ASKS: [&str; 4] = ["summar", "compact", "state_snapshot", "handoff"];

/// What `recorded` sends in place of a cleared result. Another text in its place is an edit of the whole context.
const CLEARED: &str = "[Old tool result content cleared]";

/// Bytes of such a request; a person who asks for a summary writes less.
const SHORTEST_ASK: usize = 200;

/// Builds the conversation of a chain.
pub fn conversation(chain: Chain, name: String, notes: &mut Notes) -> Option<Conversation> {
    if let Some(line) = calls_as_texts(&chain) {
        let why = "requests whose calls are texts (mini-swe-agent) are not read from a log; read the trajectory that it saves";
        notes.kind(Note::skipped(line, why));
        return None;
    }
    let mut replay = Replay {
        timeline: Timeline::new(name, NAME, NO_RESULT, notes),
        sent: Vec::new(),
        context: 0,
        waiting: None,
        known: HashSet::new(),
    };
    if !chain.system.is_empty() {
        replay.timeline.builder.set_system(chain.system);
    }
    let mut steps = chain.steps.into_iter().peekable();
    while let Some(step) = steps.next() {
        replay.step(step, steps.peek());
    }
    replay.finish()
}

/// Returns the line of the first request that has a call and its result as texts, if no request has others: they would be taken for what
/// a person typed.
fn calls_as_texts(chain: &Chain) -> Option<u32> {
    if chain.steps.iter().flat_map(|step| &step.new).any(Said::has_calls) {
        return None;
    }
    let is_text_call = |pair: &[Said]| {
        pair[0].who == Who::Assistant
            && pair[1].who == Who::User
            && text_calls::is_call_and_result(&pair[0].text(), &pair[1].text())
    };
    chain.steps.iter().find(|step| step.new.windows(2).any(is_text_call)).map(|step| step.line)
}

struct Replay<'n> {
    timeline: Timeline<'n>,
    /// The messages of the last request.
    sent: Vec<Said>,
    /// How many of them are of the conversation: not what asks for a summary.
    context: usize,
    /// The last request of the agent, if its response was not read yet.
    waiting: Option<(Stamp, Response)>,
    /// The messages so far, by their hashes.
    known: HashSet<u64>,
}

impl Replay<'_> {
    fn step(&mut self, step: Step, next: Option<&Step>) {
        let at = Stamp { line: step.line, time: step.time };
        self.timeline.begin(step.line as usize, at);
        let before = self.sent.split_off(step.kept.min(self.sent.len()));
        let cleared = cleared(&before, &step.new).filter(|_| self.context == step.kept + before.len());
        self.sent.extend(step.new);
        let is_left =
            |said: &Said, next: &Step| next.kept < self.sent.len() && next.new.iter().all(|other| other.hash != said.hash);
        let is_aside = self.sent.last().zip(next).is_some_and(|(last, next)| is_left(last, next) && asks(last));
        let end = self.sent.len() - usize::from(is_aside);
        let sent = std::mem::take(&mut self.sent);
        if step.kept >= self.context {
            self.grow(sent.get(self.context..end).unwrap_or_default());
        } else if let Some(pairs) = cleared.and_then(|ids| self.pairs(&ids)) {
            self.grow(sent.get(self.context..end).unwrap_or_default());
            self.timeline.settle();
            self.timeline.clear(pairs, Details::default());
        } else {
            self.edit(&sent[..end], &sent[step.kept.min(end)..end], &before);
        }
        self.known.extend(sent[step.kept.min(end)..end].iter().map(|said| said.hash));
        (self.sent, self.context) = (sent, end);
        if is_aside {
            self.timeline.notes.kind(Note::info(at.line, ASIDE));
        } else {
            self.waiting = Some((at, step.response));
        }
    }

    /// Adds messages behind all others. The first one is the response of the request before, as it was sent.
    fn grow(&mut self, new: &[Said]) {
        let mut new = new.iter();
        match new.clone().next() {
            Some(first) if first.who == Who::Assistant => {
                self.answer(first);
                new.next();
            }
            // A request for a summary need not repeat the last response.
            None if self.waiting.as_ref().is_some_and(|(_, response)| response.failed) => self.waiting = None,
            _ => self.lose(),
        }
        let mut after_user = false;
        for said in new {
            match said.who {
                // A response whose request is not in the log.
                Who::Assistant if after_user => self.timeline.response(wires(said), Call::default()),
                Who::Assistant => self.timeline.earlier_response(wires(said)),
                _ => self.user(said),
            }
            after_user = said.who != Who::Assistant;
        }
    }

    /// Returns the calls with these ids; `None` if one is not there, or if its id was used again.
    fn pairs(&self, ids: &[String]) -> Option<Vec<PairId>> {
        let so_far = self.timeline.builder.so_far();
        let is_used_once = |id: &str| so_far.pairs.iter().filter(|pair| pair.id == id).count() == 1;
        ids.iter().map(|id| self.timeline.builder.pair(id).filter(|_| is_used_once(id))).collect()
    }

    /// Adds an edit of the context: this is all that the request has. `now` is where `before` was in the request before it.
    fn edit(&mut self, sent: &[Said], now: &[Said], before: &[Said]) {
        let count = |all: &[Said], hash| all.iter().filter(|said| said.hash == hash).count();
        // A model may answer twice with the same words.
        let is_again = |said: &Said| count(now, said.hash) > count(before, said.hash);
        let answer = self.answer_in(sent, |said| !self.known.contains(&said.hash) || is_again(said));
        let new = match answer {
            Some(at) => {
                self.answer(&sent[at]);
                &sent[at + 1..]
            }
            None => {
                match self.waiting.as_mut().and_then(|(_, response)| response.said.take()) {
                    Some(said) => self.answer(&said),
                    None => self.lose(),
                }
                let known = sent.iter().rposition(|said| said.who == Who::Assistant || self.known.contains(&said.hash));
                &sent[known.map_or(0, |known| known + 1)..]
            }
        };
        for said in new {
            // Without a response, all of the request may be the summary.
            let is_new = said.who != Who::Assistant && !self.known.contains(&said.hash);
            if is_new && (answer.is_some() || new.len() < sent.len()) {
                self.user(said);
            }
        }
        self.timeline.settle();
        let (mut into, mut used): (Vec<Message>, _) = (Vec::new(), HashSet::new());
        for said in sent {
            let role = if said.who == Who::Assistant { Role::Assistant } else { Role::User };
            let mut message = self.timeline.new_message(role, Vec::new(), Origin::Compaction);
            message.blocks = said.items.iter().map(|item| self.timeline.original(item.wire(), &mut used)).collect();
            into.push(message);
        }
        self.timeline.fold(into, Details::default());
    }

    /// Returns where an edited context has the response of the request before. If the log does not have it, it is the last message of the
    /// model that is new, and comes after those that are known or has a call: else it may be the summary.
    fn answer_in(&self, sent: &[Said], is_new: impl Fn(&Said) -> bool) -> Option<usize> {
        let (_, response) = self.waiting.as_ref()?;
        let is_response = |said: &Said| said.who == Who::Assistant && is_new(said);
        if let Some(gist) = response.said.as_ref().map(Said::gist) {
            return sent.iter().rposition(|said| is_response(said) && said.gist() == gist);
        }
        let kept = sent.iter().position(|said| said.is_telling() && self.known.contains(&said.hash));
        let at = sent.iter().rposition(is_response)?;
        (sent[at].has_calls() || kept.is_some_and(|kept| kept < at)).then_some(at)
    }

    /// Adds the response of the last request.
    fn answer(&mut self, said: &Said) {
        match self.waiting.take() {
            Some((at, response)) => {
                let call = call(response, at, &mut self.timeline);
                self.timeline.response_at(at, wires(said), call);
            }
            // The beginning of the conversation is a response, or a request is not in the log.
            None => self.timeline.response(wires(said), Call::default()),
        }
    }

    fn lose(&mut self) {
        if let Some((at, response)) = self.waiting.take() {
            let call = call(response, at, &mut self.timeline);
            self.timeline.lost_response("this response is not in the next request; it was left out", call);
        }
    }

    fn user(&mut self, said: &Said) {
        let origin = if said.who == Who::User { Origin::User } else { Origin::Injected };
        for item in &said.items {
            match item {
                Item::Block(wire) => self.timeline.user(wire.clone(), origin),
                Item::Result { id, content, failed } => self.timeline.result(id, content.clone(), *failed),
            }
        }
    }

    fn finish(mut self) -> Option<Conversation> {
        if let Some((at, mut response)) = self.waiting.take() {
            let said = response.said.take();
            let failed = response.failed;
            let call = call(response, at, &mut self.timeline);
            match said {
                Some(said) => self.timeline.response_at(at, wires(&said), call),
                None if failed => {}
                None => self.timeline.unknown_response(call),
            }
        }
        self.timeline.finish()
    }
}

/// Returns the ids of the calls whose results were cleared, if nothing else changed in these messages of the request before.
fn cleared(before: &[Said], now: &[Said]) -> Option<Vec<String>> {
    let mut ids = Vec::new();
    for (old, new) in before.iter().zip(now).filter(|(old, new)| old.hash != new.hash) {
        for (old, new) in old.items.iter().zip(&new.items).filter(|(old, new)| old.wire() != new.wire()) {
            match (old, new) {
                (Item::Result { id: old, .. }, Item::Result { id, content, .. }) if old == id && content == CLEARED => {
                    ids.push(id.clone());
                }
                _ => return None,
            }
        }
        if old.items.len() != new.items.len() || old.who != new.who {
            return None;
        }
    }
    (!ids.is_empty() && now.len() >= before.len()).then_some(ids)
}

/// Returns whether a message may ask for a summary of the conversation.
fn asks(said: &Said) -> bool {
    let text = said.text();
    let text = text.to_lowercase();
    said.who == Who::User && !said.has_results() && text.len() >= SHORTEST_ASK && ASKS.iter().any(|word| text.contains(word))
}

fn wires(said: &Said) -> Vec<serde_json::Value> {
    said.items.iter().map(Item::wire).collect()
}

fn call(response: Response, at: Stamp, timeline: &mut Timeline) -> Call {
    let usage = wire_usage::usage(&response.usage, at.line, timeline.notes);
    Call { usage, model: response.model, message_id: response.id, time: at.time, ..Call::default() }
}
