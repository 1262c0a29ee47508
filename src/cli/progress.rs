//! Progress bars: bytes of transcripts, the replay rate, the time left. Shown on standard error, and only on a
//! terminal.

use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{HumanBytes, HumanCount, ProgressBar, ProgressState, ProgressStyle};
use recompact::llm::client::Limits;
use recompact::util::text::plural;

use super::{output, verbose};

/// A progress bar; the replay rate is shown beside it.
pub struct Progress {
    bar: ProgressBar,
    /// Recorded calls times policies.
    replayed: Arc<AtomicU64>,
}

const CALLS: &str = "{bar:30} {percent}% of {human_len} replayed calls, {elapsed}, {eta} left{rate}";
const QUESTIONS: &str = "{bar:30} {human_pos} of {human_len} questions, {elapsed}, {eta} left{rate}";
const BYTES: &str = "{bar:30} {percent}% of {total_bytes}, {elapsed}, {eta} left{rate}";

impl Progress {
    /// A bar over bytes of transcripts. With `shown` unset, or without a terminal, it is hidden. `model_limits` are the
    /// limits of the models that are called during the work.
    pub fn new(bytes: u64, shown: bool, model_limits: Option<Arc<Limits>>) -> Self {
        let replayed = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&replayed);
        Self { bar: bar(bytes, BYTES, shown, model_limits, move |_| counted.load(Ordering::Relaxed)), replayed }
    }

    /// A bar over recorded calls times policies, if their number is known in advance.
    pub fn of_calls(policy_calls: u64, shown: bool) -> Self {
        Self { bar: bar(policy_calls, CALLS, shown, None, ProgressState::pos), replayed: Arc::default() }
    }

    /// A bar over questions to a model.
    pub fn of_questions(questions: u64, shown: bool, model_limits: Arc<Limits>) -> Self {
        Self { bar: bar(questions, QUESTIONS, shown, Some(model_limits), |_| 0), replayed: Arc::default() }
    }

    /// Counts one answered question.
    pub fn question_answered(&self) {
        self.bar.inc(1);
    }

    /// Counts replayed calls, times policies, on a bar of [`Progress::of_calls`].
    pub fn calls_replayed(&self, policy_calls: u64) {
        self.bar.inc(policy_calls);
    }

    /// Counts the bytes of a processed transcript.
    pub fn bytes_read(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// Counts replayed calls, times policies, for the rate.
    pub fn replayed(&self, policy_calls: u64) {
        self.replayed.fetch_add(policy_calls, Ordering::Relaxed);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Removes a bar over bytes. If it was shown, says how much was read, and how long that took.
    pub fn finish_reading(&self) {
        let is_shown = !self.bar.is_hidden();
        self.finish();
        if is_shown {
            let replayed = match self.replayed.load(Ordering::Relaxed) {
                0 => String::new(),
                calls => format!(", {} calls replayed", HumanCount(calls)),
            };
            let seconds = self.bar.elapsed().as_secs_f64();
            output::say(&format!("{} read{replayed} in {seconds:.1} s", HumanBytes(self.bar.position())));
        }
    }
}

/// Builds a bar whose rate is computed from `replayed`.
fn bar(
    all: u64,
    template: &str,
    shown: bool,
    model_limits: Option<Arc<Limits>>,
    replayed: impl Fn(&ProgressState) -> u64 + Clone + Send + Sync + 'static,
) -> ProgressBar {
    if !shown || verbose::is_on() || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let rate = move |state: &ProgressState, out: &mut dyn Write| {
        let replayed = replayed(state) as f64;
        if replayed > 0.0 {
            let _ = write!(out, ", {} replayed calls/s", HumanCount((replayed / state.elapsed().as_secs_f64().max(1e-3)) as u64));
        }
        if let Some(spent) = model_limits.as_ref().map(|limits| limits.spent()) {
            let _ = write!(out, ", {}, ${:.2}", plural(spent.calls as usize, "model call"), spent.usd);
        }
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(all).with_style(style.with_key("rate", rate));
    // One large transcript, or one question to a model, may take minutes: the seconds show that the program works.
    bar.enable_steady_tick(Duration::from_secs(1));
    bar
}
