//! Lists of lists in two flat vectors.

use std::ops::Range;

#[derive(Debug, Clone)]
pub struct Rows<T> {
    /// Where each row ends.
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy> Rows<T> {
    /// Groups items by their row; within a row they keep their order.
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
        for (place, (row, _)) in (0u32..).zip(items) {
            let at = &mut next[*row as usize];
            order[*at as usize] = place;
            *at += 1;
        }
        Self { ends: starts.split_off(1), items: order.into_iter().map(|place| items[place as usize].1).collect() }
    }

    pub fn row(&self, row: usize) -> &[T] {
        &self.items[self.places(row)]
    }

    /// Where the items of a row stand among all.
    pub fn places(&self, row: usize) -> Range<usize> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[row] as usize
    }

    /// The items of all rows, one row after the other.
    pub fn items(&self) -> &[T] {
        &self.items
    }
}

impl Rows<u32> {
    /// Whether a row, which must ascend, has a number in this range.
    pub fn has_in(&self, row: usize, range: Range<u32>) -> bool {
        let row = self.row(row);
        row.get(row.partition_point(|number| *number < range.start)).is_some_and(|number| *number < range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;

    #[test]
    fn items_are_grouped_and_keep_their_order() {
        let rows = Rows::new(4, &[(2, 'a'), (0, 'b'), (2, 'c')]);
        let numbers = Rows::new(1, &[(0, 3), (0, 5)]);
        assert_eq!([0..3, 3..4, 4..5, 4..6, 6..9].map(|range| numbers.has_in(0, range)), [false, true, false, true, false]);
        assert_eq!([rows.row(0), rows.row(1), rows.row(2), rows.row(3)], [&['b'][..], &[], &['a', 'c'], &[]]);
    }
}
