//! A slow and obvious cache: compares every request with every earlier one that has not expired.

use recompact::engine::context::Context;
use recompact::engine::journal::Request;
use recompact::engine::replay::Observer;
use recompact::metrics::prompt_cache::{CacheSetup, CacheTerms, CacheUse, InitialState, Provider, simulate};
use recompact::tokens::meter::SizeUnit;
use recompact::transcript::conversation::{BlockId, BlockKind, Conversation, MINUTE, Role, Thinking};

use crate::support::generate;
use crate::support::trial::trials;

#[test]
fn prefix_tree_equals_a_comparison_with_every_request() {
    let trials = trials();
    generate::check_in_turn(8, &trials, |steps, trials| {
        let mut conversation = generate::conversation(steps, Thinking::Turn);
        set_clock(&mut conversation);
        for trial in trials {
            let mut slow = Slow { conversation: &conversation, sent: Vec::new() };
            let journal = trial.replay(&conversation, &mut slow);
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

/// A block of a request: the message that it begins, its content, and its size. Thinking has no content and begins no message.
type Sent = (Option<Role>, Option<String>, u64);

struct Slow<'a> {
    conversation: &'a Conversation,
    sent: Vec<(usize, Vec<Sent>)>,
}

impl Observer for Slow<'_> {
    fn request(&mut self, request: &Request, context: &Context) {
        let mut blocks = Vec::new();
        for message in context.messages() {
            let mut opens = Some(message.role);
            for id in &message.blocks {
                let block = context.block(*id);
                let size = SizeUnit::Chars.block(block, false);
                let holds = if context.is_synthetic(*id) { block.wire().to_string() } else { id.index().to_string() };
                match block.kind {
                    BlockKind::Thinking => blocks.push((None, None, size)),
                    _ => blocks.push((opens.take(), Some(holds), size)),
                }
            }
        }
        self.sent.push((request.call, blocks));
    }
}

impl Slow<'_> {
    fn read(&self, place: usize, terms: &[CacheTerms], overhead: u64) -> u64 {
        let (call, request) = &self.sent[place];
        let oldest = self.conversation.requested_at(*call).expect("a clock") - 5 * MINUTE;
        let alive = self.sent[..place].iter().filter(|(earlier, _)| {
            terms[*earlier].model == terms[*call].model && self.conversation.calls[*earlier].time >= Some(oldest)
        });
        alive.map(|(_, earlier)| overhead + common(request, earlier)).max().unwrap_or_default()
    }
}

/// Returns the size of the common first blocks of two requests, and the size of the thinking among them.
fn common(request: &[Sent], earlier: &[Sent]) -> u64 {
    let mut theirs = earlier.iter().filter(|(_, holds, _)| holds.is_some());
    let same = |(opens, holds, _): &&Sent| {
        holds.is_none() || theirs.next().is_some_and(|(other, held, _)| (other, held) == (opens, holds))
    };
    let mut alike: Vec<_> = request.iter().take_while(same).collect();
    while alike.pop_if(|(_, holds, _)| holds.is_none()).is_some() {}
    alike.iter().map(|(.., size)| size).sum()
}
