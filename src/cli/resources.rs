//! The files and models that a command gives to the description of its study.

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;

use recompact::analysis::spec::{ModelRequest, Resources};
use recompact::engine::summarizer::{DryRun, ModelSummarizer, Summarizer};

use super::args::models::ModelFactory;
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
}

impl Resources for CommandResources<'_> {
    fn read(&self, path: &str) -> io::Result<String> {
        read_settings(&self.base.join(path))
    }

    fn name_of(&self, path: &str) -> String {
        if self.base.as_os_str().is_empty() { path.to_owned() } else { display_path(&self.base.join(path)) }
    }

    fn model(&self, request: &ModelRequest) -> Result<Box<dyn Summarizer>, String> {
        let name = request.address.name();
        let Some(factory) = &self.models else { return Err(format!("{name}: this command asks no model")) };
        Ok(match &self.plan {
            None => Box::new(ModelSummarizer { model: factory.model(request)? }),
            Some(plan) => {
                let planned = plan.borrow_mut().calls_of(&name);
                Box::new(DryRun { model: factory.offline_model(request), planned })
            }
        })
    }
}
