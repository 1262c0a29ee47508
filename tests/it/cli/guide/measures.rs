//! The page of measures: its ten lines, and every value that it works out from them by hand.

use std::fs;

use recompact::guide::page;
use recompact::metrics::metric::columns;
use recompact::metrics::prices::Prices;
use recompact::metrics::prompt_cache::PROVIDERS;
use serde_json::Value;

use super::blocks::{code, table};
use crate::cli::readme::root;
use crate::support::program::run_in;

const LINES: &str = "fixtures/measures/ten-lines.jsonl";

/// What the page replays. A word in quotes has spaces.
const COMMAND: &str = "recompact replay fixtures/measures/ten-lines.jsonl -p fixtures/measures/clear.toml,fixtures/measures/summary.toml \
                       --tokenizer chars/4 --overhead 40 --window 180 --prices fixtures/measures/prices.toml \
                       --summarizer 'fixed:job_ab12 is in src/pool.rs, max_pool is not' -o json";

/// The lines of the transcript, with the characters of each block.
pub fn ten_lines() -> String {
    let text = fs::read_to_string(root().join(LINES)).expect("the transcript");
    let rows = text.lines().enumerate().map(|(at, line)| {
        let message: Value = serde_json::from_str(line).expect("JSON");
        let blocks: Vec<String> = match &message["content"] {
            Value::String(said) => vec![said.clone()],
            content => content.as_array().expect("blocks").iter().map(shown).collect(),
        };
        let characters: Vec<String> = blocks.iter().map(|block| block.chars().count().to_string()).collect();
        let blocks: Vec<String> = blocks.iter().map(|block| code(&shortened(&block.replace('\n', " ⏎ ")))).collect();
        [(at + 1).to_string(), message["role"].as_str().expect("a role").to_owned(), blocks.join("<br>"), characters.join(" + ")]
    });
    // The line breaks of a cell are elements.
    table(["line", "who", "what", "characters"], rows).replace("\\<br>", "<br>")
}

/// A block without the words that only make it long.
fn shortened(block: &str) -> String {
    block.split_once(" and so on").map_or(block.to_owned(), |(begin, _)| format!("{begin} …"))
}

/// What a model reads of a block: the name and the compact JSON of a call, the text of a result.
fn shown(block: &Value) -> String {
    match block["content"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("{}{}", block["name"].as_str().expect("a name"), block["input"]),
    }
}

/// Rules of the providers that a cost follows from.
pub fn cache_rules() -> String {
    let rows = PROVIDERS.iter().map(|provider| {
        let lookup = match provider.look_back {
            Some(blocks) => format!("at a breakpoint, {blocks} blocks back"),
            None => "anywhere".to_owned(),
        };
        let step = match (provider.step, provider.step_offset) {
            (1, _) => "any number".to_owned(),
            (step, 0) => format!("multiples of {step}"),
            (step, offset) => format!("multiples of {step} less {offset}"),
        };
        let lives = match provider.long_minutes > provider.minutes {
            true => format!("{}, or {} if paid for", provider.minutes, provider.long_minutes),
            false => provider.minutes.to_string(),
        };
        [code(provider.name), lookup, step, provider.unread_end.to_string(), lives]
    });
    table(["provider", "a prefix ends", "tokens read", "never read at the end", "lives for minutes"], rows)
}

/// Models whose shortest cached prefix is not the usual one.
pub fn shortest_prefixes() -> String {
    let list = Prices::built_in();
    let mut by_tokens = std::collections::BTreeMap::<u64, Vec<String>>::new();
    for name in list.names() {
        by_tokens.entry(list.quote(Some(name), None).min_tokens).or_default().push(code(name));
    }
    assert!(by_tokens.remove(&1024).is_some(), "the usual one");
    let rows = by_tokens.into_iter().map(|(tokens, names)| [tokens.to_string(), names.join(", ")]);
    table(["tokens", "models"], rows)
}

/// In place of a policy: that of the row above.
const ABOVE: &str = "″";

