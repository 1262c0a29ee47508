//! Renders cases as SARIF 2.1.0 for code scanning: one run, one rule per kind of finding, one result per finding.
//!
//! Each result is one line and its keys stay in the order of their importance, so that two logs can be compared. (The types of the
//! crate `serde-sarif` write keys in the order of the schema.)

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::findings::{Case, FINDINGS, Finding, FindingKind, Level};
use crate::report::json::write_rows;

use super::escape;

/// Nesting depth of line breaks: the log, its runs, a run and its results get one line per member.
const BROKEN: usize = 4;
/// Name and version of the fingerprint; the number must change if the hashed fields change.
const FINGERPRINT: &str = "findingPlace/v1";

/// Writes cases as SARIF.
pub fn render(cases: &[Case]) -> Vec<u8> {
    let findings: Vec<&Finding> = cases.iter().flat_map(|case| &case.findings).collect();
    let mut rules: Vec<Value> = FINDINGS.iter().map(rule).collect();
    let mut indices: HashMap<&str, usize> = FINDINGS.iter().enumerate().map(|(index, kind)| (kind.id, index)).collect();
    for finding in &findings {
        if !indices.contains_key(finding.id.as_str()) {
            indices.insert(&finding.id, rules.len());
            rules.push(rule_without_page(finding));
        }
    }
    let mut counts = HashMap::new();
    let result = |finding: &&Finding| {
        let hash = location_hash(finding);
        let count: &mut usize = counts.entry(hash).or_default();
        *count += 1;
        result(finding, indices[finding.id.as_str()], &format!("{hash:016x}:{count}"))
    };
    let results: Vec<Value> = findings.iter().map(result).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": driver(rules) }, "results": results }],
    });
    write_rows(&log, BROKEN)
}

fn driver(rules: Vec<Value>) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    let mut driver = json!({ "name": env!("CARGO_PKG_NAME"), "version": version, "semanticVersion": version });
    if let Some(home) = Some(env!("CARGO_PKG_REPOSITORY")).filter(|home| !home.is_empty()) {
        driver["informationUri"] = home.into();
    }
    driver["rules"] = rules.into();
    driver
}

fn rule(kind: &FindingKind) -> Value {
    let (about, paragraphs) = (kind.about(), kind.paragraphs());
    let full = paragraphs.get(1).unwrap_or(&about);
    json!({
        "id": kind.id,
        "shortDescription": { "text": about },
        "fullDescription": { "text": full },
        "defaultConfiguration": { "level": kind.level.name() },
        "help": { "text": paragraphs.join("\n\n"), "markdown": kind.page() },
    })
}

/// The rule of a kind without a page, such as a gate's; its messages explain the rest.
fn rule_without_page(finding: &Finding) -> Value {
    let id = escape::terminal(&finding.id);
    json!({ "id": id, "shortDescription": { "text": id }, "defaultConfiguration": { "level": finding.level.name() } })
}

fn result(finding: &Finding, rule: usize, fingerprint: &str) -> Value {
    let mut location = Map::new();
    if !finding.path.is_empty() {
        let mut physical = json!({ "artifactLocation": { "uri": uri(&finding.path) } });
        if let Some(line) = finding.line.filter(|line| *line > 0) {
            physical["region"] = json!({ "startLine": line });
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(conversation) = &finding.conversation {
        let logical = json!([{ "name": escape::terminal(conversation), "kind": "conversation" }]);
        location.insert("logicalLocations".to_owned(), logical);
    }
    let mut properties = Map::new();
    properties.extend(finding.call.map(|call| ("call".to_owned(), call.into())));
    properties.extend(finding.policy.as_ref().map(|policy| ("policy".to_owned(), escape::terminal(policy).into())));
    properties.insert("data".to_owned(), escaped(&Value::Object(finding.data.clone())));
    json!({
        "ruleId": escape::terminal(&finding.id),
        "ruleIndex": rule,
        "level": match finding.level { Level::Error => "error", Level::Warning => "warning", Level::Note => "note" },
        "message": { "text": message(&finding.message) },
        "locations": if location.is_empty() { json!([]) } else { json!([location]) },
        "partialFingerprints": { FINGERPRINT: fingerprint },
        "properties": properties,
    })
}

/// Hashes where a finding is, without its message, so that the next run gives the same fingerprint even if numbers
/// change.
fn location_hash(finding: &Finding) -> u64 {
    let Finding { id, path, line, call, policy, conversation, .. } = finding;
    xxh3_64(json!([id, path, line, call, policy, conversation]).to_string().as_bytes())
}

/// Escapes a message, so that SARIF sees no link in it.
fn message(text: &str) -> String {
    escape::terminal(text).replace("](", r"]\u{28}")
}

/// Escapes all texts in the data, so that viewers can show them.
fn escaped(data: &Value) -> Value {
    match data {
        Value::String(text) => escape::terminal(text).into(),
        Value::Array(items) => items.iter().map(escaped).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (escape::terminal(name).into_owned(), escaped(value))).collect()
        }
        other => other.clone(),
    }
}

/// Converts a path to a URI: relative to the working directory, unless the path is absolute.
fn uri(path: &str) -> String {
    let keeps = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    let encoded = |text: &str| -> String {
        text.bytes().map(|byte| if keeps(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
    };
    match path.as_bytes() {
        [b'/', ..] => format!("file://{}", encoded(path)),
        [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => format!("file:///{}:{}", &path[..1], encoded(&path[2..])),
        _ => encoded(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sarif_paths_are_uris() {
        for (path, expected) in [
            ("a/b c#1.jsonl", "a/b%20c%231.jsonl"),
            ("../größe?.jsonl", "../gr%C3%B6%C3%9Fe%3F.jsonl"),
            ("a:b", "a%3Ab"),
            ("/tmp/x%20", "file:///tmp/x%2520"),
            ("C:/runs/a.jsonl", "file:///C:/runs/a.jsonl"),
            ("cod\u{202e}nosj", "cod%E2%80%AEnosj"),
        ] {
            assert_eq!(uri(path), expected, "{path}");
        }
    }
}
