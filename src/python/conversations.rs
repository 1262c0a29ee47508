//! The messages of transcripts as Python objects.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::error::raise;
use super::settings::study_spec;
use super::value::to_python;
use super::watch::{Skipped, Watch, corpus, strict};
use crate::analysis::corpus::{Analysed, Source, for_each};
use crate::results::saved::{Families, Kinship, Recording};
use crate::transcript::conversation::{Conversation, Message};
use crate::transcript::format::Reading;

/// Reads the conversations of transcripts.
#[pyfunction]
pub fn read<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    settings: &Bound<'py, PyDict>,
    watch: Watch,
) -> PyResult<(Bound<'py, PyList>, Skipped)> {
    let spec = study_spec(&[], settings)?;
    let corpus = corpus(&paths, &spec.read)?;
    let conversations = |source: Source, reading: &Reading| (source.name.to_owned(), reading.conversations.clone());
    let (processed, notes) = watch.run(py, &corpus, |corpus, pulse| for_each(corpus, pulse, conversations))?;
    let skipped = Skipped::new(&processed, notes);
    let Analysed { results, end, .. } = strict(&spec.read, processed)?.analysed().map_err(raise)?;
    let skipped = skipped.with_end(&spec.read, end)?;
    let read = PyList::empty(py);
    let kin: Vec<Kinship> = results
        .iter()
        .flat_map(|(transcript, conversations)| conversations.iter().map(|conversation| Kinship::new(transcript, conversation)))
        .collect();
    let families = Families::new(&kin);
    for (transcript, conversations) in results {
        for conversation in &conversations {
            read.append(to_dict(py, &transcript, conversation, &families)?)?;
        }
    }
    Ok((read, skipped))
}

fn to_dict<'py>(
    py: Python<'py>,
    transcript: &str,
    conversation: &Conversation,
    families: &Families,
) -> PyResult<Bound<'py, PyDict>> {
    let recording = Recording::new(transcript, conversation);
    let messages: Vec<_> =
        conversation.messages.iter().map(|message| to_message(py, conversation, message)).collect::<PyResult<_>>()?;
    let dict = PyDict::new(py);
    dict.set_item("transcript", transcript)?;
    dict.set_item("name", &conversation.name)?;
    dict.set_item("session", families.head(&recording.session))?;
    dict.set_item("format", conversation.format)?;
    dict.set_item("model", recording.model)?;
    dict.set_item("project", recording.project)?;
    dict.set_item("started", recording.started)?;
    dict.set_item("system", &conversation.system)?;
    dict.set_item("window", conversation.window)?;
    dict.set_item("responses", conversation.calls.iter().map(|call| call.response).collect::<Vec<_>>())?;
    dict.set_item("messages", messages)?;
    Ok(dict)
}

/// Returns a message as Anthropic's Messages API has it.
fn to_message<'py>(py: Python<'py>, conversation: &Conversation, message: &Message) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("role", message.role.as_str())?;
    let mut blocks = message.blocks.iter().map(|id| &conversation.block(*id).wire);
    match blocks.next().filter(|_| message.is_string_content) {
        Some(only) => dict.set_item("content", to_python(py, &only["text"])?)?,
        None => {
            let blocks = message.blocks.iter().map(|id| to_python(py, &conversation.block(*id).wire));
            dict.set_item("content", blocks.collect::<PyResult<Vec<_>>>()?)?;
        }
    }
    Ok(dict)
}
