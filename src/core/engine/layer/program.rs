//! `program`: asks a program what to send, so that your own code is a policy.
//!
//! The program gets the messages of each request as JSON and answers with the messages to send: it drops some, rewrites some,
//! writes new ones. Whatever it does is measured as for every other layer. The page `programs` of the guide describes what goes
//! over the wire. `recompact replay -p 'mine=command:node my-policy.mjs'` is short for such a policy.
//!
//! ```toml
//! [[layer]]
//! id = "program"
//! do = "program"                  # the only layer of its policy
//! command = "node my-policy.mjs"  # started without a shell, and only if you allow it: --allow-programs
//! ```

mod request_changes;
mod summaries;

use std::time::Duration;

use rustc_hash::FxHashSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::archive;
use super::{Action, FileKind, LayerInput, LayerTraits, NewFile, Proposal, Scope, SummarizerUse, Timing, WrongSetting};
use crate::engine::context::Context;
use crate::engine::external::{
    Answer, Decision, ExternalRequest, ExternalSession, Item, Listing, MessageId, PlannedUnits, Seen, SessionStart, Shape,
    WrittenFile, WrittenMessage, plan,
};
use crate::tokens::meter::SizeUnit;
use crate::transcript::conversation::BlockKind;
use request_changes::RequestChanges;

/// Settings of `program`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Program {
    /// The program and its arguments, separated by spaces; quotes keep words together. No shell reads it.
    pub command: String,
    /// Form of the messages: of Anthropic's Messages API, or of OpenAI's Chat Completions API; without it, the form that the program
    /// names in its first answer.
    #[schemars(with = "Shape")]
    pub shape: Option<Shape>,
    /// Time limit of each answer.
    #[schemars(extend("x-unit" = "seconds"))]
    pub timeout: u64,
}

/// What a session with the program has come to.
#[derive(Default)]
pub struct ProgramState {
    session: Option<Box<dyn ExternalSession>>,
    seen: Seen,
    /// The units after the last answer; taken when its edits were applied.
    planned: Option<PlannedUnits>,
    inserted: Vec<MessageId>,
    /// What the last answer changed for its request; `None` if the next answer cannot go on from it.
    last: Option<RequestChanges>,
    /// Hashes of the blocks that the program wrote.
    written: FxHashSet<u64>,
    written_bytes: usize,
}

/// Default of [`Program::timeout`].
const TIMEOUT_SECONDS: u64 = 30;
/// Maximum bytes of different blocks that a program writes in one session: they are kept until the session is measured.
const MAX_WRITTEN_BYTES: usize = 64 << 20;
/// A history may have this many times the tokens of what was said in the session, …
const MAX_GROWTH: u64 = 2;
/// … and this many tokens more.
const FREE_GROWTH_TOKENS: u64 = 100_000;
/// Maximum number of summaries that a program may ask for at one call.
const MAX_ASKED: usize = 32;
/// Why an answer cannot go on from the last.
const NO_LAST_CHANGES: &str = "its answer has `again`, and the request had `again`: false: name all changes";
/// Why the view of the request before cannot have these changes.
const MOVES: &str = "`again`: this answer moves messages, or changes a part of one of which an earlier answer changed another: name all \
                     changes";
/// Maximum characters of a path.
const MAX_PATH_CHARS: usize = 1_000;

impl Default for Program {
    fn default() -> Self {
        Self { command: String::new(), shape: None, timeout: TIMEOUT_SECONDS }
    }
}

impl Action for Program {
    type State = ProgramState;

