//! Audits: what is wrong with saved transcripts and the compactions recorded in them.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::documents::Document;
use super::error::{raise, raise_message};
use super::settings::study_spec;
use super::watch::{Skipped, Watch, corpus, strict};
use crate::analysis::audit::{Replayer, Tree, audit as audit_all, audit_transcript};
use crate::analysis::corpus::{Analysed, Source, for_each};
use crate::analysis::study::Study;
use crate::cli::commands::audit::AuditFolders;
use crate::engine::policy::Policy;
use crate::transcript::format::Reading;

/// Audits transcripts and the files beside them; only reads.
#[pyfunction]
pub fn audit(
    py: Python,
    paths: Vec<PathBuf>,
    root: Option<PathBuf>,
    settings: &Bound<PyDict>,
    watch: Watch,
) -> PyResult<(Document, Skipped)> {
    let spec = study_spec(&[], settings)?;
    let recorded = Policy::recorded();
    let study = Study { counter: spec.tokenizer, ..Study::new(vec![recorded.clone()]) };
    let replayer = Replayer { study: &study, recorded: &recorded };
    let corpus = corpus(&paths, &spec.read)?.only_files(true);
    let trees = AuditFolders::list(root.as_deref(), &paths).map_err(|failure| raise_message(failure.to_string()))?;
    let one = |source: Source, reading: &Reading| {
        audit_transcript(replayer, source.name, trees.index_of(source.name), source.bytes, reading)
    };
    let (processed, notes) = watch.run(py, &corpus, |corpus, pulse| for_each(corpus, pulse, one))?;
    let skipped = Skipped::new(&processed, notes);
    let Analysed { results: transcripts, coverage, end } = strict(&spec.read, processed)?.analysed().map_err(raise)?;
    let skipped = skipped.with_end(&spec.read, end)?;
    let whole = |_: &_, _: &_| {
        let folders: Vec<&dyn Tree> = trees.folders().collect();
        audit_all(replayer, transcripts, &folders, trees.notes())
    };
    let (mut audit, _) = watch.run(py, &corpus, whole)?;
    audit.coverage = coverage;
    Ok((Document::new(audit), skipped))
}