/// A row for each column that the page works out: policy, column, what is worked out, the value in words of the page. Columns with
/// one value share a row of the page.
fn worked() -> Vec<[String; 4]> {
    let source = page("measures").expect("the page").source;
    let rows = source.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").map(str::to_owned).collect::<Vec<_>>());
    let is_worked =
        |cells: &Vec<String>| cells.len() == 4 && (cells[0] == ABOVE || cells[0].starts_with('`')) && cells[1].starts_with('`');
    let mut worked: Vec<Vec<String>> = cells.filter(is_worked).collect();
    for at in 1..worked.len() {
        if worked[at][0] == ABOVE {
            worked[at][0] = worked[at - 1][0].clone();
        }
    }
    let of_column = |cells: &[String], column: &str| [cells[0].clone(), column.to_owned(), cells[2].clone(), cells[3].clone()];
    worked
        .into_iter()
        .flat_map(|cells| cells[1].split(", ").map(|column| of_column(&cells, column)).collect::<Vec<_>>())
        .collect()
}

/// Computes an expression of numbers, + − × ÷ and parentheses.
fn computed(expression: &str) -> f64 {
    let tokens: Vec<char> = expression.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    let mut at = 0;
    let value = sum(&tokens, &mut at);
    assert_eq!(at, tokens.len(), "{expression}");
    value
}

fn sum(tokens: &[char], at: &mut usize) -> f64 {
    let mut value = product(tokens, at);
    while let Some(sign @ ('+' | '−')) = tokens.get(*at) {
        *at += 1;
        value += product(tokens, at) * if *sign == '+' { 1.0 } else { -1.0 };
    }
    value
}

fn product(tokens: &[char], at: &mut usize) -> f64 {
    let mut value = atom(tokens, at);
    while let Some(sign @ ('×' | '÷')) = tokens.get(*at) {
        *at += 1;
        let other = atom(tokens, at);
        value = if *sign == '×' { value * other } else { value / other };
    }
    value
}

fn atom(tokens: &[char], at: &mut usize) -> f64 {
    if tokens.get(*at) == Some(&'(') {
        *at += 1;
        let value = sum(tokens, at);
        assert_eq!(tokens.get(*at), Some(&')'));
        *at += 1;
        return value;
    }
    let digits: String = tokens[*at..].iter().take_while(|c| c.is_ascii_digit() || **c == '.').collect();
    *at += digits.len();
    digits.parse().unwrap_or_else(|_| panic!("no number at {at} in {tokens:?}"))
}

#[test]
fn every_value_that_is_worked_out_is_the_programs() {
    assert!(page("measures").expect("the page").source.contains(COMMAND), "the page has the command");
    let (before, summarizer) = COMMAND.split_once(" '").expect("a quoted word");
    let (summarizer, after) = summarizer.split_once("' ").expect("its end");
    let arguments = before.split_whitespace().skip(1).chain([summarizer]).chain(after.split_whitespace());
    let results = run_in(&root(), arguments, b"").json();
    let summary = results["summary"].as_array().expect("policies");
    let rows = worked();
    for [policy, column, how, shown] in &rows {
        let (policy, column) = (policy.trim_matches('`'), column.trim_matches('`'));
        let row =
            summary.iter().find(|row| row["policy"] == policy && row["bound_of"].is_null()).unwrap_or_else(|| panic!("{policy}"));
        let value = row["values"].get(column).unwrap_or_else(|| panic!("{column}"));
        if shown == "–" {
            assert!(value.is_null(), "{policy}: {column} is {value}");
            continue;
        }
        let value = value.as_f64().unwrap_or_else(|| panic!("{policy}: {column} is {value}"));
        let by_hand = computed(how);
        assert!(
            (value - by_hand).abs() <= 1e-9 * by_hand.abs().max(1e-3),
            "{policy}: {column} is {value}, and by hand {by_hand}"
        );
        let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        assert_eq!(format!("{value:.decimals$}"), shown.replace(',', ""), "{policy}: {column}");
    }
    let missing: Vec<_> =
        columns().into_iter().filter(|column| !rows.iter().any(|[_, id, ..]| id.trim_matches('`') == column.id)).collect();
    assert!(missing.is_empty(), "not worked out: {:?}", missing.iter().map(|column| &column.id).collect::<Vec<_>>());
}

#[test]
fn expressions_are_computed() {
    assert!((computed("1 − (2 + 4) ÷ 8 × 1,000") + 749.0).abs() < 1e-9);
    assert!((computed("24.2 × 0.5") - 12.1).abs() < 1e-9);
}