    fn traits(&self) -> LayerTraits<'_> {
        LayerTraits {
            timing: Timing::Alone,
            keeps_parts: true,
            writes_markers: true,
            summarizer: Some(SummarizerUse {
                input_unit: SizeUnit::Chars,
                max_retries: 0,
                reuses_prefix_cache: false,
                changes_tools: false,
            }),
            program: Some(&self.command),
            ..LayerTraits::PLAIN
        }
    }

    fn propose(&self, input: &LayerInput, state: &mut ProgramState) -> Proposal {
        let mut proposal = Proposal::default();
        if let Err(why) = self.answer(input, state, &mut proposal) {
            if let Some(mut session) = state.session.take() {
                session.abandon();
            }
            return Proposal { unanswered: proposal.unanswered.or(Some(why)), ..Proposal::default() };
        }
        proposal
    }

    fn settle(&self, context: &Context, state: &mut ProgramState) {
        if let Some(planned) = state.planned.take() {
            state.inserted = state.seen.settle(planned, context);
        }
    }

    fn check(&self) -> Result<(), WrongSetting> {
        if self.command.trim().is_empty() {
            return Err(WrongSetting::new("command", "`command` names the program: command = \"node my-policy.mjs\""));
        }
        if self.timeout == 0 {
            return Err(WrongSetting::new("timeout", "`timeout` is at least 1 second"));
        }
        Ok(())
    }

    fn restrict_schema(schema: &mut Value) {
        schema["properties"]["command"]["minLength"] = 1.into();
        schema["properties"]["timeout"]["minimum"] = 1.into();
        if let Some(required) = schema["required"].as_array_mut() {
            required.push("command".into());
        }
    }
}

impl Program {
    /// Asks the program about this request and writes its answer into the proposal.
    fn answer(&self, input: &LayerInput, state: &mut ProgramState, proposal: &mut Proposal) -> Result<(), String> {
        let context = input.context;
        check_growth(input)?;
        let session = match &mut state.session {
            Some(session) => session,
            None => state.session.insert(input.external.open(&self.command, &self.start(input))?),
        };
        let news = state.seen.update(context, session.shape());
        let request = ExternalRequest {
            call: input.call,
            estimate: input.estimate,
            last_read: input.last_read,
            again: state.last.as_ref().is_some_and(|last| last.holds(input.view_holds)),
            inserted: std::mem::take(&mut state.inserted),
            changed: state.seen.shown_changed(&news, context),
            messages: state.seen.shown_new(&news, context),
            gone: news.gone,
        };
        let mut decision = session.request(&request)?;
        let mut asked = 0;
        let answer = loop {
            match decision {
                Decision::Answer(answer) => break answer,
                Decision::Ask(_) if asked == MAX_ASKED => {
                    return Err(format!("it asked for more than {MAX_ASKED} summaries at one call"));
                }
                Decision::Ask(wish) => {
                    asked += 1;
                    let summary = summaries::ask(input, &state.seen, &wish, proposal)?;
                    let summary = summary.as_deref().map_err(String::as_str);
                    decision = session.summary(input.call, summary)?;
                }
            }
        };
        Self::accept(answer, input, state, proposal)
    }

    fn start<'a>(&self, input: &LayerInput<'a>) -> SessionStart<'a> {
        let conversation = input.context.conversation();
        SessionStart {
            session: &conversation.name,
            format: conversation.format,
            window: input.limits.window,
            overhead: input.overhead,
            shape: self.shape,
            timeout: Duration::from_secs(self.timeout),
        }
    }

    /// Checks an answer and turns it into edits, files and paid summaries.
    fn accept(answer: Answer, input: &LayerInput, state: &mut ProgramState, proposal: &mut Proposal) -> Result<(), String> {
        state.count_written(&answer.listing)?;
        for summary in &answer.summaries {
            proposal.attempts.push(summaries::paid_elsewhere(input, &state.seen, summary)?);
        }
        for file in answer.files {
            proposal.files.push(new_file(input.context, &state.seen, file)?);
        }
        if answer.for_request_only {
            return state.change_request(answer.listing, answer.again, input, proposal);
        }
        state.last = None;
        let Some(plan) = plan(&state.seen, input.context, answer.listing)? else { return Ok(()) };
        proposal.edits = plan.edits;
        state.planned = Some(plan.units);
        Ok(())
    }
}

