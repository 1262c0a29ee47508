//! The files and models that a command gives to the description of its study.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use recompact::analysis::spec::{ModelRequest, ProgramRequest, ResourceError, Resources};
use recompact::engine::external::{ExternalPolicies, NoExternalPolicies};
use recompact::engine::summarizer::{DryRun, ModelSummarizer, Summarizer};

use super::args::models::ModelFactory;
use super::args::programs::ProgramAccess;
use super::args::summarizers::DryRunPlan;
use recompact::transcript::source::{display_path, read_settings};

/// Files relative to a folder, and the models of the command line.
#[derive(Default)]
pub struct CommandResources<'a> {
    /// Where relative paths start; empty: the current folder.
    pub base: PathBuf,
    /// Connects models; `None` if the command asks none.
    pub models: Option<ModelFactory<'a>>,
    /// Collects the calls that would be made. With a plan, no model is called.
    pub plan: Option<RefCell<DryRunPlan>>,
    pub programs: ProgramUse,
}

/// What a command does with policies that are programs.
#[derive(Default)]
pub enum ProgramUse {
    /// It has no use for them.
    #[default]
    Refused,
    /// It reads such policies and starts none.
    Unstarted,
    Started(ProgramAccess),
}

impl CommandResources<'_> {
    /// Says which programs answered the same when they were asked twice.
    pub fn say_repeated(&self) {
        if let ProgramUse::Started(access) = &self.programs {
            access.say_repeated();
        }
    }
}

impl Resources for CommandResources<'_> {
    fn read(&self, path: &str) -> io::Result<String> {
        read_settings(&self.base.join(path))
    }

    fn name_of(&self, path: &str) -> String {
        if self.base.as_os_str().is_empty() { path.to_owned() } else { display_path(&self.base.join(path)) }
    }

    fn program(&self, request: &ProgramRequest) -> Result<Arc<dyn ExternalPolicies>, ResourceError> {
        let ProgramRequest { command, policy, is_typed } = request;
        let access = match &self.programs {
            ProgramUse::Started(access) => access,
            ProgramUse::Unstarted => return Ok(Arc::new(NoExternalPolicies)),
            ProgramUse::Refused => {
                return Err(format!("the policy `{policy}` is a program, and this command starts none: replay it").into());
            }
        };
        if !(access.trusts_files || (*is_typed && access.names_are_typed)) {
            let what = "if you trust it, add --allow-programs";
            return Err(format!("the policy `{policy}` starts the program `{command}`; {what}").into());
        }
        access.programs.prepare(command).map_err(|error| format!("the policy `{policy}`: {error}"))?;
        let programs: Arc<dyn ExternalPolicies> = access.programs.clone();
        Ok(programs)
    }

    fn model(&self, request: &ModelRequest) -> Result<Box<dyn Summarizer>, ResourceError> {
        let name = request.address.name();
        let Some(factory) = &self.models else { return Err(format!("{name}: this command asks no model").into()) };
        Ok(match &self.plan {
            None => Box::new(ModelSummarizer { model: factory.model(request)? }),
            Some(plan) => {
                let planned = plan.borrow_mut().calls_of(&name);
                Box::new(DryRun { model: factory.offline_model(request), planned })
            }
        })
    }
}
