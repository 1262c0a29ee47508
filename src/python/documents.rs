//! What reports show: the results of each function as a document, and inspections.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::error::{in_python, raise, raise_message};
use super::settings::study_spec;
use super::watch::{Skipped, Watch, corpus, strict};
use crate::analysis::corpus::{Analysed, Source, for_each};
use crate::analysis::inspect::{Inspection, count_calls_once};
use crate::analysis::spec::{Files, LoadedPrices, load_prices};
use crate::report::inspection::Inspections;
use crate::report::{self, Format, Invocation, Layout, REPORTS, Report, Style, View};
use crate::results::request::ShownRequest;
use crate::results::saved::Results;
use crate::transcript::format::Reading;
use crate::util::text::did_you_mean;

/// Prints a document as a report; `None` if the document has no such report. Fails with what Python raised meanwhile.
type Render = dyn Fn(&Report, &Layout) -> PyResult<Option<Vec<u8>>> + Send + Sync;

/// Returns requests for a page. Fails with what Python raised meanwhile.
pub type Requests = dyn Fn(&Results) -> PyResult<Vec<ShownRequest>> + Send + Sync;

/// Width of the reports of an unpickled document, in columns.
const KEPT_WIDTH: usize = 100;

/// Something that reports show.
#[pyclass(frozen, module = "recompact._native")]
pub struct Document {
    render: Box<Render>,
}

/// A report that was printed: its name, whether it is full, and its bytes.
type Printed<'py> = (String, bool, Bound<'py, PyBytes>);

impl Document {
    /// Takes a document over.
    pub fn new(document: impl report::Document + Send + Sync) -> Self {
        Self { render: Box::new(move |report, layout| Ok(report.render(&document, layout))) }
    }

    /// Shares results, to which a page adds requests.
    pub fn page(results: Arc<Results>, requests: Option<Arc<Requests>>) -> Self {
        Self {
            render: Box::new(move |report, layout| match &requests {
                Some(requests) if report.name == "html" => {
                    let requests = requests(&results)?;
                    Ok(report.render(&Results { requests, ..Results::clone(&results) }, layout))
                }
                _ => Ok(report.render(&*results, layout)),
            }),
        }
    }

    fn rendered(&self, py: Python, report: &Report, width: usize, full: bool) -> PyResult<Option<Vec<u8>>> {
        let layout = layout(width, full);
        let bytes = py.detach(|| (self.render)(report, &layout))?;
        let is_prose = matches!(report.format, Format::Text(..));
        Ok(bytes.map(|bytes| match String::from_utf8(bytes) {
            Ok(text) if is_prose => in_python(&text).into_bytes(),
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        }))
    }
}

/// The layout of reports for a caller in Python.
pub fn layout(width: usize, full: bool) -> Layout {
    Layout {
        style: Style { width, color: false },
        view: if full { View::Full } else { View::Screen },
        invocation: Invocation::python(),
        ..Layout::default()
    }
}

#[pymethods]
impl Document {
    /// Returns the document in a report: `table`, `json`, `html` and others.
    fn report<'py>(&self, py: Python<'py>, name: &str, width: usize, full: bool) -> PyResult<Bound<'py, PyBytes>> {
        let known: Vec<&str> = REPORTS.iter().map(|report| report.name).collect();
        let report = report::by_name(name)
            .ok_or_else(|| raise_message(format!("there is no report `{name}`{}", did_you_mean(name, &known))))?;
        let bytes = self.rendered(py, report, width, full)?;
        let bytes = bytes.ok_or_else(|| raise_message(format!("these results have no report `{name}`")))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// It never changes, so it is its own copy.
    fn __deepcopy__<'py>(document: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        document
    }

    /// It is pickled as all of its reports.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Vec<Printed<'py>>,))> {
        let mut printed = Vec::new();
        for report in REPORTS {
            for full in [false, true] {
                let bytes = self.rendered(py, report, KEPT_WIDTH, full)?;
                printed.extend(bytes.map(|bytes| (report.name.to_owned(), full, PyBytes::new(py, &bytes))));
            }
        }
        Ok((py.import("recompact._native")?.getattr("kept")?, (printed,)))
    }
}

/// Returns a document from which all is removed but the reports.
#[pyfunction]
pub fn kept(printed: Vec<(String, bool, Vec<u8>)>) -> Document {
    let reports: HashMap<(String, bool), Vec<u8>> =
        printed.into_iter().map(|(name, full, bytes)| ((name, full), bytes)).collect();
    let render = move |report: &Report, layout: &Layout| {
        let width = layout.style.width;
        if report.name == "table" && width != KEPT_WIDTH {
            return Err(raise_message(format!("a pickled report is {KEPT_WIDTH} columns wide, not {width}")));
        }
        Ok(reports.get(&(report.name.to_owned(), layout.view == View::Full)).cloned())
    };
    Document { render: Box::new(render) }
}

/// Shows what transcripts hold.
#[pyfunction]
pub fn inspect(py: Python, paths: Vec<PathBuf>, settings: &Bound<PyDict>, watch: Watch) -> PyResult<(Document, Skipped)> {
    let spec = study_spec(&[], settings)?;
    let LoadedPrices { prices, priced_as, .. } = load_prices(spec.prices.as_deref(), &Files::default()).map_err(raise)?;
    let corpus = corpus(&paths, &spec.read)?;
    let inspect =
        |source: Source, reading: &Reading| Inspection::all(source.name, reading, spec.tokenizer, &prices, priced_as.as_deref());
    let (processed, notes) = watch.run(py, &corpus, |corpus, pulse| for_each(corpus, pulse, inspect))?;
    let skipped = Skipped::new(&processed, notes);
    let Analysed { results, coverage, end } = strict(&spec.read, processed)?.analysed().map_err(raise)?;
    let mut conversations: Vec<Inspection> = results.into_iter().flatten().collect();
    count_calls_once(&mut conversations);
    Ok((Document::new(Inspections { conversations, coverage }), skipped.with_end(&spec.read, end)?))
}
