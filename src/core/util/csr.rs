//! Lists of lists in two flat vectors (compressed sparse rows).

use std::ops::Range;

/// Rows of items, stored one after the other.
#[derive(Debug, Clone)]
pub struct Rows<T> {
    /// End of each row in `items`.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Rows<T> {
    /// Groups `(row, item)` pairs by row. Items of one row keep their order.
    pub fn new(rows: usize, items: &[(u32, T)]) -> Self {
        let mut starts = vec![0u32; rows + 1];
        for (row, _) in items {
            starts[*row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut order = vec![0u32; items.len()];
        let mut next = starts.clone();
        for (index, (row, _)) in (0u32..).zip(items) {
            let position = &mut next[*row as usize];
            order[*position as usize] = index;
            *position += 1;
        }
        Self { ends: starts.split_off(1), items: order.into_iter().map(|index| items[index as usize].1).collect() }
    }

    /// Returns the items of one row.
    pub fn row(&self, row: usize) -> &[T] {
        &self.items[self.places(row)]
    }

    /// Returns the range of a row in [`Self::items`].
    pub fn places(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[row] as usize
    }

    /// Returns the items of all rows, one row after the other.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

impl Rows<u32> {
    /// Returns whether a row has a number in `range`. The numbers of the row must ascend.
    pub fn has_in(&self, row: usize, range: Range<u32>) -> bool {
        let row = self.row(row);
        row.get(row.partition_point(|number| *number < range.start)).is_some_and(|number| *number < range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn csr_groups_items_in_order() {
        let rows = Rows::new(4, &[(2, 'a'), (0, 'b'), (2, 'c')]);
        let numbers = Rows::new(1, &[(0, 3), (0, 5)]);
        assert_eq!([0..3, 3..4, 4..5, 4..6, 6..9].map(|range| numbers.has_in(0, range)), [false, true, false, true, false]);
        assert_eq!([rows.row(0), rows.row(1), rows.row(2), rows.row(3)], [&['b'][..], &[], &['a', 'c'], &[]]);
    }
}
