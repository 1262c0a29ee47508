//! Results for Python: tables, totals, reports.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::documents::{Document, Requests, layout};
use super::error::{in_python, raise, raise_message};
use super::table::{ColumnValues, Table};
use crate::report::{self, Style};
use crate::results::request::ShownRequest;
use crate::results::saved::{Results, Row, Summary, Sweep};
use crate::util::text::did_you_mean;

/// Whole numbers below this are exact as floats: 2^53.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// The results of a replay or a sweep.
#[pyclass(frozen, module = "recompact._native")]
pub struct StudyResults {
    results: Arc<Results>,
    /// Shows the requests that missed facts. They are replayed again, so only for a page.
    requests: Option<Arc<Requests>>,
}

/// Reads saved results; the file may be compressed.
#[pyfunction]
pub fn load(py: Python, path: PathBuf) -> PyResult<StudyResults> {
    let results = py.detach(|| crate::cli::saved_results::load(&path));
    let results = results.map_err(|why| raise_message(format!("{}: {why}", path.display())))?;
    Ok(StudyResults::new(results))
}

/// Reads results from their saved form.
#[pyfunction]
pub fn from_json(py: Python, json: &str) -> PyResult<StudyResults> {
    Ok(StudyResults::new(py.detach(|| Results::from_json(json)).map_err(raise)?))
}

/// Raises a KeyError if a name is not among these.
fn known<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> PyResult<()> {
    let names: Vec<&str> = names.collect();
    if names.contains(&name) {
        return Ok(());
    }
    Err(PyKeyError::new_err(format!("these results have no {what} `{name}`{}", did_you_mean(name, &names))))
}

impl StudyResults {
    /// Takes results over.
    pub fn new(results: Results) -> Self {
        Self { results: results.into(), requests: None }
    }

    /// Takes results over, and what shows the requests that missed facts.
    pub fn with_requests(
        results: Results,
        requests: impl Fn(&Results) -> PyResult<Vec<ShownRequest>> + Send + Sync + 'static,
    ) -> Self {
        Self { results: results.into(), requests: Some(Arc::new(requests)) }
    }

    /// The results.
    pub fn results(&self) -> &Results {
        &self.results
    }

    /// Returns a table by its name.
    fn table(&self, name: &str, oracles: bool) -> PyResult<Table<'_>> {
        let results = &*self.results;
        match (name, &results.sweep) {
            ("rows", _) => Ok(rows(results, oracles)),
            ("summary", _) => Ok(summary(results, oracles)),
            ("configurations", Some(sweep)) => Ok(configurations(results, sweep)),
            ("configurations", None) => Err(raise_message("only the results of a sweep have configurations")),
            _ => Err(raise_message(format!("there is no table `{name}`: rows, summary or configurations"))),
        }
    }
}

#[pymethods]
impl StudyResults {
    /// Returns the columns of a table as buffers, and its length.
    fn buffers<'py>(&self, py: Python<'py>, table: &str, oracles: bool) -> PyResult<(Bound<'py, PyAny>, usize)> {
        let table = self.table(table, oracles)?;
        Ok((table.buffers(py).into_pyobject(py)?.into_any(), table.length))
    }

    /// Returns the rows of a table as dicts.
    fn rows<'py>(&self, py: Python<'py>, table: &str, oracles: bool) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.table(table, oracles)?.rows(py)
    }

    /// Returns a policy's value of a column over all conversations; None if it has none.
    fn total<'py>(&self, py: Python<'py>, policy: &str, column: &str) -> PyResult<Bound<'py, PyAny>> {
        let policies = self.results.summary.iter().map(|summary| summary.policy.as_str());
        known("policy", policy, policies)?;
        known("column", column, self.results.columns.iter().map(|known| &*known.id))?;
        numbers(&self.results, column, [self.results.total(policy, column)].into_iter()).value(py, 0)
    }

    /// They never change, so they are their own copy.
    fn __deepcopy__<'py>(results: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        results
    }

    /// They are pickled as they are saved.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let json = String::from_utf8(py.detach(|| crate::report::Document::json(&*self.results)));
        let json = json.map_err(|error| raise_message(error.to_string()))?;
        Ok((py.import("recompact._native")?.getattr("from_json")?, (json,)))
    }

    /// Whether these are the results of a sweep.
    #[getter]
    fn is_sweep(&self) -> bool {
        self.results.sweep.is_some()
    }

    /// The name and the TOML of the configuration that a sweep recommends.
    #[getter]
    fn recommended(&self) -> Option<(String, String)> {
        let recommended = self.results.sweep.as_ref()?.recommended.as_ref()?;
        Some((recommended.policy.clone(), recommended.toml.clone()))
    }

    /// The answer of the first screen as JSON; None if nothing was replayed.
    #[getter]
    fn verdict(&self) -> Option<String> {
        crate::report::answer::json(&self.results)
    }

    /// The id, unit, better direction and meaning of each column.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String, String)> {
        let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
        let described = |column: &crate::results::saved::Column| {
            let [unit, better] = [serde_json::json!(column.unit), serde_json::json!(column.better)].map(word);
            (column.id.to_string(), unit, better, column.about.to_string())
        };
        self.results.columns.iter().map(described).collect()
    }

    /// The first screen as markup for a notebook; None if nothing was replayed.
    fn first_screen(&self, py: Python) -> Option<String> {
        let layout = layout(Style::default().width, false);
        py.detach(|| report::first_screen(&self.results, &layout)).map(|markup| in_python(&markup))
    }

    /// The page's scatter plot as an SVG file; None if no policy has both values.
    fn plot(&self, py: Python) -> Option<String> {
        py.detach(|| report::picture(&self.results))
    }

    /// The results as a document.
    #[getter]
    fn document(&self) -> Document {
        Document::page(Arc::clone(&self.results), self.requests.clone())
    }
}

