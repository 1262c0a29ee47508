//! Tables for Python: columns as buffers in the layout of Arrow, which NumPy and Arrow take over without a copy.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// A column of a table.
pub enum ColumnValues<'a> {
    Numbers(Vec<Option<f64>>),
    Counts(Vec<Option<i64>>),
    Texts(Vec<Option<&'a str>>),
    Flags(Vec<bool>),
}

/// Columns of one length, with their names.
pub struct Table<'a> {
    pub columns: Vec<(&'a str, ColumnValues<'a>)>,
    pub length: usize,
}

/// A column as Python gets it: its name, `number`, `count`, `text` or `flag`, the validity bitmap if a value is missing, the data, and
/// the offsets of texts. Numbers are 8-byte floats, NaN where one is missing; counts are 8-byte integers, 0 where one is missing; texts
/// are UTF-8 with 8-byte offsets; flags are bits.
type Buffers<'py> = (&'static str, Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

impl Table<'_> {
    /// Returns the columns as buffers.
    pub fn buffers<'py>(&self, py: Python<'py>) -> Vec<(String, Buffers<'py>)> {
        self.columns.iter().map(|(name, values)| ((*name).to_owned(), values.buffers(py))).collect()
    }

    /// Returns the rows as dicts.
    ///
    /// # Errors
    ///
    /// Fails only if Python has no memory left.
    pub fn rows<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let row = |at: usize| {
            let row = PyDict::new(py);
            for (name, values) in &self.columns {
                row.set_item(name, values.value(py, at)?)?;
            }
            Ok(row)
        };
        (0..self.length).map(row).collect()
    }
}

impl ColumnValues<'_> {
    /// Returns the value at an index; None if it is missing.
    ///
    /// # Errors
    ///
    /// Fails only if Python has no memory left.
    pub fn value<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Numbers(values) => values[at].into_bound_py_any(py),
            Self::Counts(values) => values[at].into_bound_py_any(py),
            Self::Texts(values) => values[at].into_bound_py_any(py),
            Self::Flags(values) => values[at].into_bound_py_any(py),
        }
    }

    fn buffers<'py>(&self, py: Python<'py>) -> Buffers<'py> {
        let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
        match self {
            Self::Numbers(values) => {
                let data: Vec<u8> = values.iter().flat_map(|value| value.unwrap_or(f64::NAN).to_le_bytes()).collect();
                ("number", validity(values).map(|bits| bytes(&bits)), bytes(&data), None)
            }
            Self::Counts(values) => {
                let data: Vec<u8> = values.iter().flat_map(|value| value.unwrap_or(0).to_le_bytes()).collect();
                ("count", validity(values).map(|bits| bytes(&bits)), bytes(&data), None)
            }
            Self::Texts(values) => {
                let data: Vec<u8> = values.iter().flatten().flat_map(|text| text.bytes()).collect();
                let mut end = 0_i64;
                let ends = values.iter().map(|text| {
                    end += text.map_or(0, str::len) as i64;
                    end
                });
                let offsets: Vec<u8> = std::iter::once(0).chain(ends).flat_map(i64::to_le_bytes).collect();
                ("text", validity(values).map(|bits| bytes(&bits)), bytes(&data), Some(bytes(&offsets)))
            }
            Self::Flags(values) => ("flag", None, bytes(&bits(values.iter().copied())), None),
        }
    }
}

/// Returns which values are there; `None` if all are.
fn validity<T>(values: &[Option<T>]) -> Option<Vec<u8>> {
    values.iter().any(Option::is_none).then(|| bits(values.iter().map(Option::is_some)))
}

/// Packs bits, the lowest first.
fn bits(flags: impl Iterator<Item = bool>) -> Vec<u8> {
    let flags: Vec<bool> = flags.collect();
    flags.chunks(8).map(|chunk| chunk.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_packed_lowest_first() {
        assert_eq!(bits([true, false, false, true].into_iter()), [0b1001]);
        assert_eq!(bits([false; 8].into_iter().chain([true])), [0, 1]);
        assert_eq!(validity(&[Some(1), None]), Some(vec![1]));
        assert_eq!(validity(&[Some(1)]), None);
    }
}
