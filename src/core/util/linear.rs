//! For tests: whether work grows with its input and not with the square of it.

use std::time::{Duration, Instant};

/// Repeats of the part in the short text and in the long text.
const REPEATS: [usize; 2] = [4_000, 32_000];
/// Largest ratio of the two times that counts as linear. Linear work has a ratio of 8, quadratic work of 64.
const MOST: u32 = 24;
/// Maximum number of runs. On a loaded machine single runs are slow, so the fastest run counts.
const ATTEMPTS: usize = 40;

/// Asserts that the time of `work` is linear in the length of a text that repeats `part`.
#[track_caller]
pub fn assert_linear(part: &str, work: impl Fn(&str)) {
    let texts = REPEATS.map(|times| part.repeat(times));
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..ATTEMPTS {
        for (fastest, text) in fastest.iter_mut().zip(&texts) {
            let began = Instant::now();
            work(text);
            *fastest = (*fastest).min(began.elapsed());
        }
        if fastest[1] < fastest[0] * MOST {
            return;
        }
    }
    panic!("{part:?} repeated {REPEATS:?} times took {fastest:?}: more than {MOST} times as long");
}

#[test]
fn assert_linear_refuses_quadratic_work() {
    let linear = |text: &str| assert!(text.bytes().fold(0_u64, |sum, byte| sum + u64::from(byte)) > 0);
    assert_linear("ab", linear);
    let quadratic = |text: &str| {
        let ends = (0..text.len()).step_by(100).map(|at| text[at..].bytes().filter(|byte| *byte == b'a').count());
        assert!(ends.sum::<usize>() > 0);
    };
    assert!(std::panic::catch_unwind(|| assert_linear("ab", quadratic)).is_err());
}
