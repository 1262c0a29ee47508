//! Usage in records, and as running totals.

use super::*;

/// Returns tokens as Codex writes them: of the input 10 in a hundred are cached.
fn counted(input: u64, output: u64) -> Value {
    json!({"input_tokens": input, "cached_input_tokens": input / 10, "output_tokens": output, "total_tokens": input + output})
}

fn total(input: u64, output: u64) -> String {
    line("event_msg", json!({"type": "token_count", "info": {"total_token_usage": counted(input, output)}}))
}

fn event(last: u64, all: u64) -> String {
    let info = json!({"total_token_usage": counted(all, 50), "last_token_usage": counted(last, 5)});
    line("event_msg", json!({"type": "token_count", "info": info}))
}

fn record(last: u64, all: u64) -> String {
    line("token_usage_record", json!({"usage": counted(last, 5), "thread_token_usage": counted(all, 50)}))
}

/// Returns `[input, cache_read, output]` of each call.
fn usages(lines: &[String]) -> Vec<Option<[u64; 3]>> {
    let (conversation, _) = read_lines(lines);
    conversation.calls.iter().map(|call| call.usage.map(|usage| [usage.input, usage.cache_read, usage.output])).collect()
}

fn turns(usages: &[&[String]]) -> Vec<String> {
    let call = |(n, usage): (usize, &&[String])| [vec![user(&format!("{n}")), assistant("ok")], usage.to_vec()].concat();
    usages.iter().enumerate().flat_map(call).collect()
}

#[test]
fn running_totals_count_by_their_difference() {
    let lines = turns(&[&[total(1000, 40)], &[total(3000, 80), total(3000, 80)], &[total(6000, 120)]]);
    assert_eq!(usages(&lines), [Some([900, 100, 40]), Some([1800, 200, 40]), Some([2700, 300, 40])]);
}

#[test]
fn a_smaller_total_began_again() {
    let lines = turns(&[&[total(1000, 40)], &[total(500, 10)], &[total(800, 30)]]);
    assert_eq!(usages(&lines), [Some([900, 100, 40]), Some([450, 50, 10]), Some([270, 30, 20])]);
}

#[test]
fn a_total_after_usage_counts_from_it() {
    assert_eq!(usages(&turns(&[&[event(100, 1000)], &[total(1300, 60)]])), [Some([90, 10, 5]), Some([270, 30, 10])]);
}

#[test]
fn records_are_usage() {
    assert_eq!(usages(&turns(&[&[record(100, 100)], &[record(100, 200)]])), [Some([90, 10, 5]), Some([90, 10, 5])]);
}

#[test]
fn the_event_of_a_record_is_a_repetition() {
    // The totals of a child may differ: those of events include the parent.
    let lines = turns(&[&[record(100, 100), event(100, 900)], &[event(100, 1000), record(100, 200)], &[record(200, 400)]]);
    assert_eq!(usages(&lines), [Some([90, 10, 5]), Some([90, 10, 5]), Some([180, 20, 5])]);
    let late = [user("go"), call("a"), record(100, 100), output("a", "one"), event(100, 100), assistant("ok"), record(120, 220)];
    assert_eq!(usages(&late), [Some([90, 10, 5]), Some([108, 12, 5])]);
}
