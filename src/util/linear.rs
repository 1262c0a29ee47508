//! For tests: whether work grows with its input and not with the square of it.

use std::time::{Duration, Instant};

/// How often the part is repeated in the short text and in the long one.
const REPEATS: [usize; 2] = [4_000, 32_000];
/// The long text takes 8 times as long where work is linear, and 64 times as long where it is quadratic.
const MOST: u32 = 24;
/// A loaded machine makes single runs slow: the fastest of several is judged.
const ATTEMPTS: usize = 8;

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
fn assert_linear_tells_quadratic_work_from_linear_work() {
    let linear = |text: &str| assert!(text.bytes().fold(0_u64, |sum, byte| sum + u64::from(byte)) > 0);
    assert_linear("ab", linear);
    let quadratic = |text: &str| {
        let ends = (0..text.len()).step_by(1_000).map(|at| text[at..].bytes().filter(|byte| *byte == b'a').count());
        assert!(ends.sum::<usize>() > 0);
    };
    assert!(std::panic::catch_unwind(|| assert_linear("ab", quadratic)).is_err());
}
