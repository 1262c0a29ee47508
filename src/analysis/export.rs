//! The numbers of a policy as the configuration of the harness that runs it.
//!
//! One file in `export/targets` describes one form of configuration ([`Target`]): which settings of a policy the harness has, what it
//! calls them, and the text around them. A policy may hold more than the harness can do. So it is compared with the preset of the
//! harness, and every difference that no setting of the harness expresses is an error, or, if the user asks for it, a line of the
//! comment. Nothing is left out silently.

mod comment;
mod differences;
mod matched;
mod syntax;
mod target;
mod values;

pub use syntax::Syntax;
pub use target::{TARGETS, Target, TargetFile, target_names, targets, targets_of};

use super::study::DEFAULT_WINDOW;
use crate::engine::policy::{Policy, SessionsWindow, Setting, Tuning};
use crate::engine::size::Limits;
use crate::util::text::{did_you_mean, plural};

use differences::problems;
use matched::MatchedLayers;

/// What is to be written, and for which harness.
#[derive(Debug, Clone)]
pub struct ExportRequest<'a> {
    /// Name of a harness or of one of its forms: `langchain`, `langchain-clear`.
    pub harness: &'a str,
    /// The policy, with its settings applied.
    pub policy: &'a Policy,
    /// How its numbers were chosen before the settings were applied.
    pub tuned: Option<&'a Tuning>,
    /// The settings that were applied, as they were written.
    pub changed: &'a [Setting],
    /// Context window in tokens; without it that of the sessions counts, then that of the policy, or else 200,000.
    pub window: Option<u64>,
    /// Context windows of the sessions that the policy was chosen on; empty if they are not known.
    pub windows: &'a [SessionsWindow],
    /// Where the policy comes from, in sentences; empty if there is no more to say.
    pub origin: &'a str,
    /// Write the rest if the harness cannot be given everything, and list what is left out.
    pub partial: bool,
}

/// A configuration of a harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// What the reader must know: how the numbers were chosen, where the text belongs, what is left out.
    pub comment: Vec<String>,
    /// The configuration, without the comment.
    pub body: String,
    pub syntax: Syntax,
}

impl Exported {
    /// Returns the configuration below its comment; without it if the syntax has no comments.
    pub fn text(&self) -> String {
        let Some(prefix) = self.syntax.comment_prefix() else { return self.body.clone() };
        let line = |line: &String| format!("{prefix} {line}").trim_end().to_owned() + "\n";
        self.comment.iter().map(line).chain([self.body.clone()]).collect()
    }
}

/// Why a policy cannot be written for a harness.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    #[error("--for {0}: there is no such harness{1}")]
    Unknown(String, String),
    #[error("--for {0}: {1}")]
    Unavailable(String, String),
    #[error(
        "{policy}: the sessions that it was chosen on have several context windows ({}), and what `{target}` is given depends on \
         them: name the window to write it for, such as --window {}",
        listed(.windows),
        .windows.first().map_or(DEFAULT_WINDOW, |window| window.tokens)
    )]
    MixedWindows { policy: String, target: String, windows: Vec<SessionsWindow> },
    #[error(
        "{policy}: `{target}` cannot be given all of it:\n  {}{}",
        .problems.join("\n  "),
        if *.has_rest { "\n--partial writes the rest, and lists this in the comment" } else { "" }
    )]
    Refused {
        policy: String,
        target: String,
        problems: Vec<String>,
        /// Whether something could be written without what the problems are about.
        has_rest: bool,
    },
}

impl ExportError {
    /// There is no such harness.
    pub fn unknown(harness: &str) -> Self {
        Self::Unknown(harness.to_owned(), did_you_mean(harness, &target_names()))
    }

    /// The harness has no file of settings.
    pub fn unavailable(target: &Target) -> Self {
        Self::Unavailable(target.name.clone(), target.unavailable.clone().unwrap_or_default())
    }
}

