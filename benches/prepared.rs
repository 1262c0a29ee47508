//! The precomputed input of replays: the conversation, the sizes of its blocks in every unit that a preset uses, and the requests
//! of the recorded agent.

use recompact::engine::journal::Journal;
use recompact::engine::policy::{PRESETS, Policy};
use recompact::engine::replay::{NoObserver, RecordedReplay, RecordedRequests, ReplaySetup, replay};
use recompact::engine::replay_cache::ReplayCache;
use recompact::engine::summarizer::Extract;
use recompact::tokens::block_sizes::BlockSizes;
use recompact::tokens::meter::Meter;
use recompact::transcript::conversation::Conversation;

use crate::session;

/// Context window in tokens for policies that set none.
const WINDOW: u64 = 200_000;

pub struct Prepared {
    pub conversation: Conversation,
    pub sizes: BlockSizes,
    recorded: RecordedRequests,
    shared: ReplayCache,
    pub counter: Meter,
}

impl Prepared {
    /// Prepares a session of this many messages for a study with this counter.
    pub fn new(messages: usize, counter: Meter) -> Self {
        let conversation = session::conversation(messages);
        let measures = policies().into_iter().flat_map(|policy| policy.units());
        let sizes = BlockSizes::new(&conversation, measures.chain([counter.unit]));
        let policy = &policies()[0];
        let shared = ReplayCache::new(&conversation);
        let base = setup(&conversation, &sizes, policy, counter, None, &shared);
        let recorded = RecordedRequests::new(&base, &RecordedReplay::replay(&base));
        Self { conversation, sizes, recorded, shared, counter }
    }

    pub fn replay(&self, policy: &Policy) -> Journal {
        let setup = setup(&self.conversation, &self.sizes, policy, self.counter, Some(&self.recorded), &self.shared);
        replay(&setup, &mut NoObserver)
    }
}

fn setup<'a>(
    conversation: &'a Conversation,
    sizes: &'a BlockSizes,
    policy: &'a Policy,
    counter: Meter,
    recorded: Option<&'a RecordedRequests>,
    shared: &'a ReplayCache,
) -> ReplaySetup<'a> {
    ReplaySetup {
        window: policy.window.unwrap_or(WINDOW),
        overhead: 18_000,
        summarizer: &Extract { tokens: 3_000 },
        recorded,
        ..ReplaySetup::new(conversation, sizes, policy, counter, shared)
    }
}

/// Returns every preset, bounds first.
pub fn policies() -> Vec<Policy> {
    let load = |preset: &recompact::engine::policy::Preset| preset.policy(&[]).unwrap_or_else(|error| panic!("{error}"));
    PRESETS.iter().map(load).collect()
}
