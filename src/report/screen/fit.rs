//! Leaves out columns of a screen's table until it fits the width.

use super::super::table::{GAP, widths};
use super::super::table_model::TableModel;
use super::ScreenTable;

/// Returns the table with the columns that fit `limit`, and all whose rank is 0.
pub fn fitted(table: &ScreenTable, limit: usize) -> TableModel {
    let mut kept: Vec<usize> = (0..table.model.headers.len()).collect();
    loop {
        let model = with_columns(&table.model, &kept);
        let last = kept.iter().copied().max_by_key(|at| table.ranks[*at]).filter(|at| table.ranks[*at] > 0);
        match last {
            Some(last) if width(&model, limit) > limit => kept.retain(|at| *at != last),
            _ => return model,
        }
    }
}

/// Returns the width of a table, with the gaps between its columns.
pub fn width(table: &TableModel, limit: usize) -> usize {
    let widths = widths(table, limit);
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn with_columns(table: &TableModel, kept: &[usize]) -> TableModel {
    TableModel {
        title: table.title.clone(),
        subject: table.subject.clone(),
        headers: kept.iter().map(|at| table.headers[*at].clone()).collect(),
        rows: table.rows.iter().map(|row| kept.iter().map(|at| row[*at].clone()).collect()).collect(),
        footnotes: table.footnotes.clone(),
    }
}
