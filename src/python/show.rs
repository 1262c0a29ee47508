//! One request of a replay, and what changed between two results.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use super::documents::Document;
use super::error::{raise, raise_message};
use super::resources::PythonResources;
use super::results::StudyResults;
use super::settings::study_spec;
use super::study::Policies;
use super::value::to_python;
use super::watch::{Watch, corpus};
use crate::analysis::Error;
use crate::analysis::changes::changes;
use crate::analysis::corpus::Corpus;
use crate::analysis::show::Wanted;
use crate::analysis::spec::StudySpec;

/// Shows one request of the transcript at a path, under one policy: the document, and the messages as they are sent. `wanted` is the
/// number of the call and the name of the conversation.
#[pyfunction]
pub fn show<'py>(
    py: Python<'py>,
    path: PathBuf,
    policies: Policies<'py>,
    settings: &Bound<'py, PyDict>,
    wanted: (Option<usize>, Option<String>),
    watch: Watch,
) -> PyResult<(Document, Bound<'py, PyAny>)> {
    let Policies(policies, functions, trusts_files, skips) = policies;
    let spec = StudySpec { bounds: false, ..study_spec(&policies, settings)? };
    let resources = PythonResources::new(&functions, trusts_files, skips)?;
    let (loaded, functions) = (spec.load(&resources).map_err(raise)?, resources.functions());
    let [policy] = &loaded.policies[..] else { return Err(raise_message("show takes one policy and one summarizer")) };
    let corpus = corpus(&[path], &spec.read)?;
    if let Some((path, why)) = corpus.not_found().first() {
        return Err(raise_message(format!("{path}: {why}")));
    }
    let &[name] = &corpus.names()[..] else {
        return Err(raise_message(format!("name one transcript; {} are here", corpus.names().len())));
    };
    let wanted = Wanted { call: wanted.0, conversation: wanted.1 };
    let (shown, _) = watch.run_calling(py, &corpus, functions.calls(), |corpus, _| {
        let conversations = corpus.read(0)?.conversations;
        let conversation = wanted.conversation(&conversations)?;
        wanted.show(&loaded.study, name, conversation, policy)
    })?;
    let (shown, _) = match shown {
        Err(Error::Show(why)) => {
            functions.check(py, &spec.read, std::iter::once(Some((name, why.to_string().as_str()))))?;
            return Err(raise(why));
        }
        shown => shown.map_err(raise)?,
    };
    let messages = to_python(py, &Value::Array(shown.sent.clone()))?;
    Ok((Document::new(shown), messages))
}

/// Returns what changed between two results.
#[pyfunction]
pub fn diff(before: &StudyResults, after: &StudyResults) -> PyResult<Document> {
    let changes = changes(before.results(), after.results());
    if changes.conversations == 0 {
        return Err(raise_message("nothing can be compared: no conversation is in both results"));
    }
    Ok(Document::new(changes))
}