/// Returns the configuration for a harness. Of several forms the one that the policy is made from, or else the one that fits best.
///
/// # Errors
///
/// Fails if the harness is unknown or has no file of settings, and if it cannot be given all of the policy.
pub fn export(request: &ExportRequest) -> Result<Exported, ExportError> {
    let forms = targets_of(request.harness);
    if forms.is_empty() {
        return Err(ExportError::unknown(request.harness));
    }
    let of = request.tuned.map_or(request.policy.name.as_str(), |tuned| tuned.of.as_str());
    let own = forms.iter().position(|form| form.name == of);
    let forms = own.map_or(&forms[..], |own| &forms[own..=own]);
    if let Some(target) = forms.iter().find(|form| form.unavailable.is_some()) {
        return Err(ExportError::unavailable(target));
    }
    let tried = forms.iter().map(|form| Attempt::new(form, request));
    let best = tried.min_by_key(|attempt| attempt.problems.len()).expect("there is a form");
    best.finish(request)
}

/// A policy in one form of a harness.
struct Attempt<'a> {
    target: &'a Target,
    problems: Vec<String>,
    body: String,
    has_rest: bool,
    depends_on_window: bool,
}

impl<'a> Attempt<'a> {
    fn new(target: &'a Target, request: &ExportRequest) -> Self {
        let policy = request.policy;
        let base = target.base();
        let layers = MatchedLayers::new(policy, &base);
        let limits = Limits { window: window(request), max_output: policy.max_output };
        let computed = values::compute(target, &layers, limits);
        let twice = values::compute(target, &layers, Limits { window: 2 * limits.window, ..limits });
        let mut problems = problems(target, &layers, &base);
        let has_rest = computed.unacceptable.is_empty() && computed.literals.values().any(Option::is_some);
        problems.extend(computed.problems);
        problems.extend(computed.unacceptable);
        if computed.literals.values().all(Option::is_none) && problems.is_empty() {
            problems.push(format!("the policy sets nothing that {} has a setting for", target.about));
        }
        Self {
            target,
            problems,
            depends_on_window: computed.literals != twice.literals,
            has_rest,
            body: values::fill(target, &computed.literals),
        }
    }

    fn finish(self, request: &ExportRequest) -> Result<Exported, ExportError> {
        let Self { target, problems, body, has_rest, depends_on_window } = self;
        let is_written = problems.is_empty() || request.partial && has_rest;
        if !is_written {
            let (policy, target) = (request.policy.name.clone(), target.name.clone());
            return Err(ExportError::Refused { policy, target, problems, has_rest });
        }
        if depends_on_window && request.window.is_none() && request.windows.len() > 1 {
            let (policy, target) = (request.policy.name.clone(), target.name.clone());
            return Err(ExportError::MixedWindows { policy, target, windows: request.windows.to_vec() });
        }
        let window = depends_on_window.then(|| window(request));
        let comment = comment::comment(target, request, window, &problems);
        Ok(Exported { comment, body, syntax: target.syntax })
    }
}

/// Returns the context window for sizes that depend on it; the first one if the sessions have several.
fn window(request: &ExportRequest) -> u64 {
    let of_sessions = request.windows.first().map(|window| window.tokens);
    request.window.or(of_sessions).or(request.policy.window).unwrap_or(DEFAULT_WINDOW)
}

/// Returns what is written if the answer is to keep what the user has: a configuration that sets nothing, and why.
///
/// # Errors
///
/// Fails if the harness is unknown or has no file of settings.
pub fn export_nothing(harness: &str, why: &str) -> Result<Exported, ExportError> {
    let forms = targets_of(harness);
    let target = forms.first().ok_or_else(|| ExportError::unknown(harness))?;
    if target.unavailable.is_some() {
        return Err(ExportError::unavailable(target));
    }
    Ok(Exported { comment: comment::nothing(target, why), body: target.syntax.nothing().to_owned(), syntax: target.syntax })
}

/// `200000 tokens: 3 sessions; 258400 tokens: 1 session`
fn listed(windows: &[SessionsWindow]) -> String {
    let one = |window: &SessionsWindow| format!("{} tokens: {}", window.tokens, plural(window.sessions, "session"));
    windows.iter().map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
