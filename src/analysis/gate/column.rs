//! Columns that a rule may use: the columns of the metrics, and the number of findings of each kind.

use crate::findings::{self, FINDINGS, Finding, FindingKind, Level};
use crate::metrics::column::{Aggregation, Column, Direction, Unit};
use crate::metrics::metric;
use crate::util::text::did_you_mean;

/// Prefix of the columns that count findings: `finding.pairs`.
const FINDING: &str = "finding.";

/// Returns the column with this id.
///
/// # Errors
///
/// Fails if there is no such column (the error suggests a similar id), or if no rule can use the column.
pub(super) fn by_id(id: &str) -> Result<Column, String> {
    if let Some(kind) = id.strip_prefix(FINDING).and_then(findings::by_id) {
        return match kind.detect {
            Some(_) => Ok(of_findings(kind)),
            None => Err(format!("`{id}` counts findings of `recompact audit` in files, never in a replay")),
        };
    }
    let columns = metric::columns();
    match columns.iter().find(|column| column.id == id) {
        Some(column) if column.combine == Aggregation::Nothing => Err(format!("`{id}` has no total over transcripts")),
        Some(column) => Ok(column.clone()),
        None => Err(format!("there is no column `{id}`{}", did_you_mean(id, &ids()))),
    }
}

/// Returns the ids of all columns that rules may use.
pub fn ids() -> Vec<String> {
    let kinds = FINDINGS.iter().filter(|kind| kind.detect.is_some()).map(|kind| format!("{FINDING}{}", kind.id));
    let columns = metric::columns().into_iter().filter(|column| column.combine != Aggregation::Nothing);
    columns.map(|column| column.id.to_string()).chain(kinds).collect()
}

fn of_findings(kind: &FindingKind) -> Column {
    let about = format!("errors and warnings of this kind: {}", kind.about().trim_end_matches('.'));
    let column = Column::counted("", Unit::Count, Direction::Lower, Aggregation::Sum, "");
    Column { id: format!("{FINDING}{}", kind.id).into(), about: about.into(), ..column }
}

/// Returns how many of these findings a column counts; `None` if it does not count findings. Notes are not counted.
pub fn count<'a>(column: &Column, findings: impl Iterator<Item = &'a Finding>) -> Option<f64> {
    let kind = column.id.strip_prefix(FINDING)?;
    Some(findings.filter(|finding| finding.id == kind && finding.level != Level::Note).count() as f64)
}

/// Says why a column has no value over all transcripts of a suite, and what to do.
pub fn without_value(column: &Column) -> String {
    let is_cost = |id: &str| ["cost.", "cache."].iter().any(|group| id.starts_with(group));
    let why = match &column.combine {
        _ if is_cost(&column.id) => "no conversation here could be priced (page cost of the guide)".to_owned(),
        Aggregation::Ratio { under, .. } | Aggregation::Saving { under, .. } => {
            format!("it divides by {under}, which is 0 or missing in all transcripts here")
        }
        Aggregation::Weighted { by } => {
            let columns = metric::columns();
            let about = columns.iter().find(|column| column.id == *by).map(|column| format!(" ({})", column.about));
            format!("it is weighted by {by}{}, which is 0 in all transcripts here", about.unwrap_or_default())
        }
        Aggregation::Sum | Aggregation::Max | Aggregation::Mean | Aggregation::Nothing => {
            "no conversation here has one".to_owned()
        }
    };
    format!("{why}: delete this rule, or add transcripts with such a value")
}
