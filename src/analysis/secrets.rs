//! Finds secrets in texts, and hides them where reports quote these texts. The page of
//! [`secret`](mod@crate::findings::rules::secret) describes what counts as one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use regex::{Captures, Regex, RegexSet};
use serde_json::Value;

use crate::findings::Finding;
use crate::transcript::conversation::Conversation;

/// The pattern of one kind of secrets.
pub struct Rule {
    pub name: &'static str,
    /// Regular expression. Its first group, if it has one, is the secret itself; in the rule for URLs it is the second.
    pattern: &'static str,
    /// Source that documents the pattern.
    pub source: &'static str,
}

impl Rule {
    /// Returns the regular expression. Its word boundaries are those of ASCII: with those of Unicode, a text with one letter beyond ASCII
    /// is searched 90 times slower.
    fn regex(&self) -> String {
        self.pattern.replace(r"\b", r"(?-u:\b)")
    }
}

/// Every rule, the more specific first: a later rule does not report what an earlier one found.
pub const RULES: &[Rule] = &[
    Rule {
        name: "private key",
        pattern: r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?:\\r|\\n|\s)+(?:[A-Za-z-]+: [^\n\\]*(?:\\n|\s)+)*([A-Za-z0-9+/=]{32,})",
        source: "RFC 7468 section 10, and OpenSSH's PROTOCOL.key; with some of its body, for many sources hold the header alone",
    },
    Rule {
        name: "AWS access key id",
        pattern: r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b",
        source: "AWS IAM user guide, identifiers: unique ID prefixes",
    },
    Rule {
        name: "GitHub token",
        pattern: r"\b(?:gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b",
        source: "GitHub, Behind GitHub's new authentication token formats (2021-04-05)",
    },
    Rule {
        name: "GitLab token",
        pattern: r"\bglpat-[A-Za-z0-9_-]{20,}",
        source: "GitLab documentation, token overview: token prefixes",
    },
    Rule {
        name: "Slack token",
        pattern: r"\bxox[abeoprs]-[0-9]{6,}-[A-Za-z0-9-]{10,}",
        source: "Slack API documentation, token types",
    },
    Rule {
        name: "npm token",
        pattern: r"\bnpm_[A-Za-z0-9]{36}\b",
        source: "GitHub, Announcing npm's new access token format (2021-09-23)",
    },
    Rule {
        name: "PyPI token",
        pattern: r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
        source: "PyPI documentation, secret reporting: a macaroon of version 2 after the prefix",
    },
    Rule {
        name: "Stripe key",
        pattern: r"\b[rs]k_live_[A-Za-z0-9]{24,}\b",
        source: "Stripe documentation, API keys: live secret and restricted keys",
    },
    Rule {
        name: "Google API key",
        pattern: r"\bAIza[A-Za-z0-9_-]{35}\b",
        source: "GitHub secret scanning partner patterns: google_api_key",
    },
    Rule {
        name: "Anthropic key",
        pattern: r"\bsk-ant-[a-z]{3,8}[0-9]{2}-[A-Za-z0-9_-]{80,}",
        source: "GitHub secret scanning partner patterns: anthropic_api_key",
    },
    Rule {
        name: "OpenAI key",
        pattern: r"\bsk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{40,}|[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}\b)",
        source: "GitHub secret scanning partner patterns: openai_api_key",
    },
    Rule {
        name: "JSON web token",
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{20,}",
        source: "RFC 7519: two JSON objects and a signature, in base64url; the first must name its algorithm",
    },
    Rule {
        name: "bearer token",
        pattern: r#"(?i)\bauthorization\\?["']?\s*[:=]\s*\\?["']?bearer\s+([A-Za-z0-9._~+/=-]{16,})"#,
        source: "RFC 6750 section 2.1",
    },
    Rule {
        name: "password in a URL",
        pattern: r#"\b[a-z][a-z0-9+.-]{1,20}://([^\s/:@"'`<>\\|]{1,64}):([^\s/:@"'`<>\\|]{3,128})@([A-Za-z0-9.-]+)"#,
        source: "RFC 3986 section 3.2.1",
    },
];

