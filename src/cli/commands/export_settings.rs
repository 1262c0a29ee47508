//! `recompact export-settings`: the numbers of a policy as the configuration of a harness.

use std::path::PathBuf;

use clap::Args;
use clap::builder::StringValueParser;
use recompact::analysis::export::{
    ExportError, ExportRequest, Exported, Target, export, export_nothing, target_names, targets, targets_of,
};
use recompact::analysis::recommended::{Recommended, RecommendedPolicy, recommended};
use recompact::analysis::spec::{PolicySource, PolicySpec, StudySpec};
use recompact::engine::policy::{Policy, SessionsWindow, Setting, Tuning, preset};
use recompact::engine::size::parse_tokens;
use recompact::results::saved::Results;
use recompact::util::text::{plural, wrap};

use crate::cli::args::settings::setting;
use crate::cli::args::study::preset_names;
use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::output;
use crate::cli::resources::CommandResources;
use crate::cli::saved_results;

#[derive(Args)]
pub struct ExportSettings {
    /// Harness to write the configuration of, such as codex or langchain, or one of its forms, such as langchain-clear;
    /// without it, all are listed
    #[arg(long = "for", value_name = "HARNESS", hide_possible_values = true,
        value_parser = suggesting(target_names, StringValueParser::new()))]
    pub harness: Option<String>,
    /// Policy to write: a TOML file, such as `recompact sweep --save` writes, or a preset [default: the preset of the harness]
    #[arg(short, long, value_name = "POLICY", hide_possible_values = true, requires = "harness",
        value_parser = suggesting(|| preset_names().collect(), StringValueParser::new()))]
    pub policy: Option<String>,
    /// Write what these saved results recommend (`replay` or `sweep` with -o json), for the context window of their sessions; -p
    /// names another of their policies
    #[arg(long, value_name = "RESULTS.json", requires = "harness")]
    pub from: Option<PathBuf>,
    /// Change a value of the policy by layer id: --set clear.threshold=50k
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUE", hide_possible_values = true, requires = "harness",
        value_parser = setting(|written: &str| written.parse::<Setting>()))]
    pub settings: Vec<Setting>,
    /// Context window in tokens, such as 200k, for sizes that depend on it [default: that of the sessions that the policy was tuned on,
    /// else the policy's, else 200000]
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens, requires = "harness")]
    pub window: Option<u64>,
    /// Write what the harness can be given, and list the rest in the comment; without it, a policy that the harness cannot do
    /// as a whole is an error
    #[arg(long, requires = "harness")]
    pub partial: bool,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, value_name = "FILE", requires = "harness")]
    pub out: Option<PathBuf>,
}

impl ExportSettings {
    pub fn run(self) -> Result<(), Failure> {
        let Some(harness) = &self.harness else {
            return Ok(output::write(None, list().as_bytes())?);
        };
        let mut uses = FileUses::default();
        match &self.from {
            Some(results) => uses.read("--from", results),
            None => self.policy.iter().for_each(|policy| uses.read("--policy", policy)),
        }
        uses.write("--out", self.out.as_deref());
        uses.check()?;
        let exported = match &self.from {
            Some(file) => {
                let failed = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
                self.of_results(harness, &saved_results::load(file).map_err(failed)?, failed)?
            }
            None => self.of_policy(harness, self.policy_name(harness)?.into())?,
        };
        if exported.syntax.comment_prefix().is_none() {
            exported.comment.iter().for_each(|line| output::say(&recompact::report::escape::terminal_lines(line)));
        }
        self.write(&exported)
    }

    /// Exports a policy.
    pub fn of_policy(&self, harness: &str, policy: PolicySpec) -> Result<Exported, Failure> {
        let sources = StudySpec::new(policy).sources(&CommandResources::default())?;
        let source = sources.first().ok_or_else(|| Failure::Usage("--policy names no policy".to_owned()))?;
        self.export(harness, source, (&[], ""))
    }