impl ProgramState {
    /// Turns an answer for one request into edits of its view, which is that of the request before if the answer goes on from the last.
    fn change_request(
        &mut self,
        listing: Listing,
        again: bool,
        input: &LayerInput,
        proposal: &mut Proposal,
    ) -> Result<(), String> {
        let changes = match self.last.take().filter(|_| again) {
            Some(last) if last.holds(input.view_holds) => last,
            None if !again => RequestChanges::default(),
            _ => return Err(NO_LAST_CHANGES.to_owned()),
        };
        proposal.extends_view = changes.made_view();
        let changes = changes.and(&listing);
        if let (true, Err(why)) = (again, &changes) {
            return Err(why.clone());
        }
        proposal.edits = plan(&self.seen, input.context, listing)?.map(|plan| plan.edits).unwrap_or_default();
        if proposal.extends_view || !proposal.edits.is_empty() {
            proposal.scope = Scope::Request;
        }
        self.last = changes.ok().and_then(|changes| changes.with(&proposal.edits));
        if proposal.extends_view && self.last.is_none() { Err(MOVES.to_owned()) } else { Ok(()) }
    }

    /// Counts the blocks that the program wrote, each text once.
    fn count_written(&mut self, listing: &Listing) -> Result<(), String> {
        let mut count = |message: &WrittenMessage| {
            for block in &message.blocks {
                let block = block.to_string();
                if self.written.insert(xxh3_64(block.as_bytes())) {
                    self.written_bytes += block.len();
                }
            }
        };
        match listing {
            Listing::Changes { replace, .. } => replace.iter().for_each(count),
            Listing::All(items) => items.iter().for_each(|item| {
                if let Item::Written(message) = item {
                    count(message);
                }
            }),
        }
        if self.written_bytes > MAX_WRITTEN_BYTES {
            return Err(format!("it wrote more than {} MiB of messages in this session", MAX_WRITTEN_BYTES >> 20));
        }
        Ok(())
    }
}

/// Checks that the history did not grow far beyond what was said.
fn check_growth(input: &LayerInput) -> Result<(), String> {
    let unit = input.counter.unit;
    let [now, said] = [input.context.sum(unit), input.context.appended(unit)].map(|size| input.counter.apply(size));
    if now > MAX_GROWTH.saturating_mul(said).saturating_add(FREE_GROWTH_TOKENS) {
        return Err(format!("its history has grown to {now} tokens, of a session with {said}"));
    }
    Ok(())
}

/// Returns a file that the program would write.
fn new_file(context: &Context, seen: &Seen, file: WrittenFile) -> Result<NewFile, String> {
    let WrittenFile { path, text, tool_use_id } = file;
    if path.is_empty() || path.chars().count() > MAX_PATH_CHARS || path.chars().any(char::is_control) {
        return Err(format!("the path of a file has 1 to {MAX_PATH_CHARS} characters and no control characters"));
    }
    let Some(id) = tool_use_id else {
        let text = text.unwrap_or_else(|| archive::text(context));
        return Ok(NewFile { kind: FileKind::Archive, block: None, path, text });
    };
    let conversation = context.conversation();
    let is_result = |block: &&crate::transcript::conversation::BlockId| matches!(context.block(**block).kind, BlockKind::ToolResult(pair) if conversation.pair(pair).id == id);
    let block = seen.units().iter().rev().flat_map(|unit| &unit.blocks).find(is_result);
    let block = block.and_then(|block| context.recorded_block(*block));
    let block = block.ok_or_else(|| format!("the file {path}: no message has a result of the tool call `{id}`"))?;
    let text = text.unwrap_or_else(|| conversation.block(block).text().into_owned());
    Ok(NewFile { kind: FileKind::Persisted, block: Some(block), path, text })
}
