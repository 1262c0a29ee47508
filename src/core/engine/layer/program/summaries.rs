//! The summaries of a program: those that it asks for, and those that it got elsewhere.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::engine::external::{MessageId, OwnSummary, Seen, SummaryWish};
use crate::engine::layer::{Attempt, LayerInput, Proposal};
use crate::engine::summarizer::{InputBlock, InputWindow, NameCounts, Side, SummaryError, SummaryRequest};
use crate::llm::prompt::Prompt;
use crate::transcript::conversation::BlockId;
use crate::util::template::has_placeholder;

/// Asks the summarizer of the run for a summary. Returns it, or the reason why there is none, for the program.
///
/// # Errors
///
/// Fails if the wish names an unknown message, or if no model answered for reasons outside of the policy.
pub(super) fn ask(
    input: &LayerInput,
    seen: &Seen,
    wish: &SummaryWish,
    proposal: &mut Proposal,
) -> Result<Result<String, String>, String> {
    let (prompt, tokens) = (prompt_of(&wish.system, &wish.prompt), |text: &str| input.tokens(text));
    let request = request(input, &prompt, blocks_of(input, seen, &wish.of)?, wish.max_tokens, &tokens);
    let mut attempt = attempt(input, &request);
    let needed = attempt.tokens_in + wish.max_tokens;
    let answer = if needed > input.limits.window {
        Err(SummaryError::TooLong { tokens: needed, window: input.limits.window })
    } else {
        let reply = input.summarizer.summarize(&request);
        attempt.cost = reply.cost;
        reply.text
    };
    match answer {
        Ok(text) => {
            proposal.attempts.push(answered(attempt, input, &request, &text));
            Ok(Ok(text))
        }
        Err(error) => {
            proposal.attempts.push(attempt);
            let reason = error.to_string();
            if let SummaryError::Unanswered(_) = error {
                proposal.unanswered.get_or_insert(format!("no summary: {reason}"));
                return Err(reason);
            }
            Ok(Err(reason))
        }
    }
}

/// Returns the attempt of a summary that the program got elsewhere: its tokens count, and its names are checked.
///
/// # Errors
///
/// Fails if it names an unknown message.
pub(super) fn paid_elsewhere(input: &LayerInput, seen: &Seen, summary: &OwnSummary) -> Result<Attempt, String> {
    let (prompt, tokens) = (Prompt::new(String::new(), summary.prompt.clone()), |text: &str| input.tokens(text));
    let max_tokens = input.tokens(&summary.text);
    let request = request(input, &prompt, blocks_of(input, seen, &summary.of)?, max_tokens, &tokens);
    Ok(answered(attempt(input, &request), input, &request, &summary.text))
}

fn prompt_of(system: &str, user: &str) -> Prompt {
    let user = if has_placeholder(user, "conversation") { user.to_owned() } else { format!("{user}\n\n{{conversation}}") };
    Prompt::new(system.to_owned(), user)
}

fn request<'a>(
    input: &'a LayerInput,
    prompt: &'a Prompt,
    blocks: Vec<InputBlock<'a>>,
    max_tokens: u64,
    tokens: &'a dyn Fn(&str) -> u64,
) -> SummaryRequest<'a> {
    SummaryRequest { blocks, prompt, focus: None, max_tokens, call: input.call, digests: &input.shared.digests, tokens }
}

/// Returns an attempt that failed.
fn attempt(input: &LayerInput, request: &SummaryRequest) -> Attempt {
    Attempt {
        tokens_in: request.blocks.iter().map(|block| block.tokens).sum(),
        prompt: input.tokens(&request.prompt.system) + input.tokens(&request.prompt.user),
        hidden_input: None,
        tokens_out: 0,
        max_tokens: request.max_tokens,
        failed: true,
        names: NameCounts::default(),
        cost: None,
    }
}

fn answered(attempt: Attempt, input: &LayerInput, request: &SummaryRequest, text: &str) -> Attempt {
    let names = request.count_names(input.context.conversation(), &input.shared.names, text);
    Attempt { tokens_out: input.tokens(text), failed: false, names, ..attempt }
}

/// Returns the blocks of these messages, as a summarizer reads them.
fn blocks_of<'a>(input: &'a LayerInput, seen: &Seen, ids: &[MessageId]) -> Result<Vec<InputBlock<'a>>, String> {
    // No limit, so the unit decides nothing but which blocks are empty.
    let window = InputWindow { chars: None, side: Side::Head, head: 0, form: input.counter.unit };
    let positions: FxHashMap<MessageId, usize> = seen.units().iter().enumerate().map(|(at, unit)| (unit.id, at)).collect();
    let messages = seen.messages_of_units();
    let mut blocks = Vec::new();
    for id in ids {
        let at = *positions.get(id).ok_or_else(|| format!("a summary of message {id}, which is not there"))?;
        let wanted: FxHashSet<BlockId> = seen.units()[at].blocks.iter().copied().collect();
        let visible = window.visible_blocks(input.context, input.counter, messages[at]..messages[at] + 1);
        // A block that a layer wrote has no id here; a part of a message that holds one is read whole.
        blocks.extend(visible.into_iter().filter(|block| block.whole.is_none_or(|id| wanted.contains(&id))));
    }
    Ok(blocks)
}
