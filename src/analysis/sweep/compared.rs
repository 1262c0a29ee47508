//! Selects the members of the front for the final comparison.

use std::collections::BTreeSet;

/// Maximum members of the front in the final comparison: a table cannot show more.
const MAX_COMPARED: usize = 12;

/// Returns as many members of the front as a table can show, evenly spaced along `position`, with both ends and the recommended one.
pub fn evenly_spaced<Id: Copy + Ord>(
    front: &[Id],
    recommended: Option<Id>,
    position: impl Fn(Id) -> Option<f64>,
) -> BTreeSet<Id> {
    let mut along = front.to_vec();
    let position = |at: Id| position(at).unwrap_or(f64::NAN);
    along.sort_by(|a, b| position(*a).total_cmp(&position(*b)).then(a.cmp(b)));
    let last = along.len().saturating_sub(1);
    let room = MAX_COMPARED.min(along.len());
    let mut spread: BTreeSet<Id> = (0..room).map(|place| along[place * last / room.saturating_sub(1).max(1)]).collect();
    if let Some(recommended) = recommended
        && !spread.contains(&recommended)
    {
        // The recommended member replaces its neighbour in the table, so that both ends stay.
        let is_end = |at: &Id| along.first() == Some(at) || along.last() == Some(at);
        let place = |at: Id| along.iter().position(|member| *member == at).unwrap_or(0);
        let near = spread.iter().copied().filter(|at| !is_end(at));
        let nearest = near.min_by_key(|at| place(*at).abs_diff(place(recommended)));
        nearest.map(|at| spread.remove(&at));
        spread.insert(recommended);
    }
    spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_has_both_ends_and_the_recommended_member() {
        let front: Vec<usize> = (0..25).collect();
        let selected = |recommended| evenly_spaced(&front, recommended, |at| Some(at as f64)).into_iter().collect::<Vec<_>>();
        assert_eq!(selected(None), [0, 2, 4, 6, 8, 10, 13, 15, 17, 19, 21, 24]);
        assert_eq!(selected(Some(7)), [0, 2, 4, 7, 8, 10, 13, 15, 17, 19, 21, 24]);
        assert_eq!(evenly_spaced(&[5, 3], Some(5), |at| Some(at as f64)).len(), 2);
    }
}
