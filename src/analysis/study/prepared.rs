//! Data that all replays of a conversation share.

use std::cell::OnceCell;
use std::sync::{Arc, OnceLock};

use crate::analysis::secrets::Secrets;
use crate::engine::context::size_of;
use crate::engine::journal::Journal;
use crate::engine::policy::Policy;
use crate::engine::replay::{RecordedReplay, RecordedRequests, ReplaySetup};
use crate::engine::replay_cache::ReplayCache;
use crate::engine::summarizer::NameIndex;
use crate::facts::references::References;
use crate::findings::{self, Finding};
use crate::metrics::cost::Cost;
use crate::metrics::retention::Retention;
use crate::metrics::retention::oracle::Instance;
use crate::tokens::block_sizes::{BlockSizes, overhead};
use crate::tokens::meter::Meter;
use crate::transcript::conversation::{BlockId, Conversation};

use super::costs::ConversationCosts;
use super::counter::ResolvedCounter;
use super::{DEFAULT_WINDOW, KnownWindow, Study};

/// One conversation, and what is computed once for all policies of a study.
pub struct Prepared<'a> {
    pub conversation: &'a Conversation,
    pub(super) counter: Meter,
    sizes: BlockSizes,
    pub references: References,
    /// Instances for the bounds, by grain; built when the first policy needs them.
    pub(super) oracle_instances: [OnceLock<Instance>; 2],
    /// The secrets of the conversation, for what quotes it; found when something does.
    secrets: OnceLock<Secrets>,
    show_secrets: bool,
    overhead: u64,
    pub(in crate::analysis) window: KnownWindow,
    pub(super) recorded: Option<RecordedRequests>,
    pub(super) costs: ConversationCosts,
    pub(super) shared: ReplayCache,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(study: &Study, conversation: &'a Conversation, resolved: &ResolvedCounter) -> Self {
        let units = study.replayed().flat_map(Policy::units);
        let (counter, sizes) = (resolved.meter, resolved.sizes(conversation, units));
        let overhead = study.overhead.unwrap_or_else(|| overhead(conversation, &sizes, counter));
        let references = References::new(conversation, |block| counter.apply(sizes.size(block, counter.unit)));
        let names = NameIndex::new(Arc::clone(&references.names));
        let shared = ReplayCache { names, ..ReplayCache::new(conversation) };
        let setup = setup(study, conversation, &sizes, counter, overhead, &shared);
        let is_billed = conversation.calls.iter().any(|call| call.billed().is_some());
        let record = is_billed.then(|| RecordedReplay::replay(&setup));
        let recorded = record.as_ref().map(|record| RecordedRequests::new(&setup, record));
        let costs = ConversationCosts::new(&setup, study, record.as_ref().zip(recorded.as_ref()));
        Self {
            conversation,
            counter,
            sizes,
            references,
            oracle_instances: Default::default(),
            secrets: OnceLock::new(),
            show_secrets: study.show_secrets,
            overhead,
            window: study.known_window(conversation),
            recorded,
            costs,
            shared,
        }
    }

    /// Returns what is hidden where results quote the conversation.
    pub(in crate::analysis) fn secrets(&self) -> &Secrets {
        let find = || if self.show_secrets { Secrets::default() } else { Secrets::of(self.conversation) };
        self.secrets.get_or_init(find)
    }

    /// Hides secrets in findings.
    pub(super) fn hide_secrets(&self, findings: &mut [Finding]) {
        if !findings.is_empty() {
            self.secrets().hide_in_findings(findings);
        }
    }

    /// Returns the tokens of system prompt and tools, which are part of every request.
    pub fn overhead(&self) -> u64 {
        self.overhead
    }

    /// Returns the size of a block of the conversation, by the token counter of the report.
    pub fn tokens(&self, block: BlockId) -> u64 {
        self.counter.apply(self.sizes.size(block, self.counter.unit))
    }

    /// Calls `read` with the view of a replay that findings need.
    pub(super) fn with_replay_view<T>(
        &self,
        policy: &Policy,
        (journal, retention, cost): (&Journal, &Retention, Option<&Cost>),
        window: u64,
        read: impl FnOnce(&findings::ReplayView) -> T,
    ) -> T {
        let slot = self.sizes.slot(self.counter.unit);
        let size = |id| slot.map_or(0, |slot| size_of(self.conversation, &self.sizes, &journal.synthetic_blocks, id, slot));
        let tokens = |id| self.counter.apply(size(id));
        let (conversation, references) = (self.conversation, &self.references);
        let (tokens, user_text) = (&tokens, &OnceCell::new());
        read(&findings::ReplayView { conversation, policy, journal, references, retention, cost, window, tokens, user_text })
    }

    pub(super) fn setup<'b>(&'b self, study: &'b Study) -> ReplaySetup<'b> {
        setup(study, self.conversation, &self.sizes, self.counter, self.overhead, &self.shared)
    }
}

/// Uses the policy of the baseline and the default window; the caller replaces both.
fn setup<'b>(
    study: &'b Study,
    conversation: &'b Conversation,
    sizes: &'b BlockSizes,
    counter: Meter,
    overhead: u64,
    shared: &'b ReplayCache,
) -> ReplaySetup<'b> {
    let policy = &study.baseline;
    ReplaySetup {
        window: DEFAULT_WINDOW,
        overhead,
        thinking: study.thinking.unwrap_or(conversation.thinking),
        summarizer: &*study.summarizers[policy.summarizer].summarizer,
        ..ReplaySetup::new(conversation, sizes, policy, counter, shared)
    }
}
