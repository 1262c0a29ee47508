//! A slow and obvious cache: compares every request with every earlier one that has not expired.

use std::collections::BTreeSet;

use recompact::engine::context::{Cause, Context};
use recompact::engine::journal::Request;
use recompact::engine::replay::Observer;
use recompact::metrics::prompt_cache::{CacheSetup, CacheTerms, CacheUse, InitialState, Provider, simulate};
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::{BlockId, Conversation, MINUTE, Role, Thinking};

use crate::support::generate;
use crate::support::trial::trials;

#[test]
fn prefix_tree_equals_a_comparison_with_every_request() {
    let trials = trials();
    generate::check_in_turn(8, &trials, |steps, trials| {
        let mut conversation = generate::conversation(steps, Thinking::Turn);
        set_clock(&mut conversation);
        for trial in trials {
            let mut slow = Slow::new(&conversation);
            let journal = trial.replay(&conversation, &mut slow);
            slow.settle();
            let provider = Provider::by_name("other").expect("a provider");
            let terms: Vec<_> = (0..conversation.calls.len())
                .map(|call| CacheTerms { provider, min_tokens: 0, long: false, model: call / 7 % 2 })
                .collect();
            let size = |id: BlockId| SizeUnit::Chars.block(journal.block(&conversation, id), false);
            let setup = CacheSetup {
                conversation: &conversation,
                policy: &trial.policy,
                journal: &journal,
                request_tokens: &journal.request_tokens(),
                terms: &terms,
                initial: InitialState::default(),
                events: &[],
                size: &size,
            };
            let on_server = trial.policy.layers.iter().any(|layer| layer.edits_on_server());
            for (place, served) in simulate(&setup).into_iter().enumerate().skip(1) {
                let CacheUse { read_at_best: read, .. } = served;
                let expected = slow.read(place, &terms, journal.overhead);
                let name = &trial.policy.name;
                assert!(read <= served.tokens);
                if on_server {
                    assert!(read >= expected, "{name}, request {place}: {read}, at least {expected}");
                } else {
                    assert_eq!(read, expected, "{name}, request {place}");
                }
            }
        }
    });
}

/// Most calls follow each other within the lifetime of five minutes; every fifth pause is longer, every eleventh much longer.
fn set_clock(conversation: &mut Conversation) {
    let mut now = 0;
    for (place, message) in conversation.messages.iter_mut().enumerate() {
        now += MINUTE
            * if place % 22 == 21 {
                9
            } else if place % 10 == 9 {
                4
            } else {
                1
            };
        message.time = Some(now);
    }
    for call in &mut conversation.calls {
        call.time = conversation.messages[call.response].time;
    }
}

/// A block of a request. What is behind thinking that leaves by itself begins the message, too.
struct Sent {
    /// The message that it begins, and its content.
    says: (Option<Role>, String),
    size: u64,
    leaves_by_itself: bool,
}

/// A block as it was sent: its id, the ids that it replaces, whether it begins a message, its content and its size.
struct Whole {
    ids: Vec<BlockId>,
    opens: Option<Role>,
    holds: String,
    size: u64,
}

struct Slow<'a> {
    conversation: &'a Conversation,
    whole: Vec<(usize, Vec<Whole>)>,
    dropped: BTreeSet<BlockId>,
    edited: BTreeSet<BlockId>,
    sent: Vec<(usize, Vec<Sent>)>,
}

impl Observer for Slow<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        for change in request.edits() {
            let set = if change.cause == Cause::Record { &mut self.dropped } else { &mut self.edited };
            set.extend(change.removed.iter().filter(|block| !change.added.contains(block)));
        }
        let mut blocks = Vec::new();
        for message in context.messages() {
            for (place, id) in message.blocks.iter().enumerate() {
                let block = context.block(*id);
                let holds = if context.is_synthetic(*id) { block.wire().to_string() } else { id.index().to_string() };
                let mut ids = vec![*id];
                ids.extend(std::iter::successors(replaced(context, *id), |id| replaced(context, *id)));
                let opens = (place == 0).then_some(message.role);
                blocks.push(Whole { ids, opens, holds, size: SizeUnit::Chars.block(block, false) });
            }
        }
        self.whole.push((request.call, blocks));
    }
}

/// Returns the block that a layer's block replaces.
fn replaced(context: &Context, id: BlockId) -> Option<BlockId> {
    let recorded = context.conversation().blocks.len();
    context.synthetic_blocks().get(id.index().checked_sub(recorded)?)?.replaces
}

impl<'a> Slow<'a> {
    fn new(conversation: &'a Conversation) -> Self {
        Self { conversation, whole: Vec::new(), dropped: BTreeSet::new(), edited: BTreeSet::new(), sent: Vec::new() }
    }

    /// Marks the thinking that the record dropped and no layer edited, in all requests.
    fn settle(&mut self) {
        for (call, blocks) in &self.whole {
            let mut opens = None;
            let sent = blocks.iter().map(|block| {
                opens = block.opens.or(opens);
                let leaves = block.ids.iter().any(|id| self.dropped.contains(id)) && !self.edited.contains(&block.ids[0]);
                let begins = if leaves { opens } else { opens.take() };
                Sent { says: (begins, block.holds.clone()), size: block.size, leaves_by_itself: leaves }
            });
            self.sent.push((*call, sent.collect()));
        }
    }

    fn read(&self, place: usize, terms: &[CacheTerms], overhead: u64) -> u64 {
        let (call, request) = &self.sent[place];
        let oldest = self.conversation.requested_at(*call).expect("a clock") - 5 * MINUTE;
        let alive = self.sent[..place].iter().filter(|(earlier, _)| {
            terms[*earlier].model == terms[*call].model && self.conversation.calls[*earlier].time >= Some(oldest)
        });
        alive.map(|(_, earlier)| overhead + common(request, earlier)).max().unwrap_or_default()
    }
}

/// Returns the size of the first blocks of a request up to the last that an earlier one has, too. What leaves by itself may be in one
/// of them only, and does not end what they have in common.
fn common(request: &[Sent], mut earlier: &[Sent]) -> u64 {
    let mut alike = 0;
    for (place, block) in request.iter().enumerate() {
        let (leaving, rest) = earlier.split_at(earlier.iter().take_while(|theirs| theirs.leaves_by_itself).count());
        if block.leaves_by_itself {
            alike = if leaving.iter().any(|theirs| theirs.says == block.says) { place + 1 } else { alike };
        } else if rest.first().is_some_and(|theirs| theirs.says == block.says) {
            (alike, earlier) = (place + 1, &rest[1..]);
        } else {
            break;
        }
    }
    request[..alike].iter().map(|block| block.size).sum()
}
