//! Sparklines: numbers as a row of small bars.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws at most `width` bars. Each bar shows the largest value of its part of `values`; the tallest bar is the largest
/// value.
pub fn line(values: &[u64], width: usize) -> String {
    line_to(values, width, values.iter().copied().max().unwrap_or(0))
}

/// Like [`line`], but on a scale where the tallest bar is `max`. `max` must be at least the largest value.
pub fn line_to(values: &[u64], width: usize, max: u64) -> String {
    let max = max.max(1);
    let bars = values.len().min(width);
    let chunk = |bar: usize| &values[bar * values.len() / bars..(bar + 1) * values.len() / bars];
    let height = |bar: usize| chunk(bar).iter().copied().max().unwrap_or(0);
    (0..bars).map(|bar| BARS[(u128::from(height(bar)) * 7 / u128::from(max)) as usize]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn sparkline_scales_to_the_largest_value() {
        assert_eq!(super::line(&[0, 1, 2, 3, 4, 5, 6, 7], 8), "▁▂▃▄▅▆▇█");
        assert_eq!(super::line(&[0, 0, 0, 7, 7, 7], 2), "▁█");
        assert_eq!((super::line(&[], 5).as_str(), super::line(&[0], 5).as_str()), ("", "▁"));
    }
}