/// Searches a text, and calls `found` with the index of the rule, the first byte, and the secret.
pub fn search(text: &str, mut found: impl FnMut(usize, usize, &str)) {
    static ANY: LazyLock<RegexSet> =
        LazyLock::new(|| RegexSet::new(RULES.iter().map(Rule::regex)).expect("the rules are patterns"));
    static EACH: LazyLock<Vec<Regex>> =
        LazyLock::new(|| RULES.iter().map(|rule| Regex::new(&rule.regex()).expect("the rules are patterns")).collect());
    // Ends of the found matches by their starts. They do not overlap.
    let mut found_ranges: BTreeMap<usize, usize> = BTreeMap::new();
    for rule in ANY.matches(text).iter() {
        for captures in EACH[rule].captures_iter(text) {
            let (whole, secret) = (captures.get_match(), secret(&captures));
            let known = found_ranges.range(..whole.end()).next_back().is_some_and(|(_, end)| *end > whole.start());
            if known || is_placeholder(secret) || !is_plausible(RULES[rule].name, &captures) {
                continue;
            }
            found_ranges.insert(whole.start(), whole.end());
            found(rule, whole.start(), secret);
        }
    }
}

/// The secrets that some texts hold. They never leave it.
#[derive(Default)]
pub struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Finds those of a conversation.
    pub fn of(conversation: &Conversation) -> Self {
        let mut secrets = Self::default();
        conversation.blocks.iter().for_each(|block| search(&block.text(), |_, _, secret| secrets.add(secret)));
        secrets
    }

    /// Adds a secret, as a rule finds it.
    pub fn add(&mut self, secret: &str) {
        if !self.0.contains(secret) {
            self.0.insert(secret.to_owned());
        }
    }

    /// Returns a text without them.
    pub fn hidden(&self, text: &str) -> String {
        self.with_hidden(text, &[])
    }

    /// Hides them in a fact. A part of a secret is hidden too.
    pub fn hide_fact(&self, text: &mut String) {
        *text = if self.is_part(text) { HIDDEN.to_owned() } else { self.hidden(text) };
    }

    /// Hides them in findings, which may quote a transcript. A part of a secret is hidden too, if it is a value by itself.
    pub fn hide_in_findings(&self, findings: &mut [Finding]) {
        for finding in findings.iter_mut().filter(|_| !self.0.is_empty()) {
            let mut parts = Vec::new();
            finding.data.values_mut().for_each(|value| self.hide_in(value, &mut parts));
            finding.message = self.with_hidden(&finding.message, &parts);
        }
    }

    fn hide_in(&self, value: &mut Value, parts: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                if self.is_part(text) {
                    parts.push(text.clone());
                }
                self.hide_fact(text);
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide_in(value, parts)),
            Value::Object(values) => values.values_mut().for_each(|value| self.hide_in(value, parts)),
            _ => {}
        }
    }

    /// Whether a text is a part of a secret.
    pub fn is_part(&self, text: &str) -> bool {
        text.len() >= LEAST_PART && self.0.iter().any(|secret| secret.contains(text))
    }

    fn with_hidden(&self, text: &str, parts: &[String]) -> String {
        self.0.iter().chain(parts).fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), HIDDEN))
    }
}

/// Returns the secret part of a match: for a URL the password.
fn secret<'a>(captures: &Captures<'a>) -> &'a str {
    let group = if captures.len() > 2 { 2 } else { captures.len() - 1 };
    captures.get(group).map_or("", |secret| secret.as_str())
}

/// Replaces what looks like a secret.
pub const HIDDEN: &str = "[secret]";

/// Minimum length in bytes of a part of a secret. A shorter part may be any word.
const LEAST_PART: usize = 6;

/// Words that people write in place of a secret, in lower case.
const PLACEHOLDERS: [&str; 14] = [
    "redacted",
    "example",
    "xxxx",
    "placeholder",
    "your",
    "dummy",
    "fake",
    "sample",
    "changeme",
    "insert",
    "...",
    "***",
    "0000",
    "1234567890",
];

/// Minimum number of different characters at the end of a real key. Only the end counts, because the key may begin with a prefix.
const LEAST_DIFFERENT: usize = 5;
/// Number of characters at the end of a key that are checked.
const END: usize = 16;

fn is_placeholder(secret: &str) -> bool {
    let lowercase = secret.to_ascii_lowercase();
    let different: BTreeSet<char> = lowercase.chars().rev().take(END).collect();
    PLACEHOLDERS.iter().any(|placeholder| lowercase.contains(placeholder))
        || lowercase.contains(['$', '{', '}', '<', '>', '%', '*', '['])
        || (secret.len() >= END && different.len() < LEAST_DIFFERENT)
}

/// Passwords that are not secret: those of examples, tutorials and development databases.
const WORDS: [&str; 16] = [
    "password", "passwd", "pass", "pwd", "pw", "secret", "token", "test", "testing", "admin", "root", "postgres", "guest",
    "user", "foo", "bar",
];

