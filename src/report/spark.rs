//! A row of numbers as a row of little bars.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// At most `width` bars, each the largest of its share of the values, the tallest the largest of all.
pub fn line(values: &[u64], width: usize) -> String {
    line_to(values, width, values.iter().copied().max().unwrap_or(0))
}

/// The same to a scale whose tallest bar is `most`, at least as large as any value.
pub fn line_to(values: &[u64], width: usize, most: u64) -> String {
    let most = most.max(1);
    let bars = values.len().min(width);
    let share = |bar: usize| &values[bar * values.len() / bars..(bar + 1) * values.len() / bars];
    let bar = |bar: usize| share(bar).iter().copied().max().unwrap_or(0);
    (0..bars).map(|at| BARS[(u128::from(bar(at)) * 7 / u128::from(most)) as usize]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_largest_is_the_tallest() {
        assert_eq!(super::line(&[0, 1, 2, 3, 4, 5, 6, 7], 8), "▁▂▃▄▅▆▇█");
        assert_eq!(super::line(&[0, 0, 0, 7, 7, 7], 2), "▁█");
        assert_eq!((super::line(&[], 5).as_str(), super::line(&[0], 5).as_str()), ("", "▁"));
    }
}
