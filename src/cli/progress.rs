//! How far a study is: bytes of transcripts, the rate of what is replayed, the time left. On standard error, and only where
//! that is a terminal.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanCount, ProgressBar, ProgressState, ProgressStyle};
use recompact::llm::client::Limits;
use recompact::transcript::format::Reading;
use recompact::util::text::plural;

/// A bar of bytes; work on them is counted beside it.
pub struct Progress {
    bar: ProgressBar,
    /// Recorded calls times policies.
    replayed: Arc<AtomicU64>,
}

const CALLS: &str = "{bar:30} {percent}% of {human_len} policy·calls, {eta} left{rate}";
const QUESTIONS: &str = "{bar:30} {human_pos} of {human_len} questions, {eta} left";
const BYTES: &str = "{bar:30} {percent}% of {total_bytes}, {eta} left{rate}";

impl Progress {
    /// Over so many bytes; nothing is shown where nobody would see it, or there is next to nothing to wait for. `asked` are the limits
    /// of the models that are asked meanwhile.
    pub fn new(bytes: u64, shown: bool, asked: Option<Arc<Limits>>) -> Self {
        let replayed = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&replayed);
        Self { bar: bar(bytes, BYTES, shown, asked, move |_| counted.load(Ordering::Relaxed)), replayed }
    }

    /// Over so many recorded calls times policies, where these are known before.
    pub fn of_calls(policy_calls: u64, shown: bool) -> Self {
        Self { bar: bar(policy_calls, CALLS, shown, None, ProgressState::pos), replayed: Arc::default() }
    }

    /// Over so many questions that are asked of a model.
    pub fn of_questions(questions: u64, shown: bool, asked: Arc<Limits>) -> Self {
        Self { bar: bar(questions, QUESTIONS, shown, Some(asked), |_| 0), replayed: Arc::default() }
    }

    /// One of those questions is answered.
    pub fn asked(&self) {
        self.bar.inc(1);
    }

    /// So many of those calls are done.
    pub fn called(&self, policy_calls: u64) {
        self.bar.inc(policy_calls);
    }

    /// A transcript of so many bytes is done.
    pub fn read(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// So many recorded calls, times policies, were replayed.
    pub fn replayed(&self, policy_calls: u64) {
        self.replayed.fetch_add(policy_calls, Ordering::Relaxed);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Recorded calls of all conversations.
pub fn calls_of(reading: &Reading) -> u64 {
    reading.conversations.iter().map(|conversation| conversation.calls.len() as u64).sum()
}

/// A bar whose rate is of what `replayed` tells.
fn bar(
    all: u64,
    template: &str,
    shown: bool,
    asked: Option<Arc<Limits>>,
    replayed: impl Fn(&ProgressState) -> u64 + Clone + Send + Sync + 'static,
) -> ProgressBar {
    if !shown || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let is_slow = asked.is_some();
    let rate = move |state: &ProgressState, out: &mut dyn Write| {
        let replayed = replayed(state) as f64;
        if replayed > 0.0 {
            let _ = write!(out, ", {} policy·calls/s", HumanCount((replayed / state.elapsed().as_secs_f64().max(1e-3)) as u64));
        }
        if let Some(spent) = asked.as_ref().map(|limits| limits.spent()) {
            let _ = write!(out, ", {} of models, ${:.2}", plural(spent.calls as usize, "call"), spent.usd);
        }
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(all).with_style(style.with_key("rate", rate));
    if is_slow {
        bar.enable_steady_tick(Duration::from_secs(1));
    }
    bar
}
