//! SARIF 2.1.0, as code scanning reads it: one run, a rule a kind of finding, a result a finding.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::findings::{Case, FINDINGS, Finding, FindingKind, Level};
use crate::report::json::write_rows;

use super::escape;

/// The log, its runs, a run, its results: a line each.
const BROKEN: usize = 4;
/// What the fingerprints are made of; another number where that changes.
const FINGERPRINT: &str = "findingPlace/v1";

pub fn render(cases: &[Case]) -> Vec<u8> {
    let findings: Vec<&Finding> = cases.iter().flat_map(|case| &case.findings).collect();
    let mut rules: Vec<Value> = FINDINGS.iter().map(rule).collect();
    let mut indices: HashMap<&str, usize> = FINDINGS.iter().enumerate().map(|(index, kind)| (kind.id, index)).collect();
    for finding in &findings {
        if !indices.contains_key(finding.id.as_str()) {
            indices.insert(&finding.id, rules.len());
            rules.push(unknown(finding));
        }
    }
    let mut seen = HashMap::new();
    let result = |finding: &&Finding| {
        let place = place(finding);
        let times: &mut usize = seen.entry(place).or_default();
        *times += 1;
        result(finding, indices[finding.id.as_str()], &format!("{place:016x}:{times}"))
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

/// Of a kind that is no finding in a replay or a file: it is named, and its messages say the rest.
fn unknown(finding: &Finding) -> Value {
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
    properties.insert("data".to_owned(), harmless(&Value::Object(finding.data.clone())));
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

/// Where it is, and not what it says: the same in the next run, though its numbers change.
fn place(finding: &Finding) -> u64 {
    let Finding { id, path, line, call, policy, conversation, .. } = finding;
    xxh3_64(json!([id, path, line, call, policy, conversation]).to_string().as_bytes())
}

/// A plain text in which SARIF sees no link.
fn message(text: &str) -> String {
    escape::terminal(text).replace("](", r"]\u{28}")
}

/// Data whose texts no viewer trips over.
fn harmless(data: &Value) -> Value {
    match data {
        Value::String(text) => escape::terminal(text).into(),
        Value::Array(items) => items.iter().map(harmless).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (escape::terminal(name).into_owned(), harmless(value))).collect()
        }
        other => other.clone(),
    }
}

/// A path as a URI: relative to where the program ran, unless it is absolute.
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
    fn paths_are_uris() {
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
