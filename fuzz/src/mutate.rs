//! Mutations that know what the inputs are made of: lines, JSON values, and settings such as `keep_recent = 3`.
//!
//! Mutated bytes are rarely valid JSON, so they test little more than a parser's first error. These mutations keep most of a file
//! valid and change one thing in it.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value};

/// Values that programs get wrong: limits of numbers, other types, empty and odd texts.
const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "1.5",
    "-0.0",
    "1e308",
    "1e-400",
    "4294967296",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "[null]",
    "\"\"",
    "\" \"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\u001b[31m\"",
    "\"\\u202e\"",
    "\"é\"",
    "\"e\\u0301\"",
    "\"\\ud83d\\ude00\"",
    "\"::error::x\"",
    "\"../../x\"",
    "\"/src/a.rs\"",
    "\"user\"",
    "\"assistant\"",
    "\"tool\"",
    "\"tool_use\"",
    "\"tool_result\"",
    "\"text\"",
    "\"system\"",
    "\"2026-01-01T00:00:00Z\"",
    "\"-999999-01-01T00:00:00Z\"",
    "\"toolu_1\"",
    "\"a\"",
];

/// Texts that settings, formulas and lists are made of.
const WORDS: &[&str] = &[
    "0",
    "1",
    "18446744073709551615",
    "0.5 * window",
    "window - max_output",
    "50k",
    "200KB",
    "1..10",
    "1..0",
    "20k..120k:10k",
    "1,2,3",
    "true",
    "\"\"",
    "[]",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "(((((1)))))",
    "%",
    "5%",
    "chars/4",
    "o200k",
    "recorded+",
    "é",
    "\u{202e}",
];

/// Returns the input with one to four changes, the same ones for the same seed.
pub fn mutate(input: &[u8], seed: u64) -> Vec<u8> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let text = String::from_utf8_lossy(input);
    let mut text = text.into_owned();
    for _ in 0..random.random_range(1..=4) {
        text = mutate_once(&text, &mut random);
    }
    text.into_bytes()
}

fn mutate_once(text: &str, random: &mut ChaCha8Rng) -> String {
    // A whole file of JSON, as results, cassettes and baselines are.
    if random.random_ratio(1, 2)
        && let Ok(value) = serde_json::from_str::<Value>(text)
    {
        return mutate_value(value, random).to_string();
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let at = random.random_range(0..lines.len());
    match random.random_range(0..8) {
        0 => lines.insert(at, lines[random.random_range(0..lines.len())].clone()),
        1 => drop(lines.remove(at)),
        2 => {
            let other = random.random_range(0..lines.len());
            lines.swap(at, other);
        }
        3 => {
            let cut = random.random_range(0..=lines[at].len());
            let cut = (cut..=lines[at].len()).find(|cut| lines[at].is_char_boundary(*cut)).unwrap_or(0);
            lines[at].truncate(cut);
        }
        _ => lines[at] = mutate_line(&lines[at], random),
    }
    lines.join("\n")
}

fn mutate_line(line: &str, random: &mut ChaCha8Rng) -> String {
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(line) {
        return mutate_value(value, random).to_string();
    }
    if let Some((name, value)) = line.split_once('=') {
        return match random.random_range(0..3) {
            0 => format!("{name}={}", pick(WORDS, random)),
            1 => format!("{name}={value}{}", pick(WORDS, random)),
            _ => format!("{name}= {}", pick(VALUES, random)),
        };
    }
    // A word more, or a word less.
    let mut words: Vec<&str> = line.split(' ').collect();
    let at = random.random_range(0..words.len());
    if random.random() {
        words.insert(at, pick(WORDS, random));
    } else {
        words[at] = pick(WORDS, random);
    }
    words.join(" ")
}

fn pick<'a>(from: &[&'a str], random: &mut ChaCha8Rng) -> &'a str {
    from[random.random_range(0..from.len())]
}

/// Changes one value somewhere in a tree of JSON.
fn mutate_value(mut root: Value, random: &mut ChaCha8Rng) -> Value {
    let count = count(&root);
    let donor = nth(&mut root, &mut random.random_range(0..count)).map(|value| value.clone());
    let target = nth(&mut root, &mut random.random_range(0..count));
    if let (Some(target), Some(donor)) = (target, donor) {
        change(target, donor, random);
    }
    root
}

fn change(target: &mut Value, donor: Value, random: &mut ChaCha8Rng) {
    match (random.random_range(0..8), &mut *target) {
        (0 | 1, Value::Object(fields)) if !fields.is_empty() => {
            let keys: Vec<String> = fields.keys().cloned().collect();
            fields.remove(&keys[random.random_range(0..keys.len())]);
        }
        (2, Value::Object(fields)) => rename(fields, random),
        (0 | 1, Value::Array(items)) if !items.is_empty() => drop(items.remove(random.random_range(0..items.len()))),
        (2, Value::Array(items)) if !items.is_empty() => {
            let again = items[random.random_range(0..items.len())].clone();
            items.push(again);
        }
        (0..3, Value::String(text)) => {
            let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            text.insert_str(middle, pick(WORDS, random));
        }
        (3 | 4, _) => *target = donor,
        (5, _) => *target = Value::Array(vec![target.take()]),
        _ => *target = serde_json::from_str(pick(VALUES, random)).unwrap_or(Value::Null),
    }
}

/// Gives one field the name of another.
fn rename(fields: &mut Map<String, Value>, random: &mut ChaCha8Rng) {
    let keys: Vec<String> = fields.keys().cloned().collect();
    if keys.len() > 1 {
        let [from, to] = [0; 2].map(|_| &keys[random.random_range(0..keys.len())]);
        if let Some(value) = fields.remove(from) {
            fields.insert(to.clone(), value);
        }
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// Returns the value with this number, counted from the root.
fn nth<'v>(value: &'v mut Value, number: &mut usize) -> Option<&'v mut Value> {
    if *number == 0 {
        return Some(value);
    }
    *number -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, number)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, number)),
        _ => None,
    }
}
