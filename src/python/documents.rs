//! What reports show: the results of each function as a document, and inspections.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::error::{raise, raise_message};
use super::settings::study_spec;
use super::watch::{Skipped, Watch, corpus, strict};
use crate::analysis::corpus::{Analysed, Source, for_each};
use crate::analysis::inspect::{Inspection, count_calls_once};
use crate::analysis::spec::{Files, LoadedPrices, load_prices};
use crate::report::inspection::Inspections;
use crate::report::{self, Layout, REPORTS, Report, Style};
use crate::results::request::ShownRequest;
use crate::results::saved::Results;
use crate::transcript::format::Reading;
use crate::util::text::did_you_mean;

/// Prints a document as a report; `None` if the document has no such report.
type Render = dyn Fn(&Report, &Layout) -> Option<Vec<u8>> + Send + Sync;

/// Returns requests for a page.
pub type Requests = dyn Fn(&Results) -> Vec<ShownRequest> + Send + Sync;

/// Something that reports show.
#[pyclass(frozen, module = "recompact._native")]
pub struct Document {
    render: Box<Render>,
}

impl Document {
    /// Takes a document over.
    pub fn new(document: impl report::Document + Send + Sync) -> Self {
        Self { render: Box::new(move |report, layout| report.render(&document, layout)) }
    }

    /// Shares results, to which a page adds requests.
    pub fn page(results: Arc<Results>, requests: Option<Arc<Requests>>) -> Self {
        Self {
            render: Box::new(move |report, layout| match &requests {
                Some(requests) if report.name == "html" => {
                    report.render(&Results { requests: requests(&results), ..Results::clone(&results) }, layout)
                }
                _ => report.render(&*results, layout),
            }),
        }
    }
}

#[pymethods]
impl Document {
    /// Returns the document in a report: `table`, `json`, `html` and others.
    fn report<'py>(&self, py: Python<'py>, name: &str, width: usize, full: bool) -> PyResult<Bound<'py, PyBytes>> {
        let known: Vec<&str> = REPORTS.iter().map(|report| report.name).collect();
        let report = report::by_name(name)
            .ok_or_else(|| raise_message(format!("there is no report `{name}`{}", did_you_mean(name, &known))))?;
        let style = Style { width, color: false };
        let layout = if full { Layout::full(style) } else { Layout { style, ..Layout::default() } };
        let bytes = py.detach(|| (self.render)(report, &layout));
        let bytes = bytes.ok_or_else(|| raise_message(format!("these results have no report `{name}`")))?;
        Ok(PyBytes::new(py, &bytes))
    }
}

/// Shows what transcripts hold.
#[pyfunction]
pub fn inspect(py: Python, paths: Vec<PathBuf>, settings: &Bound<PyDict>, watch: Watch) -> PyResult<(Document, Skipped)> {
    let spec = study_spec(&[], settings)?;
    let LoadedPrices { prices, priced_as, .. } = load_prices(spec.prices.as_deref(), &Files::default()).map_err(raise)?;
    let corpus = corpus(&paths, &spec.read)?;
    let inspect =
        |source: Source, reading: &Reading| Inspection::all(source.name, reading, spec.tokenizer, &prices, priced_as.as_deref());
    let (processed, notes) = watch.run(py, &corpus, |corpus, pulse| for_each(corpus, pulse, |_| None, inspect))?;
    let skipped = Skipped::new(&processed, notes);
    let Analysed { results, coverage, end } = strict(&spec.read, processed)?.analysed().map_err(raise)?;
    let mut conversations: Vec<Inspection> = results.into_iter().flatten().collect();
    count_calls_once(&mut conversations);
    Ok((Document::new(Inspections { conversations, coverage }), skipped.with_end(end)))
}
