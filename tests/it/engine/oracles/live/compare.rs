//! Compares the requests of a replay, and what its summarizer reads, with those of a run.

use std::sync::{Arc, Mutex};

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::policy::Policy;
use recompact::engine::replay::Observer;
use recompact::engine::summarizer::{Reply, Summarizer, SummaryRequest};
use recompact::transcript::conversation::{BlockKind, Conversation, Origin};
use recompact::util::text::head;
use serde_json::Value;

use super::super::items::items;
use super::run::{Run, joined};
use crate::support::trial::Trial;

/// Returns, for each request of a conversation, which begins with request `first` of the run, how it differs from the real one, and then
/// how the summarizer's inputs differ.
pub fn compare(
    policy: Policy,
    (conversation, first): (&Conversation, usize),
    run: &Arc<Run>,
) -> (Vec<Option<String>>, Vec<Option<String>>) {
    let inputs = Arc::default();
    let summarizer = Box::new(Reader { run: Arc::clone(run), differences: Arc::clone(&inputs) });
    // The scripted model counts so, too.
    let counter = "ceil(bytes/4)".parse().expect("a meter");
    let trial = Trial { counter, summarizer, ..Trial::new(policy) };
    let mut requests = Requests { run, first, differences: Vec::new() };
    trial.replay(conversation, &mut requests);
    let inputs = std::mem::take(&mut *inputs.lock().expect("no panic"));
    (requests.differences, inputs)
}

struct Requests<'a> {
    run: &'a Run,
    first: usize,
    differences: Vec<Option<String>>,
}

impl Observer for Requests<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let ours = joined(context.messages().iter().flat_map(|message| items(context, message)));
        let theirs = self.run.requests.get(self.first + request.call).map_or_else(Vec::new, |real| joined(real.items.clone()));
        let at = (0..ours.len().max(theirs.len())).find(|at| ours.get(*at) != theirs.get(*at));
        self.differences.push(at.map(|at| {
            let [ours, theirs] = [&ours, &theirs].map(|items| items.get(at).map_or("nothing".to_owned(), ToString::to_string));
            let same = ours.chars().zip(theirs.chars()).take_while(|(our, their)| our == their).count();
            let [ours, theirs] =
                [ours, theirs].map(|text| text.chars().skip(same.saturating_sub(60)).take(200).collect::<String>());
            format!("request {}, item {at}: ours …{ours}\n  theirs …{theirs}", request.call + 1)
        }));
    }
}

/// A summarizer that says what the program made of the scripted model's answer, and compares what it reads with what the model read.
struct Reader {
    run: Arc<Run>,
    differences: Arc<Mutex<Vec<Option<String>>>>,
}

/// Characters of a text that every program gives to its summarizer.
const READ: usize = 2_000;

impl Reader {
    /// Every text is read, in this order, and as many results as there are.
    fn difference(&self, request: &SummaryRequest) -> Option<String> {
        let call = request.call;
        let Some(at) = self.run.folds.iter().position(|fold| *fold == call) else {
            return Some(format!("the program asks for no summary before request {}", call + 1));
        };
        let items = self.run.asked[at].items.iter();
        let texts: Vec<&str> = items.filter_map(|item| item[if item[0] == "result" { 2 } else { 1 }].as_str()).collect();
        let (theirs, mut from) = (texts.join("\n"), 0);
        // Programs differ in where they put the summary before.
        let own = request.blocks.iter().filter(|block| block.origin != Origin::Compaction);
        for block in own.filter(|block| matches!(block.kind, BlockKind::Text | BlockKind::ToolResult(_))) {
            let text = head(block.text(), READ);
            let Some(found) = theirs[from..].find(text) else {
                return Some(format!("before request {}: theirs has not: {}", call + 1, head(text, 200)));
            };
            from += found + text.len();
        }
        let is_result = |item: &&Value| item[0] == "result";
        let serialized: usize = texts.iter().map(|text| text.matches("[Tool result]: ").count()).sum();
        let theirs = self.run.asked[at].items.iter().filter(is_result).count() + serialized;
        let ours = request.blocks.iter().filter(|block| matches!(block.kind, BlockKind::ToolResult(_))).count();
        (ours != theirs).then(|| format!("before request {}: the summarizer reads {ours} results, theirs {theirs}", call + 1))
    }
}

impl Summarizer for Reader {
    fn summarize(&self, request: &SummaryRequest) -> Reply {
        self.differences.lock().expect("no panic").push(self.difference(request));
        let at = self.run.folds.iter().position(|fold| *fold == request.call).unwrap_or_default();
        Ok(self.run.replies[at].clone()).into()
    }
}