/// A row for each conversation and policy, as in CSV.
fn rows(results: &Results, oracles: bool) -> Table<'_> {
    let rows: Vec<&Row> = results.rows.iter().filter(|row| oracles || row.bound_of.is_none()).collect();
    let text = |of: fn(&Row) -> Option<&str>| ColumnValues::Texts(rows.iter().map(|row| of(row)).collect());
    let mut columns = vec![
        ("transcript", text(|row| Some(&row.transcript))),
        ("conversation", text(|row| Some(&row.conversation))),
        ("policy", text(|row| Some(&row.policy))),
        ("session", text(|row| Some(&row.recording.session))),
        ("format", text(|row| Some(&row.recording.format))),
        ("model", text(|row| row.recording.model.as_deref())),
        ("project", text(|row| row.recording.project.as_deref())),
        ("started", text(|row| row.recording.started.as_deref())),
    ];
    if oracles {
        columns.push(("bound_of", text(|row| row.bound_of.as_deref())));
    }
    columns.extend(results.columns.iter().map(|column| {
        let id = column.id.as_ref();
        (id, numbers(results, id, rows.iter().map(|row| row.values.get(id))))
    }));
    Table { columns, length: rows.len() }
}

/// Returns the values of a column: whole numbers if its unit has no others.
fn numbers<'a>(results: &Results, id: &str, values: impl Iterator<Item = Option<f64>>) -> ColumnValues<'a> {
    let values: Vec<Option<f64>> = values.collect();
    let is_whole = |value: &f64| value.fract() == 0.0 && value.abs() < LARGEST_WHOLE;
    match results.column(id) {
        Some(column) if column.unit.is_whole() && values.iter().flatten().all(is_whole) => {
            ColumnValues::Counts(values.into_iter().map(|value| value.map(|value| value as i64)).collect())
        }
        _ => ColumnValues::Numbers(values),
    }
}

/// A row for each policy.
fn summary(results: &Results, oracles: bool) -> Table<'_> {
    let rows: Vec<&Summary> = results.summary.iter().filter(|row| oracles || row.bound_of.is_none()).collect();
    let mut columns = vec![
        ("policy", ColumnValues::Texts(rows.iter().map(|row| Some(row.policy.as_str())).collect())),
        ("transcripts", ColumnValues::Counts(rows.iter().map(|row| Some(row.transcripts as i64)).collect())),
    ];
    if oracles {
        columns.push(("bound_of", ColumnValues::Texts(rows.iter().map(|row| row.bound_of.as_deref()).collect())));
    }
    columns.extend(results.columns.iter().map(|column| {
        let id = column.id.as_ref();
        (id, numbers(results, id, rows.iter().map(|row| row.values.get(id))))
    }));
    Table { columns, length: rows.len() }
}

/// A row for each configuration of a sweep, as in CSV.
fn configurations<'a>(results: &'a Results, sweep: &'a Sweep) -> Table<'a> {
    let rows = &sweep.configurations;
    let recommended = sweep.recommended.as_ref().map(|best| best.policy.as_str());
    let mut columns = vec![
        ("policy", ColumnValues::Texts(rows.iter().map(|row| Some(row.policy.as_str())).collect())),
        ("of", ColumnValues::Texts(rows.iter().map(|row| Some(row.of.as_str())).collect())),
    ];
    for parameter in sweep.varied() {
        columns.push((parameter, ColumnValues::Texts(rows.iter().map(|row| row.setting(parameter)).collect())));
    }
    columns.extend([
        ("sessions", ColumnValues::Counts(rows.iter().map(|row| Some(row.sessions as i64)).collect())),
        ("allowed", ColumnValues::Flags(rows.iter().map(|row| row.allowed).collect())),
        ("front", ColumnValues::Flags(rows.iter().map(|row| row.front).collect())),
        ("recommended", ColumnValues::Flags(rows.iter().map(|row| recommended == Some(&row.policy)).collect())),
        ("dominated", ColumnValues::Numbers(rows.iter().map(|row| row.dominated).collect())),
    ]);
    for column in sweep.columns() {
        columns.push((column, numbers(results, column, rows.iter().map(|row| row.values.get(column)))));
    }
    Table { columns, length: rows.len() }
}
