//! `recompact show`: one request of a replay as readable text, with what was cleared, moved and summarised beside the original.

use clap::Args;
use recompact::analysis::Error;
use recompact::analysis::show::{ShownRequest, Wanted};
use recompact::analysis::spec::Loaded;
use recompact::analysis::study::Study;
use recompact::engine::policy::{Policy, RECORDED};
use recompact::transcript::conversation::Conversation;

use crate::cli::args::output::OutputArgs;
use crate::cli::args::study::StudyArgs;
use crate::cli::error::Failure;
use crate::cli::file_uses::FileUses;
use crate::cli::input::{Transcripts, at_least_one};
use crate::cli::resources::{CommandResources, ProgramUse};

/// Help of `-p`.
const POLICY: &str = "Policy whose request is shown [default: recorded, what the agent sent]";

#[derive(Args)]
#[command(mut_arg("policies", |arg| arg.help(POLICY).long_help(POLICY)),
    mut_arg("baseline", |arg| arg.hide(true)))]
pub struct Show {
    #[command(flatten)]
    study_args: StudyArgs,
    /// Number of the call, from 1 [default: the last one]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    call: Option<usize>,
    /// Conversation of the transcript, by name [default: the one with the most calls]
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
    /// Show only what differs from the request before; with two policies, from the same request of the second one
    #[arg(long)]
    diff: bool,
    /// Show only the parts that hold this text, in the request or as recorded
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    /// Show the keys, tokens and passwords that `audit` finds; without it, [secret] is in their place
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    transcripts: Transcripts,
}

impl Show {
    pub fn run(mut self) -> Result<(), Failure> {
        self.output.must_show::<ShownRequest>("show")?;
        self.transcripts.or_session_of_id();
        self.study_args.or_policy(RECORDED);
        self.output.works_on(self.transcripts.paths());
        let mut uses = FileUses::default();
        self.study_args.add_to(&mut uses);
        self.output.add_to(&mut uses);
        uses.check()?;
        let mut spec = self.study_args.spec();
        spec.bounds = false;
        spec.show_secrets = self.show_secrets;
        spec.read = self.transcripts.read_spec();
        let models = Some(self.study_args.summarizers().models().factory());
        let programs = ProgramUse::Started(self.study_args.programs());
        let Loaded { study, policies, .. } = spec.load(&CommandResources { models, programs, ..Default::default() })?;
        if policies.len() > 2 || (policies.len() == 2 && !self.diff) {
            return Err(Failure::Usage("show takes one policy, or two with --diff".to_owned()));
        }
        let shown = self.transcripts.one(|name, conversations| self.shown(&study, &policies, name, conversations))??;
        self.output.paged("show", &shown)
    }

    /// The request, of the wanted conversation and call.
    fn shown(
        &self,
        study: &Study,
        policies: &[Policy],
        transcript: &str,
        conversations: &[Conversation],
    ) -> Result<ShownRequest, Failure> {
        let wanted = Wanted { conversation: self.conversation.clone(), call: self.call };
        let conversation = wanted.conversation(conversations)?;
        let of = |policy: &Policy| {
            wanted.show(study, transcript, conversation, policy).map_err(|error| match error {
                Error::Show(why) => Failure::Usage(format!("{transcript}: {why}")),
                error => Failure::Usage(error.to_string()),
            })
        };
        let Some((first, others)) = policies.split_first() else { return Err(Failure::Usage("name a policy".to_owned())) };
        let (shown, before) = of(first)?;
        let shown = match others.first() {
            Some(other) => {
                let (other_shown, _) = of(other)?;
                shown.differences(&other_shown, other.name.as_str())
            }
            None if self.diff => match before {
                Some(before) => shown.differences(&before, format!("call {}", before.call)),
                None => shown,
            },
            None => shown,
        };
        let Some(text) = &self.find else { return Ok(shown) };
        let found = shown.holding(text);
        if found.parts.is_empty() {
            return Err(Failure::Usage(format!(
                "--find {text}: neither the request nor what was recorded before it holds this text"
            )));
        }
        Ok(found)
    }
}
