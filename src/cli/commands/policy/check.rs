//! `recompact policy check`: looks for mistakes in policies, by themselves and on sessions.

use clap::Args;
use clap::builder::StringValueParser;
use recompact::analysis::corpus::{Analysed, RunError, Source};
use recompact::analysis::policy_check::{CheckedPolicy, PolicyChecks, SessionsUse, check};
use recompact::analysis::spec::{Loaded, PolicySource, StudySpec};
use recompact::engine::policy::{Policy, Setting};
use recompact::engine::size::parse_tokens;
use recompact::findings::Level;
use recompact::results::saved::Coverage;
use recompact::transcript::format::Reading;
use recompact::util::text::plural;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::settings::setting;
use crate::cli::args::study::{checked, preset_names};
use crate::cli::args::suggestions::suggesting;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::Transcripts;
use crate::cli::resources::{CommandResources, ProgramUse};

/// The command's name in messages and in the commands that it proposes.
const COMMAND: &str = "policy check";

#[derive(Args)]
#[command(mut_arg("paths", |arg| arg.long("on").num_args(1..).display_order(0).help(ON)))]
pub struct Check {
    /// Policies to check: TOML files, or presets
    #[arg(value_name = "POLICY", required = true, hide_possible_values = true,
        value_parser = suggesting(|| preset_names().collect(), StringValueParser::new()))]
    policies: Vec<String>,
    #[command(flatten)]
    transcripts: Transcripts,
    /// Change a value of the policies by layer id: --set micro.keep_recent_results=5
    #[arg(long = "set", value_name = "LAYER.FIELD=VALUE", hide_possible_values = true,
        value_parser = setting(checked::<Setting>))]
    settings: Vec<String>,
    /// Context window in tokens, such as 200k [default: the transcript's, else the policy's, else 200000]
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens)]
    window: Option<u64>,
    #[command(flatten)]
    output: OutputArgs,
}

const ON: &str = "Also replay these sessions: files, folders (searched for transcripts), glob patterns, or - (standard input). Without \
                  them only the files of the policies are checked";

impl Check {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.must_show::<PolicyChecks>(COMMAND)?;
        self.output.works_on(self.transcripts.paths());
        let mut uses = FileUses::default();
        self.policies.iter().for_each(|policy| uses.read("POLICY", policy));
        self.output.add_to(&mut uses);
        uses.check()?;
        let spec = self.spec();
        let sources = self.sources(&spec)?;
        let replays = !self.transcripts.paths().is_empty();
        let programs = if replays { ProgramUse::Refused } else { ProgramUse::Unstarted };
        let Loaded { study, policies, .. } = spec.load(&CommandResources { programs, ..Default::default() })?;
        let (seen, end) = if self.transcripts.paths().is_empty() {
            (None, Ok(()))
        } else {
            let (seen, coverage, end) = self.replayed(|reading| SessionsUse::of_transcript(&study, &policies, reading))?;
            (Some((seen, coverage)), end)
        };
        let checked: Vec<_> = policies.iter().zip(&sources).map(|(policy, source)| CheckedPolicy { policy, source }).collect();
        let checks = check(&checked, self.window, seen);
        self.output.document(COMMAND, &checks)?;
        self.transcripts.end(end)?;
        match checks.count(Level::Warning) {
            0 => Ok(()),
            warnings => Err(Failure::Found(plural(warnings, "warning"))),
        }
    }

    fn spec(&self) -> StudySpec {
        StudySpec {
            policies: self.policies.iter().cloned().map(Into::into).collect(),
            set: self.settings.clone(),
            window: self.window,
            bounds: false,
            read: self.transcripts.read_spec(),
            ..StudySpec::default()
        }
    }

    /// Reads the policies. If several are wrong, all of them are reported.
    fn sources(&self, spec: &StudySpec) -> Result<Vec<PolicySource>, Failure> {
        let sources = spec.sources(&CommandResources::default())?;
        let wrong = sources.iter().filter_map(|source| Policy::parse(&source.text, &source.origin, &[]).err());
        let wrong: Vec<String> = wrong.map(|error| error.to_string()).collect();
        if wrong.is_empty() { Ok(sources) } else { Err(Failure::Input(wrong)) }
    }

    /// Replays the sessions, and returns why some of them are left out.
    fn replayed(
        &self,
        of_transcript: impl Fn(&Reading) -> SessionsUse + Sync + Send,
    ) -> Result<(SessionsUse, Coverage, Result<(), RunError>), Failure> {
        let replay = |_: Source, reading: &Reading| of_transcript(reading);
        let processed = self.transcripts.for_each(&[self.output.out()], replay)?;
        let Analysed { results, coverage, end } = processed.analysed()?;
        let mut seen = SessionsUse::default();
        results.into_iter().for_each(|one| seen.add(one));
        if seen.calls == 0 {
            return Err(Failure::Usage("nothing could be replayed: no conversation holds a model call".to_owned()));
        }
        Ok((seen, coverage, end))
    }
}