    /// Exports the policy or the answer of results. `failed` makes an error of why there is none.
    pub fn of_results(&self, harness: &str, results: &Results, failed: impl Fn(String) -> Failure) -> Result<Exported, Failure> {
        let recommended = recommended(results, harness, self.policy.as_deref()).map_err(|error| failed(error.to_string()))?;
        match recommended {
            Recommended::Keep(why) => Ok(export_nothing(harness, &why).map_err(failure)?),
            Recommended::Policy(RecommendedPolicy { name, toml, windows, origin }) => {
                self.export(harness, &PolicySource { origin: name, text: toml }, (&windows, &origin))
            }
        }
    }

    /// Exports a policy. The windows of its sessions are those of its file, or else `windows`.
    fn export(
        &self,
        harness: &str,
        source: &PolicySource,
        (windows, origin): (&[SessionsWindow], &str),
    ) -> Result<Exported, Failure> {
        let parse = |settings: &[Setting]| Policy::parse(&source.text, &source.origin, settings);
        let (before, policy) = (parse(&[])?, parse(&self.settings)?);
        let tuned = before.tuned.as_ref();
        if let Some(tuned) = tuned.filter(|tuned| tuned.keep && self.settings.is_empty()) {
            return export_nothing(harness, &kept(tuned)).map_err(failure);
        }
        let of_file = tuned.map(|tuned| &tuned.windows[..]).filter(|windows| !windows.is_empty());
        let mut windows = of_file.unwrap_or(windows).to_vec();
        // Replays of another policy had another window.
        if let Some(tokens) = policy.window.filter(|own| of_file.is_none() && windows.iter().any(|window| window.tokens != *own))
        {
            windows.push(SessionsWindow { tokens, sessions: 0 });
        }
        let (changed, window, partial) = (&self.settings[..], self.window, self.partial);
        let windows = &windows[..];
        export(&ExportRequest { harness, policy: &policy, tuned, changed, window, windows, origin, partial }).map_err(failure)
    }

    /// Returns the policy to write: the one that is named, or else the preset of the harness.
    pub fn policy_name(&self, harness: &str) -> Result<String, Failure> {
        if let Some(policy) = &self.policy {
            return Ok(policy.clone());
        }
        let forms = targets_of(harness);
        match &forms[..] {
            [] => Err(failure(ExportError::unknown(harness))),
            [form, ..] if form.unavailable.is_some() => Err(failure(ExportError::unavailable(form))),
            [form, others @ ..] if others.is_empty() || form.name == harness => Ok(form.name.clone()),
            several => {
                let names: Vec<_> = several.iter().map(|form| form.name.as_str()).collect();
                Err(Failure::Usage(format!(
                    "--for {harness}: it has several forms: name one ({}), or the policy to write: -p my-policy.toml",
                    names.join(", ")
                )))
            }
        }
    }

    fn write(&self, exported: &Exported) -> Result<(), Failure> {
        let text = exported.text();
        match &self.out {
            None => Ok(output::write(None, text.as_bytes())?),
            Some(path) => Ok(output::write_new(path, text.as_bytes())?),
        }
    }
}

/// Why a sweep changes nothing.
fn kept(tuned: &Tuning) -> String {
    let Tuning { of, sessions, configurations, .. } = tuned;
    let (tried, sessions) = (plural(*configurations, "configuration"), plural(*sessions, "session"));
    let otherwise = preset(of).map_or(String::new(), |_| format!(" -p {of} writes its numbers all the same."));
    format!("Keep what you have: a sweep tried {tried} on {sessions}, and none was better than `{of}` as it is.{otherwise}")
}

fn failure(error: ExportError) -> Failure {
    Failure::Usage(error.to_string())
}

/// Lists what can be written, by harness.
fn list() -> String {
    let targets: Vec<&Target> = targets().iter().filter(|target| target.unavailable.is_none()).collect();
    let width = targets.iter().map(|target| target.name.len()).max().unwrap_or(0);
    let lines = targets.iter().map(|target| wrap(&format!("  {:width$}  ", target.name), &target.about, 100));
    let list: String = lines.collect();
    format!(
        "What can be written, for --for:\n\n{list}\n`recompact export-settings --for NAME -p my-policy.toml` writes it.\n\
         `recompact catalog harnesses NAME` has the names of its settings.\n"
    )
}