fn is_plausible(rule: &str, captures: &Captures) -> bool {
    let group = |at| captures.get(at).map_or("", |group| group.as_str());
    match rule {
        "JSON web token" => has_algorithm(group(0)),
        "password in a URL" => {
            let (user, password, host) = (group(1), group(2).to_ascii_lowercase(), group(3));
            let is_example = host.starts_with("example.") || host.contains(".example") || host == "host" || host == "hostname";
            let is_local = host == "localhost" || host.starts_with("127.");
            !is_example && !is_local && user != password && !WORDS.contains(&password.as_str()) && !user.contains(['$', '{', '%'])
        }
        _ => true,
    }
}

/// Whether the header of a JSON web token names its algorithm.
fn has_algorithm(token: &str) -> bool {
    let head = token.split('.').next().unwrap_or_default();
    let json = URL_SAFE_NO_PAD.decode(head).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    json.is_some_and(|json| json.get("alg").is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of the rules that match a text.
    fn matching_rules(text: &str) -> Vec<&'static str> {
        let mut names = Vec::new();
        search(text, |rule, _, _| names.push(RULES[rule].name));
        names
    }

    #[test]
    fn secrets_are_reported_by_kind() {
        // The secrets are put together here, so that no scanner reports this file as a leak.
        let body = "q7Lk2vXzR9mTb4WcY8nHs3JfDp6GaKe5UtV1";
        let long = format!("{body}{body}{body}");
        for (text, expected) in [
            (format!("-----BEGIN RSA {} KEY-----\n{long}", "PRIVATE"), "private key"),
            (format!("\"-----BEGIN {} KEY-----\\n{long}\"", "PRIVATE"), "private key"),
            (format!("id = {}ZQ3DR7XK5MTW2HPB", "AKIA"), "AWS access key id"),
            (format!("{}_{body}", "ghp"), "GitHub token"),
            (format!("{}-{}", "glpat", &body[..20]), "GitLab token"),
            (format!("{}-246813579024-{}", "xoxb", &body[..20]), "Slack token"),
            (format!("{}_{body}", "npm"), "npm token"),
            (format!("{}-AgE{long}", "pypi"), "PyPI token"),
            (format!("{}_live_{}", "sk", &body[..24]), "Stripe key"),
            (format!("{}{}", "AIza", &body[..35]), "Google API key"),
            (format!("{}-ant-api03-{long}", "sk"), "Anthropic key"),
            (format!("{}-proj-{long}", "sk"), "OpenAI key"),
            (format!("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.{body}"), "JSON web token"),
            (format!("-H 'Authorization: Bearer {body}'"), "bearer token"),
            ("redis://cache:Tq8-vene7@redis.internal:6379".to_owned(), "password in a URL"),
        ] {
            assert_eq!(matching_rules(&text), [expected], "{text}");
        }
    }

    #[test]
    fn placeholders_are_not_secrets() {
        for text in [
            "grep -r 'BEGIN PRIVATE KEY' .",
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "Authorization: Bearer $GITHUB_TOKEN_OF_CI",
            "Authorization: Bearer {{ secrets.token }}",
            "postgres://user:password@db.internal/x",
            "postgres://app:app@db.internal/x",
            "postgres://app:${DB_PASSWORD}@db.internal/x",
            "https://me:hunter2@example.com",
            "postgres://app:s3cr3t-7@localhost/x",
            "eyJub3QiOiJhIGp3dCJ9.eyJzdWIiOiJhIn0.q7Lk2vXzR9mTb4WcY8nHs3Jf",
            "http://localhost:8080/a@b",
        ] {
            assert!(matching_rules(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn secrets_quoted_in_other_findings_are_hidden() {
        let mut secrets = Secrets::default();
        search("redis://cache:Tq8-vene7@redis.internal", |_, _, secret| secrets.add(secret));
        let data = serde_json::json!({"fact": "Tq8-vene7", "part": "8-vene7", "calls": 3, "facts": ["a cache:Tq8-vene7"]});
        let finding = Finding {
            id: "needs_later".to_owned(),
            level: crate::findings::Level::Note,
            path: "a".to_owned(),
            line: None,
            call: None,
            message: "`Tq8-vene7` and `8-vene7` were used again".to_owned(),
            data: data.as_object().cloned().unwrap_or_default(),
            conversation: None,
            policy: None,
        };
        let mut findings = [finding];
        secrets.hide_in_findings(&mut findings);
        let [finding] = findings;
        assert_eq!(finding.message, "`[secret]` and `[secret]` were used again");
        let data = serde_json::json!({"fact": HIDDEN, "part": HIDDEN, "calls": 3, "facts": ["a cache:[secret]"]});
        assert_eq!(Value::Object(finding.data), data);
    }
}
