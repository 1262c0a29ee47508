//! Leaves out columns of a screen's table until it fits the width, and rows until it fits the height.

use super::super::table::{GAP, widths};
use super::super::table_model::{TableModel, Tone};
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

/// Returns which rows stay if there is room for `room`, in their order: those that the answer names, then the first that they are compared
/// with, then the others from the first on.
pub fn kept_rows(table: &ScreenTable, room: usize) -> Vec<usize> {
    let reference = table.tones.iter().position(|tone| *tone == Tone::Reference);
    let weight = |at: &usize| match table.tones.get(*at) {
        Some(Tone::Chosen) => 0,
        _ if Some(*at) == reference => 1,
        _ => 2,
    };
    let mut kept: Vec<usize> = (0..table.model.rows.len()).collect();
    kept.sort_by_key(weight);
    kept.truncate(room);
    kept.sort_unstable();
    kept
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_the_answer_and_the_yardstick_stay() {
        let tones = [Tone::Plain, Tone::Unfit, Tone::Chosen, Tone::Reference, Tone::Reference];
        let (title, subject, headers, footnotes) = Default::default();
        let model = TableModel { title, subject, headers, rows: vec![Vec::new(); 5], footnotes };
        let mut table = ScreenTable { tones: tones.to_vec(), ..ScreenTable::new(model, Vec::new(), "") };
        let kept = |table: &ScreenTable| [5, 4, 3, 2, 1, 0].map(|room| kept_rows(table, room));
        assert_eq!(kept(&table), [vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3], vec![0, 2, 3], vec![2, 3], vec![2], vec![]]);
        // A table without tones keeps its first rows.
        table.tones.clear();
        assert_eq!(kept(&table)[2..4], [vec![0, 1, 2], vec![0, 1]]);
    }
}
